"""`hermes update`: a checkout is fetched, compared, pulled and installed again; nothing of the person's own is touched."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from hermes.cli.programs import ProgramFailed
from hermes.cli.update import NEWER, look, update
from hermes.protocol.errors import UserError
from tests.cli.command import Hermes

pytestmark = pytest.mark.needs("git")
LAUNCHER = "#!/bin/sh\necho hermes 9.9\n"


class Checkout:
    """A repository, and a tree that was cloned from it."""

    def __init__(self, folder: Path) -> None:
        self.origin, self.tree = folder / "origin", folder / "tree"
        self.environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "HERMES_HOME": str(folder / "home"),
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b",
        }
        self.origin.mkdir()
        self.git(self.origin, "init", "-q", "-b", "main")
        self.commit("first", LAUNCHER)
        self.git(folder, "clone", "-q", str(self.origin), str(self.tree))

    def git(self, where: Path, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=where, env=self.environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, text: str, launcher: str) -> None:
        (self.origin / "hermes").write_text(launcher)
        (self.origin / "hermes").chmod(0o755)
        (self.origin / "NEWS").write_text(text)
        self.git(self.origin, "add", ".")
        self.git(self.origin, "commit", "-q", "-m", text)

    @property
    def head(self) -> str:
        return self.git(self.tree, "log", "-1", "--format=%s")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    return Checkout(tmp_path)


async def test_check_tells_by_its_code_whether_there_is_something_new(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await look(checkout.tree, checkout.environ) == 0
    checkout.commit("a better answer", LAUNCHER)
    assert await look(checkout.tree, checkout.environ) == NEWER
    told = capsys.readouterr().out
    assert "is up to date\n" in told and "1 change since" in told and "a better answer\n" in told
    assert checkout.head == "first"


async def test_an_update_backs_up_pulls_and_installs(
    checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text("timezone: UTC\n")
    checkout.commit("second", LAUNCHER.replace("9.9", "10.0"))
    assert await update(checkout.tree, checkout.environ, backup=True) == 0
    assert checkout.head == "second"
    assert "hermes 10.0 is installed" in capsys.readouterr().out
    assert len(list((tmp_path / "home" / "backups").glob("before-update-*.zip"))) == 1
    assert await update(checkout.tree, checkout.environ, backup=True) == 0
    assert len(list((tmp_path / "home" / "backups").iterdir())) == 1


async def test_a_version_that_cannot_be_installed_says_how_to_go_back(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.commit("broken", "#!/bin/sh\necho no space left >&2\nexit 1\n")
    assert await update(checkout.tree, checkout.environ, backup=False) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "no space left" in told and "ORIG_HEAD" in told
    checkout.git(checkout.tree, "reset", "--keep", "ORIG_HEAD")
    assert checkout.head == "first"


async def test_changes_and_commits_of_ones_own_are_left_alone(checkout: Checkout) -> None:
    checkout.commit("second", LAUNCHER)
    (checkout.tree / "NEWS").write_text("mine")
    with pytest.raises(UserError, match="were changed"):
        await update(checkout.tree, checkout.environ, backup=False)
    assert (checkout.tree / "NEWS").read_text() == "mine"
    checkout.git(checkout.tree, "commit", "-q", "-a", "-m", "mine")
    with pytest.raises(UserError, match="commits of its own"):
        await update(checkout.tree, checkout.environ, backup=False)
    assert checkout.head == "mine"


async def test_offline_is_one_line(checkout: Checkout, tmp_path: Path) -> None:
    checkout.origin.rename(tmp_path / "gone")
    with pytest.raises(ProgramFailed, match=r"^cannot ask for what is new, are you offline\? git: [^\n]+$"):
        await look(checkout.tree, checkout.environ)


async def test_a_tree_without_a_branch_to_follow_says_so(checkout: Checkout) -> None:
    checkout.git(checkout.tree, "checkout", "-q", "--detach")
    with pytest.raises(UserError, match="follows no branch"):
        await look(checkout.tree, checkout.environ)


def test_wrong_usage_is_code_2(tmp_path: Path) -> None:
    assert Hermes(tmp_path)("update", "--sooner").code == 2


async def test_another_branch_is_followed_from_then_on_and_comes_back(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.git(checkout.origin, "switch", "-q", "-c", "beta")
    checkout.commit("beta one", LAUNCHER)
    assert await look(checkout.tree, checkout.environ, "beta") == NEWER
    assert checkout.head == "first"
    assert await update(checkout.tree, checkout.environ, backup=False, branch="beta") == 0
    assert "1 change pulled, on the branch beta now" in capsys.readouterr().out
    checkout.commit("beta two", LAUNCHER)
    assert await update(checkout.tree, checkout.environ, backup=False) == 0
    assert checkout.head == "beta two"
    assert await update(checkout.tree, checkout.environ, backup=False, branch="main") == 0
    assert (checkout.head, checkout.git(checkout.tree, "rev-parse", "--abbrev-ref", "HEAD")) == ("first", "main")
    with pytest.raises(UserError, match="there is no branch 'gamma' to update to"):
        await update(checkout.tree, checkout.environ, backup=False, branch="gamma")


async def test_the_backup_can_be_of_the_whole_home(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "home" / "plugins").mkdir(parents=True)
    (tmp_path / "home" / "plugins" / "mine.py").touch()
    checkout.commit("second", LAUNCHER)
    assert await update(checkout.tree, checkout.environ, backup=True, whole=True) == 0
    [made] = (tmp_path / "home" / "backups").iterdir()
    with zipfile.ZipFile(made) as archive:
        assert "plugins/mine.py" in archive.namelist()
