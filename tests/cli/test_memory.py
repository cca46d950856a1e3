"""`hermes memory`: what is remembered, where it comes from, and how to take it back."""

from pathlib import Path

import pytest

from tests.cli.command import Hermes, Ran


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    hermes = Hermes(tmp_path)
    folder = hermes.home / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("the server is atlas\n§\nport 8080 is open\n")
    (folder / "USER.md").write_text("lives in Oslo\n")
    return hermes


def memory_file(hermes: Hermes) -> str:
    return (hermes.home / "memories" / "MEMORY.md").read_text()


def rows(ran: Ran) -> list[list[str]]:
    assert ran.code == 0
    return [line.split("\t") for line in ran.out.splitlines()]


def test_the_status_says_how_full_memory_is(hermes):
    assert hermes("memory") == Ran(
        0,
        "MEMORY.md: 2 entries, 2%, 39 of 2,200 characters\nUSER.md: 1 entry, 1%, 13 of 1,375 characters\n"
        "reviews: every 10 turns; user model: none\n",
    )


def test_every_entry_is_shown_with_its_number(hermes):
    assert [row[:3] for row in rows(hermes("memory", "show"))] == [
        ["1", "memory", "the server is atlas"],
        ["2", "memory", "port 8080 is open"],
        ["3", "user", "lives in Oslo"],
    ]


def test_reset_asks_and_can_be_undone(hermes):
    hermes("memory", "show")
    assert hermes("memory", "reset").code == 2
    assert (
        hermes("memory", "reset", "--target", "memory", "-y").out
        == "forgot 2 entries; hermes memory undo brings them back\n"
    )
    assert memory_file(hermes) == ""
    assert [line.partition(":")[0] for line in hermes("memory", "undo").out.splitlines()] == ["taken back"] * 2
    assert memory_file(hermes) == "the server is atlas\n§\nport 8080 is open\n"
    assert len(rows(hermes("memory", "history"))) == 7


def test_why_names_the_source(hermes):
    hermes("memory", "show")
    lines = hermes("memory", "why", "3").out.splitlines()
    assert lines[:2] == ["lives in Oslo", "target: user, active"]
    assert lines[2].startswith("written by: an edit of the file on ")
    assert lines[3] == "seen once, helped 0, hurt 0"
    assert hermes("memory", "why", "9") == Ran(2, "", "hermes: there is no entry 9 (hermes memory show lists them)\n")
    assert hermes("memory", "why", "x").code == 2


def test_an_edit_of_the_file_is_in_the_history(hermes):
    hermes("memory", "show")
    (hermes.home / "memories" / "MEMORY.md").write_text("the server is hermes\n§\nport 8080 is open\n")
    hermes("memory", "show")
    newest = rows(hermes("memory", "history"))[:2]
    assert [row[1:] for row in newest] == [
        ["file", "add", "4", "the server is hermes"],
        ["file", "retire", "1", "the server is atlas"],
    ]
    assert rows(hermes("memory", "history", "1"))[0][2] == "retire"
    assert hermes("memory", "restore", "1").out == "restored: the server is atlas\n"


def test_an_empty_archive_and_nothing_waiting_are_said(hermes):
    assert hermes("memory", "archive") == Ran(0, "", "hermes: the archive is empty\n")
    assert hermes("memory", "pending") == Ran(0, "", "hermes: nothing waits\n")
    assert hermes("memory", "approve", "all").code == 2
    hermes("memory", "show")
    hermes("memory", "undo")
    assert hermes("memory", "undo").code == 2


def test_off_and_on(hermes):
    hermes("memory", "off")
    assert "2,200 characters, switched off" in hermes("memory").out
    hermes("memory", "on")
    assert "switched off" not in hermes("memory").out
