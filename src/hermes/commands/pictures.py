"""The command that sends a picture."""

import io
import os
import shlex
from pathlib import Path

from hermes.app.pictures import picture
from hermes.commands.registry import TERMINAL, Command, Context, Outcome
from hermes.protocol.errors import UserError
from hermes.protocol.items import Part, Text
from hermes.protocol.ops import Say

USAGE = "/image PATH [TEXT]"


async def image(ctx: Context, argument: str) -> Outcome:
    path, text = _path_and_text(argument)
    shown = await picture(ctx.session, Path(ctx.session.options.cwd, os.path.expanduser(path)))
    parts: tuple[Part, ...] = (Text(text), shown) if text else (shown,)
    return Outcome(ops=(Say(parts=parts),))


def _path_and_text(argument: str) -> tuple[str, str]:
    """A path, in quotes if there are spaces in it, and what is said about the picture."""
    typed = io.StringIO(argument)
    reader = shlex.shlex(typed, posix=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        path = reader.get_token()
    except ValueError:
        raise UserError("a quote is not closed", USAGE) from None
    if not path:
        raise UserError("the path is missing", USAGE)
    return path, argument[typed.tell() :].strip()


IMAGE = Command(name="image", usage="PATH [TEXT]", help="send a picture", run=image, surfaces=TERMINAL)
