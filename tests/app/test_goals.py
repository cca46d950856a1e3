"""A standing goal: judged after each turn, worked on until it is reached, and never against the person."""

import asyncio

from hermes.agent.goal import Goal
from hermes.app import Wish
from hermes.app.goals import SYSTEM
from hermes.protocol.errors import Overloaded
from hermes.protocol.events import ItemDone, Notice, TurnEnded, Usage
from hermes.protocol.items import UserMessage, text_of
from hermes.protocol.ops import Budget, Configure, Interrupt
from tests.agent.stage import ScriptedModel, Step, answer
from tests.commands.surface import Person, person
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Reply

NOT_YET, REACHED = answer("NOT YET: the roof is missing."), answer("REACHED: the house stands.")


def told(me: Person) -> list[tuple[str, str]]:
    return [(notice.code, notice.text) for notice in me.stage.of(Notice) if notice.code.startswith("goal")]


async def until_told(me: Person, code: str) -> None:
    await me.stage.until(lambda: any(each == code for each, _ in told(me)))


def messages(me: Person) -> list[tuple[str, str]]:
    items = [done.item for done in me.stage.of(ItemDone)]
    return [(item.origin, text_of(item.parts)) for item in items if isinstance(item, UserMessage)]


async def test_hermes_goes_on_by_itself_until_the_goal_is_reached(tmp_path):
    model = ScriptedModel(answer("The walls stand."), NOT_YET, answer("The roof is on."), REACHED)
    async with person(tmp_path, model) as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_reached")
        assert told(me) == [
            ("goal", "Goal: build a house"),
            ("goal_turn", "Goal not reached yet (1 of 20): the roof is missing"),
            ("goal_reached", "Goal reached: the house stands"),
        ]
        first, second = messages(me)
        assert first == ("person", "build a house")
        assert second[0] == "hook" and second[1].startswith("The goal is not reached yet: build a house\n")
        assert me.session.history.goal == Goal("build a house", "reached", 1)
        assert len(me.stage.of(TurnEnded)) == 2
        assert (model.requests[1].system, model.requests[1].tools) == (SYSTEM, ())
        [judged] = model.requests[1].items
        assert isinstance(judged, UserMessage) and "The walls stand." in text_of(judged.parts)


async def test_what_judging_took_is_counted_under_its_own_purpose(tmp_path):
    async with person(tmp_path, ScriptedModel(answer("The house stands."), REACHED)) as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_reached")
        assert [usage.purpose for usage in me.stage.of(Usage)] == ["", "goal"]
        [row] = [row for row in await me.app.store.usage() if row.purpose == "goal"]
        assert (row.session, row.calls) == (me.session.id, 1)


async def test_the_auxiliary_model_judges_where_one_is_named(tmp_path):
    judged: list[Request] = []

    async def reply(request: Request) -> Reply:
        if SYSTEM[:40] not in request.prompt.decode():
            return Reply("The house stands.")
        judged.append(request)
        return Reply("Reached")

    settings = "auxiliary: {goal_judge: {model: small}}\n"
    async with ModelServer(reply) as server, person(tmp_path, settings=settings, base_url=server.base_url) as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_reached")
        assert [request.body["model"] for request in judged] == ["small"]
        assert told(me)[-1] == ("goal_reached", "Goal reached: build a house")


async def test_it_stops_after_as_many_turns_as_the_settings_allow(tmp_path):
    script = [step for _ in range(4) for step in (answer("I am at it."), NOT_YET)]
    async with person(tmp_path, ScriptedModel(*script), settings="goals: {max_turns: 2}\n") as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_paused")
        assert [code for code, _ in told(me)] == ["goal", "goal_turn", "goal_turn", "goal_paused"]
        assert "after 2 turns more: the roof is missing. " in told(me)[-1][1]
        assert len(me.stage.of(TurnEnded)) == 3
        await me.types("/goal resume")
        await me.ended(4)
        assert me.session.history.goal == Goal("build a house")


class Held:
    """A step that waits until it may go on."""

    def __init__(self, step: Step) -> None:
        self.began, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.step: Step = [self._wait, *step]

    async def _wait(self) -> None:
        self.began.set()
        await self.may_go_on.wait()


async def test_an_interrupt_pauses_the_goal(tmp_path):
    held = Held(answer("I am at it."))
    async with person(tmp_path, ScriptedModel(held.step)) as me:
        await me.types("/goal build a house")
        await held.began.wait()
        await me.session.send(Interrupt())
        await until_told(me, "goal_paused")
        assert told(me)[-1] == (
            "goal_paused",
            "Goal paused: the turn was not done (interrupted). /goal resume goes on.",
        )
        assert len(me.stage.of(TurnEnded)) == 1


async def test_a_message_of_the_person_comes_before_what_the_judge_says(tmp_path):
    held = Held(NOT_YET)
    model = ScriptedModel(answer("The walls stand."), held.step, answer("A tin roof, then."), REACHED)
    async with person(tmp_path, model) as me:
        await me.types("/goal build a house")
        await held.began.wait()
        await me.stage.say("take tin for the roof")
        await until_told(me, "goal_reached")
        assert [code for code, _ in told(me)] == ["goal", "goal_reached"]
        assert messages(me) == [("person", "build a house"), ("person", "take tin for the roof")]
        assert model.open_calls == 0


async def test_a_question_to_the_person_is_left_to_the_person(tmp_path):
    async with person(tmp_path, ScriptedModel(answer("Tin or tiles?"), answer("ASKS: which roof it should be."))) as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_paused")
        assert told(me)[-1][1] == "Goal paused: it needs you: which roof it should be. /goal resume goes on."


async def test_a_judge_that_fails_or_mumbles_pauses_the_goal(tmp_path):
    fails: Step = [Overloaded("the model is busy")]
    script = (answer("Done."), fails, answer("Done."), answer("Well, who knows"))
    async with person(tmp_path, ScriptedModel(*script)) as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_paused")
        assert told(me)[-1][1] == "Goal paused: it could not be judged: the model is busy. /goal resume goes on."
        await me.types("/goal resume")
        await me.stage.until(
            lambda: told(me)[-1][1].startswith("Goal paused: it could not be judged: the judge's answer")
        )


async def test_a_spent_budget_pauses_the_goal_before_the_judge_is_asked(tmp_path):
    model = ScriptedModel(answer("The walls stand."), NOT_YET)
    async with person(tmp_path, model) as me:
        await me.session.send(Configure(budget=Budget(steps=1)))
        await me.types("/goal build a house")
        await until_told(me, "goal_paused")
        assert "the limit of 1 steps a turn is reached" in told(me)[-1][1]
        assert len(model.requests) == 1


async def test_a_goal_survives_a_resume_and_is_judged_again(tmp_path):
    async with person(tmp_path, ScriptedModel(answer("The walls stand."), REACHED)) as me:
        await me.types("/goal build a house")
        await until_told(me, "goal_reached")
        await me.types("/goal build a barn")
        await me.types("/goal pause")
        name = me.session.id
        await me.session.close()
        again = Person(me.app, await me.app.open(Wish(resume=name)))
        try:
            assert again.session.history.goal == Goal("build a barn", "paused")
            again.session.model = ScriptedModel(answer("The barn stands."), REACHED)
            await again.types("/goal resume")
            await again.stage.until(lambda: [code for code, _ in told(again)].count("goal_reached") == 2)
        finally:
            await again.stage.close()
