"""Events as lines: what people see of a session, live and later."""

import fcntl
import io
import os
import pty
import struct
import termios
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hermes.cli.show import Show
from hermes.protocol.actions import RunCommand
from hermes.protocol.events import (
    Answered,
    Approval,
    Asked,
    Body,
    Changed,
    Event,
    ItemDelta,
    ItemDone,
    ItemStarted,
    Login,
    Notice,
    Question,
    Secret,
    SessionOpened,
    TurnEnded,
    TurnStarted,
    Usage,
)
from hermes.protocol.items import FileChange, Plan, PlanEntry, Reply, Text, Thought, ToolCall, UserMessage
from hermes.protocol.models import Retrying
from hermes.protocol.tools import Result, ToolContext, said
from tests.agent.stage import (
    Recording,
    ScriptedModel,
    Step,
    answer,
    call,
    finish,
    make_tool,
    play,
    text,
    thought,
)

PLACE: dict[str, Any] = {"turn": 1, "step": 1, "index": 0}


class Screen(io.StringIO):
    """A terminal that keeps everything that was written on it."""

    def isatty(self) -> bool:
        return True


def shown(events: Iterable[Event], **more: Any) -> str:
    out = io.StringIO()
    show = Show(out, **more)
    for event in events:
        show.event(event)
    return out.getvalue()


def drawn(*bodies: Body, out: io.StringIO | None = None, environ: dict[str, str] | None = None, **more: Any) -> str:
    out = io.StringIO() if out is None else out
    show = Show(out, environ, **more)
    for body in bodies:
        show.event(Event(session="s1", at=0.0, turn=1, body=body))
    return out.getvalue()


def done_call(**more: Any) -> ItemDone:
    given: dict[str, Any] = {
        "call_id": "c",
        "name": "terminal",
        "args": "{}",
        "kind": "execute",
        "status": "done",
    } | more
    return ItemDone(ToolCall(id="t", **PLACE, **given))


def stream(words: str, size: int) -> Step:
    """A text that comes in pieces."""
    began, _, ended = text(words)
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    return [began, *(type(_)(0, piece) for piece in pieces), ended]  # type: ignore[call-arg]


async def fail(ctx: ToolContext, args: Any) -> Result:
    return said("\n".join(f"line {n}" for n in range(1, 10)), failed=True, title="the thing")


async def ask(ctx: ToolContext, args: Any) -> Result:
    answered = await ctx.ask(Question("Which colour?", ("red", "blue")), 0.05)
    return said(answered.how if answered else "nobody")


TALE = """\
· session {session}, scripted, /tmp

› first line
  second line

Let me look.

● act  one
    did one
● fail  the thing  failed
    line 1
    line 2
    line 3
    line 4
    line 5
    … 4 more lines
? Which colour?
    1 red
    2 blue
  → no answer in time
● ask
    expired

All is well.

It is.

› again

✗ the model answered with nothing
"""


def tale() -> tuple[ScriptedModel, list[Any]]:
    """A session with everything in it that a person may see."""
    calls = call("act", '{"word": "one"}', 1) + call("fail", "{}", 2) + call("ask", "{}", 3)
    model = ScriptedModel(
        text("Let me look.") + calls + finish("calls"),
        thought("hm", 7) + stream("\n\nAll is well.\n\nIt is.\n", 5) + finish(),
        finish(),
    )
    return model, [Recording().tool, make_tool("fail", fail), make_tool("ask", ask)]


async def test_a_replayed_session_looks_like_the_live_one(tmp_path: Path):
    model, tools = tale()
    async with play(tmp_path, model, *tools) as stage:
        await stage.say("first line\nsecond line")
        await stage.say("again")
        expected = TALE.format(session=stage.session.id)
        assert any(isinstance(body, ItemDelta) for body in stage.bodies)
        assert shown(stage.events) == expected
        assert shown(await stage.store.events(stage.session.id)) == expected
        assert shown(stage.events, streaming=False) == expected


async def test_thoughts_look_the_same_live_and_replayed(tmp_path: Path):
    async with play(tmp_path, ScriptedModel(thought("a\nb") + text("so", 1) + finish())) as stage:
        await stage.say("hi")
        live = shown(stage.events, thoughts=True)
        assert live.endswith("› hi\n\na\nb\n\nso\n")
        assert shown(await stage.store.events(stage.session.id), thoughts=True) == live


