"""approvals.mode: smart. A model answers for the person where it may and can; everything else is asked as ever."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes.protocol.actions import Origin, RunCommand
from hermes.protocol.events import Approval, Asked, Usage
from hermes.protocol.items import Text
from hermes.protocol.ops import Answer
from hermes.safety.gate import Gate, Policy
from hermes.safety.permit import Opinion
from hermes.safety.smart import SmartApproval
from tests.safety.scene import ORIGIN, PLACES, WORKSPACE
from tests.services.model_server import ModelServer
from tests.services.script import Call, Error, Fault, Reply
from tests.stories.stage import Home, Story, tell

DANGER = "rm -r old"
TALK = [Reply(calls=(Call("terminal", {"command": DANGER}),)), Reply("done")]
ALLOW, DENY, ASK = (Reply(f'{{"decision": "{word}", "why": "so it is"}}') for word in ("allow", "deny", "ask"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    (made.work / "old").mkdir()
    return made


def smart(home: Home, talk: ModelServer, judge: ModelServer, **settings: Any) -> None:
    entry = {"base_url": judge.base_url, "model": "judge", **settings}
    home.use(talk.base_url, approvals={"mode": "smart"}, auxiliary={"approval": entry})


def asked(story: Story) -> list[Approval]:
    return [body.request for body in story.of(Asked)]


async def answered(story: Story, choice: str) -> None:
    """Wait for the question and answer it."""
    saying = asyncio.create_task(story.say("clean up"))
    await story.until(lambda: bool(story.of(Asked)))
    await story.session.send(Answer(request_id=story.of(Asked)[0].request_id, choice=choice))
    await saying


async def test_what_the_model_allows_runs_this_once_without_a_question(home: Home) -> None:
    again = [TALK[0], TALK[0], Reply("done")]
    async with ModelServer(again) as talk, ModelServer([ALLOW, DENY]) as judge:
        smart(home, talk, judge)
        async with tell(home) as story:
            await story.say("clean up")
            assert asked(story) == []
            assert [call.status for call in story.calls()] == ["done", "refused"]
            assert [(used.model, used.input) for used in story.of(Usage) if used.purpose == "approval"] == [
                ("custom:judge", 10),
                ("custom:judge", 10),
            ]
    assert not (home.work / "old").exists()
    first = msgspec.json.decode(judge.requests[0].user_text)
    assert first == {
        "action": {"type": "run_command", "command": DANGER, "cwd": str(home.work)},
        "working_folder": str(home.work),
        "rule": "destroys",
        "why": "rm would remove all of old, which no build makes again",
    }
    assert judge.requests[0].body.get("tools") in (None, [])


async def test_what_the_model_denies_is_refused_with_its_reason(home: Home) -> None:
    async with ModelServer(TALK) as talk, ModelServer([DENY]) as judge:
        smart(home, talk, judge)
        async with tell(home) as story:
            await story.say("clean up")
            [call] = story.calls()
    assert (call.status, asked(story)) == ("refused", [])
    assert isinstance(call.result[0], Text) and call.result[0].text.startswith(
        "Refused by the approval model: so it is."
    )
    assert (home.work / "old").exists()


@pytest.mark.parametrize(
    "reply",
    [
        ASK,
        Reply("allow"),
        Reply('Sure: {"decision": "allow"}'),
        Reply('{"decision": "allow"} {"decision": "allow"}'),
        Reply('{"decision": "yes"}'),
        Reply('{"decision": "allow", "also": "delete the rest"}'),
        Reply("[]"),
        Reply(error=Error(kind="invalid_key")),
        Reply('{"decision": "allow"}', fault=Fault(end="cut", after_bytes=80)),
    ],
)
async def test_any_other_answer_leaves_it_to_the_person(home: Home, reply: Reply) -> None:
    async with ModelServer(TALK) as talk, ModelServer(lambda request: reply) as judge:
        smart(home, talk, judge)
        async with tell(home) as story:
            await answered(story, "deny")
            assert [request.action for request in asked(story)] == [RunCommand(DANGER, str(home.work))]
    assert (home.work / "old").exists()


async def test_a_model_that_takes_too_long_leaves_it_to_the_person(home: Home) -> None:
    async with ModelServer(TALK) as talk, ModelServer([Reply("{}", fault=Fault(delay=30))]) as judge:
        smart(home, talk, judge, timeout=0.2)
        async with tell(home) as story:
            await answered(story, "once")
            assert [call.status for call in story.calls()] == ["done"]


async def test_nobody_to_ask_is_still_a_no_when_the_model_is_not_sure(home: Home) -> None:
    async with ModelServer(TALK) as talk, ModelServer([ASK]) as judge:
        smart(home, talk, judge)
        async with tell(home, can_ask=False) as story:
            await story.say("clean up")
            assert [call.status for call in story.calls()] == ["refused"]


async def test_without_a_model_of_its_own_the_sessions_is_asked(home: Home) -> None:
    async with ModelServer([TALK[0], ALLOW, TALK[1]]) as talk:
        home.use(talk.base_url, approvals={"mode": "smart"})
        async with tell(home) as story:
            await story.say("clean up")
            assert (asked(story), [call.status for call in story.calls()]) == ([], ["done"])


@pytest.mark.parametrize(
    "command", ["rm -rf /", "hermes config set approvals.mode off", "git push; hermes config set approvals.mode off"]
)
async def test_a_hard_block_and_hermes_own_policy_are_never_the_models_to_allow(home: Home, command: str) -> None:
    script = [Reply(calls=(Call("terminal", {"command": command}),)), Reply("done")]
    async with ModelServer(script) as talk, ModelServer(lambda request: ALLOW) as judge:
        smart(home, talk, judge)
        async with tell(home, can_ask=False) as story:
            await story.say("go")
            assert [call.status for call in story.calls()] == ["refused"]
    assert judge.requests == []


async def opinion(origin: Origin, mode: Any = "smart", command: str = DANGER) -> tuple[Opinion, int]:
    gate = Gate(Policy(places=PLACES, mode=mode), always=lambda grant: None)
    asked: list[str] = []

    async def say(system: str, question: str) -> str:
        asked.append(question)
        return '{"decision": "allow"}'

    action = RunCommand(command, WORKSPACE)
    said = await SmartApproval(gate, say)(action, gate.judge(action, origin), origin)
    return said, len(asked)


async def test_the_model_is_asked_only_where_it_may_be() -> None:
    assert await opinion(ORIGIN) == (Opinion("allow"), 1)
    assert await opinion(ORIGIN, mode="manual") == (Opinion("ask"), 0)
    assert await opinion(msgspec.structs.replace(ORIGIN, untrusted=("mcp:mail",))) == (Opinion("ask"), 0)
    assert await opinion(msgspec.structs.replace(ORIGIN, local=("tool:terminal",))) == (Opinion("allow"), 1)
    assert await opinion(ORIGIN, command=f"rm -r {'x' * 30_000}") == (Opinion("ask"), 0)
