"""/learn: what a session gave, after one more look for what is worth keeping."""

import asyncio

from hermes.learning.skills.birth import Source
from hermes.learning.skills.evidence import Evidence
from hermes.learning.skills.parse import Skill
from hermes.protocol.events import Usage
from tests.app.test_reviews import Reviewer, add
from tests.commands.surface import person
from tests.services.model_server import ModelServer

CORRECTION = "No, that is wrong: this project uses tabs, never spaces."


async def test_a_session_without_a_signal_asks_no_model(tmp_path):
    reviewer = Reviewer()
    async with ModelServer(reviewer) as server, person(tmp_path, base_url=server.base_url) as me:
        await me.stage.say("hello")
        assert await me.reply("/learn") == "Nothing was learned in this session yet."
        assert reviewer.asked == []


async def test_a_signal_is_reviewed_at_once_and_what_came_of_it_is_told(tmp_path):
    reviewer = Reviewer(add("This project uses tabs, never spaces.", "e1"))
    async with ModelServer(reviewer) as server, person(tmp_path, base_url=server.base_url) as me:
        await me.stage.say("indent this")
        await me.stage.say(CORRECTION)
        reply = await me.reply("/learn")
        assert len(reviewer.asked) == 1
        assert reply.startswith("Learned in this session:\n- memory 1 (")
        assert "This project uses tabs, never spaces." in reply
        await me.stage.until(lambda: any(usage.purpose == "review" for usage in me.stage.of(Usage)))
        await me.reply("/learn")
        assert len(reviewer.asked) == 1, "what was read is not read again"


async def test_skills_that_were_written_in_the_session_are_named(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".no-bundled-skills").touch()
    reviewer = Reviewer()
    settings = "toolsets: [skills]\n"
    async with ModelServer(reviewer) as server, person(tmp_path, settings=settings, base_url=server.base_url) as me:
        skill = Skill(name="report", description="How to make the report.", body="make report, then make check")
        for session in (me.session.id, "another"):
            await me.app.skills.workshop.create(
                Skill(name=skill.name + session[:1], description=skill.description, body=skill.body),
                Source("agent", session, 1),
                Evidence(6, True, False, False),
            )
        reply = await me.reply("/learn")
        assert "skill **report2** (draft)" in reply and "reporta" not in reply


async def test_a_review_that_takes_too_long_is_one_line(tmp_path):
    reviewer = Reviewer()
    reviewer.may_answer.clear()
    settings = "auxiliary: {background_review: {timeout: 0.05}}\n"
    async with ModelServer(reviewer) as server, person(tmp_path, settings=settings, base_url=server.base_url) as me:
        await me.stage.say("indent this")
        await me.stage.say(CORRECTION)
        async with asyncio.timeout(5):
            assert (await me.reply("/learn")).startswith("the review had no answer in time")
        reviewer.may_answer.set()
