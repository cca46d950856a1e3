"""What lies on the disk and what the store knows: which skills there are, whose, and who may see them."""

import os

import pytest
from msgspec.structs import replace

from hermes.learning.skills.birth import Source
from hermes.learning.skills.discover import LOOKED_AT
from hermes.learning.skills.life import DAY, Ages
from hermes.learning.skills.parse import FILE, Skill, write_skill
from hermes.learning.skills.shelf import Kit, fits
from hermes.learning.skills.tree import hash_folder
from hermes.protocol.errors import UserError
from hermes.protocol.skills import Decision, SkillUse
from tests.learning.skills.room import NEW, PROVEN


async def test_skills_are_found_by_category_and_the_home_wins(room):
    room.write("mine", category="office")
    room.write("both", description="In the home.")
    room.write("both", root=room.outside, description="Outside.")
    room.write("deep", category="a/b", root=room.outside)
    room.write("hidden", category=".archive")
    await room.shelf.refresh()
    assert {name: (one.origin, one.skill.category) for name, one in room.shelf.found.items()} == {
        "mine": ("user", "office"),
        "both": ("user", ""),
        "deep": ("external", "a"),
    }
    assert room.shelf.found["both"].skill.description == "In the home."


async def test_one_that_cannot_be_read_is_named_and_harms_no_other(room):
    room.write("good")
    (room.root / "bad").mkdir(parents=True)
    (room.root / "bad" / FILE).write_text("no front matter")
    await room.shelf.refresh()
    assert list(room.shelf.found) == ["good"]
    [trouble] = room.shelf.troubles
    assert str(room.root / "bad" / FILE) in trouble


async def test_a_place_with_no_end_is_left_after_a_while(room, monkeypatch):
    monkeypatch.setattr("hermes.learning.skills.discover.LOOKED_AT", 3)
    assert LOOKED_AT > 1_000
    for number in range(10):
        room.write(f"s{number}")
    await room.shelf.refresh()
    assert sorted(room.shelf.found) == ["s0", "s1"]


async def test_what_changed_on_the_disk_is_read_again_and_nothing_else(room):
    folder = room.write("mine")
    room.write("other")
    await room.shelf.refresh()
    before = room.shelf.found["other"].skill
    write_skill(folder, Skill(name="mine", description="Changed.", body="x"))
    await room.shelf.refresh()
    assert room.shelf.found["mine"].skill.description == "Changed."
    assert room.shelf.found["other"].skill is before


@pytest.mark.parametrize(
    ("skill", "seen"),
    [
        ({}, True),
        ({"platforms": ("windows",)}, False),
        ({"platforms": ("linux", "macos")}, True),
        ({"requires_tools": ("terminal",)}, True),
        ({"requires_tools": ("browser",)}, False),
        ({"requires_toolsets": ("web",)}, False),
        ({"fallback_for_tools": ("terminal",)}, False),
        ({"fallback_for_toolsets": ("web",)}, True),
    ],
)
def test_a_skill_is_hidden_where_it_cannot_be_used(skill, seen):
    kit = Kit(frozenset({"terminal"}), frozenset({"file"}))
    assert fits(Skill(name="a", description="b", body="c", **skill), kit) is seen


async def test_pinned_and_proven_skills_come_first(room):
    for name in ("a", "b", "c", "d"):
        room.write(name)
    await room.store.pin("d", True)
    await room.store.count([SkillUse(skill="c", helped=9), SkillUse(skill="b", loaded=1)])
    await room.shelf.refresh()
    assert [one.name for one in room.shelf.usable(Kit())] == ["d", "c", "b", "a"]


async def test_a_draft_is_nowhere_to_be_seen_until_it_is_adopted(room):
    await room.workshop.create(NEW, Source("agent", "s", 1), PROVEN)
    assert room.shelf.found == {}
    assert not room.root.exists()
    await room.decide("report", 1)
    one = room.shelf.found["report"]
    assert (one.origin, one.folder, one.trouble) == ("agent", room.root / "office" / "report", "")
    assert hash_folder(one.folder) == room.shelf.rows["report"].hash


async def test_an_adopted_skill_that_was_edited_is_off_until_a_person_allows_it(room):
    folder = await room.adopt()
    (folder / FILE).write_text((folder / FILE).read_text() + "\n3. and curl it away\n")
    await room.shelf.refresh()
    assert "changed since they were allowed" in room.shelf.found["report"].trouble
    assert room.shelf.usable(Kit()) == []
    assert room.shelf.troubles
    with pytest.raises(UserError, match="switched off"):
        room.shelf.get("report")
    assert await room.life.approve("report") == "report is allowed as it is now."
    assert room.shelf.get("report").skill.body.endswith("away\n")
    row = room.shelf.rows["report"]
    assert (row.version, row.state, row.hash) == (2, "trial", hash_folder(folder))


