"""What Hermes logged, oldest first. Secrets in it are masked.

hermes logs errors --since 2h
hermes logs -f --component mcp
"""

import argparse
import asyncio
import io
import re
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from hermes import config
from hermes.cli.logfiles import files_of
from hermes.cli.main import count, print_error
from hermes.commands.words import harmless
from hermes.protocol.errors import UserError

LOGS = ("agent", "errors", "gateway")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
POLL = 0.2
_head = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}) ([A-Z]+) (\S+) \[([^\]]*)\] ")
_span = re.compile(r"(\d+)\s*([smhdw])")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Wanted(Struct, frozen=True):
    """Which entries are shown; what is empty wants them all."""

    level: str = ""
    session: str = ""
    component: str = ""
    since: float = 0.0

    def fits(self, entry: str) -> bool:
        head = _head.match(entry)
        if head is None:
            return self == Wanted()
        at, level, name, where = head.groups()
        return (
            (not self.level or _rank(level) >= _rank(self.level))
            and (not self.component or name == self.component or name.startswith(f"{self.component}."))
            and (not self.session or self.session in where or self.session in entry)
            and (not self.since or datetime.strptime(at, "%Y-%m-%dT%H:%M:%S%z").timestamp() >= self.since)
        )


def _rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG", nargs="?", choices=LOGS, default="agent", help=", ".join(LOGS))
    parser.add_argument("-n", "--lines", metavar="N", type=count, default=50, help="the last N entries (default: 50)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as more is logged")
    parser.add_argument("--level", metavar="LEVEL", type=str.upper, choices=LEVELS, default="", help="this and worse")
    parser.add_argument("--session", metavar="ID", default="", help="of one session")
    parser.add_argument("--since", metavar="WHEN", type=since, default=0.0, help="30m, 2h, 1d, or 2026-11-16 09:30")
    parser.add_argument("--component", metavar="NAME", default="", help="of one part: models, mcp, terminals.remote …")


def since(text: str) -> float:
    """A moment: so long ago, or a date with or without a time."""
    if found := _span.fullmatch(text.strip()):
        return time.time() - int(found[1]) * UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 30m, 2h, 1d or 2026-11-16 09:30") from None


async def run(args: argparse.Namespace) -> int:
    folder, name = config.find_home() / "logs", f"{args.log}.log"
    wanted = Wanted(args.level, args.session, args.component, args.since)
    place = _place(folder / name)
    files = files_of(folder, name)
    if not files and not args.follow:
        print_error(f"nothing was logged yet: there is no {folder / name}")
        return 0
    found = [entry for entry in entries(_lines(files, place)) if wanted.fits(entry)]
    for entry in found[-args.lines :]:
        print(harmless(entry), end="", flush=True)
    if args.follow:
        await _follow(folder / name, place, wanted)
    return 0


def _place(path: Path) -> tuple[int, int]:
    """Which file that is now, and how far it goes: from there on it is followed."""
    seen = path.stat() if path.exists() else None
    return (seen.st_ino, seen.st_size) if seen else (0, 0)


def _lines(files: Iterable[Path], place: tuple[int, int]) -> Iterator[str]:
    for path in files:
        try:
            with path.open("rb") as file:
                at_most = place[1] if path.stat().st_ino == place[0] else -1
                yield from io.StringIO(file.read(at_most).decode("utf-8", "replace"))
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}", f"chmod u+r {path}") from None


def entries(lines: Iterable[str]) -> Iterator[str]:
    """Lines put together with the indented ones below them."""
    entry = ""
    for line in lines:
        if entry and not line.startswith(" "):
            yield entry
            entry = ""
        entry += line
    if entry:
        yield entry


async def _follow(path: Path, place: tuple[int, int], wanted: Wanted) -> None:
    """Show what comes until Ctrl+C; a file that is renamed is read to its end first."""
    file, at = place
    while True:
        await asyncio.sleep(POLL)
        if not path.exists():
            continue
        if (now := path.stat().st_ino) != file:
            old = path.with_name(f"{path.name}.1")
            if old.exists() and old.stat().st_ino == file:
                await _show(old, at, wanted)
            file, at = now, 0
        at = await _show(path, at, wanted)


async def _show(path: Path, at: int, wanted: Wanted) -> int:
    """Print the whole lines behind a place; where they end."""

    def read() -> bytes:
        with path.open("rb") as file:
            file.seek(at)
            return file.read()

    data = await asyncio.to_thread(read)
    whole = data[: data.rfind(b"\n") + 1]
    for entry in entries(io.StringIO(whole.decode("utf-8", "replace"))):
        if wanted.fits(entry):
            print(harmless(entry), end="", flush=True)
    return at + len(whole)
