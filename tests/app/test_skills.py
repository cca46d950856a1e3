"""Skills in sessions: offered, found, read, written, called by name, counted."""

import asyncio
import time
from pathlib import Path

import msgspec
import pytest

from hermes.app import Wish
from hermes.app.skills import skill_tools
from hermes.learning.skills.birth import Source
from hermes.learning.skills.evidence import Evidence
from hermes.learning.skills.parse import Skill, write_skill
from hermes.protocol.errors import UserError
from hermes.protocol.events import ItemDone, Notice
from hermes.protocol.items import ToolCall, UserMessage, text_of
from hermes.protocol.skills import SkillUse
from hermes.store.sqlite import SqliteStore
from tests.agent.stage import Play, ScriptedModel, answer, call, finish
from tests.commands.surface import Person, person
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.request import text_of as part_of
from tests.services.script import Reply
from tests.services.script import call as server_call

PLAIN = "toolsets: [skills, terminal]\nterminal: {sandbox: 'off'}\n"
TEXT = """---
name: greet-people
description: How people are greeted here, when somebody comes in.
---

1. run `echo hello`
"""


def step(tool: str, /, **given) -> list:
    return [*call(tool, msgspec.json.encode(given).decode()), *finish("calls")]


def keep(folder: Path, name: str = "tidy-desk", **more) -> Path:
    target = folder / "home" / "skills" / "office" / name
    skill = Skill(name=name, description="Tidy a desk, when papers lie about.", body="Sort in ${HERMES_SKILL_DIR}.\n")
    write_skill(target, msgspec.structs.replace(skill, **more))
    return target


async def results(me: Person, *steps: list) -> list[str]:
    """What calls gave the model, made in one turn."""
    me.session.model = ScriptedModel(*steps, answer("done"))
    before = len(me.stage.of(ItemDone))
    await me.stage.say("go on")
    items = [done.item for done in me.stage.of(ItemDone)[before:]]
    return [text_of(item.result) for item in items if isinstance(item, ToolCall)]


@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
def test_the_tools_about_skills_take_at_most_350_tokens():
    import bpe_openai

    told = [
        f"{tool.spec.name} {tool.spec.description} {bytes(tool.spec.schema).decode()}" for tool in skill_tools(None)
    ]
    assert len(bpe_openai.get_encoding("o200k_base").encode("\n".join(told))) <= 350


async def test_a_new_session_is_told_of_the_skills_and_can_read_them(tmp_path):
    folder = keep(tmp_path)
    (folder / "references").mkdir()
    (folder / "references" / "papers.md").write_text("Blue ones first.")
    async with person(tmp_path, settings=PLAIN) as me:
        assert "office:\n- tidy-desk: Tidy a desk, when papers lie about." in me.session.system
        listed, found, text, file, outside, gone = await results(
            me,
            step("skills_list", category="office"),
            step("skill_search", query="my papers are everywhere"),
            step("skill_view", name="tidy-desk"),
            step("skill_view", name="tidy-desk", file_path="references/papers.md"),
            step("skill_view", name="tidy-desk", file_path="references/../../../../config.yaml"),
            step("skill_view", name="tidy"),
        )
        assert "office/tidy-desk: Tidy a desk, when papers lie about." in listed
        assert found.splitlines()[0] == "office/tidy-desk: Tidy a desk, when papers lie about."
        assert text.startswith(f"# Skill: tidy-desk\n\nSort in {folder}.")
        assert "references/papers.md" in text
        assert file == "Blue ones first."
        assert "provider" not in outside
        assert "there is tidy-desk" in gone


async def test_a_link_in_a_skill_leads_nowhere(tmp_path):
    folder = keep(tmp_path)
    (folder / "references").mkdir()
    (folder / "references" / "link.md").symlink_to(tmp_path / "home" / "config.yaml")
    async with person(tmp_path, settings=PLAIN) as me:
        [said] = await results(me, step("skill_view", name="tidy-desk", file_path="references/link.md"))
        assert "outside" in said
        assert "provider" not in said


