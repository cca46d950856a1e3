"""What a session knows of where its texts came from, and what the person said in this turn."""

from typing import Any

from hermes.agent.history import History
from hermes.protocol.events import Changed, Event, ItemDone, TurnStarted
from hermes.protocol.items import Item, Summary, Text, ToolCall, UserMessage


def told(*items: Item, turn: int = 1) -> History:
    """A session with these items in it, in its given turn."""
    history = History()
    bodies: list[Any] = [TurnStarted("op"), *(ItemDone(item) for item in items)]
    for seq, body in enumerate(bodies, 1):
        history.apply(Event(session="s", turn=turn, seq=seq, at=0, body=body))
    return history


def said(text: str, index: int = 0, **more: Any) -> UserMessage:
    return UserMessage(**({"id": f"u{index}", "turn": 1, "step": 0, "index": index} | more), parts=(Text(text),))


def result(source: str, trust: Any, index: int) -> ToolCall:
    place: dict[str, Any] = {"id": f"c{index}", "turn": 1, "step": 1, "index": index}
    return ToolCall(**place, source=source, trust=trust, call_id=f"c{index}", name="x", args="{}", status="done")


def test_texts_from_elsewhere_and_those_of_the_workspace_are_told_apart() -> None:
    history = told(
        said("go"),
        result("tool:read_file", "workspace", 0),
        result("mcp:mail", "untrusted", 1),
        result("tool:todo", "trusted", 2),
    )
    assert history.untrusted() == ("mcp:mail",)
    assert history.local() == ("tool:read_file",)


def test_a_summary_comes_from_wherever_all_came_from_that_it_stands_for() -> None:
    parts = [result("mcp:mail", "untrusted", 0), result("web:x", "untrusted", 1), result("tool:ls", "workspace", 2)]
    summary = Summary(
        id="s",
        turn=1,
        step=1,
        index=3,
        source="mcp:mail",
        trust="untrusted",
        kind="leaf",
        covers=("c0", "c1", "c2"),
        text="short",
    )
    history = told(said("go"), *parts, summary)
    assert [item.id for item in history.view()] == ["u0", "s"]
    assert history.untrusted() == ("mcp:mail", "web:x")
    assert history.local() == ("tool:ls",)


def test_what_was_rewound_has_no_say_any_more() -> None:
    history = told(said("go"), result("mcp:mail", "untrusted", 0))
    history.apply(Event(session="s", turn=1, seq=9, at=0, body=Changed("rewound", turns=(1, 1))))
    assert history.untrusted() == ()


def test_the_persons_words_are_those_of_this_turn_and_of_nobody_else() -> None:
    history = told(
        said("an earlier turn", 0, turn=1),
        said("remember tea", 1, turn=2),
        said("and milk", 2, turn=2, origin="redirect"),
        said("a page they quoted", 3, turn=2, trust="untrusted", source="https://x.example"),
        said("proc_1 exited", 4, turn=2, trust="workspace", origin="process"),
        said("a job they once planned", 5, turn=2, origin="cron"),
        turn=2,
    )
    assert history.said() == "remember tea\nand milk"
