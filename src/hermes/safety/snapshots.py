"""Snapshots of folders on the shelf: how one is taken, found again, and thrown away."""

import asyncio
import hashlib
import os
import shutil
import stat
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from hermes.config import CheckpointSettings
from hermes.protocol.ids import new_id
from hermes.safety.shadow import GitFailed, ShadowGit, held

Counted = Callable[[int], None]
"""Hears how many files a folder has, before any of them is read."""


class Limits(Struct, frozen=True, kw_only=True):
    """How much is kept: snapshots of a folder, bytes of all of them, bytes of a file, files of a folder, days."""

    snapshots: int = 20
    total: int = 500 << 20
    file: int = 10 << 20
    files: int = 50_000
    days: float = 7.0


def limits_of(settings: CheckpointSettings) -> Limits:
    """The limits that the person has set."""
    return Limits(
        snapshots=settings.max_snapshots,
        total=settings.max_total_size_mb << 20,
        file=settings.max_file_size_mb << 20,
        days=settings.retention_days,
    )


class Note(Struct, frozen=True, kw_only=True):
    """What a snapshot says about itself.

    Without `whole` it holds only the files that were named. `skipped` were there but are not in it; `absent` were named and
    not there; `modes` are permissions that git does not keep. JSON has no bytes, so names are written as Latin-1.
    """

    folder: str
    at: float
    turn: str
    why: str
    whole: bool
    skipped: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    modes: dict[str, int] = {}


class Snapshot(Struct, frozen=True):
    """A tree of files with its note; `number` grows with each snapshot of a folder."""

    number: int
    tree: str
    note: Note


class Found(Struct):
    """What a look at a folder's files gave; `outdated` are those of which an older index says nothing any more."""

    present: list[bytes] = []
    outdated: set[bytes] = set()
    skipped: list[bytes] = []
    absent: list[bytes] = []
    modes: dict[bytes, int] = {}
    size: int = 0


def latin(name: bytes) -> str:
    return name.decode("latin-1")


def unlatin(name: str) -> bytes:
    return name.encode("latin-1")


def look_at(root: bytes, listed: Iterable[bytes], others: Iterable[bytes], most: int, since: float = 0.0) -> Found:
    """Sort names by what is there: a file or link to keep, something too large or unreadable, or nothing."""
    found = Found()
    for name in listed:
        _sort(root, name, found, most, since)
    for name in others:
        folder = os.path.join(root, os.path.dirname(name)).rstrip(b"/") or b"/"
        if b".git" in name.split(b"/"):
            found.skipped.append(name)
        elif os.path.realpath(folder) != folder:
            found.absent.append(name)
        else:
            _sort(root, name, found, most, since)
    return found


def _sort(root: bytes, name: bytes, found: Found, most: int, since: float) -> None:
    path = os.path.join(root, name)
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        found.absent.append(name)
        return
    except OSError:
        found.skipped.append(name)
        return
    if stat.S_ISLNK(status.st_mode):
        found.present.append(name)
    elif not stat.S_ISREG(status.st_mode):
        found.absent.append(name)
    elif status.st_size > most or not os.access(path, os.R_OK):
        found.skipped.append(name)
    else:
        found.present.append(name)
        found.size += status.st_size
        if status.st_ctime > since:
            found.outdated.add(name)
        if (mode := stat.S_IMODE(status.st_mode)) not in (0o644, 0o755):
            found.modes[name] = mode


