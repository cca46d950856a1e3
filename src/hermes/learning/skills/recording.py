"""A past turn as something to be done again: what was asked, what every call answered, and what counts as success.

A call is answered from the recording only if the recording tells what it would give now. What a command gives depends on every
change before it: the recorded result holds as soon as the changes are done that had been done then. A call on one file depends
on the changes of that file only. A recorded command that failed, or one that only looks, is taken to have changed nothing.
Whatever the recording does not tell is a divergence, and proves nothing.
"""

import posixpath
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from hermes.learning.skills.evidence import EFFECTS, work_of
from hermes.protocol.events import Event, TurnEnded, Usage
from hermes.protocol.items import Item, Reply, ToolCall, UserMessage, text_of

USABLE = ("done", "failed")
PATHS = ("path", "file_path", "workdir")
ON_ONE_FILE = ("edit", "delete", "move", "read")
Looks = Callable[[str], bool]


class Answer(Struct, frozen=True):
    """One recorded call: its key, what had to be done before it, and the call itself."""

    key: str
    after: frozenset[str]
    call: ToolCall


class Recording(Struct, frozen=True, kw_only=True):
    """One turn of a session. `changes` are the keys of calls that changed something, `check` that of the last command which
    was run after all changes and succeeded: the proof that the work was right."""

    session: str
    turn: int
    cwd: str
    model: str
    asked: tuple[UserMessage, ...]
    answers: tuple[Answer, ...]
    changes: frozenset[str]
    check: str
    reply: str
    steps: int
    tokens: int
    done: bool

    @property
    def task(self) -> str:
        return "\n".join(text_of(message.parts) for message in self.asked)

    @property
    def is_proof(self) -> bool:
        """Whether the turn ended well and something shows it."""
        return self.done and bool(self.check or self.changes or self.reply)


def record(
    session: str, turn: int, items: Sequence[Item], events: Sequence[Event], cwd: str, model: str, looks: Looks
) -> Recording:
    """A turn out of a session's items, as the model saw them, and its events."""
    calls = work_of(items, turn)
    answers: list[Answer] = []
    changed: list[tuple[str, ToolCall]] = []
    check = ""
    for call in calls:
        if call.status not in USABLE:
            continue
        name = key(call.name, call.args, cwd)
        answers.append(Answer(name, _needed(call, changed, cwd), call))
        if _changes(call, looks):
            changed.append((name, call))
            if call.kind != "execute":
                check = ""
        if call.kind == "execute" and call.status == "done" and not _only_looks(call, looks):
            check = name
    used = [event.body for event in events if event.turn == turn and isinstance(event.body, Usage)]
    spent = [usage for usage in used if not usage.purpose]
    return Recording(
        session=session,
        turn=turn,
        cwd=cwd,
        model=model,
        asked=tuple(
            item for item in items if isinstance(item, UserMessage) and item.turn == turn and item.origin != "skill"
        ),
        answers=tuple(answers),
        changes=frozenset(name for name, _ in changed),
        check=check,
        reply=next((item.text for item in reversed(items) if isinstance(item, Reply) and item.turn == turn), ""),
        steps=len(spent),
        tokens=sum(usage.input + usage.output for usage in spent),
        done=any(
            isinstance(event.body, TurnEnded) and event.body.reason == "done" for event in events if event.turn == turn
        ),
    )


class Playback:
    """Answers calls out of a recording, and knows what was done so far."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.done: set[str] = set()
        self.diverged = ""

    def answer(self, name: str, args: str) -> ToolCall | None:
        """The recorded call that tells what this one gives; None, and a divergence, if there is none."""
        wanted = key(name, args, self.recording.cwd)
        fits = [each for each in self.recording.answers if each.key == wanted and each.after <= self.done]
        if not fits:
            self.diverged = self.diverged or f"nothing is recorded about {name} {args[:120]}"
            return None
        call = max(fits, key=lambda each: len(each.after)).call
        if call.status == "done":
            self.done.add(wanted)
        return call

    @property
    def is_right(self) -> bool:
        """Whether everything that the recorded turn changed was changed, and its last check was made and passed."""
        goal = self.recording
        edits = {each.key for each in goal.answers if each.key in goal.changes and each.call.kind != "execute"}
        return edits <= self.done and (not goal.check or goal.check in self.done)

    @property
    def shows(self) -> bool:
        """Whether the recorded turn did anything by which success can be told; if not, its answer has to be compared."""
        return bool(self.recording.changes or self.recording.check)


def key(name: str, args: str, cwd: str) -> str:
    """A call in one form: spacing, the order of arguments and the spelling of paths do not count."""
    try:
        given = msgspec.json.decode(args or "{}")
    except msgspec.DecodeError:
        return f"{name} {' '.join(args.split())}"
    return f"{name} {msgspec.json.encode(_plain(given, '', cwd), order='sorted').decode()}"


def _plain(value: Any, field: str, cwd: str) -> Any:
    match value:
        case dict():
            fields = cast(dict[str, Any], value)
            return {name: _plain(each, name, cwd) for name, each in fields.items() if each not in (None, "", [])}
        case list():
            return [_plain(each, field, cwd) for each in cast(list[Any], value)]
        case str() if field in PATHS:
            return posixpath.normpath(posixpath.join(cwd, value.strip()))
        case str() if field == "command":
            return " ".join(value.split())
        case str():
            return value.strip()
        case _:
            return value


def _changes(call: ToolCall, looks: Looks) -> bool:
    return call.status == "done" and call.kind in EFFECTS and not _only_looks(call, looks)


def _only_looks(call: ToolCall, looks: Looks) -> bool:
    if call.kind != "execute":
        return False
    try:
        command = msgspec.json.decode(call.args or "{}").get("command", "")
    except (msgspec.DecodeError, AttributeError):
        return False
    return isinstance(command, str) and looks(command)


def _needed(call: ToolCall, changed: Sequence[tuple[str, ToolCall]], cwd: str) -> frozenset[str]:
    if call.kind not in ON_ONE_FILE:
        return frozenset(name for name, _ in changed)
    mine = _touched(call, cwd)
    return frozenset(name for name, before in changed if before.kind != "execute" and mine & _touched(before, cwd))


def _touched(call: ToolCall, cwd: str) -> frozenset[str]:
    """The files that a call is about, by what it changed or was told."""
    named = [file.path for file in call.files] + [location.path for location in call.locations]
    try:
        given = msgspec.json.decode(call.args or "{}")
        named += [given[field] for field in PATHS if isinstance(given.get(field), str)]
    except (msgspec.DecodeError, AttributeError):
        pass
    return frozenset(posixpath.normpath(posixpath.join(cwd, path)) for path in named)
