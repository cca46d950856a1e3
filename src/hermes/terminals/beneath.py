"""A place opened name by name, with no link followed: what was judged is what is opened, whatever is swapped meanwhile."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# To go through a folder needs no right to list it, where the system knows the difference.
_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not to wait: what was a file a moment ago may be a pipe now.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def folder_of(path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """An open descriptor of the folder that holds an absolute path, made if need be, and the name in it.

    Everything is opened, made and removed through here, by its name alone.
    """
    folder, name = os.path.split(os.path.normpath(path))
    fd = os.open("/", _THROUGH)
    try:
        for part in folder.split("/"):
            if part:
                fd = _into(fd, part, folder, make=make)
        yield fd, name or "."
    finally:
        os.close(fd)


@contextmanager
def folder_at(path: str) -> Iterator[int]:
    """An open descriptor of a folder, to list it or to start something in it."""
    with folder_of(path) as (above, name):
        fd = os.open(name, _LISTED, dir_fd=above)
    try:
        yield fd
    finally:
        os.close(fd)


def open_beneath(folder: int, path: str | bytes) -> int:
    """A descriptor of what lies at a path in an open folder, to be read; what it is has yet to be looked at."""
    *parts, name = [part for part in os.fsdecode(path).split("/") if part not in ("", ".")]
    fd = os.dup(folder)
    try:
        for part in parts:
            fd = _into(fd, part, os.fsdecode(path), make=False)
        return os.open(name, _READ, dir_fd=fd)
    finally:
        os.close(fd)


def _into(fd: int, name: str, path: str, *, make: bool) -> int:
    """One folder deeper; the descriptor above is closed only when this one is open, so the caller always holds one."""
    try:
        deeper = _through(fd, name, path)
    except FileNotFoundError as error:
        if not make:
            raise FileNotFoundError(error.errno, error.strerror, path) from error
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)
        deeper = _through(fd, name, path)
    os.close(fd)
    return deeper


def _through(fd: int, name: str, path: str) -> int:
    try:
        return os.open(name, _THROUGH, dir_fd=fd)
    except NotADirectoryError as error:
        if stat.S_ISLNK(os.lstat(name, dir_fd=fd).st_mode):
            raise OSError(errno.ELOOP, f"{name!r} on the way is a link: follow it first", path) from error
        raise
