"""Any transcript through compaction: valid pairs, every source reachable, every instruction kept, nothing to do the second time."""

import time

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.agent.compaction import plan
from hermes.agent.compaction.leaf import leaf
from hermes.agent.compaction.plan import Span
from hermes.agent.history import History
from hermes.agent.view import LONG_MESSAGE, length
from hermes.protocol.events import Changed, Event, ItemDone, TurnEnded, TurnStarted
from hermes.protocol.items import (
    Item,
    Origin,
    Plan,
    PlanEntry,
    Reply,
    Summary,
    Text,
    Thought,
    ToolCall,
    UserMessage,
    text_of,
)

WINDOW = 8_000
words = st.text("ab cd\n", min_size=1, max_size=40)
sizes = st.sampled_from([1, 5, 40, 400, 3_000])


@st.composite
def transcripts(draw: st.DrawFn) -> list[list[tuple[str, str, int]]]:
    """Turns, each a list of what happened: kind, text, and how often the text is repeated."""
    kinds = st.sampled_from(["call", "call", "call", "reply", "thought", "redirect", "todo"])
    event = st.tuples(kinds, words, sizes)
    return draw(st.lists(st.lists(event, max_size=6), min_size=1, max_size=8))


class Log:
    """A history that is written as a session would write it."""

    def __init__(self) -> None:
        self.history = History()
        self.items: dict[str, Item] = {}
        self.seq = 0

    def note(self, body) -> None:
        self.seq += 1
        if isinstance(body, TurnStarted):
            self.history.turn += 1
        self.history.apply(Event(session="s", at=0, seq=self.seq, turn=self.history.turn, body=body))
        if isinstance(body, ItemDone):
            self.items[body.item.id] = body.item

    def place(self, new_step: bool = False) -> dict:
        history = self.history
        step = history.step + new_step
        return {
            "id": f"{len(self.items):012x}",
            "turn": history.turn,
            "step": step,
            "index": 0 if new_step else history.next_index(),
        }

    def say(self, text: str, origin: Origin = "person") -> None:
        self.note(ItemDone(UserMessage(**self.place(), parts=(Text(text),), origin=origin)))

    def play(self, turns: list[list[tuple[str, str, int]]]) -> None:
        for number, turn in enumerate(turns):
            self.note(TurnStarted(f"op{number}"))
            self.say(f"instruction {number}: " + "do this " * (3_000 if number % 3 == 2 else 5))
            for kind, word, times in turn:
                text = word * times
                match kind:
                    case "call" | "todo":
                        name = "todo" if kind == "todo" else "terminal"
                        call = ToolCall(
                            **self.place(new_step=True),
                            call_id=f"call{len(self.items)}",
                            name=name,
                            args=msgspec.json.encode({"command": text}).decode(),
                            status="done",
                            result=(Text(text * 2),),
                            source=f"tool:{name}",
                            trust="workspace",
                        )
                        if kind == "todo":
                            entries = (PlanEntry("1", "x", "pending"),)
                            self.note(ItemDone(Plan(**self.place(), entries=entries, source="tool:todo")))
                        self.note(ItemDone(call))
                    case "reply":
                        self.note(ItemDone(Reply(**self.place(new_step=True), text=text)))
                    case "thought":
                        self.note(ItemDone(Thought(**self.place(new_step=True), text=text)))
                    case "redirect":
                        self.say(f"redirect {text}", origin="redirect")
            self.note(ItemDone(Reply(**self.place(new_step=True), text=f"answer {number}")))
            self.note(TurnEnded("done"))

    def compact(self, summary: str, window: int = WINDOW) -> list[Summary]:
        made: list[Summary] = []
        if covers := plan.to_mask(self.history, window, plan.KEPT, 0):
            mask = Summary(**self.place(), kind="mask", covers=covers, text="")
            made.append(mask)
            self.note(ItemDone(mask))
        found = plan.spans(self.history, window, plan.KEPT, 0)
        found += plan.crowds(self.history)
        for span in found:
            place = self.place()
            del place["id"]
            if (item := leaf(span, summary, **place)) is not None:
                made.append(item)
                self.note(ItemDone(item))
        return made


def reachable(log: Log) -> set[str]:
    """Every item that is in the view, or behind something there."""
    found: set[str] = set()
    todo = [item.id for item in log.history.view()]
    while todo:
        name = todo.pop()
        found.add(name)
        item = log.items[name]
        if isinstance(item, Summary):
            todo += item.covers
    return found


