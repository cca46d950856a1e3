"""A turn's changes can be taken back, byte for byte, and the project's own repository never notices."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.protocol.errors import ToolError, UserError
from hermes.safety.checkpoints import Checkpoints, Restored
from hermes.safety.snapshots import Limits
from tests.safety.folders import fingerprint, state_of

PATH = "/usr/local/bin:/usr/bin:/bin"

pytestmark = pytest.mark.needs("git")


class Desk:
    """A home with a project in it, and checkpoints for a session there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "project"
        self.root.mkdir(parents=True)
        self.notices: list[str] = []
        self.turn = 0
        self.checkpoints = self.session()

    def session(self, limits: Limits | None = None, path: str = PATH) -> Checkpoints:
        own = str(self.home / ".hermes")
        return Checkpoints(own, str(self.home), path, notice=self.notices.append, limits=limits)

    def put(self, name: str, data: bytes | str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    async def change(self, *names: str) -> None:
        """What is said before the first change of a new turn."""
        self.turn += 1
        await self.also(*names)

    async def also(self, *names: str) -> None:
        """What is said before a further change in the same turn."""
        paths = [str(self.root / name) for name in names] or [str(self.root)]
        await self.checkpoints.before_changes(paths, str(self.root), f"one:{self.turn}")

    async def back(self, number: int = 1, file: str = "") -> Restored:
        return await self.checkpoints.restore(str(self.root), number, file)

    async def count(self) -> int:
        return len(await self.checkpoints.list(str(self.root)))

    def git(self, *args: str) -> str:
        named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        return subprocess.run(["git", *named, *args], cwd=self.root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path.resolve() / "home")


# Back and forth


async def test_edited_deleted_and_created_files_go_back(desk: Desk) -> None:
    desk.put("edited", "before")
    desk.put("deep/deleted", "gone")
    before = state_of(desk.root)
    await desk.change("edited")
    desk.put("edited", "after")
    (desk.root / "deep/deleted").unlink()
    (desk.root / "deep").rmdir()
    desk.put("new/one", "x")
    assert await desk.back() == Restored(written=("deep/deleted", "edited"), removed=("new/one",))
    assert state_of(desk.root) == before
    assert not (desk.root / "new").exists()


async def test_a_rollback_can_be_rolled_back(desk: Desk) -> None:
    desk.put("a", "before")
    await desk.change("a")
    desk.put("a", "after")
    desk.put("b", "new")
    after = state_of(desk.root)
    await desk.back()
    assert state_of(desk.root) != after
    await desk.back()
    assert state_of(desk.root) == after


async def test_bytes_names_links_and_permissions_survive_whatever_the_project_says(desk: Desk) -> None:
    desk.put(
        ".gitattributes", "* text=auto eol=crlf ident\n*.u16 working-tree-encoding=UTF-16\n*.l filter=lfs diff=x\n"
    )
    desk.put("crlf", b"a\r\nb\nc\r\n$Id$\n")
    desk.put("wide.u16", "häßlich".encode("utf-16"))
    desk.put("big.l", b"\0\1\2")
    desk.put("empty", b"")
    desk.put("line\nbreak", "1")
    desk.put(":(top)", "2")
    desk.put("-rf", "3")
    desk.put("back\\slash", "4")
    desk.put("GIT~1", "5")
    with open(os.path.join(os.fsencode(desk.root), b"\xff\xfe"), "wb") as file:
        file.write(b"6")
    desk.put("run", "#!/bin/sh").chmod(0o755)
    desk.put("private", "p").chmod(0o600)
    desk.put("odd", "o").chmod(0o710)
    (desk.root / "link").symlink_to("crlf")
    (desk.root / "dangling").symlink_to("/nowhere/at all")
    before = state_of(desk.root)
    await desk.change()
    for name in os.listdir(desk.root):
        (desk.root / name).unlink()
    assert (await desk.back()).left == ()
    assert state_of(desk.root) == before


async def test_a_lost_executable_bit_comes_back(desk: Desk) -> None:
    desk.put("run", "#!/bin/sh").chmod(0o755)
    await desk.change("run")
    (desk.root / "run").chmod(0o644)
    await desk.back()
    assert (desk.root / "run").stat().st_mode & 0o777 == 0o755


async def test_files_folders_and_links_may_have_changed_places(desk: Desk) -> None:
    desk.put("file", "f")
    desk.put("folder/x", "x")
    desk.put("other/y", "y")
    before = state_of(desk.root)
    await desk.change()
    (desk.root / "file").unlink()
    desk.put("file/inside", "1")
    (desk.root / "folder/x").unlink()
    (desk.root / "folder").rmdir()
    desk.put("folder", "now a file")
    (desk.root / "other").rename(desk.root / "moved")
    (desk.root / "other").symlink_to("moved")
    after = state_of(desk.root)
    assert (await desk.back()).left == ()
    assert state_of(desk.root) == before
    assert (await desk.back()).left == ()
    assert state_of(desk.root) == after


async def test_one_file_or_folder_goes_back_alone(desk: Desk) -> None:
    for name in ("a", "sub/b", "sub/c", "subway"):
        desk.put(name, "1")
    await desk.change()
    for name in ("a", "sub/b", "sub/c", "subway"):
        desk.put(name, "2")
    assert await desk.back(1, "sub/b") == Restored(written=("sub/b",))
    assert await desk.back(2, "sub") == Restored(written=("sub/c",))
    assert (desk.root / "a").read_text() == (desk.root / "subway").read_text() == "2"


async def test_a_link_that_leads_out_is_not_followed(desk: Desk) -> None:
    outside = desk.home / "outside"
    outside.mkdir()
    (outside / "x").write_text("not yours")
    desk.put(".gitignore", "/d\n")
    desk.put("d/x", "1")
    await desk.change("d/x")
    (desk.root / "d/x").unlink()
    (desk.root / "d").rmdir()
    (desk.root / "d").symlink_to(outside)
    restored = await desk.back()
    assert [path for path, _ in restored.left] == ["d/x"]
    assert (outside / "x").read_text() == "not yours"


# When it is taken


async def test_a_folder_is_kept_once_in_a_turn(desk: Desk) -> None:
    desk.put("a", "1")
    desk.put("b", "1")
    await desk.change("a")
    desk.put("a", "2")
    await desk.also("b")
    desk.put("b", "2")
    await desk.also("a")
    assert await desk.count() == 1
    await desk.back()
    assert state_of(desk.root) == {b"a": ("file", 0o644, b"1"), b"b": ("file", 0o644, b"1")}


async def test_each_turn_has_its_own(desk: Desk) -> None:
    for turn in range(3):
        desk.put("a", str(turn))
        await desk.change("a")
    listed = await desk.checkpoints.list(str(desk.root))
    assert [(each.number, each.turn, each.why) for each in listed] == [
        (1, "one:3", "before a change"),
        (2, "one:2", "before a change"),
        (3, "one:1", "before a change"),
    ]
    assert all(abs(each.at - time.time()) < 60 for each in listed)
    await desk.back(3)
    assert (desk.root / "a").read_text() == "0"


async def test_a_change_that_hides_its_time_and_size_is_seen(desk: Desk) -> None:
    path = desk.put("a", "0")
    for turn in range(1, 6):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        await desk.change("a")
        path.write_text(str(turn))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    for number in range(1, 6):
        await desk.back(2 * number - 1)
        assert path.read_text() == str(5 - number)


async def test_a_command_in_a_folder_below_is_about_the_whole(desk: Desk) -> None:
    desk.put("sub/a", "1")
    desk.put("b", "1")
    await desk.change("sub")
    await desk.also("sub")
    desk.put("b", "2")
    assert await desk.back() == Restored(written=("b",))


async def test_a_turn_that_finds_everything_as_it_was_adds_none(desk: Desk) -> None:
    desk.put("a", "1")
    await desk.change()
    await desk.change()
    assert await desk.count() == 1


async def test_after_a_rollback_the_same_turn_is_kept_anew(desk: Desk) -> None:
    desk.put("a", "1")
    await desk.change("a")
    desk.put("a", "2")
    await desk.back()
    desk.put("a", "3")
    await desk.also("a")
    desk.put("a", "4")
    await desk.back()
    assert (desk.root / "a").read_text() == "3"


async def test_another_session_sees_the_same_checkpoints(desk: Desk) -> None:
    desk.put("a", "1")
    await desk.change("a")
    desk.put("a", "2")
    other = desk.session()
    assert len(await other.list(str(desk.root))) == 1
    await other.restore(str(desk.root), 1)
    assert (desk.root / "a").read_text() == "1"


async def test_sessions_at_once_do_not_disturb_each_other(desk: Desk) -> None:
    for number in range(20):
        desk.put(f"{number}", "1")
    sessions = [desk.session() for _ in range(6)]
    calls = [each.before_change(str(desk.root), f"{at}:1") for at, each in enumerate(sessions)]
    await asyncio.gather(*calls)
    desk.put("0", "2")
    await desk.back()
    assert (desk.root / "0").read_text() == "1"


async def test_folders_are_told_apart(desk: Desk) -> None:
    (desk.home / "two").mkdir()
    await desk.change()
    assert await desk.checkpoints.list(str(desk.home / "two")) == ()


# What git ignores


async def test_an_ignored_file_is_left_alone_unless_it_is_named(desk: Desk) -> None:
    desk.put(".gitignore", "*.log\n.env\n")
    desk.put(".env", "KEY=1")
    desk.put("x.log", "1")
    await desk.change(".env")
    desk.put(".env", "KEY=2")
    desk.put("x.log", "2")
    assert await desk.back() == Restored(written=(".env",))
    assert (desk.root / "x.log").read_text() == "2"


async def test_an_ignored_file_named_later_in_the_turn_is_kept_too(desk: Desk) -> None:
    desk.put(".gitignore", ".env\nmade/\n")
    desk.put(".env", "KEY=1")
    desk.put("a", "1")
    await desk.change("a")
    desk.put("a", "2")
    await desk.also(".env")
    desk.put(".env", "KEY=2")
    await desk.also("made/new")
    desk.put("made/new", "x")
    await desk.also("plain")
    desk.put("plain", "x")
    assert await desk.count() == 1
    assert await desk.back() == Restored(written=(".env", "a"), removed=("made/new", "plain"))


async def test_a_named_file_goes_back_also_when_the_shelf_was_swept_since(desk: Desk) -> None:
    desk.put(".gitignore", ".env\n")
    desk.put(".env", "KEY=1")
    await desk.change(".env")
    desk.put(".env", "KEY=2")
    await desk.checkpoints.prune()
    assert await desk.back() == Restored(written=(".env",))


async def test_naming_a_file_later_leaves_older_checkpoints_as_they_are(desk: Desk) -> None:
    desk.put(".gitignore", ".env\n")
    desk.put(".env", "KEY=1")
    await desk.change()
    desk.put(".env", "KEY=2")
    await desk.change()
    await desk.also(".env")
    desk.put(".env", "KEY=3")
    assert await desk.count() == 2
    await desk.back(2)
    assert (desk.root / ".env").read_text() == "KEY=3"
    await desk.back(2)
    assert (desk.root / ".env").read_text() == "KEY=2"


async def test_a_file_that_was_ignored_then_is_not_taken_for_new(desk: Desk) -> None:
    desk.put(".gitignore", "dist/\n")
    desk.put("dist/app", "built by the person")
    await desk.change(".gitignore")
    desk.put(".gitignore", "")
    assert await desk.back() == Restored(written=(".gitignore",))
    assert (desk.root / "dist/app").read_text() == "built by the person"


async def test_rules_in_the_projects_own_repository_count(desk: Desk) -> None:
    desk.git("init", "-q")
    desk.put(".git/info/exclude", "data\n")
    desk.put("data", "1")
    desk.put("a", "1")
    await desk.change("a")
    desk.put("data", "2")
    await desk.also("data")
    desk.put("data", "3")
    assert await desk.back() == Restored(written=("data",))
    assert (desk.root / "data").read_text() == "2"


@pytest.mark.parametrize("name", [".hermes", "odd [name]* \\ \n é ", "deep/er/.hermes"])
async def test_a_home_of_hermes_inside_the_project_is_not_part_of_it(desk: Desk, name: str) -> None:
    own = desk.root / name
    own.mkdir(parents=True)
    (own / "state.db").write_text("1")
    desk.put("a", "1")
    desk.checkpoints = Checkpoints(str(own), str(desk.home), PATH)
    await desk.change("a")
    (own / "state.db").write_text("2")
    desk.put("a", "2")
    assert await desk.back() == Restored(written=("a",))
    assert (own / "state.db").read_text() == "2"


async def test_what_is_made_again_anyway_is_not_dragged_along(desk: Desk) -> None:
    desk.put("node_modules/x/index.js", "1")
    desk.put("__pycache__/a.pyc", "1")
    desk.put("a", "1")
    await desk.change()
    (desk.root / "node_modules/x/index.js").unlink()
    (desk.root / "__pycache__/a.pyc").unlink()
    assert await desk.back() == Restored()


# The project's own repository


async def test_the_projects_own_repository_is_never_touched(desk: Desk) -> None:
    desk.git("init", "-q")
    desk.put("a", "1")
    desk.put("staged", "1")
    desk.git("add", "a")
    desk.git("commit", "-qm", "first")
    desk.git("add", "staged")
    hook = desk.put(".git/hooks/pre-commit", f"#!/bin/sh\ntouch {desk.home}/hook-ran\n")
    hook.chmod(0o755)
    before = fingerprint(desk.root / ".git")
    await desk.change("a")
    desk.put("a", "2")
    await desk.checkpoints.diff(str(desk.root), 1)
    await desk.back()
    assert fingerprint(desk.root / ".git") == before
    assert not (desk.home / "hook-ran").exists()
    assert desk.git("status", "--short").splitlines() == ["A  staged"]


async def test_settings_of_git_do_not_reach_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = f"touch {desk.home}/ran"
    (desk.home / ".gitconfig").write_text(
        f'[core]\nfsmonitor = "{evil}"\nhooksPath = /evil\nautocrlf = true\nexcludesFile = {desk.home}/ig\n'
        '[commit]\ngpgSign = true\n[filter "x"]\nclean = false\nrequired = true\n[init]\ntemplateDir = /evil\n'
    )
    (desk.home / "ig").write_text("*\n")
    for name, value in {
        "HOME": str(desk.home),
        "GIT_DIR": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere/index",
        "GIT_WORK_TREE": "/nowhere",
        "GIT_OBJECT_DIRECTORY": "/nowhere/objects",
        "GIT_EXTERNAL_DIFF": evil,
        "GIT_CONFIG_PARAMETERS": "'core.bare'='nonsense'",
    }.items():
        monkeypatch.setenv(name, value)
    desk.put(".gitattributes", "* filter=x\n")
    desk.put("a", b"1\r\n")
    await desk.change("a")
    desk.put("a", "2")
    assert "-1\r\n" in await desk.checkpoints.diff(str(desk.root), 1)
    await desk.back()
    assert (desk.root / "a").read_bytes() == b"1\r\n"
    assert not (desk.home / "ran").exists()


async def test_repositories_inside_the_folder_are_kept_like_folders(desk: Desk) -> None:
    desk.put("sub/a", "1")
    desk.put("sub/deeper/b", "1")
    for folder in ("sub", "sub/deeper"):
        subprocess.run(["git", "init", "-q", folder], cwd=desk.root, check=True)
    desk.put("sub/.gitignore", "c\n")
    desk.put("sub/c", "1")
    before = state_of(desk.root)
    await desk.change()
    desk.put("sub/a", "2")
    desk.put("sub/deeper/b", "2")
    desk.put("sub/new", "2")
    assert await desk.back() == Restored(written=("sub/a", "sub/deeper/b"), removed=("sub/new",))
    assert state_of(desk.root) == before


async def test_a_file_of_the_repository_itself_cannot_be_kept_and_that_is_said(desk: Desk) -> None:
    desk.git("init", "-q")
    await desk.change(".git/config")
    assert desk.notices == [f"{desk.root}/.git/config is not in the checkpoint"]


# Too much


async def test_a_large_file_is_not_kept_and_not_touched(desk: Desk) -> None:
    desk.checkpoints = desk.session(Limits(file=1 << 20))
    large = desk.put("large", b"x" * (1 << 20) + b"x")
    desk.put("small", "1")
    assert desk.checkpoints.not_undoable(str(large)) == (
        f"{large} is larger than 1 MB, so a change to it cannot be rolled back"
    )
    assert desk.checkpoints.not_undoable(str(desk.root / "small")) == ""
    assert desk.checkpoints.not_undoable(str(desk.root / "not there")) == ""
    await desk.change("large")
    assert desk.notices == [f"{large} is not in the checkpoint"]
    large.write_text("small now")
    desk.put("small", "2")
    assert await desk.back() == Restored(written=("small",))
    assert large.read_text() == "small now"


async def test_a_file_that_has_grown_too_large_is_left_with_the_reason(desk: Desk) -> None:
    desk.checkpoints = desk.session(Limits(file=1000))
    desk.put("log", "1")
    await desk.change("log")
    desk.put("log", "x" * 1001)
    assert await desk.back() == Restored(left=(("log", "it is not in the snapshot taken before the rollback"),))
    assert (desk.root / "log").read_text() == "x" * 1001


@pytest.mark.parametrize(("limits", "why"), [(Limits(files=3), "3 files"), (Limits(total=1 << 20), "1 MB")])
async def test_a_folder_that_is_too_much_keeps_only_what_is_named(desk: Desk, limits: Limits, why: str) -> None:
    desk.checkpoints = desk.session(limits)
    for number in range(4):
        desk.put(f"{number}", b"1" * 300_000)
    await desk.change("0")
    await desk.also("new")
    await desk.also("1")
    assert desk.notices == [
        f"{desk.root} is not checkpointed as a whole, for it holds more than {why}; files that Hermes writes itself are"
    ]
    for name in ("0", "1", "2", "new"):
        desk.put(name, "2")
    assert await desk.count() == 1
    assert await desk.back() == Restored(written=("0", "1"), removed=("new",))
    assert (desk.root / "2").read_text() == "2"


async def test_a_home_is_not_kept_as_a_whole(desk: Desk) -> None:
    (desk.home / "diary").write_text("1")
    (desk.home / "other").write_text("1")
    home = str(desk.home)
    await desk.checkpoints.before_change(home, "one:1", [f"{home}/diary"])
    await desk.checkpoints.before_change("/", "one:1")
    for name in ("diary", "other", "new"):
        (desk.home / name).write_text("2")
    assert await desk.checkpoints.restore(home, 1) == Restored(written=("diary",))


async def test_hermes_own_home_is_not_kept_as_a_whole(desk: Desk) -> None:
    own = desk.home / ".hermes"
    own.mkdir()
    (own / "config.yaml").write_text("1")
    (own / "state.db").write_text("1")
    await desk.checkpoints.before_change(str(own), "one:1", [str(own / "config.yaml")])
    (own / "config.yaml").write_text("2")
    (own / "state.db").write_text("2")
    assert await desk.checkpoints.restore(str(own), 1) == Restored(written=("config.yaml",))


async def test_a_file_outside_the_working_folder_is_kept_alone(desk: Desk) -> None:
    outside = desk.home / "notes"
    outside.mkdir()
    (outside / "a").write_text("1")
    (outside / "b").write_text("1")
    paths = [str(outside / "a"), str(outside / "new/deep")]
    await desk.checkpoints.before_changes(paths, str(desk.root), "one:1")
    for name in ("a", "b"):
        (outside / name).write_text("2")
    (outside / "new").mkdir()
    (outside / "new/deep").write_text("2")
    assert await desk.checkpoints.restore(str(outside), 1) == Restored(written=("a",), removed=("new/deep",))
    assert (outside / "b").read_text() == "2"


async def test_a_folder_outside_where_a_command_runs_is_kept_as_a_whole(desk: Desk) -> None:
    outside = desk.home / "site"
    outside.mkdir()
    (outside / "a").write_text("1")
    await desk.checkpoints.before_changes([str(outside)], str(desk.root), "one:1")
    (outside / "a").write_text("2")
    assert await desk.checkpoints.restore(str(outside), 1) == Restored(written=("a",))


async def test_without_git_that_is_said_once_and_asked_about_each_time(desk: Desk) -> None:
    checkpoints = desk.session(path="/nowhere")
    await checkpoints.before_change(str(desk.root), "one:1")
    await checkpoints.before_change(str(desk.root), "one:2")
    assert desk.notices == ["git is not installed, so changes cannot be rolled back: install git to get checkpoints"]
    assert checkpoints.not_undoable(str(desk.root / "a")) == "git is not installed, so changes cannot be rolled back"
    assert await checkpoints.prune() == 0
    with pytest.raises(UserError):
        await checkpoints.restore(str(desk.root), 1)
    assert await checkpoints.list(str(desk.root)) == ()


# What people see


async def test_a_diff_shows_what_has_changed_since(desk: Desk) -> None:
    desk.put("a", "one\n")
    desk.put("b", "one\n")
    await desk.change()
    desk.put("a", "two\n")
    desk.put("b", "two\n")
    whole = await desk.checkpoints.diff(str(desk.root), 1)
    only = await desk.checkpoints.diff(str(desk.root), 1, "a")
    assert whole.startswith(only)
    assert only.splitlines()[2:] == ["--- a/a", "+++ b/a", "@@ -1 +1 @@", "-one", "+two"]
    assert await desk.count() == 1


@pytest.mark.parametrize("number", [0, 2, -1])
async def test_a_checkpoint_that_does_not_exist_is_said(desk: Desk, number: int) -> None:
    await desk.change()
    with pytest.raises(UserError, match=f"there is no checkpoint {number} of"):
        await desk.back(number)
    with pytest.raises(UserError):
        await desk.checkpoints.diff(str(desk.root), number)


# Keeping the shelf small, and broken shelves


async def test_no_more_than_so_many_are_kept(desk: Desk) -> None:
    desk.checkpoints = desk.session(Limits(snapshots=3))
    for turn in range(6):
        desk.put("a", str(turn))
        await desk.change("a")
    assert [each.turn for each in await desk.checkpoints.list(str(desk.root))] == ["one:6", "one:5", "one:4"]


async def test_what_is_old_goes_and_what_is_left_still_works(desk: Desk) -> None:
    desk.put("a", "1" * 100)
    await desk.change("a")
    for reference in (desk.home / ".hermes/checkpoints/store/refs/hermes").glob("*/*"):
        os.utime(reference, (0, 0))
    desk.put("a", "2")
    await desk.change("a")
    desk.put("a", "3")
    assert await desk.checkpoints.prune() == 1
    assert await desk.checkpoints.prune(every=3600) == 0
    await desk.back()
    assert (desk.root / "a").read_text() == "2"
    await desk.change("a")
    assert await desk.count() == 3


async def test_the_oldest_go_when_they_take_too_much_room(desk: Desk) -> None:
    desk.checkpoints = desk.session(Limits(total=100_000))
    for _ in range(4):
        desk.put("a", os.urandom(40_000))
        await desk.change("a")
    newest = state_of(desk.root)
    assert await desk.checkpoints.prune() in (2, 3)
    desk.put("a", "x")
    await desk.back()
    assert state_of(desk.root) == newest


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


@pytest.mark.parametrize("harm", [truncate, Path.unlink])
async def test_a_broken_index_mends_itself(desk: Desk, harm: Callable[[Path], None]) -> None:
    desk.put("a", "1")
    await desk.change("a")
    for index in (desk.home / ".hermes/checkpoints/store/folders").glob("*/index"):
        harm(index)
    desk.put("b", "1")
    await desk.change("b")
    desk.put("b", "2")
    await desk.back()
    assert state_of(desk.root) == {b"a": ("file", 0o644, b"1"), b"b": ("file", 0o644, b"1")}


async def test_lost_objects_are_stored_again(desk: Desk) -> None:
    desk.put("a", "1")
    await desk.change("a")
    for item in (desk.home / ".hermes/checkpoints/store/objects").glob("*/*"):
        item.unlink()
    desk.put("b", "1")
    await desk.change("b")
    desk.put("a", "2")
    await desk.back()
    assert (desk.root / "a").read_text() == "1"


async def test_a_checkpoint_that_cannot_be_taken_stops_the_change(desk: Desk) -> None:
    (desk.home / ".hermes").mkdir()
    (desk.home / ".hermes/checkpoints").write_text("in the way")
    with pytest.raises(ToolError, match="nothing was changed, for the checkpoint before it failed"):
        await desk.change()


async def test_a_cancelled_checkpoint_leaves_no_git_and_the_next_one_works(desk: Desk) -> None:
    for number in range(300):
        desk.put(f"{number}", os.urandom(2000))
    await desk.checkpoints.list(str(desk.root))
    for delay in (0.001, 0.01, 0.02, 0.04):
        task = asyncio.create_task(desk.session().before_change(str(desk.root), "one:1"))
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await desk.change()
    before = state_of(desk.root)
    desk.put("0", "x")
    await desk.back()
    assert state_of(desk.root) == before


# A large folder


def held_up(desk: Desk, go: Path) -> str:
    """A search path with a git that stores nothing until a file is there."""
    folder = desk.home / "bin"
    folder.mkdir()
    wait = f'case "$*" in *update-index*) until [ -e {go} ]; do sleep 0.01; done;; esac'
    (folder / "git").write_text(f'#!/bin/sh\n{wait}\nPATH={PATH} exec git "$@"\n')
    (folder / "git").chmod(0o755)
    return f"{folder}:{PATH}"


async def test_a_checkpoint_that_lasts_says_what_is_at_work_and_how_much_it_is(desk: Desk) -> None:
    go, search_path = desk.home / "go", held_up(desk, desk.home / "go")

    def told(text: str) -> None:
        desk.notices.append(text)
        go.touch()

    for number in range(1200):
        desk.put(f"{number % 10}/{number}", f"{number}")
    for _ in range(2):
        own = str(desk.home / ".hermes")
        desk.checkpoints = Checkpoints(own, str(desk.home), search_path, notice=told, patience=0.5)
        async with asyncio.timeout(30):
            await desk.change("0/0")
        go.unlink()
        desk.put("0/0", "changed")
    assert desk.notices == [
        f"taking the first checkpoint of {desk.root}: 1,200 files, once",
        f"taking a checkpoint of {desk.root}: 1,200 files",
    ]


async def test_a_checkpoint_that_is_quick_says_nothing(desk: Desk) -> None:
    desk.put("a", "1")
    desk.checkpoints = desk.session()
    await desk.change("a")
    assert desk.notices == []


async def test_the_many_files_of_a_new_folder_are_stored_in_packs_and_come_back(desk: Desk) -> None:
    for number in range(1200):
        desk.put(f"{number % 10}/{number}", f"{number}" * (number % 3))
    desk.put("large", os.urandom(200_000))
    (desk.root / "link").symlink_to("large")
    before = state_of(desk.root)
    await desk.change("0/0")
    assert sum(item.is_file() for item in (desk.home / ".hermes/checkpoints/store/objects").glob("*/*")) < 100
    for number in range(0, 1200, 7):
        (desk.root / f"{number % 10}/{number}").unlink()
    desk.put("large", "x")
    await desk.back()
    assert state_of(desk.root) == before
    assert await desk.checkpoints.prune() == 0
    desk.put("large", "y")
    await desk.back(2)
    assert state_of(desk.root) == before
