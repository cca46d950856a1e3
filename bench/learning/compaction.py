"""A conversation many times as long as the window: what of it is still there, in view or one call away.

In each turn the person gives an instruction and has a page read, in the middle of which a token stands, and the model answers at
length, with another token in the middle. Then each token is asked for. The model may make one call: where the page stood and is
cut, context_expand of the reference there; where nothing stands any more, context_grep with the words of the question. Arms: a
summariser that leaves every token out, one that says nothing, one that makes tokens up.
"""

import random
import re
import time
from collections.abc import AsyncIterator
from typing import Any

from msgspec import Struct

from bench.learning.stage import Scene
from bench.learning.table import Line
from bench.learning.words import NOUNS, token
from hermes.agent.compaction import plan
from hermes.agent.history import History
from hermes.agent.session import read_history
from hermes.agent.view import length
from hermes.protocol.events import Event, ItemDone
from hermes.protocol.items import Item, Reply, Summary, Text, ToolCall, UserMessage, text_of
from tests.agent.stage import Play
from tests.services.gated_model import Aside, GatedModel, Task, Walk
from tests.services.request import Request
from tests.services.script import Call

WINDOW = 24_000
MESSAGES = 1_000
IN_PAGE = "the token of page"
_reference = re.compile(r'context_expand\(\\?"([\w-]+)\\?"\)')


class Kept(Struct, frozen=True):
    """What is left of one long conversation."""

    walk: Walk
    needles: int
    pages: int
    pages_whole: int
    instructions: int
    instructions_seen: int
    saved: float
    summaries: int
    refused: int


async def measure(quick: bool) -> AsyncIterator[Line]:
    sessions, pages = (1, 30) if quick else (3, 60)
    arms: dict[str, Aside] = {
        "summaries without the tokens": lambda request: "Done: pages were read. " * 12,
        "no summary can be made": lambda request: "",
        "summaries with made-up tokens": lambda request: (
            f"Facts found: {token(random.Random(len(request.user_text)))}. " * 8
        ),
    }
    for arm, summarise in arms.items():
        found = [await converse(number, pages, summarise) for number in range(sessions)]
        for line in _lines(arm, found):
            yield line
    took = mask_many()
    yield Line(
        suite="compaction: masking",
        arm=f"{MESSAGES:,} messages",
        tasks=1,
        goal="< 50 ms",
        measured=f"{took * 1000:.1f} ms",
        ok=took < 0.05,
    )


def _lines(arm: str, found: list[Kept]) -> list[Line]:
    needles = sum(kept.needles for kept in found)
    walk = sum((kept.walk for kept in found), Walk())
    pages, whole = sum(kept.pages for kept in found), sum(kept.pages_whole for kept in found)
    given, seen = sum(kept.instructions for kept in found), sum(kept.instructions_seen for kept in found)
    saved = min(kept.saved for kept in found)
    refused = sum(kept.refused for kept in found)
    share = walk.right / needles
    shown = f"{share:.1%}" + (f", {refused} requests refused" if refused else "")
    return [
        Line(
            suite="compaction: a needle in view or one call away",
            arm=arm,
            tasks=needles,
            walk=walk,
            goal=">= 99 %",
            measured=shown,
            ok=share >= 0.99,
        ),
        Line(
            suite="compaction: bytes recoverable",
            arm=arm,
            tasks=pages,
            goal="100 %",
            measured=f"{whole / pages:.1%}",
            ok=whole == pages,
        ),
        Line(
            suite="compaction: instructions in view",
            arm=arm,
            tasks=given,
            goal="all",
            measured=f"{seen:,} of {given:,}",
            ok=seen == given,
        ),
        Line(
            suite="compaction: saved",
            arm=arm,
            tasks=len(found),
            goal=">= 60 %",
            measured=f"{saved:.0%}, {sum(kept.summaries for kept in found)} summaries in view",
            ok=saved >= 0.6,
        ),
    ]


