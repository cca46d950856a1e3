"""`hermes skills`: lists, looks at, installs, mends and removes skills."""

from pathlib import Path

from tests.cli.command import Hermes, Ran
from tests.cli.conftest import PDF
from tests.learning.skills.corpus import PLANTED, lay_out


def rows(ran: Ran) -> dict[str, list[str]]:
    return {line.split("\t")[0]: line.split("\t")[1:] for line in ran.out.splitlines()}


def test_a_fresh_home_has_the_bundled_skills_until_it_opts_out(hermes: Hermes) -> None:
    listed = rows(hermes("skills"))
    assert len(listed) == 12
    assert listed["plan-a-change"][:3] == ["coding", "Hermes", "on"]
    assert hermes("skills", "opt-out") == Ran(0, "sessions do without the bundled skills\n")
    assert hermes("skills", "list") == Ran(0, "")
    assert hermes("skills", "opt-in") == Ran(0, "sessions have the bundled skills again\n")
    assert len(rows(hermes("skills"))) == 12


def test_a_skill_is_looked_at_without_being_installed(hermes: Hermes, source: Path) -> None:
    assert hermes("skills", "inspect", str(source)) == Ran(
        0, f"pdf: Reads PDF files.\nfrom {source} (community)\nfiles: SKILL.md\nscan: safe\n"
    )
    assert "pdf" not in rows(hermes("skills"))


def test_the_life_of_an_installed_skill(hermes: Hermes, source: Path) -> None:
    place = hermes.home / "skills/documents/pdf"
    assert hermes("skills", "install", str(source)).out == (
        f"pdf is installed in {place}; sessions that begin from now on see it\n"
    )
    assert rows(hermes("skills"))["pdf"] == ["documents", "hub", "on", "Reads PDF files."]
    assert hermes("skills", "check").out == f"pdf\tas it was installed\t{source}\n"
    (place / "SKILL.md").write_text(PDF + "Mine.\n")
    listed = hermes("skills")
    assert rows(listed)["pdf"][2] == "off"
    assert listed.err == (
        "hermes: pdf: its files were changed since they were allowed; /skills approve pdf allows it as it is now\n"
    )
    assert hermes("skills", "diff", "pdf").out.endswith(" Use pdftotext.\n+Mine.\n")
    assert hermes("skills", "audit") == Ran(
        1, "pdf: safe, changed here, so it is off\n", "1 skill scanned, 1 to look at\n"
    )
    assert hermes("skills", "update").err.startswith("hermes: pdf: pdf was changed here (")
    assert hermes("skills", "reset", "pdf") == Ran(0, "pdf is as its source has it\n")
    assert (place / "SKILL.md").read_text() == PDF
    (source / "SKILL.md").write_text(PDF + "Newer.\n")
    assert hermes("skills", "check", "pdf").out == f"pdf\tthere is something newer\t{source}\n"
    assert hermes("skills", "update", "pdf") == Ran(0, "pdf is updated\n")
    assert hermes("skills", "uninstall", "pdf").code == 2
    assert hermes("skills", "uninstall", "pdf", "-y") == Ran(0, "pdf is removed\n")
    assert not place.exists()


def test_a_dangerous_skill_is_refused_with_the_reason(hermes: Hermes) -> None:
    ran = hermes("skills", "install", "--force", str(PLANTED / "fast-setup"))
    assert ran == Ran(
        2,
        "",
        "hermes: fast-setup is dangerous and was not installed (SKILL.md: it runs code as it is fetched)"
        " (hermes skills inspect shows all; --force does not help)\n",
    )
    shown = hermes("skills", "inspect", str(PLANTED / "fast-setup")).out
    assert "\n  dangerous  SKILL.md:9  runs code as it is fetched: curl -fsSL" in shown


def test_a_copy_of_a_bundled_skill_wins_and_can_be_put_aside(hermes: Hermes) -> None:
    text = PDF.replace("name: pdf", "name: plan-a-change")
    lay_out(hermes.home / "skills/mine/plan-a-change", {"SKILL.md": text})
    assert rows(hermes("skills"))["plan-a-change"][1] == "you"
    assert "+Use pdftotext.\n" in hermes("skills", "diff", "plan-a-change").out
    assert hermes("skills", "reset", "plan-a-change").code == 0
    assert rows(hermes("skills"))["plan-a-change"][1] == "Hermes"
    assert (hermes.home / "skills/.archive/plan-a-change.1/SKILL.md").read_text() == text


def test_a_tap_that_cannot_be_searched_is_not_said_to_have_nothing(hermes: Hermes, tmp_path: Path) -> None:
    assert hermes("skills", "tap", "remove", "github.com/anthropics/skills").code == 0
    assert hermes("skills", "tap", "add", str(tmp_path / "gone")).code == 0
    ran = hermes("skills", "search", "pdf")
    assert (ran.code, ran.out, str(tmp_path / "gone") in ran.err) == (1, "", True)
    assert ran.err.splitlines()[-1] == (
        "hermes: no tap that could be searched has such a skill (hermes skills tap add SOURCE searches another one)"
    )


def test_taps_are_added_searched_and_removed(hermes: Hermes, source: Path, tmp_path: Path) -> None:
    assert hermes("skills", "tap").out == "github.com/anthropics/skills\ttrusted\n"
    assert hermes("skills", "tap", "remove", "github.com/anthropics/skills").code == 0
    assert hermes("skills", "tap", "add", str(source), "--trusted").out == f"{source} is searched from now on\n"
    assert hermes("skills", "tap", "list").out == f"{source}\ttrusted\n"
    assert hermes("skills", "search", "PDF").out == f"pdf\ttrusted\t{source}\tReads PDF files.\n"
    assert hermes("skills", "search", "docx").code == 1
    assert hermes("skills", "install", "pdf").code == 0
    assert hermes("skills", "tap", "remove", "elsewhere").code == 2


def test_what_was_not_installed_cannot_be_removed_or_reset(hermes: Hermes) -> None:
    for action in ("uninstall", "update", "check", "reset", "diff"):
        ran = hermes("skills", action, "nothing")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
