"""A past turn as something to be done again: what it answers, what it does not know, and what counts as success."""

import msgspec
import pytest

from hermes.learning.skills.adoption import Outcome, compare, judge, saved
from hermes.learning.skills.recording import Playback, key, record
from hermes.learning.skills.used import Tally
from hermes.protocol.events import Event, ItemDone, TurnEnded, TurnStarted, Usage
from hermes.protocol.items import CallStatus, FileChange, Kind, Text, ToolCall, UserMessage
from hermes.protocol.skills import Finding, SkillUse, Trial

LOOKS = frozenset({"ls", "cat a.py"})


def ran(command: str, status: CallStatus = "done", step: int = 1, result: str = "") -> ToolCall:
    args = msgspec.json.encode({"command": command}).decode()
    return _call("terminal", args, "execute", status, step, result)


def patched(path: str, text: str, step: int = 1, status: CallStatus = "done") -> ToolCall:
    args = msgspec.json.encode({"path": path, "new_string": text}).decode()
    call = _call("patch", args, "edit", status, step, "")
    return msgspec.structs.replace(call, files=(FileChange(path=path, change="edited"),))


def _call(name: str, args: str, kind: Kind, status: CallStatus, step: int, result: str) -> ToolCall:
    parts = (Text(result or f"{name} {step}"),)
    return ToolCall(
        id=f"c{step}",
        turn=1,
        step=step,
        index=0,
        call_id="",
        name=name,
        args=args,
        kind=kind,
        status=status,
        result=parts,
    )


def playback(*calls: ToolCall) -> Playback:
    asked = UserMessage(id="m", turn=1, step=0, index=0, parts=(Text("do it"),))
    items = [asked, *(msgspec.structs.replace(call, step=number) for number, call in enumerate(calls, 1))]
    events = [_event(Usage(step=1, model="m", input=10, output=5)), _event(TurnEnded("done"))]
    return Playback(record("s", 1, items, events, "/work", "m", LOOKS.__contains__))


def _event(body) -> Event:
    return Event(session="s", at=1.0, seq=1, turn=1, body=body)


def result(play: Playback, call: ToolCall) -> str | None:
    found = play.answer(call.name, call.args)
    if found is None:
        return None
    [part] = found.result
    assert isinstance(part, Text)
    return part.text


def test_a_call_is_the_same_however_it_is_written():
    assert key("patch", '{"path":"./a.py","x":1}', "/work") == key("patch", '{"x": 1, "path": "/work/a.py"}', "/work")
    assert key("terminal", '{"command":"make   check\\n"}', "/") == key("terminal", '{"command": "make check"}', "/")
    assert key("terminal", '{"command":"make","workdir":""}', "/") == key("terminal", '{"command":"make"}', "/")
    assert key("terminal", '{"command":"make"}', "/") != key("terminal", '{"command":"make x"}', "/")
    assert key("terminal", "not  json", "/") == "terminal not json"


def test_a_command_gives_what_it_gave_after_the_same_changes():
    play = playback(ran("pytest", "failed", result="red"), patched("a.py", "fix"), ran("pytest", result="green"))
    assert result(play, ran("pytest")) == "red"
    assert result(play, ran("pytest")) == "red"
    result(play, patched("a.py", "fix"))
    assert result(play, ran("pytest")) == "green"
    assert play.is_right


def test_steps_that_changed_nothing_can_be_left_out():
    play = playback(ran("ls"), ran("make", "failed"), ran("cat a.py"), ran("make report"), ran("make check"))
    assert result(play, ran("make report"))
    assert result(play, ran("make check"))
    assert (play.is_right, play.diverged) == (True, "")


def test_a_change_that_was_left_out_makes_what_follows_unknown():
    play = playback(ran("make one"), ran("make two"), ran("make check"))
    assert result(play, ran("make check")) is None
    assert play.diverged.startswith("nothing is recorded about terminal")


def test_edits_of_different_files_may_come_in_any_order():
    play = playback(patched("a.py", "1"), patched("b.py", "2"), patched("a.py", "3"))
    assert result(play, patched("b.py", "2"))
    assert result(play, patched("a.py", "3")) is None


