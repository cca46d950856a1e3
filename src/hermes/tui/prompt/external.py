"""A text edited in the person's own editor, to which the terminal is lent meanwhile."""

import asyncio
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes.protocol.errors import UserError
from hermes.safety.environment import scrubbed

if TYPE_CHECKING:
    from textual.app import App

EDITORS = ("nano", "vi")


def editor_of(environ: Mapping[str, str], *, instead: str) -> list[str]:
    """The command of $VISUAL or $EDITOR, else of an editor that is there; without one, what to do `instead`."""
    if named := environ.get("VISUAL") or environ.get("EDITOR"):
        return shlex.split(named)
    for name in EDITORS:
        if found := shutil.which(name, path=environ.get("PATH")):
            return [found]
    raise UserError("no editor is set", f"set EDITOR, or {instead}")


async def edit(app: "App[object]", text: str, environ: Mapping[str, str]) -> str:
    """The text as it is when the editor ends; UserError if that does not work, then it stays as it was."""
    command = editor_of(environ, instead="type the text here")
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hermes-prompt-"))
    file = folder / "message.md"
    try:
        await asyncio.to_thread(file.write_text, text, encoding="utf-8")
        await _run(app, [*command, str(file)], scrubbed(environ))
        return (await asyncio.to_thread(file.read_text, encoding="utf-8", errors="replace")).rstrip("\n")
    except OSError as error:
        raise UserError(f"what {command[0]} wrote cannot be read: {error.strerror}", "the text is as it was") from None
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _run(app: "App[object]", command: Sequence[str], env: Mapping[str, str]) -> None:
    from textual.app import SuspendNotSupported

    try:
        # Sessions go on meanwhile, but nothing may be drawn: the terminal belongs to the editor.
        with app.batch_update(), app.suspend():
            child = await asyncio.create_subprocess_exec(*command, env=env)
            code = await child.wait()
    except SuspendNotSupported:
        raise UserError("this terminal cannot be lent to an editor", "type the text here") from None
    except OSError as error:
        raise UserError(f"cannot start {command[0]}: {error.strerror}", "set EDITOR to one that is there") from None
    finally:
        app.refresh(layout=True)
    if code:
        raise UserError(f"{command[0]} ended with code {code}", "the text is as it was")
