"""Titles by a model: after the first exchange, paid for openly, and never over one that a person gave."""

import asyncio

from hermes.app.titles import SYSTEM
from hermes.protocol.events import Changed, Usage
from tests.commands.surface import person
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Reply, error

SETTINGS = "auxiliary: {title_generation: {model: small}}\n"


class Author:
    """Answers the conversation, and writes titles when it is asked for one."""

    def __init__(self, title: Reply) -> None:
        self.title = title
        self.asked: list[Request] = []
        self.was_asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_answer.set()

    async def __call__(self, request: Request) -> Reply:
        if SYSTEM[:40] not in request.prompt.decode():
            return Reply("Dig it over in spring.")
        self.asked.append(request)
        self.was_asked.set()
        await self.may_answer.wait()
        return self.title


async def test_a_new_session_gets_a_title_by_the_auxiliary_model(tmp_path):
    author = Author(Reply('"Digging the garden."\n'))
    async with ModelServer(author) as server, person(tmp_path, settings=SETTINGS, base_url=server.base_url) as me:
        await me.stage.say("how do I prepare the garden?")
        await me.stage.until(lambda: me.session.history.title == "Digging the garden")
        await me.stage.say("and then?")
        [asked] = author.asked
        assert asked.body["model"] == "small"
        assert "how do I prepare the garden?" in asked.user_text
        assert "Dig it over in spring." in asked.user_text
        [row] = [row for row in await me.app.store.usage() if row.purpose == "title"]
        assert (row.session, row.calls) == (me.session.id, 1)


async def test_a_title_that_the_person_gave_stays(tmp_path):
    author = Author(Reply("Digging the garden"))
    author.may_answer.clear()
    async with ModelServer(author) as server, person(tmp_path, settings=SETTINGS, base_url=server.base_url) as me:
        await me.stage.say("how do I prepare the garden?")
        await me.types("/title mine")
        await me.stage.until(lambda: me.session.history.title == "mine")
        author.may_answer.set()
        await me.stage.until(lambda: any(usage.purpose == "title" for usage in me.stage.of(Usage)))
        await me.stage.say("and then?")
        assert me.session.history.title == "mine"


async def test_a_title_that_cannot_be_had_is_the_first_words(tmp_path):
    author = Author(error(400))
    async with ModelServer(author) as server, person(tmp_path, settings=SETTINGS, base_url=server.base_url) as me:
        await me.stage.say("how do I prepare the garden?")
        await asyncio.wait_for(author.was_asked.wait(), 5)
        await me.stage.say("and then?")
        assert [change.title for change in me.stage.of(Changed) if change.cause == "title"] == [
            "how do I prepare the garden?"
        ]


async def test_nobody_is_asked_for_titles_where_no_model_is_set(tmp_path):
    author = Author(Reply("Digging the garden"))
    async with ModelServer(author) as server, person(tmp_path, base_url=server.base_url) as me:
        await me.stage.say("how do I prepare the garden?")
        await me.stage.say("and then?")
        assert (author.asked, me.session.history.title) == ([], "how do I prepare the garden?")
