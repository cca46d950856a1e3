"""`hermes skills snapshot`: the very same skills in another home."""

import json
from pathlib import Path

from tests.cli.command import Hermes, Ran
from tests.cli.conftest import PDF

PLACE = "skills/documents/pdf/SKILL.md"


def test_a_snapshot_brings_the_very_same_skills_to_another_home(hermes: Hermes, source: Path, tmp_path: Path) -> None:
    hermes("skills", "install", str(source))
    file, other = tmp_path / "skills.json", Hermes(tmp_path / "other")
    (tmp_path / "other").mkdir()
    assert hermes("skills", "snapshot", "export", "-o", str(file)).out.startswith(f"{file}: 1 skill; ")
    assert hermes("skills", "snapshot", "export").out == file.read_text()
    [listed] = json.loads(file.read_text())["skills"]
    assert (listed["name"], listed["source"], listed["category"]) == ("pdf", str(source), "documents")
    assert other("skills", "snapshot", "import", str(file)) == Ran(0, "pdf is installed\n")
    assert (other.home / PLACE).read_text() == PDF
    assert other("skills", "snapshot", "import", str(file)) == Ran(0, "pdf is installed already\n")


def test_a_source_that_changed_since_is_taken_only_if_that_is_wished(
    hermes: Hermes, source: Path, tmp_path: Path
) -> None:
    hermes("skills", "install", str(source))
    file, other = tmp_path / "skills.json", Hermes(tmp_path / "other")
    (tmp_path / "other").mkdir()
    hermes("skills", "snapshot", "export", "-o", str(file))
    (source / "SKILL.md").write_text(PDF + "Newer.\n")
    assert other("skills", "snapshot", "import", str(file)) == Ran(
        1, "", "hermes: pdf: its source has something else now (--newer takes what is there)\n"
    )
    assert not (other.home / PLACE).exists()
    assert other("skills", "snapshot", "import", str(file), "--newer") == Ran(
        0, "pdf is installed, as its source has it now\n"
    )
    assert other("skills", "snapshot", "import", str(file)).out == "pdf is installed already, in another version\n"


def test_a_file_that_is_no_snapshot_is_one_line(hermes: Hermes, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("[]")
    assert hermes("skills", "snapshot", "import", str(tmp_path / "x")).err == (
        f"hermes: {tmp_path / 'x'} is no snapshot of skills (hermes skills snapshot export makes one)\n"
    )
    assert hermes("skills", "snapshot", "import", str(tmp_path / "none")).code == 2
    assert hermes("skills", "snapshot").code == 2
