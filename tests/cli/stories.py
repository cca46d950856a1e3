"""Sessions for the commands that read them, written into a store as a session would have."""

from pathlib import Path

from hermes.protocol.events import (
    Body,
    Changed,
    Event,
    ItemDone,
    ItemStarted,
    SessionClosed,
    SessionOpened,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
)
from hermes.protocol.items import FileChange, Plan, PlanEntry, Reply, Text, Thought, ToolCall, UserMessage
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore

MODEL = "openrouter:anthropic/claude-sonnet-5.5"
BEGAN = 1_790_000_000.0

ASKED = UserMessage(id="i1", turn=1, step=0, index=0, parts=(Text("What does a.txt say?"),))
THOUGHT = Thought(id="i2", turn=1, step=1, index=0, text="I must read it.")
READ = ToolCall(
    id="i3",
    turn=1,
    step=1,
    index=1,
    call_id="c1",
    name="read_file",
    args='{"path":"a.txt"}',
    kind="read",
    title="a.txt",
    status="done",
    result=(Text("1|hello\n2|```\n3|world"),),
)
PATCHED = ToolCall(
    id="i4",
    turn=1,
    step=1,
    index=2,
    call_id="c2",
    name="patch",
    args='{"path":"b.txt"}',
    kind="edit",
    title="b.txt",
    status="failed",
    result=(Text("no such file\x1b[31m"),),
    files=(FileChange("b.txt", "edited", diff="--- b.txt\n+++ b.txt\n"),),
)
PLAN = Plan(id="i5", turn=1, step=1, index=3, entries=(PlanEntry("1", "read", "completed"),))
ANSWER = Reply(id="i6", turn=1, step=2, index=0, text="It says hello.")
AGAIN = UserMessage(id="i7", turn=2, step=2, index=1, parts=(Text("Forget this"),))
LAST = UserMessage(id="i8", turn=3, step=2, index=2, parts=(Text("And b.txt?"),))


def story(title: str = "What does a.txt say?", cost: float | None = 0.0125) -> list[tuple[int, Body]]:
    """Three turns: one that was answered, one taken back, one that failed."""
    return [
        (0, SessionOpened(source="cli", model=MODEL, cwd="/project", version="1")),
        (1, TurnStarted("op1")),
        (1, ItemDone(ASKED)),
        (1, Changed("title", title=title)),
        (1, ItemStarted(THOUGHT)),
        (1, ItemDone(THOUGHT)),
        (1, ItemDone(PATCHED)),
        (1, ItemDone(READ)),
        (1, ItemDone(PLAN)),
        (1, Usage(step=1, model=MODEL, input=12_000, output=300, cost=cost)),
        (1, ItemDone(ANSWER)),
        (1, TurnEnded("done")),
        (2, TurnStarted("op2")),
        (2, ItemDone(AGAIN)),
        (2, TurnEnded("interrupted")),
        (2, Changed("rewound", turns=(2, 2))),
        (3, TurnStarted("op3")),
        (3, ItemDone(LAST)),
        (3, Unknown(b'{"event":"of_tomorrow","with":"\xc3\xbc"}')),
        (3, TurnEnded("failed", error="the provider is overloaded")),
        (3, SessionClosed("done")),
    ]


async def store_story(
    home: Path,
    name: str,
    bodies: list[tuple[int, Body]],
    *,
    began: float = BEGAN,
    source: str = "cli",
    open_in: str = "",
) -> list[Event]:
    """Write a session that nobody has open, unless `open_in` names a process."""
    owner = open_in or this_process()
    events = [
        Event(session=name, at=began + n / 10, seq=n + 1, turn=turn, body=body) for n, (turn, body) in enumerate(bodies)
    ]
    async with SqliteStore(home / "state.db") as store:
        row = SessionRow(id=name, source=source, model=MODEL, cwd="/project", started=began)
        await store.create(row, Batch(events=tuple(events)), owner)
        if not open_in:
            await store.release(name, owner)
    return events
