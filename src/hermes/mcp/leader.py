"""The first process of a server: started in a session of its own, watched, and kept by its number until it is released."""

import asyncio
import logging
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from hermes.protocol.errors import UserError

log = logging.getLogger(__name__)


class Leader:
    """A running process with three pipes; `exited` is set when it ends, and `code` is then known (128 + n for signal n).

    It is not reaped before `release`: as long as the dead have their number, no other group can get it, and killing the
    group never hits a stranger.
    """

    def __init__(self, popen: "subprocess.Popen[bytes]", exited: asyncio.Event) -> None:
        self._popen = popen
        self._loop = asyncio.get_running_loop()
        self._released = False
        self._pidfd: int | None = None
        self.pid = popen.pid
        self.exited = exited
        self.code: int | None = None
        for pipe in self.pipes:
            os.set_blocking(pipe.fileno(), False)
        self._watch()

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        """Its input, output and error output."""
        stdin, stdout, stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        assert stdin and stdout and stderr, "it was started with three pipes"
        return stdin, stdout, stderr

    async def ended_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        except TimeoutError:
            return False
        return True

    def kill(self) -> None:
        """End its whole group now, also if it has ended itself."""
        if self._released:
            return
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError) as error:
            log.debug("group %d: %s", self.pid, error)

    def release(self) -> None:
        """Let its number go."""
        self._released = True
        self._unwatch()
        if self._popen.poll() is None:
            log.warning("process %d cannot be ended; it is left behind", self.pid)

    def _watch(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or a kernel before 5.3
            threading.Thread(target=self._wait, name=f"mcp-wait-{self.pid}", daemon=True).start()
        else:
            self._loop.add_reader(self._pidfd, self._notice)

    def _unwatch(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None

    def _notice(self) -> None:
        self._unwatch()
        self._settle(_wait_for(self._popen))

    def _wait(self) -> None:
        code = _wait_for(self._popen)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle, code)

    def _settle(self, code: int) -> None:
        self.code = code
        self.exited.set()


def start(name: str, command: Sequence[str], *, env: Mapping[str, str], cwd: str, exited: asyncio.Event) -> Leader:
    """Start a server's command with this environment only; its program is looked for in the PATH of that."""
    where = f"mcp_servers.{name}.command in config.yaml"
    if cwd and not os.path.isdir(cwd):
        raise UserError(f"the folder {cwd} of MCP server {name} is not there", f"correct mcp_servers.{name}.cwd")
    program = _find(command[0], env.get("PATH", os.defpath), cwd)
    if program is None:
        raise UserError(
            f"the command {command[0]} of MCP server {name} is not there", f"install it, or correct {where}"
        )
    try:
        popen = subprocess.Popen(
            command,
            executable=program,
            env=env,
            cwd=cwd or None,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in an argument or variable
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"cannot start {command[0]} for MCP server {name}: {reason}", f"correct {where}") from error
    return Leader(popen, exited)


def _find(program: str, path: str, cwd: str) -> str | None:
    """Where a program lies; one that is named with a folder is looked for from the server's own working folder."""
    if not os.path.dirname(program):
        return shutil.which(program, path=path)
    program = os.path.join(os.path.abspath(cwd), program)
    return program if os.path.exists(program) else None


def _wait_for(popen: "subprocess.Popen[bytes]") -> int:
    """Wait for its end without reaping it, where the system can do that (macOS can from Python 3.13 on)."""
    if hasattr(os, "waitid"):
        try:
            ended = os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            ended = None
        if ended is not None:
            return ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status
    code = popen.wait()
    return 128 - code if code < 0 else code
