"""The end of a session at a surface."""

from hermes.agent.session import Session
from hermes.app import App


async def close(app: App, session: Session, *, forget: bool = False) -> None:
    """Close a session; one that shall be forgotten, or in which nothing was said, leaves nothing behind."""
    await session.close("left")
    if forget or session.history.turn == 0:
        await app.store.delete([session.id])
