"""RELIABILITY row 2, the other half: a tool that the gate is not asked about really touches nothing.

Each such tool has a turn of its own, in which it is called with arguments that it answers. Around that turn the home, the
workspace and every table beside the log are compared, and Python's own audit tells of connections and of files written.
"""

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from hermes.app import Wish
from hermes.mcp.chaos.server import ChaosServer
from hermes.protocol.items import UserMessage
from hermes.protocol.tools import Tool, ToolContext
from hermes.tools.declare import tool
from tests.safety.test_matrix import PATIENT, TOUCHES_NOTHING, tree
from tests.safety.witness import WitnessApp
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Call, Reply
from tests.stories.stage import Home, Story

LOG = ("sessions", "events", "ops", "journal", "blob", "usage", "tool_use", "sqlite_sequence")
INDEX = ("indexed", "window", "chapter")
COUNTS = ("skill_uses",)
"""How often a skill was read: the curator's evidence, of which no prompt is made."""

Arguments = dict[str, list[dict[str, Any]]]


def answered(earlier: str, item: str) -> Arguments:
    """Arguments that each of these tools answers; `earlier` is a session, `item` something that was said in this one."""
    return {
        "todo": [{"todos": [{"id": "1", "content": "Look.", "status": "pending"}]}, {}],
        "clarify": [{"question": "Which one?", "choices": ["this", "that"]}],
        "tool_search": [{"query": "count"}],
        "session_search": [{"query": "heron"}, {"query": "heron", "summarize": True}, {"session_id": earlier}, {}],
        "context_expand": [{"ref": item}],
        "context_grep": [{"pattern": "heron"}],
        "skills_list": [{}],
        "skill_search": [{"query": "herons"}],
        "skill_view": [{"name": "herons"}, {"name": "herons", "file_path": "references/notes.md"}],
    }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    (made.work / "a.txt").write_text("old\n")
    skill = made.home / "skills" / "herons"
    (skill / "references").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: herons\ndescription: Watch herons.\n---\n\nStand still.\n")
    (skill / "references" / "notes.md").write_text("They fly at dusk.\n")
    return made


class Birdwatcher:
    """A model that calls the tool whose name it is told, in every way that `args` has for it, and then is done."""

    def __init__(self) -> None:
        self.args: Arguments = {}

    def __call__(self, request: Request) -> Reply:
        last = request.history[-1]
        if not request.tool_names or last["role"] != "user":
            return Reply("done")
        return Reply("noted", calls=tuple(Call(last["content"], args) for args in self.args.get(last["content"], ())))


def touched(home: Home) -> dict[str, Any]:
    """All that could be changed: files of the home and the workspace, and rows of the tables that are not the log's."""
    files = {name: data for name, data in tree(home.work.parent).items() if not name.startswith("home/state.db")}
    with closing(apsw.Connection(str(home.database), flags=apsw.SQLITE_OPEN_READONLY)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        watched = [name for name in tables if not name.startswith((*LOG, *INDEX, *COUNTS))]
        return files | {name: list(database.execute(f'SELECT * FROM "{name}"')) for name in watched}


async def test_a_tool_that_is_not_judged_leaves_home_workspace_and_network_as_they_were(home: Home) -> None:
    watcher = Birdwatcher()
    async with ChaosServer() as server, ModelServer(watcher) as model:
        home.use(model.base_url, mcp_servers={"fault": {"url": server.url}}, toolsets=["all", "fault"], **PATIENT)
        async with WitnessApp(home.settings(), refuse=True) as app:
            story = Story(await app.open(Wish(cwd=str(home.work), can_ask=False)), app.store)
            await story.say("The heron is back.")
            await story.close()
            earlier = story.session.id
            story = Story(await app.open(Wish(cwd=str(home.work), can_ask=False)), app.store)
            await story.say("Hello.")
            watcher.args = answered(earlier, story.items(UserMessage)[0].id)
            changed: dict[str, Any] = {}
            for name in sorted(TOUCHES_NOTHING):
                before = touched(home)
                await story.say(name)
                after = touched(home)
                changed[name] = sorted(key for key in before | after if before.get(key) != after.get(key))
            await story.close()
        assert server.counts.runs == {}
    assert changed == {name: [] for name in TOUCHES_NOTHING}
    assert (app.ledger.judged, app.ledger.effects, app.ledger.unasked) == ([], [], [])
    called = [(call.name, call.status) for call in story.calls()]
    assert called == [(name, "done") for name in sorted(TOUCHES_NOTHING) for _ in watcher.args[name]]


async def test_what_a_tool_writes_beside_the_log_is_noticed(home: Home) -> None:
    """The comparison itself, with a tool that keeps a note where nobody would look."""

    async def peek(ctx: ToolContext) -> str:
        """Look, and leave a trace."""
        (home.home / "trace").write_text("was here")
        return "done"

    class Open(WitnessApp):
        def tools(self, wish: Wish, profile: str) -> tuple[Tool, ...]:
            return (tool(peek, kind="read", toolset="x"),)

    async with ModelServer([Reply("hello"), Reply(calls=(Call("peek", {}),)), Reply("done")]) as model:
        home.use(model.base_url)
        async with Open(home.settings(), refuse=True) as app:
            story = Story(await app.open(Wish(cwd=str(home.work), can_ask=False)), app.store)
            await story.say("Hello.")
            before = touched(home)
            await story.say("Look.")
            await story.close()
    assert touched(home) == before | {"home/trace": b"was here"}
