"""SOUL.md is seeded once, and never overwritten."""

import stat
from pathlib import Path

from hermes.agent.prompt import IDENTITY
from hermes.cli.soul import seed_soul


def test_a_home_is_given_the_words_it_would_have_anyway(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert seed_soul(home)
    assert (home / "SOUL.md").read_text() == f"{IDENTITY}\n"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "SOUL.md")] == [0o700, 0o600]


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    for text in ("You are a pirate.\n", ""):
        (tmp_path / "SOUL.md").write_text(text)
        assert not seed_soul(tmp_path)
        assert (tmp_path / "SOUL.md").read_text() == text
