"""Commands that steer the conversation, each against a real session."""

import asyncio

from hermes.commands.registry import Outcome, Screen
from hermes.protocol.events import Changed, ItemDone, Notice, TurnEnded, TurnStarted
from hermes.protocol.items import Image, Reply, Text, UserMessage, text_of
from hermes.protocol.ops import Redirect, Rewind, Say
from tests.agent.stage import ScriptedModel, answer, finish, text
from tests.commands.surface import person


def asked(model: ScriptedModel) -> list[str]:
    """What the model's last request has of both sides."""
    items = model.requests[-1].items
    return [
        text_of(i.parts) if isinstance(i, UserMessage) else i.text for i in items if isinstance(i, UserMessage | Reply)
    ]


class Held:
    """A model whose first answer waits until it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.model = ScriptedModel([self.wait, *text("first"), *finish()])

    async def wait(self) -> None:
        await self.go.wait()


async def test_new_asks_the_screen_for_a_session_with_that_title(tmp_path):
    async with person(tmp_path) as me:
        assert await me.types("/new now") == Outcome(screen=Screen("new"))
        assert await me.types("/reset plans  for May -y") == Outcome(screen=Screen("new", "plans for May"))


async def test_retry_asks_the_same_again_without_the_answer(tmp_path):
    model = ScriptedModel(answer("one"), answer("two"), answer("three"))
    async with person(tmp_path, model) as me:
        await me.stage.say("a")
        await me.stage.say("b")
        outcome = await me.types("/retry")
        assert [type(op) for op in outcome.ops] == [Rewind, Say]
        await me.ended(3)
        assert asked(model) == ["a", "one", "b"]
        assert me.stage.of(Changed)[-1] == Changed("rewound", turns=(2, 2))


async def test_retry_sends_pictures_along(tmp_path):
    async with person(tmp_path, ScriptedModel()) as me:
        parts = (Text("what is this?"), Image(await me.session.keep(b"png", "image/png"), "image/png", "a.png"))
        await me.session.send(Say(parts=parts))
        await me.ended(1)
        await me.types("/retry")
        await me.ended(2)
        said = [body.item.parts for body in me.stage.of(ItemDone) if isinstance(body.item, UserMessage)]
        assert said == [parts, parts]


async def test_retry_has_nothing_to_ask_again_in_a_new_session(tmp_path):
    async with person(tmp_path) as me:
        assert await me.types("/retry") == Outcome(reply="there is nothing to ask again (say something first)")


async def test_undo_takes_back_exchanges_and_again_those_before(tmp_path):
    model = ScriptedModel()
    async with person(tmp_path, model) as me:
        for words in "abcd":
            await me.stage.say(words)
        assert (await me.reply("/undo now")).startswith("Took back the last exchange.")
        await me.stage.until(lambda: Changed("rewound", turns=(4, 4)) in me.stage.bodies)
        assert (await me.reply("/undo 2 now")).startswith("Took back the last 2 exchanges.")
        await me.stage.until(lambda: Changed("rewound", turns=(2, 4)) in me.stage.bodies)
        await me.stage.say("e")
        assert asked(model) == ["a", "done", "e"]


async def test_undo_says_what_it_cannot_take_back(tmp_path):
    async with person(tmp_path, ScriptedModel()) as me:
        assert await me.reply("/undo now") == "there is nothing to take back (say something first)"
        await me.stage.say()
        assert await me.reply("/undo 2 -y") == "there are no 2 exchanges (/undo 1 takes back all there is)"
        assert await me.reply("/undo zero") == "'zero' is not a number from 1 on (for example /undo 2)"
        assert await me.reply("/undo 0 -y") == "'0' is not a number from 1 on (for example /undo 2)"


async def test_a_number_of_any_length_is_a_number(tmp_path):
    async with person(tmp_path) as me:
        assert "there is nothing to take back" in await me.reply(f"/undo {'9' * 5_000}")
        assert "**1:**" not in await me.reply(f"/sessions {2**64}")


async def test_what_changes_the_past_waits_for_the_turn(tmp_path):
    held = Held()
    async with person(tmp_path, held.model) as me:
        await me.session.send(Say(parts=(Text("go"),)))
        await me.until(TurnStarted)
        for command in ("/retry", "/undo now"):
            assert await me.types(command) == Outcome(reply="a turn is running (/stop it first)")
        held.go.set()
        await me.ended(1)


async def test_title_shows_and_sets_one_that_no_other_session_has(tmp_path):
    async with person(tmp_path, ScriptedModel()) as me:
        assert await me.reply("/title") == "This session has no title yet."
        await me.stage.say("plans for the garden")
        assert await me.reply("/title") == "Title: plans for the garden"
        assert await me.reply("/title the   garden") == "Title: the garden"
        await me.stage.until(lambda: Changed("title", title="the garden") in me.stage.bodies)
        assert await me.reply("/title the garden") == "Title: the garden"
        name = me.session.id
    async with person(tmp_path) as other:
        assert await other.reply("/title the garden") == f"session {name} has the title 'the garden' (choose another)"


async def test_stop_ends_the_turn(tmp_path):
    held = Held()
    async with person(tmp_path, held.model) as me:
        await me.session.send(Say(parts=(Text("go"),)))
        await me.until(TurnStarted)
        assert await me.reply("/stop") == "Stopping."
        assert await me.until(TurnEnded) == [TurnEnded("interrupted")]


async def test_stop_ends_processes_in_the_background(tmp_path):
    async with person(tmp_path) as me:
        await me.session.world.terminal.start("sleep 60")  # type: ignore[attr-defined]
        assert await me.reply("/stop") == "No turn is running; processes in the background are ended."
        assert await me.until(Notice) == [Notice("ended 1 background processes", code="stopped")]


async def test_queue_comes_after_the_running_turn_and_starts_one_if_there_is_none(tmp_path):
    held = Held()
    async with person(tmp_path, held.model) as me:
        assert await me.reply("/queue") == "the text is missing (/queue TEXT)"
        assert await me.reply("/queue first of all") == ""
        await me.until(TurnStarted)
        assert await me.reply("/q and then this") == "Queued behind the running turn."
        held.go.set()
        await me.ended(2)
        assert asked(held.model) == ["first of all", "first", "and then this"]


async def test_steer_joins_the_running_turn(tmp_path):
    held = Held()
    async with person(tmp_path, held.model) as me:
        assert await me.reply("/steer") == "the text is missing (/steer TEXT)"
        await me.session.send(Say(parts=(Text("go"),)))
        await me.until(TurnStarted)
        outcome = await me.types("/steer rather this way")
        assert outcome.reply == "It joins the running turn at its next step."
        assert [type(op) for op in outcome.ops] == [Redirect]
        held.go.set()
        await me.ended(2)
        assert asked(held.model) == ["go", "first", "rather this way"]