async def test_a_reply_is_shown_as_it_grows(tmp_path: Path):
    seen: list[str] = []
    show = Show(out := io.StringIO())
    async with play(tmp_path, ScriptedModel(stream("\none\n\ntwo\n\n", 2) + finish())) as stage:
        await stage.say("hi")
        for event in stage.events:
            show.event(event)
            if isinstance(event.body, ItemDelta):
                seen.append(out.getvalue().partition("› hi\n\n")[2])
    assert seen == ["o", "one", "one", "one\n\ntw", "one\n\ntwo", "one\n\ntwo"]
    assert out.getvalue().endswith("› hi\n\none\n\ntwo\n")


async def test_a_listener_that_lost_deltas_or_gets_them_late_sees_every_word_once(tmp_path: Path):
    async with play(tmp_path, ScriptedModel(stream("abcdefghij", 2) + finish())) as stage:
        await stage.say("hi")
        deltas = [event for event in stage.events if isinstance(event.body, ItemDelta)]
        assert len(deltas) == 5
        kept = [event for event in stage.events if event not in deltas[1:3]]
        assert shown(kept) == shown(stage.events)
        assert shown([*kept, *deltas]) == shown(stage.events)


async def test_what_a_retry_made_void_ends_its_line(tmp_path: Path):
    again = Retrying("the connection broke", 2, "scripted")
    async with play(tmp_path, ScriptedModel([*text("half")[:2], again, *answer("whole")])) as stage:
        await stage.say("hi")
        broke = "! the connection broke; trying scripted again in 2 s"
        assert shown(stage.events).endswith(f"› hi\n\nhalf\n\n{broke}\n\nwhole\n")
        assert shown(await stage.store.events(stage.session.id)).endswith(f"› hi\n\n{broke}\n\nwhole\n")


def test_a_message_that_was_typed_here_is_not_shown_again():
    out = io.StringIO()
    show = Show(out)
    show.typed("op1")
    for op, words in (("op1", "mine"), ("op2", "theirs")):
        message = UserMessage(id=op, **PLACE, parts=(Text(words),))
        for body in (TurnStarted(op), ItemDone(message), TurnEnded("done")):
            show.event(Event(session="s1", at=0.0, turn=1, body=body))
    assert out.getvalue() == "› theirs\n"


def test_a_message_of_a_process_says_whose_it_is_and_is_cut():
    words = "\n".join(map(str, range(9)))
    message = UserMessage(id="m", **PLACE, parts=(Text(words),), origin="process")
    assert drawn(ItemDone(message)) == "› [process] 0\n  1\n  2\n  3\n  4\n  … 4 more lines\n"


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"title": "git status", "seconds": 0.24, "result": (Text("clean"),)}, "● terminal  git status  (0.2 s)\n    clean\n"),
        ({"title": "a\nb", "result": (Text(""),)}, "● terminal  a b\n"),
        ({"name": "read_file", "kind": "read", "title": "a.txt", "result": (Text("1|x"),)}, "● read_file  a.txt\n"),
        (
            {"name": "read_file", "kind": "read", "title": "a.txt", "status": "failed", "result": (Text("no such"),)},
            "● read_file  a.txt  failed\n    no such\n",
        ),
        ({"status": "refused", "title": "x", "result": (Text("No."),)}, "● terminal  x  refused\n    No.\n"),
        ({"status": "unknown", "title": "x", "result": (Text("?"),)}, "● terminal  x  outcome unknown\n    ?\n"),
        ({"status": "discarded"}, ""),
        ({"name": "akt", "args": '{"n": 1, "path": "a.txt"}', "status": "failed"}, "● akt  a.txt  failed\n"),
        ({"name": "akt", "args": '{"path": "a', "status": "failed"}, '● akt  {"path": "a  failed\n'),
        ({"title": "x", "shown": "for people", "result": (Text("for the model"),)}, "● terminal  x\n    for people\n"),
        ({"title": "x", "result": (Text("a\tb\n\nc"),)}, "● terminal  x\n    a   b\n\n    c\n"),
    ],
)  # fmt: skip
def test_a_call_is_one_line_and_the_beginning_of_its_output(given: dict[str, Any], lines: str):
    assert drawn(done_call(**given)) == lines


DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"


def test_a_change_of_a_file_is_its_diff():
    change = FileChange("/w/a.py", "edited", DIFF, added=1, removed=1)
    edit = done_call(name="patch", kind="edit", title="a.py", files=(change,), result=(Text("edited"),))
    assert drawn(edit) == "● patch  a.py  +1 -1\n    @@ -1,2 +1,2 @@\n     same\n    -old\n    +new\n"


