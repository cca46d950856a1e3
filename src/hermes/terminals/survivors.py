"""What a crash of Hermes left running: found again by number and start time, or by mark, and ended."""

import asyncio
from collections.abc import Iterable

from hermes.protocol.terminals import ProcessInfo
from hermes.terminals.marks import marks_of, terminal_mark
from hermes.terminals.process import in_own_thread, settled
from hermes.terminals.table import Process, process
from hermes.terminals.tree import Tree


async def survivors(infos: Iterable[ProcessInfo]) -> list[ProcessInfo]:
    """Those of the processes that still run; a number given to a new process since does not count."""
    running = [info for info in infos if info.state == "running"]
    rows = await asyncio.to_thread(lambda: [_row(info) for info in running])
    return [info for info, row in zip(running, rows, strict=True) if row is not None]


async def end(info: ProcessInfo) -> bool:
    """End a survivor and everything it started; False if something of it could not be ended."""

    def end_tree() -> bool:
        row = _row(info)
        return row is None or Tree(next(iter(marks_of(row.pid)), ""), row).end()

    return await settled(in_own_thread(end_tree))


async def end_all_of(name: str) -> bool:
    """End whatever a terminal of this name has started that still runs, commands of a turn that was cut off included."""
    return await settled(in_own_thread(Tree(terminal_mark(name)).end))


def _row(info: ProcessInfo) -> Process | None:
    row = process(info.pid)
    return row if row and row.started == info.start_ticks and not row.dead else None
