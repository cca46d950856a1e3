"""/compress hands the session an op, and tells beforehand what it would do."""

import pytest

from hermes.protocol.models import Tokens
from hermes.protocol.ops import Compact
from tests.agent.stage import ScriptedModel, call, finish, text
from tests.commands.surface import person


async def test_compress_condenses_with_the_focus_that_was_named(tmp_path):
    async with person(tmp_path) as me:
        outcome = await me.types("/compress the parser")
        [op] = outcome.ops
        assert isinstance(op, Compact) and op.focus == "the parser"


@pytest.mark.parametrize(("typed", "kept"), [("here", 1), ("here 3", 3), ("HERE  2", 2)])
async def test_the_last_exchanges_can_be_kept_word_for_word(tmp_path, typed, kept):
    async with person(tmp_path) as me:
        [op] = (await me.types(f"/compress {typed}")).ops
        assert isinstance(op, Compact) and (op.keep, op.focus) == (kept, "")


async def test_a_number_of_exchanges_that_is_none_is_told(tmp_path):
    async with person(tmp_path) as me:
        assert "is not a number from 1 on" in await me.reply("/compress here and now")


async def test_a_preview_says_what_would_happen_and_changes_nothing(tmp_path):
    read = call("read_file", '{"path": "long.txt"}') + finish("calls")
    model = ScriptedModel(*[read] * 4, text("ok") + finish("stop", Tokens(input=6_000, output=5)))
    model.window = 10_000
    async with person(tmp_path, model) as me:
        (tmp_path / "work" / "long.txt").write_text("a line of a long file\n" * 300)
        assert "Nothing to condense" in (await me.types("/compact --preview")).reply
        await me.stage.say("read it")
        before = me.session.history.view()
        reply = (await me.types("/compress --preview")).reply
        assert "About 6,005 of 10,000 tokens" in reply and "Nothing is lost" in reply
        assert me.session.history.view() == before
