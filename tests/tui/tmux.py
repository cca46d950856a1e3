"""A real terminal: tmux with a server of its own, keys in, the screen out."""

import asyncio
import os
import secrets
import shlex
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

PATIENCE = 30.0


class Tmux:
    """One window."""

    def __init__(self, socket: Path, environ: Mapping[str, str], cwd: Path) -> None:
        self._socket, self._environ, self._cwd = socket, environ, cwd

    async def start(self, command: Sequence[str], columns: int = 100, rows: int = 30) -> None:
        """Run a command in the window; what it says at its end stays there."""
        line = f"{shlex.join(command)}; echo ended with $?; exec sleep 1000"
        size = ("-x", str(columns), "-y", str(rows))
        await self._do("new-session", "-d", "-s", "one", *size, "-c", str(self._cwd), line)

    async def keys(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, C-c, M-Enter."""
        await self._do("send-keys", "-t", "one", *keys)

    async def types(self, text: str) -> None:
        await self._do("send-keys", "-t", "one", "-l", text)

    async def screen(self) -> str:
        return await self._do("capture-pane", "-t", "one", "-p")

    async def coloured(self) -> str:
        """The screen with the codes for its colours."""
        return await self._do("capture-pane", "-t", "one", "-p", "-e")

    async def until(self, *texts: str) -> str:
        """Wait until all of these are seen; returns the screen."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            seen = await self.screen()
            missing = [text for text in texts if text not in seen]
            if not missing:
                return seen
            assert asyncio.get_running_loop().time() < deadline, f"{missing} did not come; the screen:\n{seen}"
            await asyncio.sleep(0.05)

    async def signal(self, number: signal.Signals) -> None:
        """Send a signal to what the shell in the window runs."""
        shell = int(await self._do("display-message", "-t", "one", "-p", "#{pane_pid}"))
        for child in Path(f"/proc/{shell}/task/{shell}/children").read_text().split():
            os.kill(int(child), number)

    async def close(self) -> None:
        await self._do("kill-server", check=False)

    async def _do(self, *words: str, check: bool = True) -> str:
        program = await asyncio.create_subprocess_exec(
            *("tmux", "-S", str(self._socket), "-f", "/dev/null", *words),
            env=dict(self._environ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await program.communicate()
        assert not check or program.returncode == 0, err.decode()
        return out.decode()


@asynccontextmanager
async def tmux(environ: Mapping[str, str], cwd: Path) -> AsyncIterator[Tmux]:
    """A tmux server that ends with the test. Its socket has a short path, for the kernel takes no long one."""
    socket = Path(f"/tmp/hermes-{os.getpid()}-{secrets.token_hex(4)}")
    there = Tmux(socket, environ, cwd)
    try:
        yield there
    finally:
        await there.close()
        socket.unlink(missing_ok=True)
