"""Brings a skill from elsewhere into the home: copied into quarantine, scanned, pinned, then put in place. Nothing of it is run.

Whatever is killed leaves nothing half visible: a folder appears by one rename, after its pin is on disk, and what a pin
promises but is not in its place is put there from the quarantine by whoever comes next. Everything here blocks.
"""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hermes.config import took_lock
from hermes.learning.skills.lock import Lock, Pin, Trust
from hermes.learning.skills.parse import FILE, Skill, check_name, read_skill
from hermes.learning.skills.scan import Judge, Scan, scan
from hermes.learning.skills.tree import Files, hash_files, hash_folder, read_files, take_away, write_files
from hermes.protocol.errors import UserError

QUARANTINE = "quarantine"
CHECKED = "checked"
BEFORE = "before"
DEEPEST = 5
LOOKED_AT = 5_000


class Candidate(Struct, frozen=True, kw_only=True):
    """A skill in quarantine that was scanned and can be installed, or not."""

    skill: Skill
    folder: Path
    files: tuple[str, ...]
    hash: str
    scan: Scan
    source: str
    trust: Trust
    revision: str = ""


@contextmanager
def quarantined(lock: Lock) -> Iterator[Path]:
    """A folder of one's own that no session looks into; it is gone afterwards, whatever happens."""
    with lock.holding():
        folder, handle = _room(lock)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def skills_in(folder: Path) -> dict[str, Path]:
    """Every skill at or below a folder, by its path from there; "" is the folder itself."""
    found: dict[str, Path] = {}
    for looked, (where, folders, names) in enumerate(os.walk(folder)):
        here = Path(where).relative_to(folder)
        if FILE in names:
            found["" if here == Path() else here.as_posix()] = Path(where)
            folders.clear()
        folders[:] = sorted(name for name in folders if name != ".git") if len(here.parts) < DEEPEST else []
        if looked > LOOKED_AT:
            break
    return found


def pick(folder: Path, wanted: str) -> Path:
    """The skill that is meant by its path or its name; UserError names those that there are."""
    found = skills_in(folder)
    if wanted in found:
        return found[wanted]
    named = [path for place, path in found.items() if wanted and place.rpartition("/")[2] == wanted]
    if len(named) == 1:
        return named[0]
    if not wanted and len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise UserError("there is no SKILL.md", "a skill is a folder with one")
    names = ", ".join(sorted(place.rpartition("/")[2] for place in found)[:12])
    raise UserError(f"there is no skill {wanted!r}" if wanted else "there are several skills", f"name one of {names}")


def take_in(
    room: Path, folder: Path, *, source: str, trust: Trust, revision: str = "", judge: Judge | None = None
) -> Candidate:
    """Copy the plain files of a skill into a quarantine and scan them there."""
    files = _copied(folder, room / "copy")
    staged = room / "staged"
    write_files(staged, files)
    skill = _named(read_skill(staged), folder.name)
    target = room / CHECKED / skill.name
    target.parent.mkdir()
    staged.rename(target)
    return Candidate(
        skill=skill,
        folder=target,
        files=tuple(sorted(files)),
        hash=hash_files(files),
        scan=scan(target, judge),
        source=source,
        trust=trust,
        revision=revision,
    )


def refuse(candidate: Candidate, *, force: bool) -> None:
    """UserError if this may not be installed: dangerous never, what is odd only from a trusted source or by force."""
    name, found = candidate.skill.name, candidate.scan.findings
    worst = next((each for each in found if each.severity == candidate.scan.verdict), None)
    why = f"{worst.file or name}: it {worst.what}" if worst else ""
    if candidate.scan.verdict == "dangerous":
        raise UserError(
            f"{name} is dangerous and was not installed ({why})",
            "hermes skills inspect shows all; --force does not help",
        )
    if candidate.scan.verdict == "caution" and candidate.trust == "community" and not force:
        raise UserError(
            f"{name} has something odd and was not installed ({why})",
            "look with hermes skills inspect; --force installs it",
        )


def install(lock: Lock, candidate: Candidate, *, category: str = "", force: bool = False, discard: bool = False) -> Pin:
    """Put a candidate in its place, or in that of its earlier version. UserError if it may not be, or if it would hide another.

    `force` takes what is odd, `discard` takes the place of files that were changed here: those go to .archive.
    """
    name = candidate.skill.name
    try:
        refuse(candidate, force=force)
    except UserError:
        lock.note("refused", name, source=candidate.source, verdict=candidate.scan.verdict, hash=candidate.hash)
        raise
    with lock.holding():
        sweep(lock)
        pins = lock.read()
        before = pins.get(name)
        place = before.place if before else _place(category or candidate.skill.category, name)
        target = lock.root / place
        if before is None:
            _check_free(lock.root, name)
        elif os.path.lexists(target):
            _set_aside(lock, target, before, candidate.folder.parents[1] / BEFORE / name, discard=discard)
        pin = Pin(
            source=candidate.source,
            place=place,
            hash=candidate.hash,
            trust=candidate.trust,
            verdict=candidate.scan.verdict,
            at=time.time(),
            revision=candidate.revision,
        )
        lock.write(pins | {name: pin})
        target.parent.mkdir(parents=True, exist_ok=True)
        candidate.folder.rename(target)
        lock.note("updated" if before else "installed", name, source=pin.source, verdict=pin.verdict, hash=pin.hash)
    return pin


