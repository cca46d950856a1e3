"""/update looks for what is new in a real repository, and changes nothing."""

import subprocess
from pathlib import Path

import pytest

import hermes
from hermes.commands.update import news
from hermes.protocol.errors import UserError
from tests.commands.surface import person

pytestmark = pytest.mark.needs("git")
NAMED = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *NAMED, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, words: str) -> None:
    git(folder, "commit", "-q", "--allow-empty", "-m", words)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin")
    git(tmp_path, "clone", "-q", str(folder), "tree")
    return folder


async def test_what_is_new_is_told_and_nothing_is_changed(tmp_path, origin):
    tree = tmp_path / "tree"
    async with person(tmp_path) as me:
        assert await news(me.app, tree) == f"Hermes {hermes.__version__} is up to date."
        head = git(tree, "rev-parse", "HEAD")
        for number in range(12):
            commit(origin, f"Change {number}")
        first, newest, *_, last = (await news(me.app, tree)).splitlines()
        assert first == f"There are 12 changes since Hermes {hermes.__version__}. Leave, and run `hermes update`:"
        assert newest.endswith("` Change 11") and last == "- … and 2 more"
        assert git(tree, "rev-parse", "HEAD") == head


async def test_what_cannot_be_asked_is_one_line(tmp_path, origin):
    async with person(tmp_path) as me:
        with pytest.raises(UserError, match="follows no branch to update from"):
            await news(me.app, origin)
        origin.rename(tmp_path / "gone")
        with pytest.raises(UserError, match="cannot ask for what is new"):
            await news(me.app, tmp_path / "tree")


async def test_a_package_is_left_to_pip(tmp_path):
    async with person(tmp_path) as me:
        assert "pip install --upgrade hermes-courier" in await news(me.app, tmp_path)
