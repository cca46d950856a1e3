"""A picture on its way into a session."""

import pytest

from hermes.protocol.items import Image, Text
from hermes.protocol.ops import Say
from tests.agent.stage import ScriptedModel
from tests.commands.surface import person

DATA = b"\x89PNG\r\n\x1a\nnot much of a picture"


@pytest.mark.parametrize(
    ("typed", "name", "words"),
    [
        ("a.png", "a.png", ""),
        ("a.png what's this?", "a.png", "what's this?"),
        ('"two words.png" and # this', "two words.png", "and # this"),
        ("two\\ words.png", "two words.png", ""),
    ],
)
async def test_a_picture_is_sent_with_what_is_said_about_it(tmp_path, typed, name, words):
    async with person(tmp_path, ScriptedModel()) as me:
        (tmp_path / "work" / name).write_bytes(DATA)
        [op] = (await me.types(f"/image {typed}")).ops
        assert isinstance(op, Say)
        *said, picture = op.parts
        assert said == ([Text(words)] if words else [])
        assert isinstance(picture, Image)
        assert (picture.media_type, picture.name) == ("image/png", name)
        assert await me.session.blob(picture.blob) == DATA


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "the path is missing (/image PATH [TEXT])"),
        ('"a.png', "a quote is not closed (/image PATH [TEXT])"),
        ("none.png", "cannot read {work}/none.png: No such file or directory (check the path)"),
        ("a.txt", "{work}/a.txt is not a picture (give a .png, .jpg, .gif or .webp file)"),
    ],
)
async def test_what_is_no_picture_is_one_line(tmp_path, typed, said):
    async with person(tmp_path) as me:
        assert await me.reply(f"/image {typed}") == said.format(work=tmp_path / "work")
