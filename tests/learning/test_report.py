"""What was learned over some days, from which message, what it saved, and what was retired."""

import time

from hermes.learning.report import Day, Lesson, Report, Retired, Skill, gather
from hermes.protocol.events import ItemDone, Usage
from hermes.protocol.items import UserMessage
from hermes.protocol.memories import Edit, Memory, Writing
from hermes.protocol.skills import Decision, SkillUse, Trial, Version
from hermes.store.sqlite import SqliteStore
from tests.agent.stage import ScriptedModel, answer, play

NOON = time.mktime((2026, 11, 15, 12, 0, 0, 0, 0, -1))
DAY = 86_400.0
NEW = -1


async def learn(store: SqliteStore, session: str, item: str, noon: float = NOON) -> None:
    """Yesterday a fact was remembered, and today another took its place; a skill was written, tried and used."""
    old = Memory(id=NEW, target="memory", content="The port is 80.", session=session, item=item, created=noon - DAY)
    [kept] = await store.memories.commit(
        [Writing(at=noon - DAY, by="tool", edits=(Edit("add", old),), session=session, item=item)]
    )
    new = Memory(id=NEW, target="memory", content="The port is 81.", origin="file", created=noon, supersedes=kept.id)
    gone = Memory(
        id=kept.id, target="memory", content="The port is 80.", state="retired", session=session, item=item, created=noon - DAY
    )  # fmt: skip
    await store.memories.commit([Writing(at=noon, by="file", edits=(Edit("add", new), Edit("retire", gone)))])
    await store.memories.count([kept.id + 1], [])
    version = Version(
        skill="mend", number=0, hash="h", files={}, at=noon, by="agent", why="5 calls", session=session, turn=1
    )
    await store.skills.propose(version, "coding")
    trial = Trial(
        skill="mend", version=1, session=session, turn=1, finding="better", why="", at=noon, steps=(6, 2), tokens=(900, 300)
    )  # fmt: skip
    decision = Decision(skill="mend", expected=1, state="trial", version=1, hash="h", saved=600, trials=(trial,))
    await store.skills.decide(decision, noon)
    await store.skills.count(
        [SkillUse(skill="mend", version=1, offered=3, loaded=2, helped=1, failed=1, saved=600, at=noon)]
    )


async def test_a_report_says_what_was_learned_from_which_message_and_what_it_cost(tmp_path):
    async with play(tmp_path, ScriptedModel(answer("Good.")), now=lambda: NOON) as stage:
        await stage.say("Remember that the port is 80.")
        [said] = [body.item for body in stage.of(ItemDone) if isinstance(body.item, UserMessage)]
        session = stage.session.id
        [used] = stage.of(Usage)
        await learn(stage.store, session, said.id)
        await stage.store.spend(session, Usage(0, "small", 50, 10, cost=0.02, purpose="review"), NOON)
        spent = used.input + used.output
        assert await gather(stage.store, 2, NOON) == Report(
            since="2026-11-14",
            days=(Day("2026-11-14", 1, 0, 0, 0), Day("2026-11-15", 2, 1, spent + 60, 60)),
            lessons=(
                Lesson(
                    id=2, at=NOON, target="memory", content="The port is 81.", state="active", origin="file",
                    session="", item="", message="", helped=1, hurt=0,
                ),
                Lesson(
                    id=1, at=NOON - DAY, target="memory", content="The port is 80.", state="retired", origin="agent",
                    session=session, item=said.id, message="Remember that the port is 80.", helped=0, hurt=0,
                ),
            ),
            skills=(
                Skill(
                    name="mend", state="trial", at=NOON, why="5 calls", session=session, turn=1, trials=1, better=1,
                    steps=(6, 2), tokens=(900, 300), loaded=2, helped=1, failed=1, saved=600,
                ),
            ),
            retired=(Retired(NOON, "memory", "The port is 80.", "by file"),),
            purposes=(("review", 60), ("conversation", spent)) if spent < 60 else (("conversation", spent), ("review", 60)),
            review_calls=1,
            review_cost=0.02,
        )  # fmt: skip


async def test_what_lies_before_the_days_is_left_out_and_skills_are_not(tmp_path):
    async with play(tmp_path, ScriptedModel(answer("Good.")), now=lambda: NOON) as stage:
        await stage.say("Remember that the port is 80.")
        await learn(stage.store, stage.session.id, "gone")
        report = await gather(stage.store, 3, NOON + 10 * DAY)
    assert (report.lessons, report.retired, report.tokens, report.saved) == ((), (), 0, 600)
    assert [day.learned for day in report.days] == [0, 0, 0]