def uninstall(lock: Lock, name: str) -> Pin:
    """Take an installed skill away; if its files were changed here they go to .archive."""
    with lock.holding():
        sweep(lock)
        pins = lock.read()
        pin = pins.pop(name, None)
        if pin is None:
            raise UserError(f"{name} was not installed from anywhere", "hermes skills list shows what was")
        room, handle = _room(lock)
        try:
            if os.path.lexists(lock.root / pin.place):
                _set_aside(lock, lock.root / pin.place, pin, room / BEFORE / name, discard=True)
            lock.write(pins)
            shutil.rmtree(room)
        finally:
            os.close(handle)
        lock.note("uninstalled", name, source=pin.source, hash=pin.hash)
    return pin


def sweep(lock: Lock) -> None:
    """Finish what a killed process left, for whoever is holding the lock: pinned files go to their place, the rest goes."""
    abandoned = [folder for folder in _rooms(lock) if _is_nobodys(folder)]
    if not abandoned:
        return
    missing = {pin.hash: lock.root / pin.place for pin in lock.read().values() if not (lock.root / pin.place).exists()}
    for room in abandoned:
        for folder in [*(room / CHECKED).glob("*"), *(room / BEFORE).glob("*")]:
            digest = _hash(folder)
            if digest in missing:
                target = missing.pop(digest)
                target.parent.mkdir(parents=True, exist_ok=True)
                folder.rename(target)
                lock.note("recovered", target.name, hash=digest)
        shutil.rmtree(room, ignore_errors=True)


def state_of(lock: Lock, pin: Pin, approved: Collection[str] = ()) -> str:
    """How an installed skill is now: ok, changed (and therefore off), allowed (changed, which a person approved) or missing."""
    folder = lock.root / pin.place
    if not folder.is_dir():
        return "missing"
    found = _hash(folder)
    if found == pin.hash:
        return "ok"
    return "allowed" if found in approved else "changed"


def _room(lock: Lock) -> tuple[Path, int]:
    """A new quarantine and the handle that says it is in use."""
    folder = lock.hub / QUARANTINE / secrets.token_hex(6)
    folder.mkdir(parents=True, mode=0o700)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return folder, handle


def _copied(folder: Path, copy: Path) -> Files:
    """The files of a skill as they were at one moment, without what git and Python keep beside them."""
    try:
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__", ".DS_Store"))
    except (OSError, shutil.Error) as error:
        raise UserError(f"{folder} cannot be copied: {error}", "a skill has plain files only") from None
    try:
        return read_files(copy)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _named(skill: Skill, folder: str) -> Skill:
    """A skill without a name of its own was called after the folder that it was copied to."""
    return skill if skill.name != "staged" else replace(skill, name=folder)


def _set_aside(lock: Lock, target: Path, pin: Pin, room: Path, *, discard: bool) -> None:
    if _hash(target) == pin.hash:
        room.parent.mkdir(exist_ok=True)
        target.rename(room)
    elif discard:
        take_away(lock.root, target, frozenset())
    else:
        name = target.name
        raise UserError(
            f"{name} was changed here", f"hermes skills diff {name} shows how; hermes skills reset {name} undoes it"
        )


def _check_free(root: Path, name: str) -> None:
    """A name that is taken by a skill that was not installed stays with it."""
    for folder in skills_in(root).values():
        hidden = folder.relative_to(root).parts[0].startswith(".")
        if not hidden and folder.name == name:
            raise UserError(f"there is already a skill {name} in {folder}", "rename or remove it first")


def _place(category: str, name: str) -> str:
    parts = [part for part in category.lower().split("/") if part]
    for part in parts:
        check_name(part)
    return "/".join([*parts[:1], name])


def _rooms(lock: Lock) -> list[Path]:
    folder = lock.hub / QUARANTINE
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_nobodys(folder: Path) -> bool:
    """Whether the process that made a quarantine has ended: the system drops the lock of a killed one."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return took_lock(handle)
    finally:
        os.close(handle)


def _hash(folder: Path) -> str:
    try:
        return hash_folder(folder)
    except (OSError, UserError):
        return ""
