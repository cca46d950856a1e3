"""Skills in the store: versions are never changed, and a decision is whole or nothing."""

from msgspec.structs import replace

from hermes.protocol.skills import Decision, SkillRow, SkillUse, Trial, Version
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore

FIRST = Version(skill="mend", number=0, hash="h1", files={"SKILL.md": b"one"}, at=1.0, by="agent", session="s", turn=2)
DRAFT = SkillRow(
    name="mend",
    category="coding",
    state="draft",
    version=0,
    hash="",
    candidate=1,
    waiting="",
    placed=True,
    created=1.0,
    changed=1.0,
)
ADOPTED = Decision(skill="mend", expected=1, state="trial", version=1, hash="h1", saved=40)


async def test_a_proposed_version_is_a_draft_that_nobody_sees(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        kept = await store.skills.propose(FIRST, "coding")
        assert kept == replace(FIRST, number=1)
        assert await store.skills.rows() == [DRAFT]
        assert await store.skills.version("mend", 1) == kept
        assert await store.skills.version("mend", 2) is None
        assert await store.skills.versions("mend") == [replace(kept, files={})]


async def test_a_decision_comes_with_its_trials_and_leaves_the_folder_to_be_changed(tmp_path):
    trial = Trial(
        skill="mend",
        version=1,
        session="s",
        turn=2,
        finding="better",
        why="fewer",
        at=2.0,
        steps=(5, 2),
        tokens=(90, 30),
    )
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.skills.propose(FIRST, "coding")
        assert await store.skills.decide(replace(ADOPTED, trials=(trial,)), 2.0)
        adopted = replace(DRAFT, state="trial", version=1, hash="h1", candidate=0, placed=False, changed=2.0, saved=40)
        assert await store.skills.rows() == [adopted]
        assert await store.skills.trials("mend") == [trial]
        await store.skills.placed("mend", "another")
        assert await store.skills.rows() == [adopted]
        await store.skills.placed("mend", "h1")
        assert await store.skills.rows() == [replace(adopted, placed=True)]


async def test_a_decision_about_a_candidate_that_is_none_any_more_does_nothing(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.skills.propose(FIRST, "coding")
        await store.skills.propose(replace(FIRST, hash="h2", at=1.0), "coding")
        assert not await store.skills.decide(ADOPTED, 2.0)
        assert await store.skills.rows() == [replace(DRAFT, candidate=2)]


async def test_a_new_version_of_a_visible_skill_leaves_the_visible_one_alone(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.skills.propose(FIRST, "coding")
        await store.skills.decide(ADOPTED, 2.0)
        await store.skills.placed("mend", "h1")
        await store.skills.propose(replace(FIRST, hash="h2", at=3.0), "coding")
        [row] = await store.skills.rows()
        assert (row.state, row.version, row.hash, row.candidate, row.placed) == ("trial", 1, "h1", 2, True)


async def test_use_adds_up(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        one = SkillUse(skill="mend", version=1, offered=1, loaded=1, helped=1, saved=40, at=5.0)
        await store.skills.count([one, SkillUse(skill="other", failed=1, at=6.0)])
        await store.skills.count([replace(one, helped=0, failed=1, at=4.0)])
        assert await store.skills.uses() == [
            replace(one, offered=2, loaded=2, failed=1, saved=80),
            SkillUse(skill="other", failed=1, at=6.0),
        ]


async def test_two_at_once_do_not_get_the_same_work(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        me, you = this_process(), this_process()
        assert await store.skills.claim("trial mend", me)
        assert not await store.skills.claim("trial mend", you)
        await store.skills.release("trial mend", me)
        assert await store.skills.claim("trial mend", you)
        dead = "gone:1:1:x"
        assert await store.skills.claim(
            "curator", dead.replace("gone", me.split(":")[0]).replace(":1:1", ":999999999:1")
        )
        assert await store.skills.claim("curator", me)


async def test_pins_approvals_and_moments_are_kept(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.skills.pin("mend", True)
        await store.skills.approve("h1", "mend", 1.0)
        await store.skills.note("curator", 7.0)
    async with SqliteStore(tmp_path / "state.db") as store:
        assert (await store.skills.pins(), await store.skills.approved()) == (frozenset({"mend"}), frozenset({"h1"}))
        assert (await store.skills.noted("curator"), await store.skills.noted("never")) == (7.0, 0.0)
        await store.skills.pin("mend", False)
        assert await store.skills.pins() == frozenset()
