"""How skills come to be: of what, under which conditions, and what happens to those that are not Hermes' own."""

import pytest
from skills_ref import validate

from hermes.learning.skills.birth import Kept, Source, propose
from hermes.learning.skills.evidence import Evidence, evidence
from hermes.learning.skills.parse import FILE, Skill
from hermes.protocol.errors import UserError
from hermes.protocol.items import CallStatus, Kind, Text, ToolCall, UserMessage
from tests.learning.skills.room import NEW, PROVEN

AGENT = Source("agent", "s", 1)


def said(text: str, turn: int = 1) -> UserMessage:
    return UserMessage(id="m", turn=turn, step=0, index=0, parts=(Text(text),))


def did(status: CallStatus, name: str = "terminal", kind: Kind = "execute", step: int = 1, turn: int = 1) -> ToolCall:
    return ToolCall(
        id=f"c{step}", turn=turn, step=step, index=0, call_id="x", name=name, args="{}", status=status, kind=kind
    )


@pytest.mark.parametrize(
    ("items", "suffices"),
    [
        ([said("do it"), *(did("done", step=n) for n in range(5))], True),
        ([said("do it"), *(did("done", step=n) for n in range(4))], False),
        ([said("do it"), *(did("done", step=n) for n in range(6)), did("failed", step=9)], False),
        ([said("do it"), did("failed", step=1), did("done", step=2)], True),
        ([said("do it"), did("failed", step=1), did("done", "read_file", "read", step=2)], False),
        ([said("make a skill of it")], True),
        ([said("make a skill of it", turn=0), did("done")], False),
        ([said("do it"), *(did("done", "todo", "think", step=n) for n in range(9))], False),
        ([said("do it"), *(did("done", step=n, turn=0) for n in range(9))], False),
    ],
)
def test_a_skill_is_born_of_proven_work_or_a_wish(items, suffices):
    assert evidence(items, 1).suffices is suffices


async def test_without_a_reason_nothing_is_kept(room):
    with pytest.raises(UserError, match="nothing was kept"):
        await room.workshop.create(NEW, AGENT, Evidence(2, True, False, False))
    assert await room.store.rows() == []


async def test_one_that_says_the_same_is_changed_in_its_place(room):
    await room.adopt()
    like = Skill(name="other", description=NEW.description, body=f"{NEW.body}\n3. Tell the team.")
    kept = await room.workshop.create(like, AGENT, PROVEN)
    assert (kept.outcome, kept.skill) == ("patch", "report")
    assert [row.name for row in await room.store.rows()] == ["report"]
    version = await room.store.version("report", 2)
    text = version.files[FILE].decode()
    assert text.count("make check") == 1
    assert "3. Tell the team." in text


async def test_one_that_says_exactly_the_same_changes_nothing(room):
    await room.adopt()
    kept = await room.workshop.create(Skill(name="other", description=NEW.description, body=NEW.body), AGENT, PROVEN)
    assert kept.outcome == "same"
    assert len(await room.store.versions("report")) == 1


async def test_a_name_that_is_taken_is_refused(room):
    await room.workshop.create(NEW, AGENT, PROVEN)
    with pytest.raises(UserError, match="already"):
        await room.workshop.create(NEW, AGENT, PROVEN)


async def test_what_hermes_writes_passes_the_validator_whatever_the_model_adds(room):
    folder = await room.adopt()
    text = "---\nname: report\ndescription: 'How: the report'\nversion: 1.2\ntags: [a, b]\nextra: {x: 1}\n---\n\nNew.\n"
    await room.workshop.change("report", {FILE: text.encode()}, AGENT)
    await room.decide("report", 2)
    assert validate(folder) == []
    skill = room.shelf.get("report").skill
    assert (skill.description, skill.version, skill.tags, skill.body) == (
        "How: the report",
        "1.2",
        ("a", "b"),
        "New.\n",
    )


async def test_a_change_to_a_persons_skill_is_only_proposed(room):
    folder = room.write("mine")
    await room.shelf.refresh()
    before = (folder / FILE).read_bytes()
    files = {FILE: before + b"\nAnd more.\n"}
    kept = await room.workshop.change("mine", files, AGENT)
    assert kept.outcome == "proposal"
    assert (folder / FILE).read_bytes() == before
    [proposal] = room.pending.all()
    assert "+And more." in proposal.diff
    assert await room.life.approve("mine") == f"mine is changed as {proposal.id} proposed."
    assert (folder / FILE).read_bytes() == files[FILE]
    assert room.pending.all() == []


async def test_a_proposal_for_a_skill_that_changed_meanwhile_is_not_applied(room):
    folder = room.write("mine")
    await room.shelf.refresh()
    await room.workshop.change("mine", {FILE: (folder / FILE).read_bytes() + b"\nMore.\n"}, AGENT)
    (folder / FILE).write_text((folder / FILE).read_text() + "\nMy own words.\n")
    with pytest.raises(UserError, match="has changed"):
        await room.life.approve("mine")
    assert "My own words." in (folder / FILE).read_text()
    await room.life.reject("mine")
    assert room.pending.all() == []


async def test_a_proposal_for_a_skill_from_elsewhere_becomes_a_copy_in_the_home(room):
    folder = room.write("theirs", root=room.outside)
    await room.shelf.refresh()
    before = (folder / FILE).read_bytes()
    await room.workshop.change("theirs", {FILE: before + b"\nMore.\n"}, AGENT)
    await room.life.approve("theirs")
    assert (folder / FILE).read_bytes() == before
    assert room.shelf.get("theirs").folder == room.root / "theirs"


async def test_a_rejected_draft_is_put_away(room):
    await room.workshop.create(NEW, AGENT, PROVEN)
    await room.life.reject("report")
    [row] = await room.store.rows()
    assert (row.state, row.candidate) == ("archived", 0)
    assert await room.life.restore("report") == "report is a draft again."


async def test_a_review_gets_none_for_what_it_should_not_have_proposed(room):
    assert await propose(room.workshop, NEW, AGENT, Evidence(0, False, False, False)) is None
    assert await propose(room.workshop, Skill(name="Bad Name", description="x", body=""), AGENT, PROVEN) is None
    kept = await propose(room.workshop, NEW, Source("review", "s", 1), PROVEN)
    assert isinstance(kept, Kept)
    assert kept.outcome == "draft"


@pytest.mark.parametrize(
    "files",
    [
        {"references/a.md": b"x"},
        {FILE: b"no front matter"},
        {FILE: b"\xff\xfe"},
        {FILE: b"---\nname: other\ndescription: x\n---\n"},
        {FILE: b"---\nname: report\ndescription: x\n---\n", "assets/big": b"x" * (1 << 20 | 1)},
    ],
)
async def test_a_change_that_breaks_the_skill_is_not_kept(room, files):
    await room.adopt()
    with pytest.raises(UserError):
        await room.workshop.change("report", files, AGENT)
    assert len(await room.store.versions("report")) == 1