async def converse(seed: int, pages: int, summarise: Aside) -> Kept:
    chance = random.Random(seed)
    needles = {words: token(chance) for n in range(pages) for words in (_in_page(n), _in_reply(n))}
    texts = [_around(chance, f"{_in_page(n)} is {needles[_in_page(n)]}", 70) for n in range(pages)]
    rules = [f"Rule {n}: keep to {token(chance)}." for n in range(pages)]
    model = GatedModel([_question(words, hidden) for words, hidden in needles.items()], [summarise], WINDOW)
    async with Scene(model, window=WINDOW, agent={"api_max_retries": 0}) as scene:
        for n, text in enumerate(texts):
            (scene.work / _name(n)).write_text(text)
            says = _around(chance, f"{_in_reply(n)} is {needles[_in_reply(n)]}", 22)
            model.add(Task(ask=f"Read {_name(n)}", finish=(Call("read_file", {"path": _name(n)}),), says=says))
        async with scene.session() as play:
            for n in range(pages):
                await play.go_on(f"{rules[n]} Read {_name(n)}")
            model.walk()
            for words in needles:
                await play.go_on(f"What is {words}?")
            sent = model.prompts[-1].decode()
            walk = model.walk()
            history = await read_history(scene.app.store, play.session.id)
            read = [item for item in _originals(play) if isinstance(item, ToolCall) and item.name == "read_file"]
            everything = sum(map(length, _originals(play)))
    reachable = _reachable(history)
    return Kept(
        walk=walk,
        needles=len(needles),
        pages=pages,
        pages_whole=sum(item.id in reachable and _is_whole(history, item, texts) for item in read[:pages]),
        instructions=pages,
        instructions_seen=sum(rule in sent for rule in rules),
        saved=1 - sum(map(length, history.view())) / everything,
        summaries=sum(isinstance(item, Summary) for item in history.view()),
        refused=model.refused,
    )


def _question(words: str, hidden: str) -> Task:
    """A needle that is asked for, and the one call of a model that wants it."""

    def choose(request: Request) -> Call:
        reference = _masked(request, int(words[-3:])) if words.startswith(IN_PAGE) else ""
        if reference:
            return Call("context_expand", {"ref": reference})
        return Call("context_grep", {"pattern": words})

    return Task(ask=words, token=hidden, path=(choose,))


def _masked(request: Request, page: int) -> str:
    """The reference in the result of the call that read a page, if it is there and cut."""
    wanted = {
        call["id"]
        for message in request.history
        for call in message.get("tool_calls") or ()
        if call["function"]["name"] == "read_file" and _name(page) in call["function"]["arguments"]
    }
    for message in request.history:
        if message.get("tool_call_id") in wanted and (found := _reference.search(message["content"])):
            return found[1]
    return ""


def _around(chance: random.Random, needle: str, lines: int) -> str:
    """A text of so many lines with the needle somewhere in its middle."""
    text = [" ".join(chance.choices(NOUNS, k=12)) for _ in range(lines)]
    text.insert(chance.randrange(lines // 3, 2 * lines // 3), needle)
    return "\n".join(text) + "\n"


def _name(page: int) -> str:
    return f"page-{page:03d}.txt"


def _in_page(page: int) -> str:
    return f"{IN_PAGE} {page:03d}"


def _in_reply(page: int) -> str:
    return f"the note on page {page:03d}"


def _originals(play: Play) -> list[Item]:
    return [body.item for body in play.of(ItemDone) if not isinstance(body.item, Summary)]


def _reachable(history: History) -> set[str]:
    """What is in the view, and what is below a summary there."""
    found = {item.id for item in history.view()}
    waiting = [item for item in history.view() if isinstance(item, Summary)]
    while waiting:
        covered = [history.item(name) for name in waiting.pop().covers]
        found |= {item.id for item in covered}
        waiting += [item for item in covered if isinstance(item, Summary)]
    return found


def _is_whole(history: History, item: ToolCall, texts: list[str]) -> bool:
    """Whether a page is in the log line for line."""
    page = int(re.sub(r"\D", "", item.args))
    kept = history.item(item.id)
    assert isinstance(kept, ToolCall)
    lines = {line.partition("|")[2] for line in text_of(kept.result).splitlines()}
    return lines.issuperset(texts[page].splitlines())


def mask_many() -> float:
    """Seconds to find what to mask among many messages and to make the view anew; the best of five."""
    return min(_mask_once() for _ in range(5))


def _mask_once() -> float:
    history = History()
    for n in range(MESSAGES // 2):
        place: dict[str, Any] = {"turn": n + 1, "step": n + 1}
        said = UserMessage(id=f"u{n}", index=0, parts=(Text(f"question {n}"),), **place)
        call = ToolCall(
            id=f"c{n}", index=1, call_id=f"c{n}", name="read_file", args="{}", status="done",
            result=(Text("a line of a page\n" * 100),), **place,
        )  # fmt: skip
        for item in (said, call) if n % 10 else (said, Reply(id=f"r{n}", index=1, text="an answer", **place)):
            history.apply(Event(session="s", at=0.0, seq=None, turn=n + 1, body=ItemDone(item)))
    history.view()
    began = time.perf_counter()
    covers = plan.to_mask(history, WINDOW, plan.KEPT, 0)
    mask = Summary(id="m", turn=MESSAGES, step=MESSAGES, index=0, kind="mask", covers=covers, text="")
    history.apply(Event(session="s", at=0.0, seq=None, turn=MESSAGES, body=ItemDone(mask)))
    history.view()
    return time.perf_counter() - began
