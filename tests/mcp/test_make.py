"""Who is asked when a server wants more scopes than were granted: the person for whom the call is made."""

import pytest

from hermes.config import McpServer, OAuthSettings
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.exchange import wanting
from hermes.mcp.make import ask_caller
from hermes.mcp.oauth.web import LoginFailed
from hermes.protocol.events import Answered, Login, Request
from tests.mcp.rig import COUNT, Office, Person, client

ENTRY = McpServer(url="https://notes.example/mcp", auth="oauth", oauth=OAuthSettings(timeout=7))


class Reader(Person):
    """A person who answers what they are asked."""

    def __init__(self, answer: Answered | None) -> None:
        super().__init__()
        self.asked: list[tuple[Request, float]] = []
        self._answer = answer

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        self.asked.append((request, timeout))
        return self._answer


async def test_the_caller_sees_the_page_and_what_they_paste_goes_on():
    reader = Reader(Answered("q", how="answered", text="http://127.0.0.1/?code=1"))
    wanting.set(reader)
    assert await ask_caller("notes", ENTRY)("https://login.example/") == "http://127.0.0.1/?code=1"
    [(request, timeout)] = reader.asked
    assert isinstance(request, Login) and request.url == "https://login.example/" and timeout == 7


@pytest.mark.parametrize(
    "answer", [None, Answered("q", how="expired"), Answered("q", how="answered", choice="deny"), "nobody"]
)
async def test_where_nobody_allows_it_the_login_fails_with_what_to_do(answer: Answered | str | None):
    wanting.set(None if isinstance(answer, str) else Reader(answer))
    with pytest.raises(LoginFailed, match="nobody allowed notes more") as failed:
        await ask_caller("notes", ENTRY)("https://login.example/")
    assert failed.value.hint == "hermes mcp login notes"


async def test_a_call_that_lacks_scopes_makes_its_own_caller_known():
    seen: list[object] = []

    class Watching(Office):
        async def step_up(self, header: str, challenge: str) -> bool:
            seen.append(wanting.get())
            return await super().step_up(header, challenge)

    person = Person()
    async with ChaosServer() as chaos, client(chaos, authority=Watching("Bearer it", wider=1)) as server:
        await chaos.arm(Fault(kind="status", status=403, tool="count"))
        await server.request(COUNT, person)
    assert (seen, wanting.get()) == ([person], None)
