"""Unpacks an archive beneath a folder: all of it, or none of its files if one member is not in order."""

import bz2
import gzip
import io
import lzma
import os
import posixpath
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Literal, cast

from msgspec import Struct

from hermes.protocol.errors import TerminalError, ToolError
from hermes.safety.paths import Outside, beneath
from hermes.safety.roots import Root

_PIECE = 1 << 16


class Bounds(Struct, frozen=True, kw_only=True):
    """How much an archive may hold; what is packed small can be very large."""

    members: int = 10_000
    size: int = 1 << 29


class Member(Struct, frozen=True):
    """Something in an archive; `target` is where a link leads."""

    name: str
    kind: Literal["file", "folder", "link", "other"]
    size: int = 0
    executable: bool = False
    target: str = ""


Read = Callable[[int], IO[bytes]]


def extract(archive: str, root: str, bounds: Bounds | None = None) -> list[str]:
    """Unpack a tar or zip file beneath a folder that is there; the paths of its files, relative. ToolError if it is not in order."""
    bounds = bounds or Bounds()
    try:
        with _opened(archive, bounds) as (members, read):
            places = plan(members)
            with Root(root) as folder:
                return _unpack(folder, members, places, read, bounds)
    except (
        TerminalError,
        OSError,
        EOFError,
        ValueError,
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise ToolError(f"{os.path.basename(archive)!r} cannot be unpacked: {error}") from error


def plan(members: list[Member]) -> list[tuple[str, ...]]:
    """Where each member goes, or ToolError: names that lead out, links that do, devices, the same name twice."""
    places: list[tuple[str, ...]] = []
    kinds: dict[tuple[str, ...], str] = {}
    for member in members:
        place = _place(member)
        # Some file systems know no case and one spelling of an accent: there two names are one file.
        same = tuple(unicodedata.normalize("NFC", name).casefold() for name in place)
        if same in kinds and not (member.kind == kinds[same] == "folder"):
            raise ToolError(f"the archive has {member.name!r} twice")
        kinds[same] = member.kind
        places.append(place)
    for same in kinds:
        if any(kinds.get(same[:depth], "folder") != "folder" for depth in range(1, len(same))):
            raise ToolError(f"the archive has {'/'.join(same)!r} beneath something that is no folder")
    return places


def _place(member: Member) -> tuple[str, ...]:
    try:
        place = beneath(member.name.rstrip("/") if member.kind == "folder" else member.name, "/", absolute=False)
        if member.kind == "link":
            if member.target.startswith("/"):
                raise Outside("link", "it is a link to an absolute path")
            beneath(posixpath.join(*place[:-1], member.target), "/", absolute=False)
    except Outside as outside:
        raise ToolError(f"the archive has {member.name[:200]!r}: {outside}") from outside
    if member.kind == "other":
        raise ToolError(f"the archive has {member.name!r}, which is neither a file nor a folder nor a plain link")
    if not place and member.kind != "folder":
        raise ToolError(f"the archive has a file without a name: {member.name!r}")
    return place


def _unpack(
    folder: Root, members: list[Member], places: list[tuple[str, ...]], read: Read, bounds: Bounds
) -> list[str]:
    written: list[str] = []
    try:
        written.extend(_made(folder, members, places, read, bounds))
    except BaseException:
        for path in written:
            with folder.folder_of(os.path.join(folder.path, path)) as (parent, name):
                os.unlink(name, dir_fd=parent)
        raise
    return written


def _made(
    folder: Root, members: list[Member], places: list[tuple[str, ...]], read: Read, bounds: Bounds
) -> Iterator[str]:
    """Make each member; a path is given out as soon as there is something at it."""
    left = bounds.size
    for at, (member, place) in enumerate(zip(members, places, strict=True)):
        if member.kind == "folder":
            with folder.folder_of(os.path.join(folder.path, *place, "x"), make=True):
                continue
        if member.kind == "file":
            fd = folder.create("/".join(place), 0o777 if member.executable else 0o666)
            with open(fd, "wb") as file:
                yield "/".join(place)
                with read(at) as source:
                    left = _copy(source, file, left)
    # Links come last, so that nothing is written through one of them.
    for member, place in zip(members, places, strict=True):
        if member.kind == "link":
            with folder.folder_of(os.path.join(folder.path, *place), make=True) as (parent, name):
                os.symlink(member.target, name, dir_fd=parent)
            yield "/".join(place)


def _copy(source: IO[bytes], file: IO[bytes], left: int) -> int:
    while piece := source.read(_PIECE):
        left -= len(piece)
        if left < 0:
            raise ToolError("the archive holds more than it may, or more than it says")
        file.write(piece)
    return left


@contextmanager
def _opened(archive: str, bounds: Bounds) -> Iterator[tuple[list[Member], Read]]:
    with open(archive, "rb") as file:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as zipped:
                infos = zipped.infolist()
                yield _counted((_of_zip(info) for info in infos), bounds), lambda at: zipped.open(infos[at])
            return
        file.seek(0)
        # Headers are twice their share of a tar at most; what they claim to be is bounded too.
        limit = bounds.size + 2048 * bounds.members
        with tarfile.open(fileobj=cast("IO[bytes]", _Counted(_unpacked(file), limit)), mode="r:") as tar:
            entries: list[tarfile.TarInfo] = []
            members = _counted((_of_tar(entry) for entry in _kept(tar, entries)), bounds)

            def read(at: int) -> IO[bytes]:
                return tar.extractfile(entries[at]) or io.BytesIO()

            yield members, read


def _kept(tar: tarfile.TarFile, entries: list[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    for entry in tar:
        entries.append(entry)
        yield entry


def _counted(members: Iterator[Member], bounds: Bounds) -> list[Member]:
    """The members, read one by one: who counts as it goes need not unpack a bomb to see it."""
    found: list[Member] = []
    size = 0
    for member in members:
        found.append(member)
        size += member.size
        if len(found) > bounds.members or size > bounds.size:
            raise ToolError(f"the archive holds more than {bounds.members:,} files or {bounds.size >> 20:,} MB")
    return found


def _of_zip(info: zipfile.ZipInfo) -> Member:
    mode = info.external_attr >> 16
    # zipfile cuts a name at its NUL; what other programs do with the rest is unknown.
    name = info.orig_filename
    if info.flag_bits & 0x1:
        raise ToolError("the archive is encrypted; unpack it with a command")
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return Member(name, "other")
    return Member(name, "folder" if name.endswith("/") else "file", info.file_size, bool(mode & 0o111))


def _of_tar(entry: tarfile.TarInfo) -> Member:
    if entry.issym():
        return Member(entry.name, "link", target=entry.linkname)
    if entry.isdir():
        return Member(entry.name, "folder")
    # A sparse file says how large it becomes in a place of its own.
    if entry.isreg() and not entry.issparse():
        return Member(entry.name, "file", entry.size, bool(entry.mode & 0o111))
    return Member(entry.name, "other")


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    head = file.read(6)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if head.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(file)
    return file


class _Counted:
    """A file that refuses to be read beyond a limit, in one go or altogether."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file = file
        self._limit = limit

    def read(self, size: int = -1) -> bytes:
        if size < 0 or self._file.tell() + size > self._limit:
            raise ToolError("the archive holds more than it may")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0 and offset > self._limit:
            raise ToolError("the archive holds more than it may")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()