def test_changes_of_several_files_are_named():
    changes = (FileChange("/w/a.py", "edited", DIFF, 1, 1), FileChange("/w/b.py", "edited", DIFF, 1, 1))
    lines = drawn(done_call(name="patch", kind="edit", title="a.py, b.py", files=changes)).splitlines()
    assert [lines[0], lines[1], lines[6]] == ["● patch  a.py, b.py  +2 -2", "    /w/a.py  +1 -1", "    /w/b.py  +1 -1"]


def test_a_long_diff_is_cut():
    diff = "--- a/a\n+++ b/a\n" + "".join(f"+{n}\n" for n in range(50))
    lines = drawn(done_call(files=(FileChange("/w/a", "created", diff, 50, 0),))).splitlines()
    assert (len(lines), lines[-2], lines[-1]) == (22, "    +19", "    … 30 more lines")


def test_a_plan_shows_how_far_it_is():
    states = ("completed", "in_progress", "pending", "cancelled")
    plan = Plan(id="p", **PLACE, entries=tuple(PlanEntry(state, state, state) for state in states))  # type: ignore[arg-type]
    assert drawn(ItemDone(plan)) == "    ☑ completed\n    ▸ in_progress\n    ☐ pending\n    ☒ cancelled\n"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (SessionOpened("cli", "custom:echo", "/w", "0"), "· session s1, custom:echo, /w"),
        (Notice("saved"), "· saved"),
        (Notice("odd\nthing", level="warning"), "! odd thing"),
        (Notice("broken", level="error"), "✗ broken"),
        (Changed("rewound", turns=(2, 2)), "· turn 2 is taken back"),
        (Changed("rewound", turns=(2, 4)), "· turns 2 to 4 are taken back"),
        (Changed("title", title="x"), ""),
        (TurnEnded("done"), ""),
        (TurnEnded("interrupted"), "■ interrupted"),
        (TurnEnded("limit", limit="steps", error="the limit of 3 steps a turn is reached"), "■ the limit of 3 steps a turn is reached"),
        (TurnEnded("failed", error="there is no key", hint="set one"), "✗ there is no key (set one)"),
        (TurnEnded("refused", error="I will not"), "✗ I will not"),
        (Answered("unasked", "expired"), ""),
    ],
)  # fmt: skip
def test_what_happens_beside_the_conversation_is_one_line(body: Body, line: str):
    assert drawn(body) == (f"{line}\n" if line else "")


APPROVAL = Approval(RunCommand("rm -r a\nrm -r b", "/w"), "hash", "it deletes", ("once", "session", "deny"))


@pytest.mark.parametrize(
    ("request_", "answered", "lines"),
    [
        (
            APPROVAL,
            Answered("r", "answered", "deny", "too much"),
            "? May I run in /w? (it deletes)\n    rm -r a\n    rm -r b\n    [o]nce  [s]ession  [d]eny\n  → deny: too much\n",
        ),
        (Question("Which?"), Answered("r", "answered", text="red"), "? Which?\n  → red\n"),
        (Secret("Password?"), Answered("r", "answered"), "? Password?\n    what you type is not shown\n  → answered\n"),
        (Login("http://a"), Answered("r", "cancelled"), "? Log in:\n    http://a\n  → taken back\n"),
    ],
)  # fmt: skip
def test_a_question_is_shown_in_full_and_how_it_ended(request_: Any, answered: Answered, lines: str):
    assert drawn(Asked("r", request_), answered) == lines


def test_an_approval_is_never_cut():
    command = "echo " + "x" * 5000 + "; rm -r b"
    assert f"    {command}\n" in drawn(Asked("r", Approval(RunCommand(command, "/w"), "hash")))


def test_usage_is_shown_for_each_turn_if_wanted():
    first = Usage(1, "m", input=1000, output=20, cost=0.25, context_used=1020, context_size=10_000)
    second = Usage(2, "m", input=1500, output=30, context_used=2500, context_size=10_000)
    bodies = (TurnStarted("op"), first, second, TurnEnded("done"))
    assert drawn(*bodies, usage=True) == "· 2,500 tokens in, 50 out, $0.2500, 25% of the window\n"
    assert drawn(*bodies) == ""


@pytest.mark.parametrize("evil", ["\x1b]52;c;ZXZpbA==\x07", "\x9b2J", "\u202egpj.exe", "\x08\x08\x08", "\ud800"])
def test_nothing_that_is_shown_can_steer_the_terminal(evil: str):
    reply = ItemDone(Reply(id="r", **PLACE, text=f"a{evil}b"))
    command = Asked("r", Approval(RunCommand(f"a{evil}b", "/w"), "hash"))
    output = done_call(title=f"a{evil}b", result=(Text(f"a{evil}b"),))
    seen = drawn(reply, command, output, Notice(f"a{evil}b"), TurnEnded("failed", error=f"a{evil}b"))
    assert not set("\x1b\x9b\x07\x08\u202e\ud800") & set(seen)