async def test_an_installed_skill_that_was_edited_is_off_until_a_person_allows_it(room):
    folder = room.write("fetched")
    room.hub["fetched"] = hash_folder(folder)
    await room.shelf.refresh()
    assert (room.shelf.get("fetched").origin, room.shelf.get("fetched").trouble) == ("hub", "")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "x.sh").write_text("echo")
    await room.shelf.refresh()
    assert room.shelf.found["fetched"].trouble
    await room.life.approve("fetched")
    assert room.shelf.get("fetched").trouble == ""


async def test_where_nobody_knows_what_was_installed_the_homes_skills_are_off(room):
    def broken():
        raise UserError("cannot read lock.json", "mend it")

    room.write("mine")
    room.shelf._hub = broken
    await room.shelf.refresh()
    assert room.shelf.usable(Kit()) == []
    assert "cannot read lock.json (mend it)" in room.shelf.troubles


async def test_a_persons_own_skill_may_be_edited_at_any_time(room):
    folder = room.write("mine")
    await room.shelf.refresh()
    (folder / "notes.md").write_text("mine")
    await room.shelf.refresh()
    assert room.shelf.get("mine").trouble == ""


async def test_a_link_in_a_skill_switches_it_off(room):
    folder = await room.adopt()
    os.symlink("/etc/passwd", folder / "assets")
    await room.shelf.refresh()
    assert room.shelf.found["report"].trouble


async def test_what_a_crash_left_half_done_is_finished(room):
    folder = await room.adopt()
    # As after a kill between the commit and the rename: the row says placed, or not, and the folder is missing.
    row = room.shelf.rows["report"]
    version = replace(await room.store.version("report", 1), number=0, hash="")
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink()
    folder.rmdir()
    await room.store.propose(version, "office")
    await room.store.decide(Decision(skill="report", expected=2, state="trial", version=2, hash=row.hash), room.now)
    await room.shelf.refresh()
    assert hash_folder(folder) == row.hash
    assert room.shelf.rows["report"].placed


async def test_an_edit_that_a_new_version_replaces_is_set_aside_not_lost(room):
    folder = await room.adopt()
    (folder / "notes.md").write_text("somebody's work")
    files = {**(await room.store.version("report", 1)).files, "references/more.md": b"more"}
    room.shelf.found = {}
    await room.workshop._propose("report", files, "office", Source("agent"))
    await room.decide("report", 2)
    assert (folder / "references" / "more.md").exists()
    assert (room.root / ".archive" / "report.1" / "notes.md").read_text() == "somebody's work"


async def test_archived_skills_are_gone_from_sight_and_come_back(room):
    folder = await room.adopt()
    await room.life.archive("report")
    assert not folder.exists()
    assert room.shelf.found == {}
    assert await room.life.restore("report") == "report is active again."
    assert room.shelf.get("report").folder == folder
    await room.store.pin("report", True)
    with pytest.raises(UserError, match="pinned"):
        await room.life.archive("report")


async def test_a_persons_skill_cannot_be_archived_by_hermes(room):
    room.write("mine")
    with pytest.raises(UserError, match="did not write"):
        await room.life.archive("mine")
    assert (room.root / "mine").exists()


async def test_unused_skills_grow_stale_then_go_and_used_ones_come_back(room):
    folder = await room.adopt()
    assert await room.life.tend(Ages()) == []
    room.now += 31 * DAY
    assert await room.life.tend(Ages()) == ["report was not used for 31 days: it is stale."]
    assert folder.exists()
    await room.store.count([SkillUse(skill="report", version=1, loaded=1, at=room.now)])
    assert await room.life.tend(Ages()) == ["report was used again: it is active."]
    room.now += 31 * DAY
    await room.life.tend(Ages())
    assert await room.life.tend(Ages()) == []
    room.now += 60 * DAY
    assert await room.life.tend(Ages()) == ["report was not used for 91 days: it is archived."]
    assert not folder.exists()


async def test_a_pinned_skill_does_not_age(room):
    await room.adopt()
    await room.store.pin("report", True)
    room.now += 365 * DAY
    assert await room.life.tend(Ages()) == []


async def test_a_version_that_fails_makes_room_for_the_one_before(room):
    await room.adopt()
    files = {**(await room.store.version("report", 1)).files, "references/a.md": b"a"}
    await room.workshop.change("report", files, Source("agent"))
    await room.decide("report", 2)
    await room.store.count([SkillUse(skill="report", version=1, helped=5, failed=5, at=room.now)])
    await room.store.count([SkillUse(skill="report", version=2, helped=1, failed=2, at=room.now)])
    [told] = await room.life.tend(Ages())
    assert told == "report: it failed 2 times and helped 1 times: the version before is back."
    assert room.shelf.rows["report"].version == 1
    assert not (room.shelf.get("report").folder / "references").exists()


async def test_a_skill_that_only_fails_is_archived(room):
    await room.adopt()
    await room.store.count([SkillUse(skill="report", version=1, failed=2, at=room.now)])
    assert (await room.life.tend(Ages()))[0].endswith("it is archived.")
    assert room.shelf.found == {}
    assert len(await room.store.versions("report")) == 1
