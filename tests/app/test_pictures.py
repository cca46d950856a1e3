"""Pictures that a person sends along."""

from pathlib import Path

import pytest

from hermes.app.pictures import picture
from hermes.protocol.errors import UserError
from hermes.protocol.items import Image
from tests.commands.surface import person


async def test_a_file_becomes_a_part_of_a_message_and_what_is_none_is_named(tmp_path: Path):
    file = tmp_path / "a.png"
    file.write_bytes(b"\x89PNG")
    async with person(tmp_path) as me:
        kept = await picture(me.session, file)
        assert isinstance(kept, Image) and await me.session.blob(kept.blob) == b"\x89PNG"
        for path in ("~nobody-has-this-home/a.png", tmp_path / "gone.png", tmp_path / "a.txt"):
            with pytest.raises(UserError, match=str(path)):
                await picture(me.session, path)
