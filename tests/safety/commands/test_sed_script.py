"""Scripts of sed: the order that starts a program is found wherever it stands, and nothing else is taken for it."""

import pytest

from hermes.safety.commands.sed_script import Orders, read_script
from hermes.safety.commands.syntax import UNKNOWN
from tests.safety.scene import judge


@pytest.mark.parametrize(
    "script",
    [
        "s/a/b/g; y/abc/xyz/",
        "1!G;h;$!d",
        ":a\nN\n$!ba\ns/\\n/ /g",
        "/^#/d;/^$/d",
        "/start/,/end/{/x/!p}",
        "0,/x/s//y/",
        "s/[/]/e/",
        "s|/e|/x|2",
        "$a\\the e at the end",
        "1i e",
        "/e/I!s,e,x,; t e; :e",
        f"{UNKNOWN},{UNKNOWN}p",
        f"s/x/{UNKNOWN}/",
        "# e id",
    ],
)
def test_an_ordinary_script_does_nothing_else(script: str) -> None:
    assert read_script(script) == Orders()


@pytest.mark.parametrize(
    "script",
    ["e", "1e id", "/x/Ie id", "\\,x,e id", "/a/,/b/e", "1,3{e id", "s/a/b/;e id", "$!e", "s/x/id/e", "s/[]/]/x/ge"],
)
def test_a_script_that_starts_a_program_says_so(script: str) -> None:
    assert "start a program" in read_script(script).why


@pytest.mark.parametrize("script", [UNKNOWN, f"s/a/b/{UNKNOWN}", "s/a/b", "k", "p;" + UNKNOWN])
def test_what_is_not_understood_is_not_passed_over(script: str) -> None:
    assert read_script(script).why


def test_files_are_found_with_and_without_a_blank_before_them() -> None:
    assert read_script("1r in.txt\nw/etc/x\ns/a/b/gw out.txt") == Orders(reads=["in.txt"], writes=["/etc/x", "out.txt"])


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("sed -n -e'1e id' f", "ask"),
        ("sed -nf/etc/x f", "ask"),
        ("sed -i.bak -e's/a/b/' ~/.bashrc", "ask"),
        ("sed -i '' 's/a/b/' a.txt", "allow"),
        ("sed --expr='1e id' f", "ask"),
        ("sed -Ei -e 's/a/b/' -e '/x/d' a.txt b.txt", "allow"),
        ("sed --in-place=.bak s/a/b/ ../x", "ask"),
    ],
)
def test_the_words_of_sed_are_told_apart_however_they_are_joined(command: str, decision: str) -> None:
    assert judge(command).decision == decision
