"""Shell text is taken apart into words, and what is more than words is not called plain."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.safety.commands import Redirect, Script, Simple, Word, read


def words(*texts: str) -> tuple[Word, ...]:
    return tuple(Word(text) for text in texts)


def test_commands_in_a_row_are_told_apart() -> None:
    assert read("cd 'a b' && ls -la | wc -l; echo done") == Script(
        (
            Simple(words("cd", "a b")),
            Simple(words("ls", "-la"), flow="then"),
            Simple(words("wc", "-l"), flow="pipe"),
            Simple(words("echo", "done"), flow="then"),
        ),
        plain=True,
    )


def test_redirections_are_kept_apart_from_words() -> None:
    assert read("make 2>&1 >out.txt </dev/null &>> all.log <<< 'yes'") == Script(
        (
            Simple(
                words("make"),
                (
                    Redirect(">&", Word("1"), "2"),
                    Redirect(">", Word("out.txt")),
                    Redirect("<", Word("/dev/null")),
                    Redirect("&>>", Word("all.log")),
                    Redirect("<<<", Word("yes")),
                ),
            ),
        ),
        plain=True,
    )


def test_a_number_that_is_a_word_is_not_a_descriptor() -> None:
    assert read("echo 2 > x").commands == (Simple(words("echo", "2"), (Redirect(">", Word("x")),)),)
    assert read("echo '2'>x").commands == (Simple(words("echo", "2"), (Redirect(">", Word("x")),)),)


def test_what_the_shell_will_still_do_to_a_word_is_marked() -> None:
    assert read("ls *.py ~/x '*' a~b [ab]").commands[0].words == (
        Word("ls"),
        Word("*.py", globs=True),
        Word("~/x", tilde=True),
        Word("*"),
        Word("a~b"),
        Word("[ab]", globs=True),
    )


def test_a_comment_is_not_a_command() -> None:
    assert read("ls # rm -rf /\npwd#no") == Script(
        (Simple(words("ls")), Simple(words("pwd#no"), flow="then")), plain=True
    )


@pytest.mark.parametrize(
    "text",
    [
        "echo $HOME",
        'echo "$HOME"',
        "echo ${x}",
        "echo $(id)",
        "echo `id`",
        "echo $((1+1))",
        "echo $[1+1]",
        "echo $'a'",
        "sleep 5 &",
        "(ls)",
        "{ ls; }",
        "ls {a,b}",
        "ls |& cat",
        "cat <<EOF\nx\nEOF",
        "cat <(ls)",
        "f() { ls; }",
        "echo 'unclosed",
        'echo "unclosed',
        "ls >",
        "ls \\",
        "ls\x00",
        "ls \u202e",
        "ls\r",
        "ls 'a'*",
        "echo " + "x" * 10_001,
    ],
)
def test_more_than_words_is_not_plain(text: str) -> None:
    assert not read(text).plain


@pytest.mark.parametrize(
    "text",
    ["ls", "", "echo 'a $b `c`'", 'echo "a \\$b"', "echo \\$HOME", "a \\\n b", "ls\nls", "echo $", "grep 'a|b&c;d' f"],
)
def test_words_and_quotes_are_plain(text: str) -> None:
    assert read(text).plain


def test_commands_inside_substitutions_are_found() -> None:
    found = [simple.argv for simple in read('echo "$(rm -rf "a b") `date`" <(ls)').commands]
    assert ("rm", "-rf", "a b") in found
    assert ("date",) in found
    assert ("ls",) in found


def test_a_here_document_belongs_to_its_command() -> None:
    script = read("cat <<'EOF' | sh\nrm x\nEOF\nls")
    assert [(simple.argv, simple.body, simple.flow) for simple in script.commands] == [
        (("cat",), "rm x\n", ""),
        (("sh",), "", "pipe"),
        (("ls",), "", "then"),
    ]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(texts: list[str]) -> None:
    argv = ("echo", *texts)
    assert [simple.argv for simple in read(shlex.join(argv)).commands] == [argv]


@given(st.text(alphabet="ab '\"\\$`(){}<>|&;#\n~*[]=!", max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(read(text), Script)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["a", "b'c d'", '"x y"', "\\ ", "e\\'f", '"g\\"h"', "''", "=", "-i"]), max_size=6))
def test_words_are_those_that_bash_sees(pieces: list[str]) -> None:
    text = "printf '%s\\0' x " + " ".join(pieces)
    script = read(text)
    assert script.plain
    ran = subprocess.run(["bash", "-c", text], capture_output=True, check=True)
    assert list(script.commands[0].argv[2:]) == ran.stdout.decode().split("\0")[:-1]
