"""A branch of a conversation, and questions in the background, each against a real App and a scripted model server."""

import asyncio
import re

from hermes.app import Wish
from hermes.app.world import LocalWorld
from hermes.commands.registry import Outcome, Screen
from hermes.protocol import items
from hermes.protocol.events import Notice
from tests.agent.stage import Play, ScriptedModel, answer
from tests.commands.surface import person
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error


async def test_a_branch_has_the_same_past_and_a_future_of_its_own(tmp_path):
    async with person(tmp_path, ScriptedModel(answer("one"), answer("two"))) as me:
        assert await me.reply("/branch") == "there is nothing to branch from (say something first)"
        await me.stage.say("the garden")
        outcome = await me.types("/fork a second try")
        assert outcome.screen is not None
        new = outcome.screen.data
        assert outcome == Outcome(
            reply=f"This is a branch, session `{new}`. `/resume {me.session.id}` goes back to where it began.",
            screen=Screen("resume", new),
        )
        await me.stage.say("more")
        branch = Play(await me.app.open(Wish(resume=new)), me.app.store)
        assert [item.text for item in branch.session.history.view() if isinstance(item, items.Reply)] == ["one"]
        row = await me.app.store.session("a second try")
        assert row is not None
        assert (row.id, row.forked_from) == (new, me.session.id)
        await branch.close()


async def test_a_branch_takes_no_title_that_another_session_has(tmp_path):
    async with person(tmp_path, ScriptedModel()) as first:
        await first.stage.say("the garden")
        name = first.session.id
    async with person(tmp_path, ScriptedModel()) as me:
        await me.stage.say("hello")
        said = await me.reply("/branch the garden")
        assert said == f"session {name} has the title 'the garden' (choose another)"


async def test_an_answer_from_the_background_is_told_where_it_was_asked(tmp_path):
    async with ModelServer([Reply("It is 42.")]) as server, person(tmp_path, base_url=server.base_url) as me:
        said = await me.reply("/btw what is the answer?")
        [name] = re.findall(r"session `(\S+)`", said)
        [notice] = await me.until(Notice)
        told = f"The background session `{name}` answers (`/resume {name}` goes on with it):\n\nIt is 42."
        assert notice == Notice(told, code="background")
        row = await me.app.store.session(name)
        assert row is not None
        assert (row.source, row.title, row.owner) == ("background", "what is the answer?", "")
        assert me.session.history.turn == 0
        assert await me.types(f"/resume {name}") == Outcome(screen=Screen("resume", name))


async def test_a_question_in_the_background_that_fails_says_why(tmp_path):
    async with ModelServer([error(400)]) as server, person(tmp_path, base_url=server.base_url) as me:
        await me.types("/bg hello")
        [notice] = await me.until(Notice)
        assert (notice.level, notice.code) == ("warning", "background")
        assert "It ended: " in notice.text


async def test_status_shows_what_is_at_work_in_the_background_and_stop_ends_it(tmp_path):
    asked, never = asyncio.Event(), asyncio.Event()

    async def wait(request) -> Reply:
        asked.set()
        await never.wait()
        return Reply("too late")

    async with ModelServer(wait) as server, person(tmp_path, base_url=server.base_url) as me:
        [name] = re.findall(r"session `(\S+)`", await me.reply("/background count all stars"))
        await asyncio.wait_for(asked.wait(), 5)
        line = (await me.reply("/status")).splitlines()[-1]
        assert re.fullmatch(rf"- background session `{name}`, \d s: count all stars", line)
        still = f"session {name} is still at work in the background (/status shows it, /stop ends it)"
        assert await me.reply(f"/resume {name}") == still
        assert (await me.reply("/stop")).endswith("Background sessions ended: 1; each can be resumed.")
        row = await me.app.store.session(name)
        assert row is not None
        assert (row.owner, me.app.background.work) == ("", ())
        assert not any("background session" in line for line in (await me.reply("/status")).splitlines())
        never.set()


async def test_leaving_ends_what_is_at_work_in_the_background(tmp_path):
    asked, never = asyncio.Event(), asyncio.Event()

    async def wait(request) -> Reply:
        asked.set()
        await never.wait()
        return Reply("too late")

    async with ModelServer(wait) as server:
        async with person(tmp_path, base_url=server.base_url) as me:
            [name] = re.findall(r"session `(\S+)`", await me.reply("/background count all stars"))
            await asyncio.wait_for(asked.wait(), 5)
        never.set()
    async with person(tmp_path) as me:
        row = await me.app.store.session(name)
        assert row is not None
        assert (row.owner, row.ended is not None) == ("", True)


async def test_a_question_needs_words(tmp_path):
    async with person(tmp_path) as me:
        assert await me.reply("/background") == "the text is missing (/background TEXT)"


async def test_a_question_in_the_background_goes_to_the_model_of_the_session_that_asked(tmp_path):
    model = ScriptedModel(answer("By me."))
    async with person(tmp_path, model) as me:
        await me.types("/bg who answers?")
        [notice] = await me.until(Notice)
        assert notice.text.endswith("\n\nBy me.")
        assert [len(request.items) for request in model.requests] == [1]


async def test_status_shows_the_processes_that_run(tmp_path):
    async with person(tmp_path) as me:
        world = me.session.world
        assert isinstance(world, LocalWorld)
        process = await world.terminal.start("sleep 30")
        line = f"- process `{process.info.id}`, pid {process.info.pid}: `sleep 30`"
        assert (await me.reply("/status")).splitlines()[-1] == line
        await process.kill()
        assert line not in await me.reply("/status")
