"""What is kept of "always allow" and what it covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.safety.grants import Grant, covers, from_text, grant_of, to_text


@pytest.mark.parametrize(
    ("argv", "grant"),
    [
        (("rm", "-rf", "build"), ("rm", "-rf", "build")),
        (("git", "commit", "-m", "x"), ("git", "commit", "...")),
        (("git", "push"), ("git", "push")),
        (("/usr/bin/git", "add", "."), ("/usr/bin/git", "add", "...")),
        (("npm", "install"), ("npm", "install", "...")),
        (("bash", "x.sh"), None),
        (("/bin/sh", "-c", "x"), None),
        (("sudo", "rm"), None),
        ((), None),
    ],
)
def test_a_grant_is_the_words_or_the_first_of_them(argv: tuple[str, ...], grant: Grant | None) -> None:
    assert grant_of(argv) == grant


def test_a_grant_covers_itself_and_no_more() -> None:
    assert covers(("rm", "x"), ("rm", "x"))
    assert not covers(("rm", "x"), ("rm", "x", "y"))
    assert not covers(("rm", "x"), ("rm",))
    assert covers(("git", "commit", "..."), ("git", "commit"))
    assert covers(("git", "commit", "..."), ("git", "commit", "-m", "x"))
    assert not covers(("git", "commit", "..."), ("git", "push"))
    assert not covers(("...",), ("rm",))
    assert not covers((), ("rm",))
    assert not covers(("sh", "..."), ("sh", "-c", "rm"))


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1).map(tuple))
def test_a_grant_survives_the_settings(grant: Grant) -> None:
    assert from_text(to_text(grant)) == grant


def test_a_line_that_cannot_be_read_grants_nothing() -> None:
    assert from_text("rm 'x") == ()