async def test_a_skill_that_was_changed_meanwhile_is_not_read(tmp_path):
    async with person(tmp_path, settings=PLAIN) as me:
        skill = Skill(name="report", description="How to make the report.", body="Make it.")
        await me.app.skills.workshop.create(skill, Source("agent"), Evidence(6, True, False, False))
        await me.app.skills.life.approve("report")
        [text] = await results(me, step("skill_view", name="report"))
        assert "Make it." in text
        path = me.app.skills.shelf.get("report").folder / "SKILL.md"
        path.write_text(path.read_text() + "And send it away.\n")
        [text] = await results(me, step("skill_view", name="report"))
        assert "switched off" in text
        assert "send it away" not in text
        assert "switched off" in await me.reply("/report")


async def test_a_session_without_the_tools_is_told_of_no_skills(tmp_path):
    keep(tmp_path)
    async with person(tmp_path, settings="toolsets: [terminal]\n") as me:
        assert "tidy-desk" not in me.session.system
        assert "skills" not in me.app.__dict__


async def test_what_the_model_writes_is_a_draft_that_it_does_not_see(tmp_path):
    script = ScriptedModel(
        step("skill_manage", action="create", name="greet-people", content=TEXT, category="office"),
        step("skill_view", name="greet-people"),
    )
    async with person(tmp_path, script, settings=PLAIN) as me:
        await me.stage.say("please make a skill of how we greet people")
        made, seen = [d.item for d in me.stage.of(ItemDone) if isinstance(d.item, ToolCall)]
        assert "once a trial has shown that it helps" in text_of(made.result)
        assert "there is no skill 'greet-people'" in text_of(seen.result)
        [row] = await me.app.store.skills.rows()
        assert (row.name, row.category, row.state) == ("greet-people", "office", "draft")
        assert not (tmp_path / "home" / "skills" / "office").exists()


async def test_without_proof_or_a_wish_the_model_keeps_nothing(tmp_path):
    async with person(tmp_path, settings=PLAIN) as me:
        [said] = await results(me, step("skill_manage", action="create", name="greet-people", content=TEXT))
        assert said.startswith("nothing was kept")
        assert await me.app.store.skills.rows() == []


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "notes.md", "references/../SKILL.md/../../x", "scripts"])
async def test_files_of_a_skill_lie_in_its_four_folders(tmp_path, path):
    keep(tmp_path)
    async with person(tmp_path, settings=PLAIN) as me:
        given = {"action": "write_file", "name": "tidy-desk", "file_path": path, "file_content": "x"}
        await results(me, step("skill_manage", **given))
        [item] = [d.item for d in me.stage.of(ItemDone) if isinstance(d.item, ToolCall)]
        assert item.status == "failed"
        assert me.app.skills.pending.all() == []


async def test_the_model_only_proposes_changes_to_a_persons_skill(tmp_path):
    folder = keep(tmp_path)
    before = (folder / "SKILL.md").read_text()
    async with person(tmp_path, settings=PLAIN) as me:
        patched, wrong, deleted = await results(
            me,
            step("skill_manage", action="patch", name="tidy-desk", old_string="Sort", new_string="Sort twice"),
            step("skill_manage", action="patch", name="tidy-desk", old_string="name: tidy-desk", new_string="x"),
            step("skill_manage", action="delete", name="tidy-desk"),
        )
        assert "proposed to the person" in patched
        assert "did not write" in deleted
        assert wrong
        assert (folder / "SKILL.md").read_text() == before
        waiting = await me.reply("/skills pending")
        assert "a change to tidy-desk (user)" in waiting
        assert "+Sort twice" in await me.reply("/skills diff tidy-desk")
        await me.types("/skills approve tidy-desk")
        assert "Sort twice" in (folder / "SKILL.md").read_text()


