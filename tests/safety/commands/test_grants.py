"""What is kept of "always allow" and what it covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.safety.commands.grants import Grant, covers, from_text, grant_of, to_text


@pytest.mark.parametrize(
    ("argv", "grant"),
    [
        (("rm", "-rf", "build"), ("rm", "-rf", "build")),
        (("git", "commit", "-m", "x"), ("git", "commit", "...")),
        (("git", "push"), ("git", "push")),
        (("/usr/bin/git", "add", "."), ("/usr/bin/git", "add", "...")),
        (("git", "add", "--pathspec-from-file=x"), ("git", "add", "--pathspec-from-file=x")),
        (("git", "commit", "-F", "x"), ("git", "commit", "-F", "x")),
        (("git", "fetch", "origin"), ("git", "fetch", "origin")),
        (("git", "pull"), ("git", "pull")),
        (("npm", "install"), ("npm", "install")),
        (("npm", "run", "lint"), ("npm", "run", "lint")),
        (("uv", "run", "pytest"), ("uv", "run", "pytest")),
        (("cargo", "run"), ("cargo", "run")),
        (("go", "run", "./x"), ("go", "run", "./x")),
        (("make", "test"), ("make", "test")),
        (("docker", "run", "x"), ("docker", "run", "x")),
        (("python", "x.py"), ("python", "x.py")),
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


@pytest.mark.parametrize(
    "argv",
    [
        ("git", "commit", "-F", "/home/me/.netrc"),
        ("git", "commit", "--file=/home/me/.netrc"),
        ("git", "commit", "-t", "x"),
        ("git", "commit", "--no-verify", "-m", "x"),
        ("git", "add", "--pathspec-from-file=x"),
        ("git", "switch", "--discard-changes", "main"),
        ("git", "fetch", "--upload-pack=cmd"),
        ("git", "pull"),
        ("npm", "install"),
        ("npm", "run", "x"),
        ("pip", "install", "x"),
        ("uv", "run", "bash", "-c", "x"),
        ("cargo", "run"),
        ("go", "run", "x"),
        ("docker", "run", "x"),
        ("python", "x.py"),
        ("make", "x"),
        ("npx", "x"),
    ],
)
def test_no_open_end_covers_what_starts_programs_or_reads_files(argv: tuple[str, ...]) -> None:
    assert not covers((*argv[:2], "..."), argv)
    assert not covers((argv[0], "..."), argv)
    assert covers(argv, argv)


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1).map(tuple))
def test_a_grant_survives_the_settings(grant: Grant) -> None:
    assert from_text(to_text(grant)) == grant


def test_a_line_that_cannot_be_read_grants_nothing() -> None:
    assert from_text("rm 'x") == ()
