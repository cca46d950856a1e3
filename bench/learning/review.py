"""What reviews cost over ordinary sessions, and what they find.

A day's work: in each session a person asks for three things, each of which takes a look at four files. In every third session
there is something to learn: the person corrects the answer. The model that reviews keeps what was corrected. A session without
a sign of anything to learn must cost no call at all. The worst that could be is told beside it: sessions of nothing but a
greeting and a correction.
"""

import random
import re
from collections.abc import AsyncIterator

import msgspec
from msgspec import Struct

from bench.learning.stage import Scene
from bench.learning.table import Line
from bench.learning.words import NOUNS, subjects, token
from hermes.learning.review.question import SYSTEM
from tests.services.gated_model import GatedModel, Task
from tests.services.request import Request
from tests.services.script import Call

ASKED, FILES = 3, 4
_entry = re.compile(r"^(\d+) \(\w+\): (.*)$", re.MULTILINE)
_said = re.compile(r"^\[(e\d+)\] person: (.*)$", re.MULTILINE)
_fact = re.compile(r"\b[Tt]he ([\w -]+?) (?:has changed, it )?is (\w+)")


class Cost(Struct, frozen=True, kw_only=True):
    """What reviews took of the tokens of some sessions, in calls too, how many things they found, and calls for nothing."""

    share: float
    calls: int
    found: int
    wasted: int


async def measure(quick: bool) -> AsyncIterator[Line]:
    count = 6 if quick else 60
    work = await review(count, every=3, asked=ASKED)
    yield Line(
        suite="review: share of all tokens",
        arm="work, something to learn in every third session",
        tasks=count,
        goal="<= 3 %",
        measured=f"{work.share:.1%}, {work.calls} calls, {work.found} things found",
        ok=work.share <= 0.03 and work.calls > 0,
    )
    yield Line(
        suite="review: calls in sessions without a sign",
        arm="the same",
        tasks=count - count // 3,
        goal="0",
        measured=str(work.wasted),
        ok=work.wasted == 0,
    )
    talk = await review(count // 3, every=1, asked=0)
    yield Line(
        suite="review: share of all tokens",
        arm="the worst: a word of greeting, then a correction, each time",
        tasks=count // 3,
        measured=f"{talk.share:.1%}, {talk.calls} calls, {talk.found} things found",
    )


async def review(count: int, *, every: int, asked: int) -> Cost:
    """What it takes to review so many sessions, in each of which so many things are looked up."""
    chance = random.Random(9)
    model = GatedModel(asides=[reviewer])
    quiet: list[str] = []
    async with Scene(model, attended=True) as scene:
        for n in range(count):
            things = subjects(chance, asked + 1)
            words = ["Good morning.", *(_prepare(scene, model, chance, thing) for thing in things[:asked])]
            if n % every == every - 1:
                words.append(f"No, that is wrong. The {things[asked]} is {token(chance)}.")
            async with scene.session() as play:
                for each in words:
                    await play.go_on(each)
            if n % every != every - 1:
                quiet.append(play.session.id)
        await scene.reviewed()
        usage = await scene.app.store.usage()
        kept = [entry for entry in await scene.app.store.memories.entries() if entry.origin == "review"]
    reviews = [row for row in usage if row.purpose == "review"]
    return Cost(
        share=sum(row.input + row.output for row in reviews) / sum(row.input + row.output for row in usage),
        calls=sum(row.calls for row in reviews),
        found=len(kept),
        wasted=sum(row.calls for row in reviews if row.session in quiet),
    )


def reviewer(request: Request) -> str | None:
    """A review that finds what the person's own lines say: new facts, and new values of known ones."""
    text = request.user_text
    if not any(SYSTEM[:60] in message["content"] for message in request.history if message["role"] != "user"):
        return None
    known = [(int(number), fact[1], fact[2]) for number, entry in _entry.findall(text) if (fact := _fact.search(entry))]
    items: list[dict[str, object]] = []
    for label, line in _said.findall(text):
        fact = _fact.search(line)
        if fact is None:
            continue
        content = f"The {fact[1]} is {fact[2]}."
        outdated = [number for number, thing, value in known if thing == fact[1] and value != fact[2]]
        items += [{"op": "update", "id": number, "content": content, "evidence": [label]} for number in outdated]
        if not any(thing == fact[1] for _, thing, _ in known):
            items.append({"op": "add", "target": "memory", "content": content, "evidence": [label]})
    return msgspec.json.encode({"items": items}).decode()


def _prepare(scene: Scene, model: GatedModel, chance: random.Random, thing: str) -> str:
    """A thing to look up, and the words that ask for it."""
    hidden = token(chance)
    names = [f"{thing.replace(' ', '-')}-{part}.txt" for part in range(FILES)]
    for name in names:
        lines = [" ".join(chance.choices(NOUNS, k=10)) for _ in range(20)]
        last = hidden if name == names[-1] else "nothing here"
        (scene.work / name).write_text("\n".join([*lines, last]) + "\n")
    words = f"Look up the {thing}."
    model.add(Task(ask=words, token=hidden, path=tuple(Call("read_file", {"path": name}) for name in names)))
    return words
