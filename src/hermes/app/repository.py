"""What git tells about the folder that somebody works in: asked with an end to its time and to its words."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path

from hermes.protocol.errors import UserError

SECONDS = 10.0
MOST_BYTES = 8_000_000
# Nothing that a repository's own settings name is started, and its index is left alone.
QUIET = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")
PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")


class Repository:
    """Runs git in a folder; `environ` says where programs are and whose settings count."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        kept = {name: environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in environ}
        self._env = kept | {"LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}

    async def diff(self, *, staged: bool = False) -> str:
        """What was changed and not committed: all that is not staged, or what is."""
        return await self.run("diff", *PLAIN, *(["--staged"] if staged else []))

    async def commits(self, count: int) -> str:
        """The last commits with their changes, the newest first."""
        return await self.run("log", "-p", f"-{count}", *PLAIN, "--format=commit %h by %an on %as%n%n%B")

    async def files(self) -> list[str]:
        """Every file below the folder that is tracked or new, but not ignored."""
        listed = await self.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        return [name for name in listed.split("\0") if name]

    async def run(self, *args: str) -> str:
        """What a git command says; UserError if it fails, takes too long or says too much."""
        try:
            child = await asyncio.create_subprocess_exec(
                "git", *QUIET, *args, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=self._folder, env=self._env
            )
        except OSError:
            raise UserError("git is not installed, or the folder is gone", "install git") from None
        try:
            async with asyncio.timeout(SECONDS):
                said, errors = await asyncio.gather(_read(child.stdout), _read(child.stderr))
                code = await child.wait()
        except TimeoutError:
            raise UserError(f"git took longer than {SECONDS:g} seconds", "try it by hand") from None
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        if code:
            words = errors.strip().splitlines() or [f"git ended with code {code}"]
            raise UserError(
                words[0].removeprefix("fatal: ").removeprefix("warning: ").partition(". ")[0],
                "git is asked in the working folder",
            )
        return said


async def _read(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None
    data = bytearray()
    while piece := await stream.read(1 << 16):
        data += piece
        if len(data) > MOST_BYTES:
            raise UserError(f"git says more than {MOST_BYTES:,} bytes", "ask for less")
    return data.decode(errors="replace")
