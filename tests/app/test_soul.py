"""SOUL.md: what its owner wrote is used, and a default stays one."""

from pathlib import Path

import pytest

from hermes.agent.prompt import IDENTITY
from hermes.app import soul
from hermes.cli.soul import seed_soul


def test_what_somebody_wrote_is_who_hermes_is(tmp_path: Path) -> None:
    assert soul.read_soul(tmp_path) == ""
    (tmp_path / "SOUL.md").write_text("\nYou are a pirate.\n")
    assert soul.read_soul(tmp_path) == "You are a pirate."


def test_a_file_that_an_earlier_version_seeded_does_not_freeze_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seed_soul(tmp_path) and soul.read_soul(tmp_path) == ""
    monkeypatch.setattr(soul, "IDENTITY", "You are a newer Hermes.")
    assert soul.read_soul(tmp_path) == IDENTITY
    monkeypatch.setattr(soul, "FORMER", (IDENTITY,))
    assert soul.read_soul(tmp_path) == ""


def test_whoever_changes_the_default_keeps_the_old_one_in_mind() -> None:
    """A changed IDENTITY belongs, as it was, into FORMER; then this line is changed too."""
    known = (
        "You are Hermes, an AI agent that works for a person on their computer. You act through tools, you say what you did,"
        " and you are honest about what you do not know or could not do."
    )
    assert known in (IDENTITY, *soul.FORMER)
