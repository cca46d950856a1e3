"""Memory as it is about to become: edits are made here, in mind, and kept together or not at all."""

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hermes.learning.memory import text
from hermes.protocol.errors import ToolError
from hermes.protocol.memories import Edit, Memory, State, Verb
from hermes.protocol.targets import Target

DAY = 86_400.0
LASTING = 30.0
"""Days without a change that weigh as much as one sighting."""
PREVIEW = 60

Origin = Literal["agent", "review", "person", "file"]


class Source(Struct, frozen=True):
    """Where an entry comes from: who wrote it, in which session, on account of which item."""

    origin: Origin
    session: str = ""
    item: str = ""


def usefulness(memory: Memory, now: float) -> float:
    """sightings + 2 * (helped - hurt) - days since the last change / 30: what makes room first has least of it."""
    age = max(0.0, now - memory.updated) / DAY
    return memory.sightings + 2 * (memory.helped - memory.hurt) - age / LASTING


class Entries:
    """The entries of both targets at one moment, and what has been done to them since. New ones have ids below zero."""

    def __init__(self, rows: Iterable[Memory], limits: Mapping[Target, int], now: float) -> None:
        self._rows = {row.id: row for row in rows}
        self._limits = limits
        self._now = now
        self._fresh: set[int] = set()
        self._edited_outside: set[int] = set()
        self.edits: list[Edit] = []

    # Looking

    def active(self, target: Target) -> list[Memory]:
        return [row for row in self._rows.values() if row.state == "active" and row.target == target]

    def pending(self) -> list[Memory]:
        return [row for row in self._rows.values() if row.state == "pending"]

    def get(self, id: int) -> Memory | None:
        return self._rows.get(id)

    def used(self, target: Target) -> tuple[int, int]:
        """Characters that a target takes up, and how many it may."""
        return text.size(row.content for row in self.active(target)), self._limits[target]

    def same(self, target: Target, content: str, *states: State) -> Memory | None:
        """An entry with this content, the newest of several."""
        wanted = text.normal(content)
        found = [r for r in self._rows.values() if r.target == target and text.normal(r.content) == wanted]
        return next((row for row in reversed(found) if row.state in states), None)

    def was_said(self, session: str, item: str) -> bool:
        """Whether a person's message has become an entry before, whatever became of that."""
        return any((r.origin, r.session, r.item) == ("person", session, item) for r in self._rows.values())

    def find(self, target: Target, old_text: str) -> Memory:
        """The one active entry that a piece of text identifies; an exact match wins. ToolError if there is none, or several."""
        wanted = old_text.strip()
        rows = self.active(target)
        if not wanted:
            raise ToolError(f"old_text must name the entry. {target} holds: {_previews(rows)}")
        if exact := [row for row in rows if row.content == wanted]:
            return exact[0]
        found = [row for row in rows if wanted in row.content]
        if not found:
            raise ToolError(f"No entry of {target} holds {wanted!r}. There is: {_previews(rows)}")
        if len(found) > 1:
            raise ToolError(f"{wanted!r} stands in {len(found)} entries of {target}; name one of: {_previews(found)}")
        return found[0]

    # Changing

    def add(
        self,
        target: Target,
        content: str,
        source: Source,
        *,
        state: State = "active",
        supersedes: int = 0,
        held: bool = False,
    ) -> Memory | None:
        """A new entry; None if an active one says just this. One that was archived or waited comes to life instead."""
        if self.same(target, content, "active"):
            return None
        self._must_fit(target, content)
        known = self.same(target, content, "archived", "pending")
        if known and state == "active" and not known.held:
            self._fresh.add(known.id)
            return self._set(known, "restore", state="active", sightings=known.sightings + 1)
        if known and known.state == "pending":
            return self._set(known, "sight", held=known.held or held)
        return self._new(target, content, source, state=state, supersedes=supersedes, held=held)

    def replace(self, old: Memory, content: str, source: Source) -> Memory | None:
        """Another entry in the place of one, which is retired: the newest wins."""
        if old.content == content:
            return None
        self.retire(old)
        return self.add(old.target, content, source, supersedes=old.id)

    def propose(self, old: Memory, content: str, source: Source, *, held: bool = True) -> Memory:
        """Let a replacement of an entry wait, or its removal if there is no content."""
        for row in self.pending():
            if row.supersedes == old.id and text.normal(row.content) == text.normal(content):
                return self.sight(row)
        self._must_fit(old.target, content)
        return self._new(old.target, content, source, state="pending", supersedes=old.id, held=held)

    def retire(self, row: Memory) -> Memory:
        return self._set(row, "retire", state="retired")

    def reject(self, row: Memory) -> Memory:
        return self._set(row, "reject", state="retired")

    def restore(self, row: Memory) -> Memory:
        """Let an archived or retired entry be active again."""
        self._must_fit(row.target, row.content)
        return self._set(row, "restore", state="active", held=False)

    def approve(self, row: Memory) -> Memory:
        """Let what waited have its effect: be active, and retire what it supersedes."""
        self._retire_superseded(row)
        if not row.content:
            return self._set(row, "approve", state="retired")
        return self._set(row, "approve", state="active", held=False)

    def sight(self, row: Memory) -> Memory:
        """It was seen once more; what waited for that, and for nobody's word, becomes active."""
        seen = self._set(row, "sight", sightings=row.sightings + 1)
        if row.state != "pending" or row.held or not row.content:
            return seen
        self._retire_superseded(row)
        return self._set(seen, "approve", state="active")

    def put_back(self, row: Memory, verb: Verb = "restore") -> Memory:
        """An entry exactly as it once was."""
        return self._keep(verb, msgspec.structs.replace(row, updated=self._now))

    def fit(self) -> list[Memory]:
        """Archive the least useful entries of a target that was added to, until the rest has room; those that went."""
        gone: list[Memory] = []
        changed: set[Target] = {edit.after.target for edit in self.edits if edit.after.state == "active"}
        for target in changed:
            spare = sorted(
                (row for row in self.active(target) if row.id not in self._edited_outside),
                key=lambda row: (row.id in self._fresh, usefulness(row, self._now), row.updated, abs(row.id)),
            )
            while spare and self.used(target)[0] > self._limits[target]:
                gone.append(self._set(spare.pop(0), "archive", state="archived"))
        return gone

    def take_in(self, target: Target, was: str, is_now: str) -> None:
        """Make the same changes that somebody made to a file, entry by entry."""
        old, new = text.split(was), text.split(is_now)
        source = Source("file")
        for kind, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            gone = [row for content in old[a:b] if (row := self.same(target, content, "active"))]
            come = [content for content in new[c:d] if content not in old]
            for row in gone:
                if row.content not in new:
                    self.retire(row)
            for place, content in enumerate(come):
                superseded = gone[place].id if len(gone) == len(come) else 0
                self._write_in(target, content, source, superseded)

    def _write_in(self, target: Target, content: str, source: Source, supersedes: int) -> None:
        """An entry that stands in the file already, however long it is."""
        if known := self.same(target, content, "archived", "pending", "retired"):
            row = self._set(known, "restore", state="active", held=False, content=content)
        elif self.same(target, content, "active"):
            return
        else:
            row = self._new(target, content, source, supersedes=supersedes)
        self._edited_outside.add(row.id)

    def _new(self, target: Target, content: str, source: Source, **more: Any) -> Memory:
        row = Memory(
            id=min([0, *self._rows]) - 1,
            target=target,
            content=content,
            origin=source.origin,
            session=source.session,
            item=source.item,
            created=self._now,
            updated=self._now,
            **more,
        )
        self._fresh.add(row.id)
        return self._keep("add", row)

    def _must_fit(self, target: Target, content: str) -> None:
        if len(content) > self._limits[target]:
            raise ToolError(
                f"This entry has {len(content):,} characters, and {target} holds {self._limits[target]:,} in all: say it shorter."
            )

    def _retire_superseded(self, row: Memory) -> None:
        old = self._rows.get(row.supersedes)
        if old is not None and old.state in ("active", "archived"):
            self.retire(old)

    def _set(self, row: Memory, verb: Verb, **changed: Any) -> Memory:
        return self._keep(verb, msgspec.structs.replace(row, **{"updated": self._now, **changed}))

    def _keep(self, verb: Verb, row: Memory) -> Memory:
        self._rows[row.id] = row
        self.edits.append(Edit(verb, row))
        return row


def _previews(rows: Iterable[Memory]) -> str:
    shown = (row.content if len(row.content) <= PREVIEW else f"{row.content[:PREVIEW]}…" for row in rows)
    return " | ".join(" ".join(each.split()) for each in shown) or "nothing"
