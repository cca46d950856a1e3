"""What stdin holds: the question itself, or what belongs to it, as in `cat report.txt | hermes -z "what is this?"`."""

import asyncio
import os
import stat
import sys

from msgspec.structs import replace

from hermes.agent.session import Session
from hermes.app import App
from hermes.cli.main import print_error
from hermes.cli.reader import Lines
from hermes.protocol.errors import UserError
from hermes.protocol.items import Text
from hermes.protocol.ops import Say
from hermes.terminals.table import HAS_PROC, processes

PATIENCE = 1.0
"""Seconds for a pipe to show a sign that only whoever started Hermes can write to: many leave one open and never use it."""
UNTOLD = 3.0
"""Seconds that another program of a pipeline is waited for before that is said."""
MOST = 16 << 20
"""Characters that are read: more than any model has room for."""


async def attached(patience: float = PATIENCE) -> str:
    """The text that stdin holds, '' if it is a terminal or nothing at all."""
    number = _source()
    if number is None:
        return ""
    if not stat.S_ISFIFO(os.fstat(number).st_mode) or await _shows_a_sign(number, patience):
        return await whole()
    if _has_writer_beside_us(number):
        if not await _shows_a_sign(number, max(0.0, UNTOLD - patience)):
            print_error("waiting for what comes through the pipe", "Ctrl+C ends it")
        return await whole()
    print_error(
        f"nothing came through the pipe in {patience:g} s: the question goes without it",
        "with </dev/null it goes at once",
    )
    return ""


async def whole() -> str:
    """All of stdin, read in a thread of its own: Ctrl+C ends the command at any moment."""
    try:
        # A file object of its own: at exit Python wants the lock of sys.stdin, which a thread that still reads would hold.
        source = os.fdopen(sys.stdin.fileno(), encoding="utf-8", errors="replace", closefd=False)
    except (OSError, ValueError):
        source = sys.stdin
    return await Lines(lambda: source.read(MOST) or None).next() or ""


def _source() -> int | None:
    """The number of stdin where it is a pipe or a file from its beginning; a `while read` loop has begun with its file."""
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError):
        return None
    mode = os.fstat(number).st_mode
    if stat.S_ISFIFO(mode) or (stat.S_ISREG(mode) and os.lseek(number, 0, os.SEEK_CUR) == 0):
        return number
    return None


async def _shows_a_sign(number: int, patience: float) -> bool:
    """Whether something can be read soon, be it the end."""
    loop, sign = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(number, sign.set)
    try:
        await asyncio.wait_for(sign.wait(), patience)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(number)
    return True


def _has_writer_beside_us(number: int) -> bool:
    """Whether another program of a pipeline can write to a pipe, and not only those that have started us."""
    if not HAS_PROC:
        return True
    table = {one.pid: one for one in processes()}
    above: set[int] = set()
    pid = os.getpid()
    while pid in table and pid not in above:
        above.add(pid)
        pid = table[pid].parent
    pipe = os.fstat(number).st_ino
    return any(_writes_to(pipe, pid) for pid in table.keys() - above)


def _writes_to(pipe: int, pid: int) -> bool:
    try:
        with os.scandir(f"/proc/{pid}/fd") as open_files:
            return any(
                os.lstat(file.path).st_mode & stat.S_IWUSR and os.stat(file.path).st_ino == pipe for file in open_files
            )
    except OSError:
        return False  # it has just ended, or is somebody else's


def quoting(app: App, session: Session, op: Say, text: str) -> Say:
    """A question with the piped text behind it; nobody vouches for what that says."""
    if not text.strip():
        return op
    from hermes.commands.references import BYTES_PER_TOKEN, REFUSED, UNKNOWN_WINDOW
    from hermes.commands.transcript import fenced

    window = session.model.window or UNKNOWN_WINDOW
    if (tokens := len(text.encode()) // BYTES_PER_TOKEN) > window * REFUSED:
        hint = "save it as a file in this folder and name it in the question: the model reads what it needs"
        raise UserError(f"the piped text holds about {tokens:,} tokens, over half of the model's {window:,}", hint)
    block = Text(f"stdin:\n{fenced(app.mask(text), '')}")
    return replace(op, parts=(*op.parts, block), quoted=", ".join(filter(None, (op.quoted, "stdin"))))
