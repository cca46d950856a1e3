"""What a command is fed, and what is typed into a running process: judged like a command, for to a shell it is one."""

import re
import shlex
from collections.abc import Awaitable, Callable

from hermes.protocol.safety import Grants
from hermes.protocol.terminals import BackgroundProcess, ProcessInfo

# Where any of these stands, what is fed behind the last word may not be fed to the whole.
_MORE_THAN_ONE = re.compile(r"[\n\\;&|(){}#<>`]")
MOST_TYPED = 4_000
"""Bytes of what was typed into a process before that a verdict on the next line takes into account."""


class GatedProcess:
    """A background process whose input is judged like a command, for typing into a shell is one.

    A line is judged behind those before it that nobody was asked about: a `cd` or an alias says what the next one means.
    """

    def __init__(
        self, inner: BackgroundProcess, judge: Callable[[str, str], Awaitable[Grants | None]], typed: dict[str, bytes]
    ) -> None:
        self._inner = inner
        self._judge = judge
        self._typed = typed

    @property
    def info(self) -> ProcessInfo:
        return self._inner.info

    def output(self, offset: int | None = None, limit: int | None = None) -> tuple[str, int]:
        return self._inner.output(offset, limit)

    async def wait(self, timeout: float) -> ProcessInfo:
        return await self._inner.wait(timeout)

    async def write(self, data: bytes) -> None:
        info = self._inner.info
        before = self._typed.get(info.id, b"")
        typed = before + entered(data)
        grants = await self._judge(with_input(info.command, typed), info.cwd)
        await self._inner.write(data)
        if grants is not None:
            typed = b"".join(before.rpartition(b"\n")[:2]) + typed.rpartition(b"\n")[2]
        self._typed[info.id] = typed[-MOST_TYPED:]

    async def close_input(self) -> None:
        await self._inner.close_input()

    async def kill(self) -> ProcessInfo:
        return await self._inner.kill()


def with_input(command: str, data: bytes) -> str:
    """A command with what it reads, so that the verdict and the person see both."""
    if not data:
        return command
    whole = f"{{ {command}\n}}" if _MORE_THAN_ONE.search(command) else command
    return f"{whole} <<< {shlex.quote(data.decode(errors='replace'))}"


def entered(data: bytes) -> bytes:
    """What was typed, as a shell gets it: on a screen, Enter is a carriage return and ends a line."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def is_input_of(process: str, command: str) -> bool:
    """Whether a command that was judged is something that was typed into a process with this command."""
    return command.startswith(with_input(process, b"?").removesuffix("'?'"))
