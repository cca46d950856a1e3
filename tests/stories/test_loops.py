"""A model that goes round in circles: it is told so, and with a hard stop it is held back."""

from typing import Any

from hermes.mcp.chaos.server import ChaosServer
from tests.services.model_server import ModelServer
from tests.services.script import Call, Reply, call
from tests.stories.stage import Home, ended, tell

EXACTLY = "[this very call has failed {} times in the same way; do something else]"
IN_A_ROW = "[{} has failed {} times in a row; do something else]"
UNCHANGED = "[this very call has given the same {} times; nothing has changed since]"


def heard(server: ModelServer) -> list[str]:
    """The results of all calls as the model read them, in their order."""
    return [message["content"] for message in server.last.body["messages"] if message["role"] == "tool"]


async def run(home: Home, *replies: Reply, **settings: Any) -> list[str]:
    """What the model heard when the command let it do all this."""
    async with ModelServer([*replies, Reply("done")]) as server:
        home.use(server.base_url, **settings)
        ran = await ended(home.start("-z", "go"))
        assert (ran.code, ran.out, ran.err) == (0, "done\n", "")
        assert server.violations == []
        return heard(server)


async def test_a_model_that_guesses_names_is_told_that_the_tool_keeps_failing(home: Home):
    results = await run(home, *[call("read_file", path=name) for name in ("a", "b", "c")])
    assert [IN_A_ROW.format("read_file", 3) in result for result in results] == [False, False, True]


async def test_a_model_that_looks_again_and_again_is_told_until_it_does_something(home: Home):
    look, write = call("search_files", pattern="word"), call("write_file", path="b.txt", content="other")
    (home.work / "a.txt").write_text("word\n")
    results = await run(home, look, look, write, look)
    assert results[1] == f"{results[0]}\n{UNCHANGED.format(2)}"
    assert results[3] == results[0]


async def test_with_a_hard_stop_the_same_mistake_is_not_made_once_more(home: Home):
    settings = {"tool_loop_guardrails": {"hard_stop_enabled": True, "hard_stop_after": {"exact_failure": 2}}}
    results = await run(home, *[call("read_file", path="nothing.txt")] * 3, **settings)
    assert results[1] == f"{results[0]}\n{EXACTLY.format(2)}"
    assert results[2] == (
        "read_file did not run: this very call has failed 2 times in the same way. "
        "Do something else, or say what stands in the way."
    )


async def test_tools_of_a_server_are_watched_too_however_they_are_called(home: Home):
    fails = {"text": "no"}
    by_search = Call("tool_call", {"name": "mcp__fault__fail", "arguments": fails})
    look, count = call("mcp__fault__echo", text="hello"), call("mcp__fault__count", key="k")
    async with ChaosServer() as fault:
        results = await run(
            home,
            call("mcp__fault__fail", **fails),
            Reply(calls=(by_search,)),
            look,
            look,
            count,
            look,
            count,
            mcp_servers={"fault": {"url": fault.url, "approval": "allow"}},
        )
        assert fault.counts.runs == {"fail": 2, "echo": 3, "count": 2}
    assert results[:4] == ["no", f"no\n{EXACTLY.format(2)}", "hello", f"hello\n{UNCHANGED.format(2)}"]
    assert results[5] == "hello"
    assert not any(line.startswith("[") for line in (results[4], results[6]))


async def test_what_a_person_says_begins_anew(home: Home):
    look = call("search_files", pattern="word")
    (home.work / "a.txt").write_text("word\n")
    async with ModelServer([look, look, Reply("one"), look, Reply("two")]) as server:
        home.use(server.base_url)
        async with tell(home) as story:
            await story.say("look twice")
            await story.say("look again")
            results = heard(server)
    assert results == [results[0], f"{results[0]}\n{UNCHANGED.format(2)}", results[0]]
