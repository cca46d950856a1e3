"""/memory shows what is remembered, and lets a person decide about what waits."""

import pytest

from hermes.learning.memory.entries import Source
from tests.agent.stage import ScriptedModel, answer, call, finish
from tests.commands.surface import person

ADD = '{"target": "memory", "action": "add", "content": "the server is atlas"}'


def keeps() -> ScriptedModel:
    return ScriptedModel(call("memory", ADD) + finish("calls"), answer("I keep that."))


async def test_memory_shows_what_is_kept_and_why_names_the_message(tmp_path):
    async with person(tmp_path, keeps()) as me:
        assert await me.reply("/memory") == (
            "**MEMORY.md** 0%, 0 of 2,200 characters\n- nothing yet\n\n"
            "**USER.md** 0%, 0 of 1,375 characters\n- nothing yet"
        )
        await me.stage.say("our server is atlas, please note it down")
        assert "- 1: the server is atlas" in await me.reply("/memory")
        told = await me.reply("/memory why 1")
        assert told.startswith("> the server is atlas\n\n- target: memory, active")
        assert f"- session: {me.session.id}, message " in told
        assert "- said there: our server is atlas, please note it down" in told


async def test_what_waits_is_approved_or_rejected(tmp_path):
    async with person(tmp_path, keeps(), settings="memory: {write_approval: true}\n") as me:
        assert await me.reply("/memory pending") == "Nothing waits."
        await me.stage.say("note it down")
        assert "- 1 (memory): the server is atlas **held**" in await me.reply("/memory pending")
        async with me.app.memory.notebook.change("tool") as draft:
            draft.entries.add("user", "likes tea", Source("agent"), state="pending")
        assert await me.reply("/memory reject 2") == "Dropped 1. New sessions will see it so."
        assert await me.reply("/memory approve") == "Kept 1. New sessions will see it so."
        assert "- 1: the server is atlas" in await me.reply("/memory")
        assert "nothing waits under 'all'" in await me.reply("/memory approve")


async def test_approving_a_replacement_retires_what_it_replaces_and_a_removal_its_entry(tmp_path):
    async with person(tmp_path) as me:
        book = me.app.memory.notebook
        async with book.change("tool") as draft:
            for content in ("port 80", "host atlas"):
                draft.entries.add("memory", content, Source("agent"))
        async with book.change("tool") as draft:
            port, host = draft.entries.active("memory")
            draft.entries.propose(port, "port 81", Source("agent"))
            draft.entries.propose(host, "", Source("agent"))
        told = await me.reply("/memory pending")
        assert "port 81 (instead of: port 80)" in told and "forget: host atlas" in told
        await me.types("/memory approve all")
        assert (tmp_path / "home/memories/MEMORY.md").read_text() == "port 81\n"


async def test_a_change_is_taken_back(tmp_path):
    async with person(tmp_path, keeps()) as me:
        await me.stage.say("note it down")
        assert await me.reply("/memory undo") == "Taken back:\n- add 1 (memory): the server is atlas [tool]"
        assert "- nothing yet" in await me.reply("/memory")
        assert (await me.reply("/memory undo")).startswith("there is nothing to undo")


@pytest.mark.parametrize("typed", ["/memory explode", "/memory why", "/memory why x", "/memory approval maybe"])
async def test_what_is_not_understood_is_told(tmp_path, typed):
    async with person(tmp_path) as me:
        assert "(" in await me.reply(typed)


async def test_approval_can_be_switched_for_good(tmp_path):
    async with person(tmp_path) as me:
        assert "`memory.write_approval`" in await me.reply("/memory approval on")
        assert me.app.settings.file.memory.write_approval
