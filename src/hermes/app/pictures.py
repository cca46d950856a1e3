"""Pictures that a person sends along: a file becomes a part of a message."""

import asyncio
import mimetypes
import os
from pathlib import Path

from hermes.agent.session import Session
from hermes.protocol.errors import UserError
from hermes.protocol.items import Image


async def picture(session: Session, path: str | Path) -> Image:
    """A picture file as a part of a message to this session."""
    file = Path(os.path.expanduser(path))
    media_type = mimetypes.guess_type(file.name)[0] or ""
    if not media_type.startswith("image/"):
        raise UserError(f"{path} is not a picture", "give a .png, .jpg, .gif or .webp file")
    try:
        data = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", "check the path") from None
    return Image(await session.keep(data, media_type), media_type, file.name)
