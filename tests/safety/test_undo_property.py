"""Whatever people and Hermes do to a folder, in any order: no byte is lost by a rollback."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.safety.checkpoints import Checkpoints
from tests.safety.folders import State, state_of

RUNS = 30
SOAK_RUNS = 500

NAMES = ("a", "a/b", "d/e", "d/f.log", "ig/x", "ig/y", "x\ny", "--force", ".gitignore")
RULES = (b"", b"ig/\n", b"*.log\n", b"ig/\n*.log\n")

contents = st.one_of(st.binary(max_size=20), st.sampled_from([b"\r\n", b"same", b"$Id$"]))
names = st.sampled_from(NAMES)
edit = st.one_of(
    st.tuples(st.just("write"), names, contents),
    st.tuples(st.just("link"), names, st.sampled_from([b"a", b"/nowhere", b"d"])),
    st.tuples(st.just("remove"), names, st.just(b"")),
)
step = st.one_of(
    st.tuples(st.just("person"), st.lists(edit, min_size=1, max_size=3)),
    st.tuples(st.just("tool"), st.lists(edit, min_size=1, max_size=3)),
    st.tuples(st.just("command"), st.lists(edit, min_size=1, max_size=3)),
    st.tuples(st.just("rollback"), st.integers(1, 6)),
    st.tuples(st.just("file"), st.tuples(st.integers(1, 6), names)),
)


def do(root: Path, what: tuple[str, str, bytes]) -> None:
    """One edit; whatever stands in its way goes."""
    kind, name, data = what
    path = root / name
    for above in reversed(path.relative_to(root).parents):
        if (root / above).is_symlink() or (root / above).is_file():
            (root / above).unlink()
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.is_symlink() or path.exists():
        path.unlink()
    if kind == "remove":
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == ".gitignore":
        path.write_bytes(RULES[len(data) % len(RULES)])
    elif kind == "link":
        path.symlink_to(os.fsdecode(data))
    else:
        path.write_bytes(data)


def is_ignored(name: bytes, rules: bytes) -> bool:
    return (b"ig/" in rules and name.startswith(b"ig/")) or (b"*.log" in rules and name.endswith(b".log"))


def visible(state: State) -> State:
    """What is not ignored by the folder's own rules."""
    rules = state.get(b".gitignore", ("file", 0, b""))
    patterns = rules[2] if rules[0] == "file" else b""
    return {name: what for name, what in state.items() if not is_ignored(name, patterns)}


class Story:
    def __init__(self, home: Path) -> None:
        self.root = home / "project"
        self.root.mkdir()
        self.checkpoints = Checkpoints(str(home / ".hermes"), str(home), "/usr/local/bin:/usr/bin:/bin")
        self.turn = 0
        self.then: dict[float, State] = {}

    async def play(self, steps: list[tuple[str, object]]) -> None:
        for kind, what in steps:
            match kind, what:
                case "rollback", int(number):
                    await self.roll_back(number, "")
                case "file", (int(number), str(name)):
                    await self.roll_back(number, name)
                case _, list(edits):
                    await self.change(kind, edits)

    async def change(self, kind: str, edits: list[tuple[str, str, bytes]]) -> None:
        if kind != "person":
            self.turn += 1
            paths = [str(self.root / name) for _, name, _ in edits] if kind == "tool" else [str(self.root)]
            before = state_of(self.root)
            await self.checkpoints.before_changes(paths, str(self.root), f"one:{self.turn}")
            newest = (await self.checkpoints.list(str(self.root)))[0]
            self.then.setdefault(newest.at, before)
        for each in edits:
            do(self.root, each)

    async def roll_back(self, number: int, file: str) -> None:
        listed = await self.checkpoints.list(str(self.root))
        if number > len(listed):
            return
        before = state_of(self.root)
        restored = await self.checkpoints.restore(str(self.root), number, file)
        after = state_of(self.root)
        then = self.then.get(listed[number - 1].at)
        if then is not None and not file and not restored.left:
            # What the folder's rules hid until now is in no snapshot, so it is not removed even if it is newer.
            hidden = before.keys() - visible(before).keys()
            assert {**after, **visible(then)} == after
            assert visible(after).keys() - visible(then).keys() <= hidden
        redone = await self.checkpoints.restore(str(self.root), 1)
        assert redone.left == ()
        assert state_of(self.root) == before
        await self.checkpoints.restore(str(self.root), 2 if after != before else 1, file)


def play(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(Story(Path(folder).resolve()).play(steps))


slow = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@pytest.mark.needs("git")
@settings(max_examples=RUNS, **slow)
@given(st.lists(step, min_size=3, max_size=8))
def test_every_rollback_can_itself_be_undone_to_the_last_byte(steps: list[tuple[str, object]]) -> None:
    play(steps)


@pytest.mark.soak
@pytest.mark.needs("git")
@settings(max_examples=SOAK_RUNS, **slow)
@given(st.lists(step, min_size=3, max_size=12))
def test_five_hundred_times_no_byte_is_lost(steps: list[tuple[str, object]]) -> None:
    play(steps)
