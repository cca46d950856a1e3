"""A command in a home of its own, and a skill to install there."""

from pathlib import Path

import pytest

from tests.cli.command import Hermes
from tests.learning.skills.corpus import lay_out

PDF = "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  hermes-category: documents\n---\n\nUse pdftotext.\n"


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    return Hermes(tmp_path)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "pdf", {"SKILL.md": PDF})
