"""Search in files and for files: by ripgrep, or where it is not installed by our own small one that answers alike."""

import asyncio
import base64
import builtins
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import msgspec
from msgspec import Struct

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import Match, Search
from hermes.terminals.beneath import folder_at, folder_of
from hermes.terminals.paths import printable
from hermes.terminals.process import Child, Reader, contents, scratch, settled

SECONDS = 60.0
MOST_FILES = 200_000
LONGEST_LINE = 10_000_000
LONGEST_TEXT = 2_000

# Ours runs without site-packages, and with nothing of this folder in the way of its imports.
_OWN = (sys.executable, "-I", "-S", "-X", "utf8", os.path.join(os.path.dirname(__file__), "grep.py"))


async def find(search: Search, root: str, limit: int, path: str) -> tuple[Match, ...]:
    """The first `limit` matches below `root`, lines by path and number, files the newest first; rg is looked for in `path`."""
    try:
        with _opened(root) as (folder, target, name):
            return await _find(search, folder, target, name, limit, path)
    except FileNotFoundError as error:
        raise TerminalError(f"{printable(root)}: there is nothing to search") from error
    except OSError as error:
        raise TerminalError(f"{printable(root)}: {error.strerror}") from error


@contextmanager
def _opened(root: str) -> Iterator[tuple[int, str, str]]:
    """The folder to search in, held open, what in it is searched, and the folder's name; links are not followed."""
    if root.startswith("/proc/"):
        raise TerminalError(f"{printable(root)}: there is nothing to search")
    with folder_of(root) as (above, name):
        kind = stat.S_IFMT(os.lstat(name, dir_fd=above).st_mode)
    if kind == stat.S_IFLNK:
        raise TerminalError(f"{printable(root)} is a link: follow it first")
    folder, target = (root, ".") if kind == stat.S_IFDIR else os.path.split(root)
    with folder_at(folder) as fd:
        yield fd, target, folder


async def _find(search: Search, folder: int, target: str, name: str, limit: int, path: str) -> tuple[Match, ...]:
    rg = shutil.which("rg", path=path)
    # From the root on, the kernel's own folders would be found too, and their files have no end.
    here = ["--one-file-system"] if name == "/" else []
    argv = [*((rg,) if rg else _OWN), *arguments(search, limit), *here, "--", target]
    if search.target == "content":
        lines = Lines(name, limit)
        await _run(argv, folder, name, lines.take)
        from hermes.terminals.verified import verified

        return first(await asyncio.to_thread(verified, folder, lines.files), limit, search.context)
    names = Names()
    await _run(argv, folder, name, names.take)
    return await asyncio.to_thread(_newest, name, names.names, limit)


def arguments(search: Search, limit: int) -> list[str]:
    """What rg is told."""
    argv = ["--no-config", "--no-ignore-global", "--no-messages"]
    if search.target == "files":
        glob = "iglob" if search.ignore_case else "glob"
        return [*argv, "--files", "--null", f"--{glob}={search.pattern}"]
    argv += ["--json", "--sort=path", "--crlf", "--engine=auto"]
    argv += [f"--max-count={limit}", f"--context={search.context}", f"--regexp={search.pattern}"]
    argv += ["--ignore-case"] if search.ignore_case else []
    argv += [f"--glob={search.glob}"] if search.glob else []
    return argv


async def _run(argv: list[str], folder: int, name: str, take: Callable[[bytes], bool]) -> None:
    """Feed what the program prints to `take` until that has enough; then, or when cancelled, end it."""
    output, stdout = os.pipe()
    stderr = scratch()
    enough = asyncio.get_running_loop().create_future()

    def feed(data: bytes) -> None:
        if not enough.done() and not take(data):
            enough.set_result(None)

    with ExitStack() as after:
        after.callback(os.close, stderr)
        reader = Reader(output, feed)
        after.callback(reader.close)
        try:
            # Where the system lets a process enter an open folder, nobody can put another one in its place.
            here = held if os.path.isdir(held := f"/proc/self/fd/{folder}") else name
            child = Child(argv, env={"LC_ALL": "C.UTF-8"}, cwd=here, stdout=stdout, stderr=stderr)
        finally:
            os.close(stdout)
        try:
            first = asyncio.FIRST_COMPLETED
            done, _ = await asyncio.wait([enough, reader.ended], timeout=SECONDS, return_when=first)
        finally:
            child.kill()
            await settled(child.exited)
        if not done:
            raise TerminalError(f"the search took more than {SECONDS:.0f} s; name a smaller folder or a glob")
        if complaint := contents(stderr).decode(errors="replace").splitlines():
            reason = next((line for line in complaint if line.startswith("error")), complaint[-1])
            raise TerminalError(f"cannot search: {reason}")


