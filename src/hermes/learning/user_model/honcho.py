"""The `honcho` user model: a Honcho server hears the conversation and answers questions about the person.

Its client is the package honcho-ai (extra `honcho`), which is loaded when the model is opened and not before: it costs half a second.
"""

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.config import HonchoSettings
from hermes.protocol.errors import UserError
from hermes.protocol.items import Trust
from hermes.protocol.user_models import Level, Peer, Spoken

if TYPE_CHECKING:
    from honcho import Honcho

T = TypeVar("T")
KEY = "HONCHO_API_KEY"
LONGEST = 20_000
"""Characters of one message; Honcho refuses much longer ones."""


class HonchoModel:
    """Implements UserModel on one workspace of a Honcho server."""

    name = "honcho"
    prefix = "honcho"
    trust: Trust = "untrusted"

    def __init__(self, settings: HonchoSettings, key: str, workspace: str) -> None:
        self._settings = settings
        self._peers: dict[Peer, str] = {"person": settings.peer, "agent": settings.agent}
        self._client = _connect(settings, key, workspace)
        self._sessions: set[str] = set()

    async def add(self, session: str, messages: Sequence[Spoken]) -> None:
        from honcho import MessageCreateParams

        made = [
            MessageCreateParams(peer_id=self._peers[each.peer], content=each.text[:LONGEST])
            for each in messages
            if each.text.strip()
        ]
        if made:
            there = await self._session(session)
            await _told(there.aio.add_messages(made))

    async def profile(self) -> list[str]:
        return await _told((await self._person()).aio.get_card()) or []

    async def search(self, query: str, limit: int) -> list[str]:
        found = await _told((await self._person()).aio.search(query, None, limit))
        return [message.content for message in found]

    async def context(self, session: str, query: str) -> str:
        person = await self._person()
        known = await _told(person.aio.context(search_query=query) if query else person.aio.context())
        lines = [f"- {line}" for line in known.peer_card or ()]
        return "\n".join([*lines, known.representation or ""]).strip() or "Nothing is known yet."

    async def chat(self, query: str, session: str = "", level: Level = "low") -> str:
        person = await self._person()
        there = await self._session(session) if session in self._sessions else None
        answer: Any = await _told(person.aio.chat(query, session=there, reasoning_level=level))
        return answer or "Honcho knows nothing about that."

    async def conclude(self, text: str, session: str = "") -> None:
        person = await self._person()
        await _told(person.conclusions.aio.create([{"content": text}]))

    async def close(self) -> None:
        await self._client._async_http_client.close()  # its public interface has no way to close what it opened

    async def _person(self) -> Any:
        return await _told(self._client.aio.peer(self._peers["person"]))

    async def _session(self, session: str) -> Any:
        there = await _told(self._client.aio.session(session))
        if session not in self._sessions:
            await _told(there.aio.add_peers(list(self._peers.values())))
            self._sessions.add(session)
        return there


def _connect(settings: HonchoSettings, key: str, workspace: str) -> "Honcho":
    try:
        from honcho import Honcho
    except ImportError:
        raise UserError("the honcho client is not installed", "pip install 'hermes-courier[honcho]'") from None
    if not key and not settings.base_url:
        raise UserError("honcho has no key", f"hermes config set {KEY} KEY, or set honcho.base_url to your own server")
    return Honcho(
        api_key=key or None,
        base_url=settings.base_url or None,
        workspace_id=workspace,
        timeout=settings.timeout,
        max_retries=1,
    )


async def _told(call: Awaitable[T]) -> T:
    """What a call gives; what goes wrong as one line."""
    from honcho.http.exceptions import HonchoError

    try:
        return await call
    except HonchoError as error:
        raise UserError(f"honcho: {error}", "hermes honcho status shows whether it can be reached") from error
