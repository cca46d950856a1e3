"""`hermes skills list-modified`: skills that are no longer as they came."""

import shutil
from pathlib import Path

from hermes.learning.skills.bundled import FOLDER
from tests.cli.command import Hermes, Ran
from tests.cli.conftest import PDF

PLACE = "skills/documents/pdf/SKILL.md"


def test_skills_that_are_no_longer_as_they_came_are_listed(hermes: Hermes, source: Path) -> None:
    hermes("skills", "install", str(source))
    [original] = FOLDER.glob("*/plan-a-change")
    copy = hermes.home / "skills/coding/plan-a-change"
    shutil.copytree(original, copy)
    assert hermes("skills", "list-modified") == Ran(0, "", "hermes: no skill was changed\n")
    (hermes.home / PLACE).write_text(PDF + "Mine.\n")
    (copy / "SKILL.md").write_text((copy / "SKILL.md").read_text() + "Mine.\n")
    assert hermes("skills", "list-modified") == Ran(
        0,
        f"pdf\tchanged here, so it is off\t{source}\n"
        "plan-a-change\tyour own copy, used instead of the bundled one\tHermes\n",
    )
    shutil.rmtree(hermes.home / "skills/documents/pdf")
    assert hermes("skills", "list-modified").out.startswith("pdf\tits files are gone\t")
