"""A server that cannot be reached is told to the person in one line, and one that is only slow is not."""

import sys
from pathlib import Path

import pytest

from hermes.app.absences import absence, is_absent
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.contract import State, Status
from hermes.protocol.events import Notice, TurnEnded
from hermes.protocol.wire import decode_event
from tests.services.model_server import ModelServer
from tests.services.script import Reply
from tests.stories.stage import Home, ended, eventually, tell

NO_PROGRAM = {"command": "there-is-no-such-program"}
LINE = (
    "MCP server 'maps' is not there (the command there-is-no-such-program of MCP server maps is not there; install it, "
    "or correct mcp_servers.maps.command in config.yaml): hermes mcp test maps"
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


async def test_a_single_question_tells_of_a_server_that_is_not_there_once_and_on_stderr_only(home: Home) -> None:
    async with ModelServer([Reply("done")]) as model:
        home.use(model.base_url, mcp_servers={"maps": NO_PROGRAM})
        ran = await ended(home.start("-z", "where is it?"))
        assert (ran.code, ran.out, ran.err) == (0, "done\n", f"hermes: {LINE}\n")


async def test_a_question_with_its_conversation_shown_tells_of_it_on_stderr_too(home: Home) -> None:
    async with ModelServer([Reply("done")]) as model:
        home.use(model.base_url, mcp_servers={"maps": NO_PROGRAM})
        ran = await ended(home.start("chat", "-q", "where is it?"))
        assert (ran.code, ran.err) == (0, f"hermes: {LINE}\n")
        assert "done" in ran.out and "MCP" not in ran.out


async def test_as_json_it_is_an_event_among_the_others(home: Home) -> None:
    async with ModelServer([Reply("done")]) as model:
        home.use(model.base_url, mcp_servers={"maps": NO_PROGRAM})
        ran = await ended(home.start("-z", "where is it?", "--json"))
        bodies = [decode_event(line.encode()).body for line in ran.out.splitlines()]
        assert [body for body in bodies if isinstance(body, Notice)] == [Notice(LINE, level="warning", code="mcp")]


async def test_a_conversation_tells_of_it_once_and_goes_on_when_it_comes(home: Home) -> None:
    async with ChaosServer() as gone:
        url = gone.url
    port = int(url.rsplit(":", 1)[1].partition("/")[0])
    async with ModelServer(lambda request: Reply("ok")) as model:
        home.use(model.base_url, mcp_servers={"maps": {"url": url}}, mcp_discovery_timeout=20)
        async with tell(home) as story:
            await story.say("one")
            await story.say("two")
            assert [notice.code for notice in story.of(Notice)] == ["mcp"]
            server = story.app.connections.servers.get("maps")
            assert server is not None
            async with ChaosServer(port=port):
                server.reconnect()
                await eventually(lambda: server.catalog.tools)
                await story.say("three")
        [told] = story.of(Notice)
        assert told.text.startswith("MCP server 'maps' is not there (")
        assert told.text.endswith("): hermes mcp test maps")


async def test_a_server_that_is_slow_and_comes_later_is_not_told_of(home: Home) -> None:
    go = home.work / "go"
    chaos = f"{sys.executable} -m hermes.mcp.chaos --stdio --folder {home.work}"
    late = {"command": "sh", "args": ["-c", f"until [ -e {go} ]; do sleep 0.05; done; exec {chaos}"]}
    async with ModelServer(lambda request: Reply("ok")) as model:
        home.use(model.base_url, mcp_servers={"maps": late}, mcp_discovery_timeout=0.1)
        async with tell(home) as story:
            assert await story.say("one") == TurnEnded("done")
            server = story.app.connections.servers.get("maps")
            assert server is not None
            assert server.status().state == "connecting"
            go.touch()
            await eventually(lambda: server.catalog.tools)
            await story.say("two")
        assert story.of(Notice) == []


@pytest.mark.parametrize(
    ("state", "tools", "error", "absent"),
    [
        ("connecting", 0, "", False),
        ("connecting", 0, "refused", True),
        ("backoff", 0, "refused", True),
        ("backoff", 3, "cut", False),
        ("parked", 0, "cut", True),
        ("ready", 0, "a call failed", False),
        ("needs_auth", 3, "HTTP 401", True),
    ],
)
def test_a_server_is_absent_when_a_try_has_failed_and_none_of_its_tools_is_left(
    state: State, tools: int, error: str, absent: bool
) -> None:
    status = Status(name="maps", transport="http", state=state, breaker="closed", tools=tools, last_error=error)
    assert is_absent(status) is absent


def test_a_server_that_wants_a_login_says_how() -> None:
    status = Status(name="maps", transport="http", state="needs_auth", breaker="closed", tools=0, last_error="401")
    assert absence(status) == "MCP server 'maps' wants a login: hermes mcp login maps"


def test_the_reason_is_one_line_of_a_size_that_can_be_read() -> None:
    error = "one\n\x1b[31mtwo " + "x" * 500
    status = Status(name="maps", transport="http", state="parked", breaker="open", tools=0, last_error=error)
    assert absence(status) == f"MCP server 'maps' is not there (one [31mtwo {'x' * 147}…): hermes mcp test maps"
