"""Checkpoints: what a folder looked like before a turn first changed it, and the way back.

What git would ignore is not taken along wholesale, but a file that is named as about to change is kept whatever it is. A
rollback takes a snapshot first: every byte that it overwrites or removes is in there.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hermes.protocol.errors import ToolError, UserError
from hermes.safety.places import inside
from hermes.safety.rollback import Restored, Way
from hermes.safety.shadow import GitFailed, ShadowGit
from hermes.safety.snapshots import Counted, Limits, Note, Shelf, Snapshot, latin, unlatin

_DIFF = ("diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv")
_NO_GIT = "git is not installed, so changes cannot be rolled back"


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A snapshot as people see it; number 1 is the newest."""

    number: int
    at: float
    turn: str
    why: str


class _Taken(Struct):
    """The snapshot of the running turn, whether the whole folder was asked for, and the names that it knows about."""

    turn: str
    whole: bool
    snapshot: Snapshot
    known: set[bytes]


class Checkpoints:
    """Checkpoints of one session's folders, on a shelf under `home` that all sessions share.

    `search_path` says where git is; `notice` gets a line for the person, once for each thing that cannot be rolled back,
    and one while a checkpoint takes longer than `patience` seconds.
    """

    def __init__(
        self,
        home: str,
        user_home: str,
        search_path: str,
        *,
        notice: Callable[[str], None] = lambda text: None,
        limits: Limits | None = None,
        patience: float = 1.0,
    ) -> None:
        self._git = ShadowGit(Path(home), search_path)
        self._limits = limits or Limits()
        self._shelf = Shelf(self._git, self._limits)
        self._user_home = user_home
        self._notice = notice
        self._patience = patience
        self._noticed: set[str] = set()
        self._taken: dict[bytes, _Taken] = {}

    def not_undoable(self, path: str) -> str:
        """Why a change to this path could not be rolled back; empty if it can."""
        if self._git.program is None:
            return _NO_GIT
        if os.path.isfile(path) and os.path.getsize(path) > self._limits.file:
            return f"{path} is larger than {self._limits.file >> 20} MB, so a change to it cannot be rolled back"
        return ""

    # Before a change

    async def before_changes(self, paths: Sequence[str], workspace: str, turn: str) -> None:
        """Keep what these paths hold: the whole workspace for those in it, else the folder or file that is named."""
        inner = [path for path in paths if inside(path, workspace)]
        if inner:
            await self.before_change(workspace, turn, inner)
        for path in paths:
            if path in inner:
                continue
            if await asyncio.to_thread(os.path.isdir, path):
                await self.before_change(path, turn)
            else:
                folder = await asyncio.to_thread(_nearest_folder, path)
                await self.before_change(folder, turn, [path], whole=False)

    async def before_change(self, folder: str, turn: str, paths: Sequence[str] = (), *, whole: bool = True) -> None:
        """Take a snapshot unless this turn has one of this folder; `paths`, absolute and real, are in it in any case."""
        root = os.fsencode(os.path.realpath(folder))
        files = [os.fsencode(path) for path in paths if os.path.islink(path) or not os.path.isdir(path)]
        names = [name for path in files if (name := _name(root, path))]
        taken = self._taken_in(root, turn, whole=whole)
        if taken and taken.known.issuperset(names):
            return
        if self._git.program is None:
            self._say(f"{_NO_GIT}: install git to get checkpoints")
            return
        try:
            async with self._at_work(root):
                # Writes of one step come together: whoever waited finds what the first of them has taken.
                if taken := self._taken_in(root, turn, whole=whole):
                    await self._extend(root, taken, names)
                else:
                    await self._take(root, turn, names, whole=whole)
        except (GitFailed, OSError) as error:
            raise ToolError(
                f"nothing was changed, for the checkpoint before it failed: {error}. "
                "The person can make room on the disk, or switch checkpoints off in the settings."
            ) from error

    def _taken_in(self, root: bytes, turn: str, *, whole: bool) -> _Taken | None:
        """The snapshot that this turn has of a folder."""
        taken = self._taken.get(root)
        return taken if taken and taken.turn == turn and (taken.whole or not whole) else None

    async def _take(self, root: bytes, turn: str, names: Sequence[bytes], *, whole: bool) -> None:
        note = self._note(root, turn, "before a change", whole=whole)
        with self._sign_of_life(root) as counted:
            snapshot, known, why_not = await self._shelf.take(root, note, names, counted)
        self._taken[root] = _Taken(turn, whole, snapshot, known)
        where = os.fsdecode(root)
        if why_not:
            self._say(f"{where} is not checkpointed as a whole, for {why_not}; files that Hermes writes itself are")
        for name in set(names) & {*map(unlatin, snapshot.note.skipped)}:
            self._say(f"{os.path.join(where, os.fsdecode(name))} is not in the checkpoint")

    async def _extend(self, root: bytes, taken: _Taken, names: Sequence[bytes]) -> None:
        """Add files that git ignores, and so the snapshot of the whole passed over; others came into being since."""
        new = [name for name in names if name not in taken.known]
        missing = await self._git.ignored(root, new) if taken.snapshot.note.whole else set(new)
        if missing:
            tree, note = await self._shelf.extend(root, taken.snapshot, sorted(missing))
            own = note.turn == taken.turn
            note = replace(note, at=time.time(), turn=taken.turn)
            taken.snapshot = await self._shelf.save(root, tree, note, over=taken.snapshot.number if own else 0)
        taken.known.update(new)

    @contextmanager
    def _sign_of_life(self, root: bytes) -> Iterator[Counted]:
        """Say what is at work if it lasts; gives what is told the number of files as soon as it is known."""
        count = 0
        which = "the first checkpoint" if (first := self._shelf.is_new(root)) else "a checkpoint"

        def counted(files: int) -> None:
            nonlocal count
            count = files

        def say() -> None:
            size = f": {count:,} {'file' if count == 1 else 'files'}" if count else ""
            self._say(f"taking {which} of {os.fsdecode(root)}{size}{', once' if first else ''}")

        timer = asyncio.get_running_loop().call_later(self._patience, say)
        try:
            yield counted
        finally:
            timer.cancel()

    @asynccontextmanager
    async def _at_work(self, root: bytes) -> AsyncIterator[None]:
        await self._git.open()
        async with self._shelf.folder(root):
            yield

    def _note(self, root: bytes, turn: str, why: str, *, whole: bool) -> Note:
        # A home, or what lies above it, is too much to keep as a whole, and Hermes' own holds these checkpoints.
        where, own = os.fsdecode(root), os.path.realpath(self._git.home)
        whole = whole and where != own and not inside(self._user_home, where)
        return Note(folder=latin(root), at=time.time(), turn=turn, why=why, whole=whole)

    def _say(self, text: str) -> None:
        if text not in self._noticed:
            self._noticed.add(text)
            self._notice(text)

    async def take(self, folder: str, why: str) -> None:
        """Take a snapshot of a whole folder because the person wants one."""
        root = os.fsencode(os.path.realpath(folder))
        try:
            async with self._at_work(root):
                note = self._note(root, "", why, whole=True)
                _, _, why_not = await self._shelf.take(root, note, ())
        except (GitFailed, OSError) as error:
            raise UserError(f"no checkpoint could be taken: {error}", "make room on the disk") from error
        if why_not or not note.whole:
            why_not = why_not or "a home is too much to keep"
            raise UserError(f"{folder} cannot be kept as a whole: {why_not}", "work in a smaller folder")

    # The way back

    async def list(self, folder: str) -> tuple[Checkpoint, ...]:
        """The checkpoints of a folder, the newest first."""
        root = os.fsencode(os.path.realpath(folder))
        async with self._at_work(root):
            snapshots = await self._shelf.snapshots(root)
        return tuple(
            Checkpoint(number=number, at=snapshot.note.at, turn=snapshot.note.turn, why=snapshot.note.why)
            for number, snapshot in enumerate(reversed(snapshots), 1)
        )

    async def diff(self, folder: str, number: int, file: str = "") -> str:
        """What has changed since a checkpoint, as a unified diff; of one file or folder if named."""
        root = os.fsencode(os.path.realpath(folder))
        async with self._at_work(root):
            target = await self._pick(root, number)
            names = [*await self._git.contents(target.tree), *map(unlatin, target.note.absent)]
            now, _, _ = await self._shelf.look(root, names, whole=target.note.whole)
            only = [f":(literal){os.fsdecode(_name(root, os.fsencode(os.path.join(folder, file))))}"] if file else []
            output = await self._git.run(*_DIFF, target.tree, now, "--", *only)
        return output.decode(errors="replace")

    async def restore(self, folder: str, number: int, file: str = "") -> Restored:
        """Put a folder, or one file or folder in it, back as it was; what is there now is kept as the newest checkpoint."""
        root = os.fsencode(os.path.realpath(folder))
        async with self._at_work(root):
            target = await self._pick(root, number)
            names = [*await self._git.contents(target.tree), *map(unlatin, target.note.absent)]
            note = self._note(root, "", f"before the rollback to checkpoint {number}", whole=target.note.whole)
            before, _, _ = await self._shelf.take(root, note, names)
            changes = await self._git.changes(before.tree, target.tree)
            if file:
                only = _name(root, os.fsencode(os.path.join(folder, file)))
                changes = [change for change in changes if (change.name + b"/").startswith(only + b"/")]
            self._taken.pop(root, None)
            return await _to_its_end(Way(self._git, root, target).back(changes))

    async def prune(self, every: float = 0.0) -> int:
        """Throw away what is older or more than the limits allow, unless that was done less than `every` seconds ago."""
        swept = self._git.store / "swept"
        if self._git.program is None or not self._git.store.exists():
            return 0
        if swept.exists() and time.time() - swept.stat().st_mtime < every:
            return 0
        await self._git.open()
        dropped = await self._shelf.sweep(time.time())
        swept.touch()
        return dropped

    async def _pick(self, root: bytes, number: int) -> Snapshot:
        snapshots = await self._shelf.snapshots(root)
        if not 1 <= number <= len(snapshots):
            raise UserError(f"there is no checkpoint {number} of {os.fsdecode(root)}", "/rollback lists what there is")
        return snapshots[-number]


async def _to_its_end(work: Coroutine[None, None, Restored]) -> Restored:
    """Wait for work that must not stop half-way, also if the one who waits is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _name(root: bytes, path: bytes) -> bytes:
    """A path as seen from the root; empty for the root itself and for what is not below it."""
    path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    prefix = root.rstrip(b"/") + b"/"
    return path[len(prefix) :] if path.startswith(prefix) else b""


def _nearest_folder(path: str) -> str:
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder
