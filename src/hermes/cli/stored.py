"""Stored sessions as a command line names them, and all that was written in one."""

from collections.abc import AsyncGenerator

from hermes.protocol.errors import UserError
from hermes.protocol.events import Event
from hermes.protocol.store import Log, SessionRow

EVERY = 1_000_000_000
"""A limit that no home reaches."""


async def find(store: Log, name: str) -> SessionRow:
    """The session of that id, beginning of an id, or title; UserError if there is none or more than one."""
    row = await store.session(name)
    if row is not None:
        return row
    begin = [row.id for row in await store.sessions(limit=EVERY) if row.id.startswith(name)]
    if len(begin) > 1:
        raise UserError(f"{name!r} is the beginning of {len(begin)} ids", f"{begin[0]} is the newest of them")
    raise UserError(f"there is no session {name!r}", "hermes sessions list shows them")


async def events_of(store: Log, session: str) -> AsyncGenerator[Event]:
    """Every event of a session, oldest first, read in pages."""
    after = 0
    while page := await store.events(session, after):
        for event in page:
            yield event
        after = page[-1].seq or 0
