"""Put files back as they were, and touch none that changed since it was looked at.

Each file is reached from the folder down without following a link, and checked once more right before it is replaced: only
what is already in a snapshot is ever overwritten or removed.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from hermes.protocol.ids import new_id
from hermes.safety.shadow import LINK, Change, ShadowGit
from hermes.safety.snapshots import Snapshot, latin, unlatin

_GROUP = 32
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Left(Exception):
    """Why a file was left as it is."""


class Wanted(Struct, frozen=True):
    """One file to put back: how it was found (`change.old`), what it shall be, and with which permissions."""

    change: Change
    data: bytes = b""
    permissions: int = 0o644


class Restored(Struct, frozen=True, kw_only=True):
    """What a rollback did, and what it left alone with the reason."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


class Way:
    """The way back to one snapshot: ignore rules first, for they say what is no business of ours; then the rest."""

    def __init__(self, git: ShadowGit, root: bytes, target: Snapshot) -> None:
        self._git = git
        self._root = root
        self._target = target
        self._written: list[str] = []
        self._removed: list[str] = []
        self._left: list[tuple[str, str]] = []

    async def back(self, changes: Iterable[Change]) -> Restored:
        rules = [change for change in changes if os.path.basename(change.name) == b".gitignore"]
        others = [change for change in changes if os.path.basename(change.name) != b".gitignore"]
        await self._put_back(rules)
        removals = await self._removable([change for change in others if not change.new_mode])
        await self._put_back([*removals, *(change for change in others if change.new_mode)])
        return Restored(written=tuple(self._written), removed=tuple(self._removed), left=tuple(self._left))

    async def _removable(self, changes: Sequence[Change]) -> list[Change]:
        """Files that were not there at the time, as opposed to those that the snapshot passed over."""
        note = self._target.note
        absent = {*map(unlatin, note.absent)}
        others = {change.name for change in changes} - absent
        kept = others if not note.whole else {*map(unlatin, note.skipped)} | await self._git.ignored(self._root, others)
        return [change for change in changes if change.name in absent or change.name not in kept]

    async def _put_back(self, changes: Sequence[Change]) -> None:
        for at in range(0, len(changes), _GROUP):
            group = changes[at : at + _GROUP]
            hashes = [change.new for change in group if change.new_mode]
            data = dict(zip(hashes, await self._git.objects(hashes), strict=True))
            await asyncio.to_thread(self._put_back_group, group, data)

    def _put_back_group(self, changes: Sequence[Change], data: dict[str, bytes | None]) -> None:
        for change in changes:
            path = os.fsdecode(change.name)
            content = data[change.new] if change.new_mode else b""
            if content is None:
                self._left.append((path, "its bytes are lost from the checkpoints"))
                continue
            usual = 0o755 if change.new_mode & 0o100 else 0o644
            permissions = self._target.note.modes.get(latin(change.name), usual)
            try:
                put_back(self._root, Wanted(change, content, permissions))
            except Left as left:
                self._left.append((path, str(left)))
            else:
                (self._written if change.new_mode else self._removed).append(path)


def put_back(root: bytes, wanted: Wanted) -> None:
    """Make one file what the snapshot says, or raise Left; all or nothing."""
    change = wanted.change
    try:
        with _folder_of(root, change.name, make=change.new_mode != 0) as (folder, name):
            _expect(folder, name, change)
            if change.new_mode:
                _replace(folder, name, wanted)
            else:
                os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        if change.new_mode:
            raise Left("its folder went away") from None
    except OSError as error:
        raise Left(error.strerror or str(error)) from error
    if not change.new_mode:
        _remove_empty_folders(root, os.path.dirname(change.name))


@contextmanager
def _folder_of(root: bytes, name: bytes, *, make: bool) -> Iterator[tuple[int, bytes]]:
    *folders, last = name.split(b"/")
    fd = os.open(root, _FOLDER)
    try:
        for folder in folders:
            if make and not _exists(fd, folder):
                os.mkdir(folder, dir_fd=fd)
            deeper = os.open(folder, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = deeper
        yield fd, last
    finally:
        os.close(fd)


def _exists(folder: int, name: bytes) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _expect(folder: int, name: bytes, change: Change) -> None:
    """Raise Left unless the file is still what the snapshot before this rollback holds."""
    try:
        status = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        if change.old_mode:
            raise Left("somebody removed it just now") from None
        return
    if stat.S_ISDIR(status.st_mode):
        if change.old_mode:
            raise Left("somebody put a folder there just now")
        return
    if not change.old_mode:
        raise Left("it is not in the snapshot taken before the rollback")
    if not stat.S_ISLNK(status.st_mode) and not stat.S_ISREG(status.st_mode):
        raise Left("it is no longer a file")
    if _hash(_content(folder, name, status)) != change.old or stat.S_ISLNK(status.st_mode) != (change.old_mode == LINK):
        raise Left("somebody changed it just now")


def _content(folder: int, name: bytes, status: os.stat_result) -> bytes:
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(name, dir_fd=folder)
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        return file.read()


def _hash(data: bytes) -> str:
    """The name that git gives to these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _replace(folder: int, name: bytes, wanted: Wanted) -> None:
    if wanted.change.old_mode == 0 and _exists(folder, name):
        os.rmdir(name, dir_fd=folder)
    beside = os.fsencode(new_id(".hermes-rollback-"))
    try:
        if wanted.change.new_mode == LINK:
            os.symlink(wanted.data, beside, dir_fd=folder)
        else:
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
            with os.fdopen(fd, "wb") as file:
                file.write(wanted.data)
                os.fchmod(file.fileno(), wanted.permissions)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        if _exists(folder, beside):
            os.unlink(beside, dir_fd=folder)
        raise


def _remove_empty_folders(root: bytes, name: bytes) -> None:
    """Remove the folders that the last file in them has left, up to but not including the root."""
    while name:
        try:
            with _folder_of(root, name, make=False) as (folder, last):
                os.rmdir(last, dir_fd=folder)
        except OSError:
            return
        name = os.path.dirname(name)
