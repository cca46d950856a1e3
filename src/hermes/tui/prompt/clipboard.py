"""A picture from the clipboard, by whichever program of this desktop can read it."""

import asyncio
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path

from hermes.protocol.errors import UserError
from hermes.safety.environment import scrubbed

PNG = b"\x89PNG\r\n\x1a\n"
SECONDS = 5.0
# A program, the variable without which it has no desktop to ask, and how it gives a picture.
PROGRAMS = (
    ("wl-paste", "WAYLAND_DISPLAY", ("--no-newline", "--type", "image/png")),
    ("xclip", "DISPLAY", ("-selection", "clipboard", "-target", "image/png", "-out")),
    ("pngpaste", "", ("-",)),
)


async def save_picture(folder: Path, environ: Mapping[str, str]) -> Path:
    """Write the picture on the clipboard to a new file; UserError if there is none, or nothing that can read it."""
    there = [
        (found, arguments)
        for program, variable, arguments in PROGRAMS
        if (found := shutil.which(program, path=environ.get("PATH", ""))) and (not variable or environ.get(variable))
    ]
    if not there:
        hint = "install wl-clipboard or xclip (on a Mac pngpaste), or drop the file here"
        raise UserError("pictures cannot be pasted here", hint)
    for program, arguments in there:
        data = await _output(program, *arguments, env=scrubbed(environ))
        if data.startswith(PNG):
            return await asyncio.to_thread(_save, folder, data)
    raise UserError("there is no picture on the clipboard", "copy one first")


async def _output(*command: str, env: Mapping[str, str]) -> bytes:
    """What a program says; nothing if it fails or does not end."""
    try:
        child = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=env)
    except OSError:
        return b""
    try:
        async with asyncio.timeout(SECONDS):
            data, _ = await child.communicate()
    except TimeoutError:
        return b""
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return b"" if child.returncode else data


def _save(folder: Path, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"pasted-{len(list(folder.iterdir())) + 1}.png"
    path.write_bytes(data)
    return path