@pytest.mark.parametrize("status", ["refused", "interrupted", "unknown"])
def test_a_call_that_has_no_real_answer_answers_nothing(status):
    assert result(playback(ran("make", status)), ran("make")) is None


def test_without_the_check_or_an_edit_the_task_is_not_done():
    calls = (patched("a.py", "fix"), ran("pytest", result="green"))
    play = playback(*calls)
    result(play, calls[0])
    assert not play.is_right
    result(play, calls[1])
    assert play.is_right


def test_a_turn_that_only_looked_shows_nothing_by_its_calls():
    play = playback(ran("ls"), ran("cat a.py"))
    assert not play.shows


GOOD, BAD = Outcome(True, 10, 1000), Outcome(False, 10, 1000)


@pytest.mark.parametrize(
    ("without", "with_it", "finding"),
    [
        (GOOD, Outcome(True, 8, 1000), "better"),
        (GOOD, Outcome(True, 10, 850), "better"),
        (GOOD, Outcome(True, 9, 900), "same"),
        (GOOD, Outcome(True, 12, 1200), "worse"),
        (GOOD, Outcome(False, 2, 100), "worse"),
        (BAD, Outcome(True, 5, 500), "better"),
        (BAD, Outcome(False, 5, 500), "inconclusive"),
        (GOOD, Outcome(True, 2, 100, "nothing is recorded"), "inconclusive"),
        (Outcome(True, 9, 9, "nothing is recorded"), Outcome(True, 2, 100), "inconclusive"),
        (GOOD, Outcome(None, 2, 100), "inconclusive"),
    ],
)
def test_a_skill_must_be_no_worse_and_save_15_percent(without, with_it, finding):
    assert compare(without, with_it)[0] == finding


def trial(finding: Finding, tokens: tuple[int, int] = (1000, 600)) -> Trial:
    return Trial(skill="a", version=1, session="s", turn=1, finding=finding, why="so", at=1.0, tokens=tokens)


@pytest.mark.parametrize(
    ("source", "like", "verdict"),
    [
        ("better", [], "trial"),
        ("better", ["better"], "trial"),
        ("better", ["better", "better"], "active"),
        ("better", ["better", "inconclusive"], "trial"),
        ("better", ["better", "worse"], "reject"),
        ("same", ["better", "better"], "reject"),
        ("worse", [], "reject"),
        ("inconclusive", ["better", "better"], "wait"),
    ],
)
def test_what_becomes_of_a_candidate(source, like, verdict):
    assert judge(trial(source), [trial(each) for each in like])[0] == verdict


def test_what_one_use_saves_is_the_mean_of_the_trials():
    assert saved([trial("better", (1000, 600)), trial("better", (500, 300)), trial("same", (9, 1))]) == 300
    assert saved([trial("better", (100, 900))]) == 0
    assert saved([]) == 0


VIEWED = _call("skill_view", '{"name":"report"}', "read", "done", 1, "")
VIEWED = msgspec.structs.replace(VIEWED, source="skill:report")


@pytest.mark.parametrize(
    ("calls", "reason", "counts"),
    [
        ([VIEWED, ran("make")], "done", (1, 1, 0)),
        ([VIEWED, ran("make", "failed")], "done", (1, 0, 1)),
        ([VIEWED, ran("make", "failed"), ran("make")], "done", (1, 1, 0)),
        ([VIEWED], "failed", (1, 0, 1)),
        ([VIEWED], "limit", (1, 0, 1)),
        ([VIEWED], "interrupted", (1, 0, 0)),
        ([ran("make")], "done", None),
        ([msgspec.structs.replace(VIEWED, args='{"name":"report","file_path":"references/a.md"}')], "done", None),
    ],
)
def test_use_is_counted_by_the_turn_in_which_a_skill_was_loaded(calls, reason, counts):
    tally = Tally(lambda name: (3, 70))
    assert tally.take(_event(TurnStarted("op"))) == []
    for call in calls:
        assert tally.take(_event(ItemDone(call))) == []
    used = tally.take(_event(TurnEnded(reason)))
    if counts is None:
        assert used == []
    else:
        loaded, helped, failed = counts
        wanted = SkillUse(
            skill="report", version=3, loaded=loaded, helped=helped, failed=failed, saved=70 * helped, at=1.0
        )
        assert used == [wanted]