class Lines:
    """Matches out of what rg prints as JSON; file by file, each with its path as rg has it, until there are enough."""

    def __init__(self, folder: str, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._records = Records(b"\n")
        self._file: list[Match] = []
        self._hits = 0
        self.files: list[tuple[bytes, list[Match]]] = []

    @property
    def matches(self) -> list[Match]:
        return [match for _, matches in self.files for match in matches]

    def take(self, data: bytes) -> bool:
        """Take in some output; False once no more is needed."""
        return all(map(self._take, self._records.take(data)))

    def _take(self, record: bytes) -> bool:
        got = _decoder.decode(record)
        match got.type:
            case "match" | "context":
                path = os.path.join(self._folder, str(got.data.path).removeprefix("./"))
                text = str(got.data.lines).rstrip("\r\n")[:LONGEST_TEXT]
                self._file.append(Match(printable(path), got.data.line_number or 0, text, got.type == "match"))
            case "end":
                # A file with a NUL in it is not text, whatever was found before the NUL.
                if got.data.binary_offset is None:
                    self.files.append((got.data.path.raw, self._file))
                    self._hits += sum(match.hit for match in self._file)
                self._file = []
                return self._hits < self._limit
            case _:
                pass
        return True


class Names:
    """Names of files, each ended by a NUL."""

    def __init__(self) -> None:
        self._records = Records(b"\0")
        self.names: list[bytes] = []

    def take(self, data: bytes) -> bool:
        self.names += (record.removeprefix(b"./") for record in self._records.take(data))
        return len(self.names) < MOST_FILES


class Records:
    """Whole records out of a stream that comes in pieces; one that is too long to be of use is left out."""

    def __init__(self, end: bytes) -> None:
        self._end = end
        self._pieces: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> list[bytes]:
        *whole, rest = data.split(self._end)
        if whole:
            whole[0] = b"".join([*self._pieces, whole[0]]) if self._size < LONGEST_LINE else b""
            self._pieces, self._size = [], 0
        self._size += len(rest)
        if self._size < LONGEST_LINE:
            self._pieces.append(rest)
        return [record for record in whole if record]


class _Text(Struct, frozen=True):
    """rg writes text as it is, and as base64 what is not UTF-8."""

    text: str = ""
    bytes: str = ""

    @property
    def raw(self) -> builtins.bytes:
        return self.text.encode() or base64.b64decode(self.bytes)

    def __str__(self) -> str:
        return self.raw.decode(errors="replace")


class _Data(Struct, frozen=True):
    path: _Text = _Text()
    lines: _Text = _Text()
    line_number: int | None = None
    binary_offset: int | None = None


class _Event(Struct, frozen=True):
    type: str
    data: _Data = _Data()


_decoder = msgspec.json.Decoder(_Event)


def first(matches: list[Match], limit: int, context: int) -> tuple[Match, ...]:
    """Up to the last hit that is wanted, and the lines of context behind it."""
    kept: list[Match] = []
    hits, last = 0, Match("", 0, "")
    for match in matches:
        if match.hit and (hits := hits + 1) > limit:
            break
        if match.hit:
            last = match
        elif hits == limit and (match.path != last.path or match.line > last.line + context):
            break
        kept.append(match)
    return tuple(kept)


def _newest(folder: str, names: list[bytes], limit: int) -> tuple[Match, ...]:
    dated: list[tuple[float, bytes]] = []
    for name in names:
        try:
            dated.append((-os.stat(os.path.join(os.fsencode(folder), name)).st_mtime, name))
        except OSError:  # gone meanwhile, or a link to nothing
            continue
    return tuple(Match(printable(os.path.join(os.fsencode(folder), name)), 0, "") for _, name in sorted(dated)[:limit])