async def test_every_skill_is_a_command(tmp_path):
    folder = keep(tmp_path)
    async with person(tmp_path, ScriptedModel(), settings=PLAIN) as me:
        await me.types("/tidy-desk before noon")
        await me.ended(1)
        [message] = [d.item for d in me.stage.of(ItemDone) if isinstance(d.item, UserMessage)]
        assert (message.origin, message.source) == ("skill", "skill:tidy-desk")
        assert text_of(message.parts) == f"before noon\n\n# Skill: tidy-desk\n\nSort in {folder}."
        assert me.session.history.title == "before noon"


async def test_a_skill_takes_no_command_away(tmp_path):
    keep(tmp_path, "help")
    async with person(tmp_path, settings=PLAIN) as me:
        assert "/undo" in await me.reply("/help")
        names = [command.name for command in me.registry.on("terminal")]
        assert names.count("help") == 1
        with pytest.raises(UserError, match="no command"):
            me.registry.read("/tidy-desk", "terminal")


async def test_a_new_skill_is_a_command_once_skills_are_looked_for_anew(tmp_path):
    async with person(tmp_path, settings=PLAIN) as me:
        keep(tmp_path)
        with pytest.raises(UserError):
            me.registry.read("/tidy-desk", "terminal")
        assert "new sessions begin with them" in await me.reply("/reload-skills")
        assert me.registry.read("/tidy-desk", "terminal") is not None


async def test_skills_can_be_loaded_from_the_start(tmp_path):
    keep(tmp_path)
    async with person(tmp_path, settings=PLAIN) as me:
        session = await me.app.open(Wish(cwd=str(tmp_path / "work"), skills=("tidy-desk",)))
        assert "# Skill: tidy-desk\n\nSort in" in session.system
        await session.close()
        with pytest.raises(UserError, match="no skill 'nothing'"):
            await me.app.open(Wish(cwd=str(tmp_path / "work"), skills=("nothing",)))


async def test_use_is_counted_by_how_the_turn_ended(tmp_path):
    keep(tmp_path)
    keep(tmp_path, "other", description="Something else.")
    async with person(tmp_path, settings=PLAIN) as me:
        await results(me, step("skill_view", name="tidy-desk"), step("terminal", command="true"))
        await results(me, step("skill_view", name="tidy-desk"), step("terminal", command="false"))
        await results(me, step("terminal", command="false"))
        wanted = SkillUse(skill="tidy-desk", offered=1, loaded=2, helped=1, failed=1)
        counted: dict[str, SkillUse] = {}
        async with asyncio.timeout(5):
            while counted.get("tidy-desk") != wanted:
                uses = await me.app.store.skills.uses()
                counted = {use.skill: msgspec.structs.replace(use, at=0.0) for use in uses}
        assert counted["other"] == SkillUse(skill="other", offered=1)


async def test_a_skill_that_cannot_be_used_is_told_at_the_start(tmp_path):
    (tmp_path / "home" / "skills" / "bad").mkdir(parents=True)
    (tmp_path / "home" / "skills" / "bad" / "SKILL.md").write_text("nothing")
    async with person(tmp_path, settings=PLAIN) as me:
        await me.until(Notice)
        assert "front matter" in me.stage.of(Notice)[0].text


async def test_inline_shell_runs_only_where_the_settings_say_so(tmp_path):
    keep(tmp_path, body="Today: !`echo friday`.\n")
    async with person(tmp_path, settings=PLAIN) as me:
        [text] = await results(me, step("skill_view", name="tidy-desk"))
        assert "!`echo friday`" in text
    async with person(tmp_path, settings=f"{PLAIN}skills: {{inline_shell: true}}\n") as me:
        [text] = await results(me, step("skill_view", name="tidy-desk"))
        assert "Today: friday." in text


