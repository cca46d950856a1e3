"""Changes to skills that are not Hermes' own: kept as proposals until a person takes or refuses them."""

import difflib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hermes import config
from hermes.learning.skills.tree import Files, hash_files
from hermes.protocol.errors import UserError


class Proposal(Struct, frozen=True, kw_only=True):
    """What a skill's folder should hold, and what it held when that was proposed."""

    id: str
    skill: str
    origin: str
    category: str
    old: dict[str, bytes]
    files: dict[str, bytes]
    diff: str
    at: float
    session: str = ""
    why: str = ""


class Pending:
    """The proposals of a home, one file each in pending/skills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self, skill: str, origin: str, category: str, old: Files, new: Files, *, session: str = "", why: str = ""
    ) -> Proposal:
        digest = hash_files(new)
        proposal = Proposal(
            id=f"{skill}-{digest[:8]}",
            skill=skill,
            origin=origin,
            category=category,
            old=old,
            files=new,
            diff=difference(old, new),
            at=time.time(),
            session=session,
            why=why,
        )
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        config.write_private(self.folder / f"{proposal.id}.json", msgspec.json.encode(proposal).decode())
        return proposal

    def all(self) -> list[Proposal]:
        """Every proposal, the oldest first; a file that is none is left alone."""
        found: list[Proposal] = []
        for path in self.folder.glob("*.json"):
            try:
                found.append(msgspec.json.decode(path.read_bytes(), type=Proposal))
            except (OSError, msgspec.MsgspecError):
                continue
        return sorted(found, key=lambda each: each.at)

    def get(self, name: str) -> Proposal:
        """By id, or by the name of a skill that has only one."""
        found = [each for each in self.all() if name in (each.id, each.skill)]
        if len(found) != 1:
            what = "nothing is proposed for" if not found else "there are several proposals for"
            raise UserError(f"{what} {name!r}", "/skills pending shows what there is")
        return found[0]

    def remove(self, proposal: Proposal) -> None:
        (self.folder / f"{proposal.id}.json").unlink(missing_ok=True)


def difference(old: Files, new: Files) -> str:
    """A unified diff of two states of a folder."""
    pieces: list[str] = []
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if before != after:
            was, is_now = ((text or b"").decode(errors="replace").splitlines() for text in (before, after))
            names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
            pieces += difflib.unified_diff(was, is_now, *names, lineterm="")
    return "\n".join(pieces)
