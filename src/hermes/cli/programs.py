"""Programs that a command runs to their end: git, and Hermes's own launcher."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from pathlib import Path

from hermes.protocol.errors import HermesError
from hermes.safety.environment import scrubbed

PATIENCE = 600.0


class ProgramFailed(HermesError):
    """A program could not do its part; str() has its last words."""


async def git(folder: Path, environ: Mapping[str, str], *words: str) -> str:
    """What git says in a folder; it never asks for a password."""
    return await run_program(["git", *words], folder, {**environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"})


async def run_program(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> str:
    name = os.path.basename(command[0])
    try:
        child = await asyncio.create_subprocess_exec(
            *command, cwd=folder, env=scrubbed(environ), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
    except OSError as error:
        raise ProgramFailed(f"cannot start {name}: {error.strerror}") from None
    try:
        async with asyncio.timeout(PATIENCE):
            out, err = await child.communicate()
    except TimeoutError:
        raise ProgramFailed(f"{name} took longer than {PATIENCE:.0f} s") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        words = err.decode(errors="replace").strip().splitlines() or [f"it ended with code {child.returncode}"]
        raise ProgramFailed(f"{name}: {words[-1]}")
    return out.decode(errors="replace")
