"""`hermes checkpoints`: lists, measures, prunes and clears what folders looked like before changes."""

import asyncio
import os
import time
from pathlib import Path

from hermes.safety.checkpoints import Checkpoints
from tests.cli.command import Hermes, Ran

NONE = "hermes: there are no checkpoints yet (Hermes takes one before it changes something)\n"


def change(hermes: Hermes, folder: Path, times: int = 1) -> None:
    """Let a session change a file of a folder, once in each turn."""
    folder.mkdir(exist_ok=True)
    hermes.home.mkdir(exist_ok=True)
    kept = Checkpoints(str(hermes.home), str(folder.parent), os.environ["PATH"])

    async def turns() -> None:
        for turn in range(1, times + 1):
            await kept.before_change(str(folder), f"s:{turn}")
            (folder / "a.txt").write_text(str(turn))

    asyncio.run(turns())


def test_a_fresh_home_has_none_and_every_action_says_so(hermes: Hermes, tmp_path: Path) -> None:
    assert hermes("checkpoints") == Ran(0, "", NONE)
    assert hermes("checkpoints", "status") == Ran(0, "", NONE)
    assert hermes("checkpoints", "prune") == Ran(0, "0 checkpoints thrown away\n", "")
    assert hermes("checkpoints", "clear") == Ran(0, "", "hermes: there are no checkpoints\n")
    listed = hermes("checkpoints", "list", str(tmp_path))
    assert listed.err.startswith(f"hermes: there are no checkpoints of {tmp_path} (")
    assert not hermes.home.exists()


def test_a_folders_checkpoints_are_listed_the_newest_first(hermes: Hermes, tmp_path: Path) -> None:
    change(hermes, tmp_path / "work", 3)
    rows = [line.split("\t") for line in hermes("checkpoints", "list", str(tmp_path / "work")).out.splitlines()]
    assert [(row[0], *row[2:]) for row in rows] == [
        ("1", "before a change", "s:3"),
        ("2", "before a change", "s:2"),
        ("3", "before a change", "s:1"),
    ]
    assert hermes("checkpoints", "list", str(tmp_path / "no")).code == 2


def test_the_status_names_each_folder_and_what_they_take_up_together(hermes: Hermes, tmp_path: Path) -> None:
    change(hermes, tmp_path / "one", 2)
    change(hermes, tmp_path / "two", 1)
    ran = hermes("checkpoints", "status")
    assert [line.split("\t")[:2] for line in ran.out.splitlines()] == [
        [str(tmp_path / "two"), "1"],
        [str(tmp_path / "one"), "2"],
    ]
    assert ran.err == "0.0 of 500 MB, kept for 7 days\n"


def test_prune_throws_away_what_is_too_old_and_nothing_else(hermes: Hermes, tmp_path: Path) -> None:
    change(hermes, tmp_path / "work", 3)
    first, *_ = sorted((hermes.home / "checkpoints/store/refs/hermes").glob("*/*"))
    old = time.time() - 8 * 86_400
    os.utime(first, (old, old))
    assert hermes("checkpoints", "prune") == Ran(0, "1 checkpoint thrown away\n", "")
    assert len(hermes("checkpoints", "list", str(tmp_path / "work")).out.splitlines()) == 2


def test_clear_asks_first(hermes: Hermes, tmp_path: Path) -> None:
    change(hermes, tmp_path / "work", 2)
    refused = hermes("checkpoints", "clear")
    assert refused.code == 2
    assert refused.err == (
        "hermes: Throw away 2 checkpoints of 1 folder? Nothing can be rolled back then. There is nobody to ask "
        "(add -y to do it without a question)\n"
    )
    assert len(hermes("checkpoints", "list", str(tmp_path / "work")).out.splitlines()) == 2


def test_what_is_cleared_is_gone_and_the_next_change_is_kept_again(hermes: Hermes, tmp_path: Path) -> None:
    change(hermes, tmp_path / "work", 2)
    assert hermes("checkpoints", "clear", "-y") == Ran(0, "2 checkpoints thrown away\n", "")
    assert hermes("checkpoints") == Ran(0, "", NONE)
    assert list((hermes.home / "checkpoints/store/objects").glob("[0-9a-f][0-9a-f]/*")) == []
    assert list((hermes.home / "checkpoints/store/objects/pack").glob("*")) == []
    change(hermes, tmp_path / "work", 1)
    assert len(hermes("checkpoints", "list", str(tmp_path / "work")).out.splitlines()) == 1
