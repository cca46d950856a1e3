"""/skills and /curator: what there is, what waits, and what the person decides."""

from hermes.app.hub import Hub
from hermes.learning.skills.birth import Source
from hermes.learning.skills.evidence import Evidence
from hermes.learning.skills.parse import Skill, write_skill
from tests.agent.stage import ScriptedModel
from tests.commands.surface import person

SETTINGS = "toolsets: [skills]\n"
PROVEN = Evidence(6, True, False, False)
DRAFT = Skill(name="report", description="How to make the report.", body="make report, then make check")


async def test_skills_are_listed_searched_and_shown(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".no-bundled-skills").touch()
    async with person(tmp_path, ScriptedModel(), settings=SETTINGS) as me:
        assert (await me.reply("/skills")).startswith("There are no skills.")
        write_skill(tmp_path / "home" / "skills" / "tidy", Skill(name="tidy", description="Tidy a desk.", body="x"))
        assert await me.reply("/skills") == "- **tidy** (user): Tidy a desk."
        assert await me.reply("/skills search desks") == "- **tidy** (user): Tidy a desk."
        assert await me.reply("/skills search rockets") == "No skill is about 'rockets'."
        shown = await me.reply("/skills show tidy")
        assert "**tidy** (user): Tidy a desk." in shown
        assert "loaded 0" in shown
        assert await me.reply("/skills show nothing") == "there is no skill 'nothing' (/skills lists them)"
        assert "what should /skills dance do?" in await me.reply("/skills dance")


async def test_skills_that_could_be_installed_are_browsed(tmp_path):
    write_skill(tmp_path / "shop" / "csv", Skill(name="csv", description="Read tables.", body="x"))
    write_skill(tmp_path / "shop" / "pdf", Skill(name="pdf", description="Read papers.", body="x"))
    async with person(tmp_path, ScriptedModel(), settings=SETTINGS) as me:
        hub = Hub(me.app.settings, me.app.fetch, tmp_path, me.app.skills.shelf)
        for tap in hub.taps():
            hub.remove_tap(tap.source)
        hub.add_tap(str(tmp_path / "shop"), trusted=True)
        *offers, end = (await me.reply("/skills browse")).splitlines()
        assert end == "`hermes skills install SOURCE` installs one."
        assert [offer.split(" `")[0] for offer in offers] == [
            "- **csv** (trusted): Read tables.",
            "- **pdf** (trusted): Read papers.",
        ]
        assert (await me.reply("/skills browse papers")).splitlines() == [offers[1], end]
        assert await me.reply("/skills browse rockets") == "There is no such skill to install."


async def test_a_draft_waits_until_the_person_vouches_for_it(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".no-bundled-skills").touch()
    async with person(tmp_path, ScriptedModel(), settings=SETTINGS) as me:
        assert await me.reply("/skills pending") == "Nothing waits for you."
        await me.app.skills.workshop.create(DRAFT, Source("agent", me.session.id, 1), PROVEN)
        assert "- **report** (draft): it waits for its trial" in await me.reply("/skills pending")
        assert "+make report, then make check" in await me.reply("/skills diff report")
        assert await me.reply("/skills approve report") == "report is active."
        assert await me.reply("/skills") == "- **report** (active): How to make the report."
        assert f"from turn 1 of `{me.session.id}`" in await me.reply("/skills show report")


async def test_the_curator_does_what_it_is_told(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".no-bundled-skills").touch()
    async with person(tmp_path, ScriptedModel(), settings=SETTINGS) as me:
        assert await me.reply("/curator") == "It has not worked yet. Skills that Hermes wrote: none."
        await me.app.skills.workshop.create(DRAFT, Source("agent", me.session.id, 1), PROVEN)
        await me.app.skills.life.approve("report")
        assert await me.reply("/curator pin report") == "report is pinned."
        assert "report is pinned" in await me.reply("/curator archive report")
        await me.types("/curator unpin report")
        assert "hermes curator restore report" in await me.reply("/curator archive report")
        assert await me.reply("/curator restore report") == "report is active again."
        assert await me.reply("/curator run") == "There was nothing to do."
        assert await me.reply("/curator pause") == "The curator is paused."
        assert "and is paused. Skills that Hermes wrote: 1 active." in await me.reply("/curator status")
        assert "what should the curator sing?" in await me.reply("/curator sing")


async def test_names_are_offered_where_they_fit(tmp_path):
    async with person(tmp_path, ScriptedModel(), settings=SETTINGS) as me:
        await me.app.skills.workshop.create(DRAFT, Source("agent", me.session.id, 1), PROVEN)
        command = me.registry.find("skills", "terminal")
        assert "approve" in [offer.text for offer in await command.complete(me, "")]
        assert [offer.text for offer in await command.complete(me, "approve ")] == ["report"]
        curator = me.registry.find("curator", "terminal")
        assert [offer.text for offer in await curator.complete(me, "restore ")] == ["report"]