class Shelf:
    """Where the snapshots of all folders are; `git.open` must have been awaited."""

    def __init__(self, git: ShadowGit, limits: Limits) -> None:
        self.git = git
        self.limits = limits

    @asynccontextmanager
    async def folder(self, root: bytes) -> AsyncIterator[None]:
        """Be the only one at work on a folder, while nobody sweeps the shelf."""
        place = self._place(root)
        place.mkdir(mode=0o700, exist_ok=True)
        async with held(self.git.store / "lock", shared=True), held(place / "lock"):
            for leftover in place.glob("part.*"):
                leftover.unlink(missing_ok=True)
            yield

    # Taking

    async def take(
        self, root: bytes, note: Note, named: Sequence[bytes], counted: Counted = lambda files: None
    ) -> tuple[Snapshot, set[bytes], str]:
        """Take a snapshot; gives it, every name that it knows about, and why it is not whole if it should have been."""
        try:
            return await self._take(root, note, named, counted)
        except GitFailed:
            # An index that does not match the objects any more is made again; if it was something else, it fails again.
            (self._place(root) / "index").unlink(missing_ok=True)
            return await self._take(root, note, named, counted)

    async def _take(
        self, root: bytes, note: Note, named: Sequence[bytes], counted: Counted
    ) -> tuple[Snapshot, set[bytes], str]:
        tree, found, why_not = await self.look(root, named, whole=note.whole, counted=counted)
        known = {*found.present, *found.skipped, *found.absent}
        note = msgspec.structs.replace(
            note,
            whole=note.whole and not why_not,
            skipped=tuple(map(latin, found.skipped)),
            absent=tuple(map(latin, sorted({*found.absent} & {*named}))),
            modes={latin(name): mode for name, mode in found.modes.items()},
        )
        return await self.save(root, tree, note), known, why_not

    async def look(
        self, root: bytes, named: Sequence[bytes], *, whole: bool, counted: Counted = lambda files: None
    ) -> tuple[str, Found, str]:
        """Store a folder's files as they are now; gives the tree, what was seen, and why it is not the whole folder."""
        why_not = ""
        if whole:
            async with self._index(root, keep=True) as index:
                seen = await self._look_at_all(root, named, index, counted)
                if isinstance(seen, Found):
                    all_new = self.is_new(root)
                    return await self.git.tree(root, index, seen.present, seen.outdated, all_new=all_new), seen, ""
                why_not = seen
        async with self._index(root, keep=False) as index:
            found = await asyncio.to_thread(look_at, root, (), named, self.limits.file)
            return await self.git.tree(root, index, found.present, ()), found, why_not

    async def _look_at_all(self, root: bytes, named: Sequence[bytes], index: Path, counted: Counted) -> Found | str:
        """Every file of a folder, those that are named included, or why that is too much."""
        listed, tracked = await asyncio.gather(self.git.names(root, self.limits.files), self.git.tracked(index))
        if listed is None:
            return f"it holds more than {self.limits.files} files"
        counted(len(listed))
        others = sorted({*tracked, *named} - {*listed})
        # Git may have been built to see no change within a second, so what is younger is read again.
        since = index.stat().st_mtime - 2 if tracked else 0.0
        found = await asyncio.to_thread(look_at, root, listed, others, self.limits.file, since)
        if found.size > self.limits.total:
            return f"it holds more than {self.limits.total >> 20} MB"
        found.outdated = {*tracked} - {*found.present} | {*tracked} & found.outdated
        return found

    async def extend(self, root: bytes, snapshot: Snapshot, named: Sequence[bytes]) -> tuple[str, Note]:
        """The tree and note of a snapshot with more files in it, as they are now."""
        found = await asyncio.to_thread(look_at, root, (), named, self.limits.file)
        async with self._index(root, keep=False) as index:
            await self.git.run("read-tree", snapshot.tree, index=index)
            tree = await self.git.tree(root, index, found.present, ())
        note = snapshot.note
        return tree, msgspec.structs.replace(
            note,
            skipped=(*note.skipped, *map(latin, found.skipped)),
            absent=(*note.absent, *map(latin, found.absent)),
            modes=note.modes | {latin(name): mode for name, mode in found.modes.items()},
        )

    @asynccontextmanager
    async def _index(self, root: bytes, *, keep: bool) -> AsyncIterator[Path]:
        """An index of this one use, begun from the folder's last one; a process that dies leaves that one as it was."""
        place = self._place(root)
        last, mine = place / "index", place / new_id("part.")
        if keep and last.exists():
            # With its time: git takes a file that is no older than the index for possibly changed.
            await asyncio.to_thread(shutil.copy2, last, mine)
        try:
            yield mine
            if keep and mine.exists():
                mine.replace(last)
        finally:
            mine.unlink(missing_ok=True)

    # The shelf itself

    async def save(self, root: bytes, tree: str, note: Note, *, over: int = 0) -> Snapshot:
        """Put a snapshot on the shelf, in place of number `over` if given; one like the newest is not put there twice."""
        numbers = self._numbers(root)
        if not over and numbers:
            newest = (await self._read(root, numbers[-1:]))[-1:]
            if newest and newest[0].tree == tree and _same(newest[0].note, note):
                os.utime(self._reference(root, newest[0].number))
                return newest[0]
        commit = await self.git.commit(tree, msgspec.json.encode(note))
        number = over or (numbers[-1] + 1 if numbers else 1)
        reference = self._reference(root, number)
        reference.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self._place(root) / new_id("part.")
        written.write_text(f"{commit}\n")
        written.replace(reference)
        for old in numbers[: max(len(numbers) + (not over) - self.limits.snapshots, 0)]:
            self._reference(root, old).unlink(missing_ok=True)
        return Snapshot(number, tree, note)

    def is_new(self, root: bytes) -> bool:
        """Whether there is no snapshot of a folder."""
        return not self._numbers(root)

    async def snapshots(self, root: bytes) -> list[Snapshot]:
        """The snapshots of a folder, oldest first."""
        return await self._read(root, self._numbers(root))

    async def _read(self, root: bytes, numbers: Sequence[int]) -> list[Snapshot]:
        hashes = [self._reference(root, number).read_text().strip() for number in numbers]
        found: list[Snapshot] = []
        for number, commit in zip(numbers, await self.git.commits(hashes), strict=True):
            if commit is not None:
                found.append(Snapshot(number, commit[0], msgspec.json.decode(commit[1], type=Note)))
        return found

    def _numbers(self, root: bytes) -> list[int]:
        folder = self._reference(root, 0).parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(name) for name in names if name.isdecimal())

    def _reference(self, root: bytes, number: int) -> Path:
        return self.git.store / "refs" / "hermes" / _key(root) / f"{number:08d}"

    def _place(self, root: bytes) -> Path:
        return self.git.store / "folders" / _key(root)

    async def sweep(self, now: float) -> int:
        """Throw away what is older or more than the limits allow; gives how many snapshots went."""
        async with held(self.git.store / "lock"):
            dropped = self._drop_old(now - self.limits.days * 86_400)
            await self.pack()
            while self.size() > self.limits.total and (spare := self._spare()):
                for reference in spare[: len(spare) // 4 + 1]:
                    reference.unlink()
                    dropped += 1
                await self.pack()
        return dropped

    async def pack(self) -> None:
        """Let go of what no snapshot holds any more; nobody else may be at work."""
        # An index may name objects that no snapshot holds any more.
        for index in self.git.store.glob("folders/*/index"):
            index.unlink()
        await self.git.run("gc", "--prune=now", "--quiet")

    def references(self) -> list[Path]:
        """One file for each snapshot of any folder, the oldest first."""
        return sorted(self.git.store.glob("refs/hermes/*/*"), key=lambda path: path.stat().st_mtime)

    def _drop_old(self, before: float) -> int:
        old = [reference for reference in self.references() if reference.stat().st_mtime < before]
        for reference in old:
            reference.unlink()
        return len(old)

    def _spare(self) -> list[Path]:
        """Every snapshot but the newest of its folder, oldest first."""
        newest = {reference.parent: reference.name for reference in sorted(self.references())}
        return [reference for reference in self.references() if newest[reference.parent] != reference.name]

    def size(self) -> int:
        """Bytes that all snapshots take up together."""
        return sum(path.stat().st_size for path in self.git.store.glob("objects/**/*") if path.is_file())


def _key(root: bytes) -> str:
    return hashlib.sha256(root).hexdigest()[:16]


def _same(one: Note, other: Note) -> bool:
    """Whether two notes say the same about the files."""
    return msgspec.structs.replace(one, at=other.at, turn=other.turn, why=other.why) == other