def check(log: Log, before: int) -> None:
    view = log.history.view()
    wanted = {item.id for item in log.items.values() if not isinstance(item, Plan | Summary)}
    assert reachable(log) >= wanted, "every source can be reached"
    said = {item.id: item for item in view if isinstance(item, UserMessage)}
    for item in log.items.values():
        if isinstance(item, UserMessage):
            text = text_of(item.parts)
            kept = text_of(said[item.id].parts)
            assert kept == text or (len(text) > LONG_MESSAGE and kept.startswith(text[:2_000])), (
                "every instruction is kept"
            )
    assert [item.step for item in view if not isinstance(item, Summary)] == sorted(
        item.step for item in view if not isinstance(item, Summary)
    )
    assert sum(map(length, view)) <= before
    if log.history.plan_call:
        assert log.items[log.history.plan_call] in view, "the plan is as it was"
    for item in view:
        if isinstance(item, ToolCall):
            msgspec.json.decode(item.args)
            assert item.result


def run(turns: list[list[tuple[str, str, int]]], summary: str) -> None:
    summary = summary * 10_000 if summary == "never ends" else summary
    log = Log()
    log.play(turns)
    before = sum(map(length, log.history.view()))
    log.compact(summary)
    check(log, before)
    for _ in range(4):  # leaves of one round become a node in the next
        log.compact(summary)
        check(log, before)
    assert log.compact(summary) == [], "there is nothing to do the second time"
    again = History()
    for number, item in enumerate(log.items.values(), 1):
        again.apply(Event(session="s", at=0, seq=number, turn=item.turn, body=ItemDone(item)))
    assert again.view() == log.history.view(), "the view is a function of the log"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(transcripts(), st.sampled_from(["short summary", "", "never ends"]))
def test_any_transcript_stays_valid_whole_and_steady(turns, summary):
    run(turns, summary)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(transcripts(), st.sampled_from(["short summary", "", "never ends"]))
def test_ten_thousand_transcripts_stay_valid_whole_and_steady(turns, summary):
    run(turns, summary)


def long_log(steps: int, size: int = 4_000) -> Log:
    log = Log()
    log.play([[("call", f"{n} result " + "x" * size, 1)] for n in range(steps)])
    return log


def test_masking_a_thousand_messages_takes_less_than_fifty_milliseconds():
    log = long_log(1_000, 2_000)
    began = time.process_time()
    covers = plan.to_mask(log.history, 200_000, plan.KEPT, 0)
    log.note(ItemDone(Summary(**log.place(), kind="mask", covers=covers, text="")))
    log.history.view()
    assert len(covers) > 500
    assert time.process_time() - began < 0.25, "far below what a person would notice, also on a busy machine"


def test_a_long_session_shrinks_by_more_than_half():
    log = long_log(60)
    before = sum(map(length, log.history.view()))
    log.compact("what was done, in a few words. " * 20, window=60_000)
    assert sum(map(length, log.history.view())) < before * 0.4


def test_many_leaves_become_one_node_and_all_stay_reachable():
    log = long_log(300, 8_000)
    for _ in range(6):
        log.compact("what was done. " * 10, window=40_000)
    kinds = [item.kind for item in log.history.view() if isinstance(item, Summary)]
    assert "node" in kinds and len(kinds) < 3 * (plan.TOGETHER + plan.LEFT_ALONE)
    check(log, 10**9)


def test_a_summary_of_untrusted_things_is_untrusted():
    log = long_log(4)
    item = next(item for item in log.items.values() if isinstance(item, ToolCall))
    page = msgspec.structs.replace(item, trust="untrusted", source="web:evil.example")
    made = leaf(Span((page, item)), "ok", turn=1, step=1, index=1)
    assert made is not None and (made.trust, made.source) == ("untrusted", "web:evil.example")


def test_a_summary_that_is_hardly_shorter_is_thrown_away():
    log = long_log(2, 500)
    item = next(item for item in log.items.values() if isinstance(item, ToolCall))
    assert leaf(Span((item,)), "y" * 5_000, turn=1, step=1, index=1) is None


def test_rewinding_brings_the_originals_back():
    log = long_log(30)
    before = log.history.view()
    log.note(TurnStarted("op"))
    log.compact("short", window=20_000)
    assert log.history.view() != before
    log.note(Changed("rewound", turns=(log.history.turn, log.history.turn)))
    assert log.history.view() == before
