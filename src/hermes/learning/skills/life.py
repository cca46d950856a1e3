"""What becomes of skills: approved or refused by a person, archived and restored, rolled back or aged by what they did.

draft      written, invisible
trial      helped with the task that it was made of
active     helped with others like it, or a person vouches for it
stale      not used for a month; still there
archived   not seen any more; nothing is ever deleted
"""

import asyncio
import time
from collections.abc import Callable

from msgspec import Struct

from hermes import config
from hermes.learning.skills.discover import Found
from hermes.learning.skills.pending import Pending, Proposal
from hermes.learning.skills.shelf import LOCK, Shelf
from hermes.learning.skills.tree import hash_files, overlay, put, read_files
from hermes.learning.skills.worth import wilson
from hermes.protocol.errors import UserError
from hermes.protocol.skills import VISIBLE, Decision, SkillRow, State, Version

DAY = 86_400.0
BAD = 2
"""So many failures, and more of them than of successes, and a version makes room for the one before it."""


class Ages(Struct, frozen=True):
    """After how many days without use a skill is stale, and archived."""

    stale: float = 30
    archived: float = 90


class Life:
    """Changes the state of skills. Every change is one commit; the folders follow it."""

    def __init__(self, shelf: Shelf, pending: Pending, now: Callable[[], float] = time.time) -> None:
        self.shelf = shelf
        self.pending = pending
        self._now = now

    async def approve(self, name: str) -> str:
        """Let a person vouch for a draft, for a change on the disk, or for a proposal; tells what was done."""
        await self.shelf.refresh()
        row, one = self.shelf.rows.get(name), self.shelf.found.get(name)
        if one is not None and one.trouble:
            return await self._take_in(name)
        if row is not None and row.candidate:
            version = await self._version(name, row.candidate)
            await self.shelf.store.approve(version.hash, name, self._now())
            await self._set(row, "active", version.number, version.hash)
            return f"{name} is active."
        return await self._apply(self.pending.get(name))

    async def reject(self, name: str) -> str:
        """Refuse a draft or a proposal."""
        await self.shelf.refresh()
        row = self.shelf.rows.get(name)
        if row is not None and row.candidate:
            await self._set(row, row.state if row.version else "archived", row.version, row.hash)
            return f"The draft of {name} is put away."
        self.pending.remove(proposal := self.pending.get(name))
        return f"The proposal {proposal.id} is gone."

    async def archive(self, name: str, why: str = "") -> str:
        """Hide a skill that Hermes wrote; its versions stay."""
        await self.shelf.refresh()
        if name in self.shelf.pins:
            raise UserError(f"{name} is pinned", f"hermes curator unpin {name}")
        row = self._row(name)
        await self._set(row, "archived", row.version, row.hash, why)
        return f"{name} is archived; hermes curator restore {name} brings it back."

    async def restore(self, name: str) -> str:
        """Bring an archived skill back: to where it was seen, or to a draft if it never was."""
        await self.shelf.refresh()
        row = self._row(name)
        if row.state != "archived":
            raise UserError(f"{name} is not archived", f"it is {row.state}")
        if row.version:
            await self._set(row, "active", row.version, row.hash)
            return f"{name} is active again."
        last = (await self.shelf.store.versions(name))[-1]
        await self._set(row, "draft", 0, "", candidate=last.number)
        return f"{name} is a draft again."

    async def roll_back(self, name: str, why: str) -> bool:
        """Go back to the version before; a skill that has none is archived."""
        row = self._row(name)
        good = {trial.version for trial in await self.shelf.store.trials(name) if trial.finding == "better"}
        earlier = max((number for number in good if number < row.version), default=0)
        if not earlier:
            await self._set(row, "archived", row.version, row.hash, why)
            return False
        version = await self._version(name, earlier)
        await self._set(row, "trial", earlier, version.hash, why, candidate=row.candidate)
        return True

    async def tend(self, ages: Ages) -> list[str]:
        """Archive or roll back what did not help, let what nobody uses grow stale, and what is used again come back."""
        await self.shelf.refresh()
        told: list[str] = []
        for row in [row for row in self.shelf.rows.values() if row.state in VISIBLE]:
            if row.name in self.shelf.pins:
                continue
            if await self._failed(row, told):
                continue
            idle = (self._now() - max(self.shelf.use(row.name).at, row.changed, row.created)) / DAY
            if row.state != "stale" and idle >= ages.stale:
                await self._set(row, "stale", row.version, row.hash, candidate=row.candidate, quiet=True)
                told.append(f"{row.name} was not used for {int(idle)} days: it is stale.")
            elif row.state == "stale" and self.shelf.use(row.name).at > row.changed:
                await self._set(row, "active", row.version, row.hash, candidate=row.candidate)
                told.append(f"{row.name} was used again: it is active.")
            elif row.state == "stale" and self._idle_since_use(row) >= ages.archived:
                await self._set(row, "archived", row.version, row.hash)
                told.append(f"{row.name} was not used for {int(self._idle_since_use(row))} days: it is archived.")
        return told

    async def _failed(self, row: SkillRow, told: list[str]) -> bool:
        """Whether the version that is seen did more harm than good; then another takes its place."""
        uses = {use.version: use for use in await self.shelf.store.uses() if use.skill == row.name}
        use = uses.get(row.version)
        if use is None or use.failed < BAD or use.failed <= use.helped or wilson(use.helped, use.failed)[0] > 0.5:
            return False
        why = f"it failed {use.failed} times and helped {use.helped} times"
        back = await self.roll_back(row.name, why)
        told.append(f"{row.name}: {why}: {'the version before is back' if back else 'it is archived'}.")
        return True

    def _idle_since_use(self, row: SkillRow) -> float:
        return (self._now() - max(self.shelf.use(row.name).at, row.created)) / DAY

    async def _take_in(self, name: str) -> str:
        """Allow the files of a skill as they lie there."""
        one = self.shelf.found[name]
        files = read_files(one.folder)
        digest = hash_files(files)
        await self.shelf.store.approve(digest, name, self._now())
        if one.origin == "agent":
            row = self._row(name)
            version = Version(skill=name, number=0, hash=digest, files=files, at=self._now(), by="person", why="edited")
            version = await self.shelf.store.propose(version, row.category)
            await self._set(row, row.state, version.number, digest, expected=version.number)
        await self.shelf.refresh()
        return f"{name} is allowed as it is now."

    async def _apply(self, proposal: Proposal) -> str:
        """Do what was proposed: to the skill itself in the home, else to a copy there, which wins over the other."""
        one = self.shelf.get(proposal.skill)
        there = read_files(one.folder)
        known = [
            (there.get(path), proposal.old.get(path), proposal.files.get(path)) for path in {*there, *proposal.old}
        ]
        # A file may be as proposed already: then the process that was at it before did not get to the end.
        if any(now not in (old, new) for now, old, new in known):
            raise UserError(
                f"{proposal.skill} has changed since {proposal.id} was made", f"/skills reject {proposal.id}"
            )
        await asyncio.to_thread(self._write, one, proposal)
        await self.shelf.store.approve(hash_files(proposal.files), proposal.skill, self._now())
        self.pending.remove(proposal)
        await self.shelf.refresh()
        return f"{proposal.skill} is changed as {proposal.id} proposed."

    def _write(self, one: Found, proposal: Proposal) -> None:
        self.shelf.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with config.locked(self.shelf.root / LOCK):
            if one.origin in ("user", "hub"):
                overlay(one.folder, proposal.files)
            else:
                put(self.shelf.root, proposal.category, proposal.skill, proposal.files, frozenset())

    async def _set(
        self,
        row: SkillRow,
        state: State,
        version: int,
        digest: str,
        waiting: str = "",
        *,
        candidate: int = 0,
        expected: int | None = None,
        quiet: bool = False,
    ) -> None:
        decision = Decision(
            skill=row.name,
            expected=row.candidate if expected is None else expected,
            state=state,
            version=version,
            hash=digest,
            candidate=candidate,
            waiting=waiting,
            saved=row.saved,
        )
        # What grows stale by itself has not changed: its age goes on from where it was.
        if not await self.shelf.store.decide(decision, row.changed if quiet else self._now()):
            raise UserError(f"{row.name} has changed meanwhile", "look at it again")
        await self.shelf.refresh()

    async def _version(self, name: str, number: int) -> Version:
        version = await self.shelf.store.version(name, number)
        assert version is not None
        return version

    def _row(self, name: str) -> SkillRow:
        row = self.shelf.rows.get(name)
        if row is None:
            raise UserError(f"Hermes did not write a skill {name!r}", "remove or change your own skills yourself")
        return row
