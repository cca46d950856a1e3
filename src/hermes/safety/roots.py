"""Files beneath a folder, opened so that no link can lead out of it, even one that is put there in this very moment."""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Self

from hermes.protocol.errors import TerminalError
from hermes.safety.paths import Outside, beneath, check_links
from hermes.safety.places import inside

_NO_MAGIC, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
# The number is the same on every architecture that Python runs on.
_OPENAT2 = 437
_TRIES = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _How(ctypes.Structure):
    """The third argument of openat2."""

    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


class Root:
    """A folder that stays open; whatever is opened through it lies beneath it.

    A path is followed once, to a place without links; that place is opened with no link followed at all. Who swaps a part of it
    in between gets an error, not another file. `walk` opens one name after the other, as where Linux's openat2 is missing.
    """

    def __init__(self, path: str, *, walk: bool = False) -> None:
        self.path = os.path.realpath(path)
        self._walk = walk or not has_openat2()
        self._fd = -1

    def __enter__(self) -> Self:
        self._fd = os.open(self.path, _FOLDER)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def resolve(self, path: str) -> str:
        """The absolute path with its links followed, to be judged and then opened; TerminalError if it leads outside."""
        try:
            names = beneath(path, self.path, absolute=True)
            check_links(self.path, names)
        except Outside as outside:
            raise TerminalError(f"{path!r} is outside {self.path}: {outside}") from outside
        return os.path.realpath(os.path.join(self.path, *names))

    def open(self, real: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of a path that `resolve` gave. A link anywhere in it means that it was changed since: an OSError."""
        names = self._names(real)
        if self._walk:
            return self._walked(names, flags, mode)
        path = "/".join(names) or "."
        return _openat2(self._fd, path, flags | os.O_CLOEXEC, mode, _BENEATH | _NO_MAGIC | _NO_LINKS)

    @contextmanager
    def folder_of(self, real: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """An open descriptor of the folder that holds a resolved path, made if need be, and the name in it."""
        *folders, name = self._names(real) or (".",)
        fd = self._made(folders) if make else self.open(os.path.join(self.path, *folders), _FOLDER)
        try:
            yield fd, name
        finally:
            os.close(fd)

    def read(self, path: str, limit: int) -> bytes:
        """The first bytes of a regular file."""
        # Not to wait: what was a file a moment ago may be a pipe now.
        fd = self.open(self.resolve(path), os.O_RDONLY | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise TerminalError(f"{path!r} is not a file")
            return file.read(limit)

    def create(self, path: str, mode: int = 0o666) -> int:
        """A descriptor of a new file, its folders made; it is an error if there is one already."""
        with self.folder_of(self.resolve(path), make=True) as (folder, name):
            return os.open(
                name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder
            )

    def _names(self, real: str) -> tuple[str, ...]:
        if not inside(real, self.path):
            raise TerminalError(f"{real!r} is outside {self.path}")
        names = tuple(name for name in real[len(self.path.rstrip("/")) :].split("/") if name)
        if ".." in names or "." in names:
            raise TerminalError(f"{real!r} is not resolved")
        return names

    def _walked(self, names: tuple[str, ...], flags: int, mode: int) -> int:
        if not names:
            return os.open(".", flags | os.O_CLOEXEC, dir_fd=self._fd)
        fd = os.dup(self._fd)
        try:
            for name in names[:-1]:
                fd = _into(fd, name)
            return os.open(names[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=fd)
        finally:
            os.close(fd)

    def _made(self, names: list[str]) -> int:
        fd = os.dup(self._fd)
        try:
            for name in names:
                try:
                    os.mkdir(name, dir_fd=fd)
                except FileExistsError:
                    if not stat.S_ISDIR(os.lstat(name, dir_fd=fd).st_mode):
                        raise
                fd = _into(fd, name)
        except BaseException:
            os.close(fd)
            raise
        return fd


def _into(fd: int, name: str) -> int:
    """One folder deeper; the descriptor above is closed only when this one is open, so the caller always holds one."""
    deeper = os.open(name, _FOLDER, dir_fd=fd)
    os.close(fd)
    return deeper


@cache
def has_openat2() -> bool:
    """Whether this system has openat2: Linux since 5.6, unless a sandbox forbids it."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        os.close(_openat2(-100, ".", _FOLDER, 0, _NO_MAGIC))
    except OSError:
        return False
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(fd: int, path: str, flags: int, mode: int, resolve: int) -> int:
    # The kernel refuses a mode when nothing is made, and an empty one is what it wants.
    how = _How(flags, mode if flags & os.O_CREAT else 0, resolve)
    code = errno.EAGAIN
    for _ in range(_TRIES):
        opened = _libc().syscall(_OPENAT2, fd, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if opened >= 0:
            return opened
        code = ctypes.get_errno()
        # Something was renamed while the kernel looked: it asks to be called again.
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), path)
