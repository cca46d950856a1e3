"""A handful of checks that show whether a terminal works, and how fast it is."""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from msgspec import Struct

from hermes.protocol.errors import TerminalError
from hermes.protocol.ids import new_id
from hermes.protocol.terminals import Files, Search, Terminal

COMMANDS = 5
SIZE = 2_000_000
PATIENCE = 30.0


class Proof(Struct, frozen=True):
    """One thing that was tried: what was measured, or why it failed."""

    name: str
    works: bool
    measured: str


async def prove(terminal: Terminal, files: Files) -> AsyncIterator[Proof]:
    """Try one thing after another in a folder that is removed at the end; without a first command there is no second."""
    begun = await _tried("first command", lambda: _first(terminal))
    yield begun
    if not begun.works:
        return
    folder = (
        await terminal.run("echo ${TMPDIR:-/tmp}", timeout=PATIENCE)
    ).output.strip() + f"/{new_id('hermes-test-')}"
    checks: dict[str, Callable[[], Awaitable[str]]] = {
        "commands": lambda: _commands(terminal),
        "folder and exports": lambda: _carried_over(terminal, folder),
        "timeout": lambda: _timeout(terminal),
        "background": lambda: _background(terminal),
        "files": lambda: _files(files, folder),
        "search": lambda: _search(files, folder),
    }
    for name, check in checks.items():
        yield await _tried(name, check)
    await terminal.run(f"rm -rf {folder}", timeout=PATIENCE, cwd="/")


async def _tried(name: str, check: Callable[[], Awaitable[str]]) -> Proof:
    try:
        return Proof(name, True, await check())
    except TerminalError as error:
        return Proof(name, False, str(error))


def _must(holds: bool, complaint: str) -> None:
    if not holds:
        raise TerminalError(complaint)


async def _first(terminal: Terminal) -> str:
    began = time.monotonic()
    ran = await terminal.run("echo hello; exit 3", timeout=PATIENCE)
    _must((ran.output, ran.code) == ("hello\n", 3), f"it said {ran.output!r} with code {ran.code}")
    return f"{_ms(began)} with the connection, in {ran.cwd}"


async def _commands(terminal: Terminal) -> str:
    began = time.monotonic()
    for _ in range(COMMANDS):
        await terminal.run("true", timeout=PATIENCE)
    return f"{_ms(began, COMMANDS)} each"


async def _carried_over(terminal: Terminal, folder: str) -> str:
    await terminal.run(f"mkdir -p {folder}; cd {folder}; export HERMES_TEST='two words'", timeout=PATIENCE)
    ran = await terminal.run('pwd; echo "$HERMES_TEST"; unset HERMES_TEST', timeout=PATIENCE)
    _must(ran.output == f"{folder}\ntwo words\n", f"they do not carry over: {ran.output!r}")
    return "carry over"


async def _timeout(terminal: Terminal) -> str:
    began = time.monotonic()
    ran = await terminal.run("echo begun; sleep 60", timeout=0.5)
    _must((ran.code, ran.output[:6]) == (124, "begun\n"), f"code {ran.code}, output {ran.output!r}")
    return f"a command of 500 ms was ended after {_ms(began)}"


async def _background(terminal: Terminal) -> str:
    began = time.monotonic()
    one = await terminal.start("read line; echo got $line")
    await one.write(b"this\n")
    ended = await one.wait(PATIENCE)
    _must((ended.code, one.output(0)[0]) == (0, "got this\n"), f"{ended.state}, output {one.output(0)[0]!r}")
    return f"started, fed and ended in {_ms(began)}"


async def _files(files: Files, folder: str) -> str:
    data = os.urandom(SIZE)
    folder = await files.resolve(folder)
    began = time.monotonic()
    await files.write(f"{folder}/data", data)
    written = time.monotonic()
    _must(await files.read(f"{folder}/data", SIZE + 1) == data, "a file came back changed")
    read = time.monotonic()
    return f"write {_rate(written - began)}, read {_rate(read - written)}"


async def _search(files: Files, folder: str) -> str:
    folder = await files.resolve(folder)
    await files.write(f"{folder}/note.txt", b"one\nneedle\n")
    began = time.monotonic()
    found = await files.search(Search(pattern="needle", path=folder, glob="*.txt"), 10)
    _must([(match.path, match.line) for match in found] == [(f"{folder}/note.txt", 2)], "it did not find a line")
    return _ms(began)


def _ms(began: float, times: int = 1) -> str:
    return f"{(time.monotonic() - began) * 1000 / times:.0f} ms"


def _rate(seconds: float) -> str:
    return f"{SIZE / 1_000_000 / max(seconds, 1e-6):.1f} MB/s"
