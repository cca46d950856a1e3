"""The tool calls of one step: which may run together, and how each one ends in a result."""

import asyncio
import difflib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import nullcontext
from posixpath import join, normpath
from typing import Any

import msgspec

from hermes.agent.context import CallContext
from hermes.agent.desk import Desk
from hermes.agent.spill import Room
from hermes.protocol.errors import Denied, HermesError, StoreError, ToolError
from hermes.protocol.events import Body, ItemDone
from hermes.protocol.items import CallStatus, Part, Text, ToolCall
from hermes.protocol.store import JournalRow
from hermes.protocol.tools import Result, Tool, parse_args, said

log = logging.getLogger(__name__)
READERS = 8
"""Read-only calls at work at once; calls that are marked parallel are not held back by it."""


class Prepared(msgspec.Struct, frozen=True):
    """A call that may run: its tool, its arguments checked against the schema, and the files it will write, if it tells."""

    item: ToolCall
    tool: Tool
    args: Any
    title: str = ""
    writes: frozenset[str] = frozenset()


async def run_calls(desk: Desk, calls: list[ToolCall]) -> AsyncGenerator[Body]:
    """Run the calls of one step; each ends in exactly one ItemDone with a result."""
    ready: list[Prepared] = []
    for item in calls:
        try:
            ready.append(prepare(desk, item))
        except ToolError as error:
            yield ItemDone(_finished(item, "failed", said(str(error))))
    shown: asyncio.Queue[Body | None] = asyncio.Queue()
    work = asyncio.create_task(_run_batches(desk, ready, shown))
    try:
        while (body := await shown.get()) is not None:
            yield body
    finally:
        await _end([work])
    work.result()


def prepare(desk: Desk, item: ToolCall) -> Prepared:
    """Find the tool and check the arguments, or raise ToolError with what the model should do."""
    tool = desk.tools.get(item.name)
    if tool is None:
        near = difflib.get_close_matches(item.name, desk.tools, 3)
        raise ToolError(f"there is no tool {item.name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
    args = parse_args(tool, item.args)
    try:
        title, paths = tool.title(args), tool.writes(args) or ()
    except Exception as error:
        log.exception("tool %s cannot describe its call", tool.spec.name)
        raise ToolError(f"{tool.spec.name} did not run: {type(error).__name__}: {error}") from error
    return Prepared(item, tool, args, title, frozenset(normpath(join(desk.world.cwd, path)) for path in paths))


async def _run_batches(desk: Desk, ready: list[Prepared], shown: asyncio.Queue[Body | None]) -> None:
    readers = asyncio.Semaphore(READERS)
    room = Room()
    try:
        for batch in batches(ready):
            if len(batch) == 1:
                await _run(desk, batch[0], shown.put_nowait, readers, room)
                continue
            tasks = [asyncio.create_task(_run(desk, call, shown.put_nowait, readers, room)) for call in batch]
            try:
                await asyncio.gather(*tasks)
            finally:
                await _end(tasks)
    finally:
        shown.put_nowait(None)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Have them over, whatever they were at."""
    if running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def batches(ready: list[Prepared]) -> list[list[Prepared]]:
    """Split calls, in their order, into groups whose members may run together."""
    groups: list[list[Prepared]] = []
    for call in ready:
        if groups and all(_together(call, other) for other in groups[-1]):
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups


def _together(a: Prepared, b: Prepared) -> bool:
    free = [not call.tool.effect or call.tool.parallel for call in (a, b)]
    if all(free):
        return True
    return bool(a.writes and b.writes) and not a.writes & b.writes


async def _run(
    desk: Desk, call: Prepared, show: Callable[[Body], None], readers: asyncio.Semaphore, room: Room
) -> None:
    item, tool = call.item, call.tool
    began = desk.now()
    item = msgspec.structs.replace(item, kind=tool.kind, title=call.title)
    if tool.effect:
        await desk.begin(JournalRow(ref=item.id, kind="tool", detail=item.args, at=began))
    async with nullcontext() if tool.effect or tool.parallel else readers:
        status, result = await _attempt(desk, call, show)
    result = masked(result, desk.mask)
    result = msgspec.structs.replace(result, parts=await room.fit(result.parts, tool.cap, desk.keep))
    show(ItemDone(_finished(item, status, result, desk.now() - began)))


async def _attempt(desk: Desk, call: Prepared, show: Callable[[Body], None]) -> tuple[CallStatus, Result]:
    context = CallContext(desk, call.item, show)
    try:
        result = await call.tool.run(context, call.args)
        return ("failed" if result.failed else "done"), result
    except Denied as error:
        return "refused", said(str(error))
    except StoreError:
        raise
    except HermesError as error:
        return "failed", said(str(error))
    except Exception as error:
        log.exception("tool %s failed in session %s", call.tool.spec.name, desk.session)
        return "failed", said(f"{call.tool.spec.name} failed inside Hermes ({type(error).__name__}: {error})")
    finally:
        context.finish()


def masked(result: Result, mask: Callable[[str], str]) -> Result:
    """The result without secrets, for the model, for people and for the store alike."""
    return msgspec.structs.replace(
        result,
        parts=tuple(Text(mask(part.text)) if isinstance(part, Text) else part for part in result.parts),
        shown=mask(result.shown) if result.shown else "",
        title=mask(result.title) if result.title else "",
        files=tuple(msgspec.structs.replace(file, diff=mask(file.diff)) for file in result.files),
    )


def _clean(part: Part) -> Part:
    """Text without halves of characters, which no encoding has and some file names bring along."""
    return Text(part.text.encode(errors="replace").decode()) if isinstance(part, Text) else part


def _finished(item: ToolCall, status: CallStatus, result: Result, seconds: float = 0.0) -> ToolCall:
    return msgspec.structs.replace(
        item,
        status=status,
        result=tuple(map(_clean, result.parts)) or (Text("(no output)"),),
        shown=result.shown,
        title=result.title or item.title,
        files=result.files,
        locations=result.locations,
        source=result.source or f"tool:{item.name}",
        trust=result.trust,
        seconds=round(seconds, 3),
    )
