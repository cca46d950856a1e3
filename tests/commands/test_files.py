"""Putting files back and saving the conversation, in a real folder."""

import re
from pathlib import Path

import pytest

from hermes.protocol.events import Changed
from tests.agent.stage import ScriptedModel, Step, answer, call, finish
from tests.commands.surface import Person, person

pytestmark = pytest.mark.needs("git")


def write(path: str, content: str) -> Step:
    return call("write_file", f'{{"path": "{path}", "content": "{content}"}}') + finish("calls")


async def two_changes(me: Person, work: Path) -> None:
    """A turn that makes a.txt, a turn that only talks, and one that changes a.txt and makes b.txt."""
    await me.stage.say("make a")
    await me.stage.say("talk")
    await me.stage.say("change a, make b")
    assert sorted(path.name for path in work.iterdir()) == ["a.txt", "b.txt"]


def model() -> ScriptedModel:
    return ScriptedModel(
        write("a.txt", "one"),
        answer("made"),
        answer("talked"),
        write("a.txt", "two"),
        write("b.txt", "new"),
        answer("changed"),
        answer("and on"),
    )


async def test_rollback_lists_the_checkpoints(tmp_path):
    async with person(tmp_path, model()) as me:
        assert (await me.reply("/rollback")).startswith(f"There are no checkpoints of `{tmp_path}/work` yet")
        await two_changes(me, tmp_path / "work")
        head, *lines, _, hint = (await me.reply("/rollback")).splitlines()
        assert head == f"Checkpoints of `{tmp_path}/work`, the newest first:"
        assert [re.sub(r"\d{4}-\S+ \S+,", "T,", line) for line in lines] == [
            "- 1: T, before a change in turn 3",
            "- 2: T, before a change in turn 1",
        ]
        assert hint.startswith("`/rollback N`")


async def test_a_snapshot_with_a_name_can_be_gone_back_to(tmp_path):
    async with person(tmp_path, model()) as me:
        file = tmp_path / "work" / "mine.txt"
        file.write_text("before")
        assert (await me.reply("/snapshot before  the move")).startswith(f"Kept `{tmp_path}/work` as it is now.")
        file.write_text("after")
        listed = await me.reply("/snap")
        assert listed == await me.reply("/rollback") == await me.reply("/snap list")
        assert re.search(r"^- 1: [^,]+, snapshot 'before the move'$", listed, re.MULTILINE)
        outcome = await me.types("/rollback 1")
        assert (outcome.ops, file.read_text()) == ((), "before")


async def test_a_folder_that_is_too_much_is_no_snapshot(tmp_path):
    async with person(tmp_path, model()) as me:
        await me.session.world.move(str(tmp_path))
        assert (await me.reply("/snapshot all")).startswith(f"{tmp_path} cannot be kept as a whole: ")


async def test_rollback_shows_what_has_changed_since(tmp_path):
    async with person(tmp_path, model()) as me:
        await two_changes(me, tmp_path / "work")
        diff = await me.reply("/rollback diff 1")
        assert diff.startswith("```diff\n") and "-one" in diff and "+two" in diff and "+new" in diff
        assert await me.reply("/rollback diff") == diff
        assert "+new" not in await me.reply("/rollback diff 1 a.txt")


async def test_rollback_puts_the_folder_and_the_conversation_back(tmp_path):
    work = tmp_path / "work"
    async with person(tmp_path, model()) as me:
        await two_changes(me, work)
        assert await me.reply("/rollback 1 -y") == (
            "Put back `a.txt`.\nRemoved `b.txt`.\nThe conversation is back where turn 3 began."
        )
        assert [(path.name, path.read_text()) for path in work.iterdir()] == [("a.txt", "one")]
        await me.stage.until(lambda: Changed("rewound", turns=(3, 3)) in me.stage.bodies)
        assert "before the rollback to checkpoint 1" in await me.reply("/rollback")
        assert await me.reply("/rollback 1 -y") == "Put back `a.txt`, `b.txt`."
        assert (work / "a.txt").read_text() == "two"


async def test_rollback_of_one_file_leaves_the_rest_and_the_conversation(tmp_path):
    work = tmp_path / "work"
    async with person(tmp_path, model()) as me:
        await two_changes(me, work)
        outcome = await me.types("/rollback 1 a.txt now")
        assert (outcome.reply, outcome.ops) == ("Put back `a.txt`.", ())
        assert [(work / name).read_text() for name in ("a.txt", "b.txt")] == ["one", "new"]


async def test_rollback_says_what_is_wrong(tmp_path):
    async with person(tmp_path, model()) as me:
        await two_changes(me, tmp_path / "work")
        assert await me.reply("/rollback x") == "'x' is not a number from 1 on (for example /rollback 1)"
        assert "there is no checkpoint 9" in await me.reply("/rollback 9 -y")
        me.session.world.checkpoints = None  # type: ignore[attr-defined]
        assert await me.reply("/rollback") == "there are no checkpoints (hermes config set checkpoints.enabled true)"


async def test_save_writes_the_conversation_and_overwrites_nothing(tmp_path):
    work = tmp_path / "work"
    async with person(tmp_path, model()) as me:
        assert await me.reply("/save") == "there is nothing to save (say something first)"
        await two_changes(me, work)
        assert await me.reply("/save talk.md") == f"Saved as `{work}/talk.md`."
        text = (work / "talk.md").read_text()
        head, *blocks = text.split("\n\n## ")
        assert re.fullmatch(
            rf"# make a\n\nSession `{me.session.id}`, \S+ \S+, model `custom:echo`, folder `{work}`", head
        )
        assert [block.partition("\n")[0] for block in blocks] == ["You", "Hermes"] * 3
        assert "```diff\n--- a/a.txt\n+++ b/a.txt\n" in blocks[5]
        assert blocks[5].endswith("\n\nchanged\n")
        assert await me.reply("/save talk.md") == f"{work}/talk.md is there already (name another file)"
        assert await me.reply("/save no/talk.md") == (
            f"cannot write {work}/no/talk.md: No such file or directory (name another file)"
        )
        assert (await me.reply("/save")).startswith(f"Saved as `{work}/hermes-{me.session.id}.md`")
