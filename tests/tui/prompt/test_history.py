"""The file of what was typed: shared, private, and never longer than it need be."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.tui.prompt.history import KEPT, PromptHistory


@pytest.fixture
def history(tmp_path: Path) -> PromptHistory:
    return PromptHistory(tmp_path / "home" / "history")


def again(history: PromptHistory) -> list[str]:
    """The entries as another process reads them."""
    other = PromptHistory(history.path)
    other.read()
    return other.entries


@pytest.mark.parametrize(
    "text",
    ["hello", "two\nlines", '"quoted"', '"', "back\\nslash", "tab\there", "ümlaut 漢字", "\u2028", "a\r\nb", "\ud800"],
)
def test_an_entry_is_read_as_it_was_typed(history: PromptHistory, text: str):
    history.write(text)
    history.write("next")
    assert again(history) == [text.encode(errors="replace").decode(), "next"]


def test_lines_of_the_line_chat_are_read(history: PromptHistory):
    history.path.parent.mkdir()
    history.path.write_text('plain\n"not json\n\nC:\\new\n')
    assert again(history) == ["plain", '"not json', "C:\\new"]


def test_what_is_typed_while_the_file_is_read_is_neither_lost_nor_doubled(history: PromptHistory):
    history.write("before")
    history.remember("typed")
    history.read()
    assert history.entries == ["before", "typed"]
    history.write("typed")
    history.entries = ["typed"]
    history.read()
    assert history.entries == ["before", "typed"]


def test_only_the_owner_can_read_the_file(history: PromptHistory):
    history.write("secret plan")
    assert stat.S_IMODE(history.path.stat().st_mode) == 0o600


def test_nothing_is_kept_twice_in_a_row_nor_when_it_is_empty(history: PromptHistory):
    assert [history.remember(text) for text in ("a", "a", " ", "", "b", "a")] == [True, False, False, False, True, True]
    assert history.entries == ["a", "b", "a"]


def test_a_long_file_is_cut_to_the_newest_entries(history: PromptHistory):
    history.path.parent.mkdir()
    history.path.write_text("".join(f"entry {number}\n" for number in range(3 * KEPT)))
    newest = [f"entry {number}" for number in range(2 * KEPT, 3 * KEPT)]
    assert again(history) == newest
    assert history.path.read_text().splitlines() == newest
    assert stat.S_IMODE(history.path.stat().st_mode) == 0o600
    history.write("one more")
    assert again(history) == [*newest[1:], "one more"]


def test_many_processes_lose_nothing(history: PromptHistory):
    program = (
        "import sys; from pathlib import Path; from hermes.tui.prompt.history import PromptHistory\n"
        "for n in range(20): PromptHistory(Path(sys.argv[1])).write(sys.argv[2] + '\\n' + str(n) + 'x' * 5000)"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, str(history.path), f"p{n}"]) for n in range(4)]
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    entries = again(history)
    expected = {f"p{child}\n{n}{'x' * 5000}" for child in range(4) for n in range(20)}
    assert (len(entries), set(entries)) == (80, expected)


def test_a_file_that_cannot_be_written_is_no_reason_to_stop(history: PromptHistory, caplog: pytest.LogCaptureFixture):
    history.path.mkdir(parents=True)
    history.write("text")
    history.read()
    assert "is not kept" in caplog.text and "cannot be read" in caplog.text
    assert os.listdir(history.path) == []


def test_the_newest_entry_that_begins_so_is_suggested(history: PromptHistory):
    history.entries = ["explain a", "explain b", "explain"]
    assert [history.before(start) for start in ("expl", "explain ", "explain b", "x", "")] == [
        "explain", "explain b", "", "", "",
    ]  # fmt: skip


def test_a_search_finds_parts_in_any_case_unless_capitals_are_given(history: PromptHistory):
    history.entries = ["run TESTS", "run tests", "docs", "run tests"]
    assert list(history.search("tests")) == ["run tests", "run TESTS"]
    assert list(history.search("TESTS")) == ["run TESTS"]
