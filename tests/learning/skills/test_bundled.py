"""The skills that come with Hermes: valid, short, and in the package."""

from pathlib import Path

import pytest
from skills_ref.validator import validate

from hermes.learning.skills.bundled import FOLDER, bundled_folder, opt_in, opt_out
from hermes.learning.skills.parse import read_skill

SKILLS = sorted(FOLDER.glob("*/*"))


@pytest.mark.parametrize("folder", SKILLS, ids=lambda folder: folder.name)
def test_the_validator_of_the_format_passes(folder: Path) -> None:
    assert validate(folder) == []


@pytest.mark.parametrize("folder", SKILLS, ids=lambda folder: folder.name)
def test_it_says_when_to_use_it_lies_in_its_category_and_is_short(folder: Path) -> None:
    skill = read_skill(folder)
    assert "Use " in skill.description
    assert (skill.name, skill.category) == (folder.name, folder.parent.name)
    assert len((folder / "SKILL.md").read_text().splitlines()) <= 120


def test_there_are_a_dozen() -> None:
    assert len(SKILLS) == 12


def test_a_home_can_do_without_them(tmp_path: Path) -> None:
    assert bundled_folder(tmp_path) == FOLDER
    assert (opt_out(tmp_path), opt_out(tmp_path), bundled_folder(tmp_path)) == (True, False, None)
    assert (opt_in(tmp_path), opt_in(tmp_path), bundled_folder(tmp_path)) == (True, False, FOLDER)
