"""From what a review found to what is remembered. The model proposes; these rules decide.

- What the person said outright to remember is active at once, if no foreign text was in the conversation.
- What contradicts an entry in the person's own words replaces it: the newest wins, by when it was said and not by when a
  review came to read it. Words to remember that are older than an entry about the same thing wait for a person.
- What is only inferred waits until it is seen in a second review, or a person approves it.
- What a foreign text may have put in waits for a person, however often it is seen.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from hermes.learning.memory import text
from hermes.learning.memory.entries import Entries, Source
from hermes.learning.memory.scan import why_refused
from hermes.learning.memory.words import is_about_same, is_alike, words
from hermes.learning.review.detector import Signal, Wish
from hermes.learning.review.question import Delta
from hermes.protocol.memories import Memory
from hermes.protocol.targets import Target

MOST_CHARACTERS = 300


class Found(Struct, frozen=True, kw_only=True):
    """What a review has to say about a stretch of a session; `foreign` if a text from elsewhere was in it.

    `times` has when its items were said; one without a time was said just now.
    """

    session: str
    signals: tuple[Signal, ...] = ()
    wishes: tuple[Wish, ...] = ()
    deltas: tuple[Delta, ...] = ()
    foreign: bool = False
    times: dict[str, float] = {}

    def is_older(self, items: Iterable[str], row: Memory) -> bool:
        """Whether all these items were said before what an entry rests on."""
        said = max(self.times.get(item, math.inf) for item in items)
        return said < entry_time(row, self.session, self.times)


class Outcome(Struct, frozen=True):
    """What became of it, in counts."""

    kept: int = 0
    waiting: int = 0
    retired: int = 0

    @property
    def total(self) -> int:
        return self.kept + self.waiting + self.retired

    @property
    def line(self) -> str:
        """One line for the person; "" if there is nothing to tell."""
        told = [
            f"{count} {what}"
            for count, what in ((self.kept, "kept"), (self.retired, "retired"), (self.waiting, "waiting (/memory)"))
            if count
        ]
        return f"memory: {', '.join(told)}" if told else ""


def entry_time(row: Memory, session: str, times: Mapping[str, float]) -> float:
    """When the words were said that an entry rests on, where that is known, else when it was last changed."""
    return times.get(row.item, row.updated) if row.session == session else row.updated


def apply_wishes(entries: Entries, found: Found, targets: Sequence[Target]) -> Outcome:
    """Keep what the person said to remember, in their own words; what may be outdated by now waits."""
    known = [row for target in targets for row in entries.active(target)]
    kept = waiting = 0
    for one in found.wishes:
        if why_refused(one.text) or entries.was_said(found.session, one.item):
            continue
        source = Source("person", found.session, one.item)
        target: Target = "user" if "user" in targets and _is_about_person(one.text) else targets[0]
        late = any(found.is_older([one.item], row) and is_about_same(row.content, one.text) for row in known)
        state = "pending" if late else "active"
        if entries.add(target, text.clean(one.text), source, state=state, held=late) is not None:
            kept, waiting = kept + (not late), waiting + late
    return Outcome(kept, waiting)


def apply_deltas(entries: Entries, found: Found, targets: Sequence[Target]) -> Outcome:
    """Apply what a model found, as far as the rules let it."""
    said = {item for signal in found.signals if signal.kind == "remember" for item in signal.items}
    contradicted = {item for signal in found.signals if signal.kind == "correction" for item in signal.items}
    kept = waiting = retired = 0
    for delta in found.deltas:
        own = not found.foreign and bool(said.intersection(delta.evidence))
        before = len(entries.edits)
        # The time of a correction is that of the person's words, not of what else is named beside them.
        words_of_person = (said | contradicted).intersection(delta.evidence) or delta.evidence
        old = entries.get(delta.id) if delta.op != "add" else None
        if delta.op == "add":
            _add(entries, found, delta, targets, own)
        elif old is not None and not found.is_older(words_of_person, old):
            corrects = not found.foreign and bool(contradicted.intersection(delta.evidence))
            _change(entries, found, delta, old, own or corrects)
        states = {edit.after.state for edit in entries.edits[before:]}
        kept += "active" in states
        waiting += "pending" in states and "active" not in states
        retired += states == {"retired"}
    return Outcome(kept, waiting, retired)


def _add(entries: Entries, found: Found, delta: Delta, targets: Sequence[Target], own: bool) -> None:
    content = text.clean(delta.content)
    if delta.target not in targets or not _may_be_kept(content):
        return
    if any(is_alike(row.content, content) for row in entries.active(delta.target)):
        return
    alike = [row for row in entries.pending() if row.target == delta.target and is_alike(row.content, content)]
    if alike and not own:
        superseded = entries.get(alike[0].supersedes)
        if superseded is None or not found.is_older(delta.evidence, superseded):
            entries.sight(alike[0])
        return
    source = Source("review", found.session, delta.evidence[0])
    entries.add(delta.target, content, source, state="active" if own else "pending", held=found.foreign)


def _change(entries: Entries, found: Found, delta: Delta, old: Memory, own: bool) -> None:
    content = text.clean(delta.content) if delta.op == "update" else ""
    if old.state != "active" or (content and not _may_be_kept(content)):
        return
    source = Source("review", found.session, delta.evidence[0])
    if not own:
        entries.propose(old, content, source, held=found.foreign)
    elif content:
        entries.replace(old, content, source)
    else:
        entries.retire(old)


def _may_be_kept(content: str) -> bool:
    fits = len(content) <= MOST_CHARACTERS and not text.holds_separator(content)
    return fits and not why_refused(content)


def _is_about_person(content: str) -> bool:
    return bool(
        {"i", "my", "me", "i'm", "mein", "meine", "ich", "je", "mon", "ma", "mi", "yo", "我", "私"}
        & set(words(content))
    )