async def test_folders_of_others_are_read_and_hidden_where_tools_are_missing(tmp_path):
    shelf = tmp_path / "shared"
    write_skill(shelf / "a" / "theirs", Skill(name="theirs", description="Theirs.", body="x"))
    write_skill(shelf / "web", Skill(name="web", description="W.", body="x", requires_tools=("browser",)))
    async with person(tmp_path, settings=f"{PLAIN}skills: {{external_dirs: [~/shared]}}\n") as me:
        assert "- theirs: Theirs." in me.session.system
        assert "- web: W." not in me.session.system


class Learner:
    """Does a task the long way and writes a skill of it; with a skill in its prompt it does what that says."""

    LONG_WAY = ("ls", "pwd", "false", "ls -la", "touch out.txt", "cp out.txt copy.txt")
    SHORT_WAY = LONG_WAY[-2:]
    TEXT = TEXT.replace("run `echo hello`", "\n".join(f"run `{command}`" for command in SHORT_WAY))

    def __call__(self, request: Request) -> Reply:
        texts = [part_of(message["content"]) for message in request.history if message["role"] == "user"]
        loaded = any("# Skill: greet-people" in text for text in texts)
        plan = self.SHORT_WAY if loaded else self.LONG_WAY
        done = len(request.results)
        if done < len(plan):
            return server_call("terminal", command=plan[done])
        if done == len(plan) and not loaded:
            return server_call("skill_manage", action="create", name="greet-people", content=self.TEXT)
        return Reply("It is done.")


async def test_what_a_session_learned_the_next_one_begins_with(tmp_path):
    async with ModelServer(Learner()) as server, person(tmp_path, settings=PLAIN, base_url=server.base_url) as me:
        await me.stage.say("make the two files")
        await me.stage.until(lambda: any(notice.code == "skills" for notice in me.stage.of(Notice)))
        [told] = [notice.text for notice in me.stage.of(Notice) if notice.code == "skills"]
        assert told.startswith(
            "The skill greet-people can be used now: it helped with the task it was made of: 8 to 4 steps"
        )
        assert "greet-people" not in me.session.system
        session = await me.app.open(Wish(cwd=str(tmp_path / "work")))
        assert "- greet-people: How people are greeted here, when somebody comes in." in session.system
        await session.close()
        spent = [row for row in await me.app.store.usage() if row.purpose == "trial"]
        assert [(row.session, row.calls) for row in spent] == [(me.session.id, 11)]


async def test_a_single_question_counts_what_it_used_before_the_app_is_closed(tmp_path):
    keep(tmp_path)
    async with person(tmp_path, ScriptedModel(), settings=PLAIN) as me:
        session = await me.app.open(Wish(cwd=str(tmp_path / "work"), can_ask=False))
        session.model = ScriptedModel(step("skill_view", name="tidy-desk"))
        await Play(session, me.app.store).say("tidy up")
        await session.close()
        home = me.app.settings.database
    async with SqliteStore(home) as store:
        [use] = await store.skills.uses()
        assert (use.skill, use.offered, use.loaded, use.helped) == ("tidy-desk", 0, 1, 1)


async def test_the_curator_works_by_itself_when_it_is_time(tmp_path):
    async with person(tmp_path, ScriptedModel(), settings=PLAIN) as me:
        await me.stage.say("hello")
        store = me.app.store.skills
        await store.note("curator ran", time.time() - 8 * 86_400)
        settings = msgspec.structs.replace(me.app.settings.file.curator, min_idle_hours=0)
        file = msgspec.structs.replace(me.app.settings.file, curator=settings)
        me.app.settings = msgspec.structs.replace(me.app.settings, file=file)
        me.app.skills.__dict__.pop("curator", None)
        session = await me.app.open(Wish(cwd=str(tmp_path / "work")))
        async with asyncio.timeout(5):
            while time.time() - await store.noted("curator ran") > 60:
                await asyncio.sleep(0.01)
        await session.close()
