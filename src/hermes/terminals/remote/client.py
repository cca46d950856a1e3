"""A program on this machine, such as ssh or docker, through which one elsewhere runs."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from msgspec import Struct

from hermes.protocol.errors import TerminalError, UserError
from hermes.terminals.output import plain
from hermes.terminals.process import LAST_WORDS, Child, Reader, Writer, settled
from hermes.terminals.remote.place import Take


class Client:
    """The local end of a program elsewhere; `ended` is done when this end has."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], output: Take, errors: Take) -> None:
        with ExitStack() as theirs, ExitStack() as failed:
            pipes = [os.pipe() for _ in range(3)]
            (stdin, to_child), (from_child, stdout), (complaints, stderr) = pipes
            for fd in (stdin, stdout, stderr):
                theirs.callback(os.close, fd)
            for fd in (to_child, from_child, complaints):
                failed.callback(os.close, fd)
            self._child = Child(argv, env=env, cwd="/", stdin=stdin, stdout=stdout, stderr=stderr)
            failed.pop_all()
        self._input = Writer(to_child)
        self._readers = (Reader(from_child, output), Reader(complaints, errors))
        self.ended: asyncio.Future[int] = asyncio.ensure_future(self._follow())

    async def write(self, data: bytes) -> None:
        await self._input.write(data)

    def close_input(self) -> None:
        self._input.close()

    def abandon(self) -> None:
        if not self._child.exited.done():
            self._child.kill()
        for reader in self._readers:
            reader.close()

    async def _follow(self) -> int:
        code = await self._child.exited
        for reader in self._readers:
            await asyncio.wait([reader.ended], timeout=LAST_WORDS * 10)
            reader.close()
        self._input.close()
        return code


class Done(Struct, frozen=True):
    """What a short program said: its output, and its complaint as one line."""

    code: int
    output: str
    complaint: str


async def ask(argv: Sequence[str], env: Mapping[str, str], timeout: float, stdin: bytes = b"") -> Done:
    """Run a short local program to its end. TerminalError if it takes too long."""
    output, errors = bytearray(), bytearray()
    client = Client(argv, env, output.extend, errors.extend)
    try:
        if stdin:
            await client.write(stdin)
        client.close_input()
        await asyncio.wait([client.ended], timeout=timeout)
        if not client.ended.done():
            raise TerminalError(f"{os.path.basename(argv[0])} {argv[1]} gave no answer in {timeout:g} s")
        return Done(client.ended.result(), output.decode(errors="replace"), last_line(errors))
    finally:
        client.abandon()
        await settled(client.ended)


def last_line(complaint: bytes | bytearray) -> str:
    """What a program that failed said last, which is usually why."""
    text = plain(bytes(complaint).decode(errors="replace"))
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def find_program(names: Sequence[str], env: Mapping[str, str], what: str, install: str) -> str:
    """The first of these programs that is installed; UserError says what to install."""
    path = env.get("PATH", os.defpath)
    for name in names:
        if found := shutil.which(name, path=path):
            return found
    raise UserError(f"{what} needs {' or '.join(names)}, which is not installed here", install)
