"""How skills come to be and change: as drafts that nobody sees before their trial, or as proposals to the person."""

import time
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from hermes.learning.skills.evidence import Evidence
from hermes.learning.skills.near import nearest
from hermes.learning.skills.parse import FILE, Skill, check_name, parse, render
from hermes.learning.skills.pending import Pending
from hermes.learning.skills.shelf import Shelf
from hermes.learning.skills.tree import LARGEST_FILE, MOST_FILES, Files, hash_files, read_files
from hermes.protocol.errors import UserError
from hermes.protocol.skills import Version

WANTED = "a skill is kept of a verified success of 5 tool calls or more, of an error overcome, or when the person asks for one"


class Source(Struct, frozen=True):
    """Who wants a skill written or changed, why, and out of which turn of which session."""

    by: str
    session: str = ""
    turn: int = 0
    why: str = ""


class Kept(Struct, frozen=True):
    """What became of it: a draft, a new version of a skill that says the same, a proposal to the person, or nothing new."""

    outcome: Literal["draft", "patch", "proposal", "same"]
    skill: str
    text: str


class Workshop:
    """Where skills are written."""

    def __init__(self, shelf: Shelf, pending: Pending, now: Callable[[], float] = time.time) -> None:
        self.shelf = shelf
        self.pending = pending
        self._now = now

    async def create(self, skill: Skill, source: Source, evidence: Evidence) -> Kept:
        """Keep a new skill as a draft, or add what is new in it to one that says the same."""
        if not evidence.suffices:
            raise UserError("nothing was kept", WANTED)
        check_name(skill.name)
        await self.shelf.refresh()
        if skill.name in self.shelf.found or self._drafted(skill.name):
            raise UserError(f"there is a skill {skill.name} already", "patch that one, or choose another name")
        near = nearest(skill, [one.skill for one in self.shelf.found.values()])
        if near is not None:
            old = await self.files(near.skill.name)
            text = _with_news(old[FILE].decode(), skill)
            return await self.change(near.skill.name, old | {FILE: text.encode()}, source)
        await self._propose(skill.name, {FILE: render(skill).encode()}, skill.category, source)
        return Kept(
            "draft", skill.name, f"The draft {skill.name} is kept; it can be seen once a trial has shown that it helps."
        )

    async def change(self, name: str, files: Files, source: Source) -> Kept:
        """Keep a new state of a skill: of Hermes' own for a trial, of any other as a proposal."""
        skill = checked(name, files)
        old = await self.files(name)
        one = self.shelf.found.get(name)
        own = one is None or one.origin == "agent"
        if own:
            files = files | {FILE: render(skill).encode()}
        if hash_files(old) == hash_files(files):
            return Kept("same", name, f"{name} says so already: nothing was changed.")
        if one is None or own:
            row = self.shelf.rows[name]
            await self._propose(name, files, row.category, source)
            return Kept(
                "patch", name, f"The new version of {name} is kept; it is used once a trial has shown that it helps."
            )
        made = self.pending.add(
            name, one.origin, one.skill.category, old, files, session=source.session, why=source.why
        )
        return Kept("proposal", name, f"{name} is not Hermes' own: the change is proposed to the person as {made.id}.")

    async def files(self, name: str) -> Files:
        """The files that a change of a skill starts from: of its newest draft, else as they lie there."""
        row = self.shelf.rows.get(name)
        if row is not None and row.candidate:
            version = await self.shelf.store.version(name, row.candidate)
            return version.files if version else {}
        return read_files(self.shelf.get(name).folder)

    async def _propose(self, name: str, files: Files, category: str, source: Source) -> None:
        version = Version(
            skill=name,
            number=0,
            hash=hash_files(files),
            files=files,
            at=self._now(),
            by=source.by,
            why=source.why,
            session=source.session,
            turn=source.turn,
        )
        await self.shelf.store.propose(version, category)
        await self.shelf.refresh()

    def _drafted(self, name: str) -> bool:
        row = self.shelf.rows.get(name)
        return row is not None and row.state != "archived"


async def propose(workshop: Workshop, skill: Skill, source: Source, evidence: Evidence) -> Kept | None:
    """A skill that a review wants kept; None if there is no reason for one, or it cannot be written."""
    try:
        return await workshop.create(skill, source, evidence)
    except UserError:
        return None


def checked(name: str, files: Files) -> Skill:
    """The skill that these files are; UserError if they are none."""
    text = files.get(FILE)
    if text is None:
        raise UserError(f"{FILE} must stay", "delete the whole skill instead")
    if len(files) > MOST_FILES or any(len(data) > LARGEST_FILE for data in files.values()):
        raise UserError("the skill is too large", f"{MOST_FILES} files of 1 MiB at most")
    try:
        skill = parse(text.decode(), name)
    except UnicodeDecodeError:
        raise UserError(f"{FILE} is not UTF-8", "write it as text") from None
    if skill.name != name:
        raise UserError(f"the name in {FILE} is {skill.name}", f"it must stay {name}")
    return skill


def _with_news(text: str, new: Skill) -> str:
    """The text of a skill with those lines of a like one that it does not have yet, under what that one is about."""
    known = {" ".join(line.lower().split()) for line in text.splitlines()}
    news = [line for line in new.body.splitlines() if " ".join(line.lower().split()) not in known]
    if not any(line.strip() and not line.startswith("#") for line in news):
        return text
    return f"{text.rstrip()}\n\n## {new.description}\n\n" + "\n".join(news).strip() + "\n"
