"""A program at a terminal: what is typed into it, and what is seen on its screen."""

import asyncio
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

WIPE = "\r\x1b[K"
_steering = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class Terminal:
    """The keyboard and the screen of a running program."""

    def __init__(self, program: subprocess.Popen[bytes], fd: int) -> None:
        self.program, self._fd = program, fd
        self.written = ""
        self._found = 0
        self._more = asyncio.Event()
        asyncio.get_running_loop().add_reader(fd, self._read)

    async def until(self, text: str, seconds: float = 15.0) -> None:
        """Wait until the screen has shown a text, behind the one that was last waited for."""
        try:
            async with asyncio.timeout(seconds):
                while (at := self.plain.find(text, self._found)) < 0:
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            raise AssertionError(f"{text!r} did not come; the screen:\n{self.screen}") from None
        self._found = at + len(text)

    async def until_hidden(self, seconds: float = 5.0) -> None:
        """Wait until what is typed is not shown."""
        async with asyncio.timeout(seconds):
            while self.shows_what_is_typed:
                await asyncio.sleep(0.005)

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    async def say(self, line: str, *texts: str) -> None:
        """Type a line and wait for texts, one behind the other."""
        self.type(line + "\r")
        for text in texts:
            await self.until(text)

    def signal(self, number: signal.Signals) -> None:
        self.program.send_signal(number)

    async def end(self, seconds: float = 10.0) -> int:
        """Wait for the end of the program; returns its exit code."""
        code = await asyncio.to_thread(self.program.wait, seconds)
        self._read()
        return code

    @property
    def shows_what_is_typed(self) -> bool:
        return bool(termios.tcgetattr(self._fd)[3] & termios.ECHO)

    @property
    def plain(self) -> str:
        """Everything that was ever written, without colours."""
        return _steering.sub("", self.written.replace(WIPE, "\n")).replace("\r\n", "\n")

    @property
    def screen(self) -> str:
        """What can be seen in the end: of a line that was wiped, what came after it."""
        lines = self.written.replace("\r\n", "\n").split("\n")
        return "\n".join(_steering.sub("", line.rpartition(WIPE)[2]).replace("\r", "").rstrip() for line in lines)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        os.close(self._fd)

    def _read(self) -> None:
        os.set_blocking(self._fd, False)
        try:
            while data := os.read(self._fd, 65536):
                self.written += data.decode(errors="replace")
        except BlockingIOError:
            pass
        except OSError:  # Linux says so when the last program has left the terminal
            asyncio.get_running_loop().remove_reader(self._fd)
        self._more.set()


@asynccontextmanager
async def terminal(
    args: Sequence[str], environ: Mapping[str, str], cwd: Path, columns: int = 80
) -> AsyncIterator[Terminal]:
    """Python with these arguments at a terminal of its own."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    program = subprocess.Popen(
        [sys.executable, *args],
        env=dict(environ),
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    there = Terminal(program, ours)
    try:
        yield there
    finally:
        there.close()
