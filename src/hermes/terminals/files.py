"""Files on this machine. `resolve` follows links; the rest opens exactly what it is told, and meets a link with an error."""

import asyncio
import errno
import os
import re
import stat
from collections.abc import Callable, Mapping
from typing import Literal, ParamSpec, TypeVar

from msgspec.structs import replace

from hermes.protocol.errors import TerminalError
from hermes.protocol.ids import new_id
from hermes.protocol.terminals import Match, Search, Stat
from hermes.terminals.beneath import folder_at, folder_of, open_beneath
from hermes.terminals.paths import absolute, printable
from hermes.terminals.process import settled
from hermes.terminals.search import find

P = ParamSpec("P")
T = TypeVar("T")

_KINDS: dict[int, Literal["file", "folder", "link"]] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
}
_NAMES = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_MOST_LINKS = 40

# What the kernel tells of running processes, us included, and what never ends.
_FORBIDDEN = re.compile(r"/proc/(\d+/|kcore$|kmsg$|kpage)")


class LocalFiles:
    """Files of this machine, seen from the folder that `cwd` names at the time; `env` says where home and rg are.

    Paths are those that commands have in their sandbox: `outside` says where such a path really lies, `named` the reverse.
    """

    def __init__(
        self,
        cwd: Callable[[], str],
        env: Mapping[str, str],
        outside: Callable[[str], str] = lambda path: path,
        named: Callable[[str], str] = lambda path: path,
    ) -> None:
        self._cwd = cwd
        self._outside = outside
        self._named = named
        self._home = env.get("HOME", "/")
        self._path = env.get("PATH", os.defpath)

    async def resolve(self, path: str) -> str:
        """The absolute path with ~ and every link followed, also for a file that is not there yet."""
        return _told(self._resolve, path)

    async def stat(self, path: str) -> Stat | None:
        """What is at this path; a link is not followed."""
        return _told(self._stat, path)

    async def read(self, path: str, limit: int) -> bytes:
        """The first `limit` bytes of a regular file."""
        return await _in_thread(self._read, path, limit)

    async def write(self, path: str, data: bytes) -> None:
        """Make the file hold exactly this, all or nothing, with its folders; its mode is kept."""
        await _in_thread(self._write, path, data)

    async def remove(self, path: str) -> None:
        """Remove a file; of a link, the link."""
        await _in_thread(self._remove, path)

    async def names(self, path: str) -> tuple[str, ...]:
        """Names in a folder, sorted; folders end in a slash."""
        return await _in_thread(self._names, path)

    async def search(self, search: Search, limit: int) -> tuple[Match, ...]:
        """The first `limit` matches: of text by path and line, of files the newest first."""
        found = await find(search, _told(self._place, search.path), limit, self._path)
        return tuple(replace(match, path=self._named(match.path)) for match in found)

    def _absolute(self, path: str) -> str:
        return self._outside(absolute(path, self._cwd(), self._home))

    def _place(self, path: str) -> str:
        return os.path.normpath(self._absolute(path))

    def _resolve(self, path: str) -> str:
        real = os.path.realpath(self._absolute(path))
        # A link that a command made leads to where its own view has it.
        for _ in range(_MOST_LINKS):
            if (there := self._outside(real)) == real:
                break
            real = os.path.realpath(there)
        return self._named(real)

    def _stat(self, path: str) -> Stat | None:
        try:
            found = os.lstat(self._absolute(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        kind = _KINDS.get(stat.S_IFMT(found.st_mode))
        return Stat(
            kind=kind or "other",
            size=found.st_size,
            modified=found.st_mtime,
            mode=stat.S_IMODE(found.st_mode),
        )

    def _read(self, path: str, limit: int) -> bytes:
        real = self._place(path)
        if _FORBIDDEN.match(real):
            raise TerminalError(f"{printable(real)} is not a file to read: use a command such as ps")
        with folder_of(real) as (folder, name):
            _must_be_file(real, os.lstat(name, dir_fd=folder))
            fd = open_beneath(folder, name)
        with open(fd, "rb") as file:
            _must_be_file(real, os.fstat(fd))
            return file.read(limit) or b""

    def _write(self, path: str, data: bytes) -> None:
        real = self._place(path)
        with folder_of(real, make=True) as (folder, name):
            old = _old_file(real, folder, name)
            temporary = f".{new_id()}.hermes"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            fd = os.open(temporary, flags, 0o600 if old else 0o666, dir_fd=folder)
            try:
                with open(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    if old:
                        _keep_owner_and_mode(fd, old)
                    os.fsync(fd)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            _sync(folder)

    def _remove(self, path: str) -> None:
        with folder_of(self._place(path)) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def _names(self, path: str) -> tuple[str, ...]:
        with folder_at(self._place(path)) as folder, os.scandir(folder) as entries:
            return tuple(sorted(printable(entry.name) + "/" * entry.is_dir() for entry in entries))


def _sync(folder: int) -> None:
    """Have the kernel keep the names in a folder; the descriptor to go through it does not do for that."""
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _must_be_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        what = _NAMES.get(stat.S_IFMT(found.st_mode), "a device")
        raise TerminalError(f"{printable(path)} is {what}, not a file")


def _old_file(path: str, folder: int, name: str) -> os.stat_result | None:
    """The file to be replaced, if there is one; it must be one that we may write to."""
    try:
        old = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    _must_be_file(path, old)
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=True):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return old


def _keep_owner_and_mode(fd: int, old: os.stat_result) -> None:
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except PermissionError:
            # Only root may give a file away: as with any editor that saves by renaming, it is ours now.
            os.fchmod(fd, stat.S_IMODE(old.st_mode) & 0o777)
            return
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


async def _in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it in a thread; when cancelled, wait for it, so that nothing is written behind anybody's back."""
    return await settled(asyncio.ensure_future(asyncio.to_thread(_told, call, *args, **kwargs)))


def _told(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it, and tell what the system says about it as a TerminalError. A look at a path is not worth a thread."""
    try:
        return call(*args, **kwargs)
    except OSError as error:
        where = printable(error.filename or str(args[0]))
        raise TerminalError(f"{where}: {error.strerror}") from error
    except ValueError as error:  # a NUL in a path
        raise TerminalError(f"{args[0]!r} is not a path: {error}") from error
