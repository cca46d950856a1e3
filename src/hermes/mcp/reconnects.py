"""A wish to reconnect a server, passed from one Hermes process to those that are running: a mark in the home."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote, unquote

FOLDER = "mcp-reconnect"
MARK = "server-"
EVERY = 1.0


def request_reconnect(home: Path, server: str) -> None:
    """Ask every running process of this home to make a new connection to a server."""
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark = MARK + quote(server, safe="")
    unfinished = folder / f".{mark}.{os.getpid()}"
    unfinished.touch(mode=0o600)
    unfinished.replace(folder / mark)


async def reconnect_requests(home: Path, *, every: float = EVERY) -> AsyncIterator[str]:
    """Names of servers as others ask to reconnect them, from now on; it looks again every so many seconds."""
    seen = _marks(home / FOLDER)
    while True:
        await asyncio.sleep(every)
        marks = _marks(home / FOLDER)
        for server in sorted(marks.items() - seen.items()):
            yield unquote(server[0].removeprefix(MARK))
        seen = marks


def _marks(folder: Path) -> dict[str, tuple[int, int]]:
    """Each mark with what changes whenever it is set again."""
    try:
        with os.scandir(folder) as entries:
            stats = {entry.name: entry.stat() for entry in entries if not entry.name.startswith(".")}
    except FileNotFoundError:
        return {}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}
