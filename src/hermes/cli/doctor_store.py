"""What `hermes doctor` looks at in the database: its schema, its pages, who holds it, and what crashed sessions left running."""

import asyncio
import shlex
from collections.abc import AsyncIterator

from hermes.cli.doctor_finding import Finding, fail, ok, warn
from hermes.cli.doctor_home import is_full
from hermes.config import Settings
from hermes.store.health import Health, empty_wal, examine, left_running
from hermes.terminals.survivors import survivors

LARGE = 2 << 30
LARGE_WAL = 64 << 20


async def check_store(settings: Settings) -> AsyncIterator[Finding]:
    health = await asyncio.to_thread(examine, settings.database)
    yield _database(settings, health)
    if health.wal > LARGE_WAL:
        yield warn(
            "database",
            f"its write-ahead log has grown to {health.wal / 1e6:,.0f} MB",
            "hermes doctor --fix empties it; close sessions that stay open",
            lambda: _emptied(settings),
        )
    if health.state == "ok":
        async for finding in _processes(settings):
            yield finding


def _database(settings: Settings, health: Health) -> Finding:
    path, size = settings.database, f"{health.size / 1e6:,.1f} MB"
    match health.state:
        case "none":
            return ok("database", "there is none yet: the first session makes it")
        case "old":
            text = f"{path} is of an older Hermes (schema {health.schema})"
            return warn(
                "database",
                text,
                "the next session brings it up to date and keeps a copy; to do it now: hermes sessions list",
            )
        case "new":
            text = f"{path} was written by a newer Hermes (schema {health.schema}): it can only be read"
            return fail("database", text, "hermes update")
        case "damaged":
            aside = shlex.quote(f"{path}.damaged")
            do = f"restore a backup with hermes import FILE -f, or move it away: mv {shlex.quote(str(path))} {aside}"
            return fail("database", f"{path} is damaged: {health.problem}", do)
        case "locked":
            text = f"{path} is held by another process: {health.problem}"
            return fail("database", text, "end the hermes process that hangs, or the program that has the file open")
        case "unreadable" if is_full(settings.home):
            return fail("database", f"{path} cannot be opened while its disk is full", "free some space")
        case "unreadable":
            return fail("database", f"{path} cannot be opened: {health.problem}", "check its owner and permissions")
        case "ok" if health.size > LARGE:
            return warn("database", f"{path} has {size}", "hermes sessions prune removes old sessions")
        case "ok":
            return ok("database", f"sound, {size}")


def _emptied(settings: Settings) -> str:
    empty_wal(settings.database)
    return "emptied the write-ahead log"


async def _processes(settings: Settings) -> AsyncIterator[Finding]:
    """Programs in the background whose session crashed; they are ended when it is resumed."""
    alive = await survivors(await asyncio.to_thread(left_running, settings.database))
    if not alive:
        yield ok("processes", "none is left of sessions that crashed")
    for info in alive:
        text = f"a crashed session left {info.command!r} running, as process {info.pid}"
        yield warn("processes", text, f"kill {info.pid}, or resume the session: that ends it")