def test_spaces_that_do_not_break_and_signs_of_all_scripts_stay():
    words = "10\u00a0000 €, \u4f60\u597d, e\u0301, \U0001f469\u200d\U0001f680"
    assert drawn(ItemDone(Reply(id="r", **PLACE, text=words))) == f"{words}\n"


def test_colours_are_for_terminals_that_want_them():
    bodies = (done_call(title="x"), Notice("n"))
    assert drawn(*bodies, out=Screen()).startswith("\x1b[32m●\x1b[0m \x1b[1mterminal\x1b[0m  x\n")
    assert "\x1b" not in drawn(*bodies)
    assert "\x1b[3" not in drawn(*bodies, out=Screen(), environ={"NO_COLOR": "1"})
    assert "\x1b" not in drawn(*bodies, out=Screen(), environ={"TERM": "dumb"})
    assert "\x1b[32m" in drawn(*bodies, out=Screen(), environ={"NO_COLOR": ""})


def test_a_diff_is_in_colour():
    edit = done_call(files=(FileChange("/w/a.py", "edited", DIFF, 1, 1),))
    lines = drawn(edit, out=Screen()).splitlines()[1:]
    assert "    \x1b[31m-old\x1b[0m" in lines
    assert "    \x1b[32m+new\x1b[0m" in lines


def test_what_is_at_work_is_told_and_wiped_again():
    started = ToolCall(id="t", **PLACE, call_id="c", name="terminal", args="")
    bodies = (
        TurnStarted("op"),
        ItemStarted(started),
        ItemDelta("t", "args", 0, '{"command": '),
        ItemDelta("t", "args", 12, '"make"}'),
        Usage(1, "m", 1, 1),
        ItemDelta("t", "output", 0, "building\n"),
        done_call(title="make"),
    )
    glances = ("thinking …", "● terminal  make …", "● terminal  make  building")
    wiped = "".join(f"\r\x1b[K{glance}" for glance in glances)
    seen = drawn(*bodies, out=Screen(), environ={"NO_COLOR": "1"})
    assert seen == f"{wiped}\r\x1b[K● terminal  make\n\r\x1b[Kthinking …"
    assert drawn(*bodies) == "● terminal  make\n"


def test_a_thought_that_is_hidden_shows_that_the_model_thinks():
    bodies = (ItemStarted(Thought(id="h", **PLACE, text="")), ItemDelta("h", "thought", 0, "secret"))
    assert drawn(*bodies, out=Screen(), environ={"NO_COLOR": "1"}) == "\r\x1b[Kthinking …"


@pytest.mark.parametrize("columns", [40, 60])
def test_lines_fit_into_a_narrow_terminal(columns: int):
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with open(theirs, "w", closefd=False) as out:
            show = Show(out, {"NO_COLOR": "1"})
            wide = "\u4f60\u597d" * 40
            changes = (FileChange("/w/a.py", "edited", DIFF.replace("new", "n" * 200), 1, 1),)
            for body in (
                done_call(title="x" * 200, seconds=12.5, status="failed", result=(Text("y" * 200),)),
                done_call(name="mcp__files__read_everything_there_is", title=wide, result=(Text(wide),)),
                done_call(title="a.py", files=changes),
                ItemDone(Plan(id="p", **PLACE, entries=(PlanEntry("a", "z" * 200, "pending"),))),
            ):
                show.event(Event(session="s1", at=0.0, turn=1, body=body))
        seen = os.read(ours, 65536).decode().replace("\r\x1b[K", "\n")
    finally:
        os.close(ours)
        os.close(theirs)
    lines = [line for line in seen.replace("\r\n", "\n").split("\n") if line]
    assert [line for line in lines if _places(line) > columns] == []
    assert lines[0].endswith("…  failed  (12.5 s)")


def _places(line: str) -> int:
    return sum(2 if "\u4e00" <= char <= "\u9fff" else 1 for char in line)


def test_a_commands_reply_is_plain_text_with_its_code_whole():
    out = io.StringIO()
    show = Show(out)
    show.line("banner")
    show.before_prompt()
    show.before_prompt()
    show.reply("**Bold** and `code`\n````diff\n-`a`\n```\n+b\n````\nend")
    assert out.getvalue() == "banner\n\n\nBold and code\n-`a`\n```\n+b\nend\n"
