"""A shell text comes down to the programs that bash would start, with the words that bash would give them."""

import shlex
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hermes.safety.commands.argv import listed
from hermes.safety.commands.read import only_reads, read
from hermes.safety.commands.steps import Input, Puzzle, Step
from hermes.safety.commands.syntax import UNKNOWN, plain_words, text_of, tree
from hermes.safety.places import Places
from tests.safety.scene import NOBODY, PLACES, WORKSPACE, judge


def argvs(text: str) -> list[tuple[str, ...]]:
    return [step.argv for step in read(text, WORKSPACE, PLACES).steps]


def found(text: str) -> tuple[Step | Puzzle, ...]:
    return read(text, WORKSPACE, PLACES).found


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("cd 'a b' && ls -la | wc -l; echo done", ["cd a b", "ls -la", "wc -l", "echo done"]),
        ("r''m \"-r\"f $'\\x2f'", ["rm -rf /"]),
        ("rm${IFS}-rf${IFS}/", ["rm -rf /"]),
        ("rm$IFS-rf$IFS$9/", ["rm -rf /"]),
        ("a=r; b=m; $a$b x", [" ", " ", "rm x"]),
        ("x=/etc/passwd; cat ${x%/*} ${x##*/} ${x/etc/var} ${x:0:4}", [" ", "cat ￼ passwd /var/passwd /etc"]),
        ("echo ~ ~/x ~root a~ '~'", [f"echo {NOBODY} {NOBODY}/x /home/root a~ ~"]),
        ("echo {a,b}1 {1..3} '{c,d}'", ["echo a1 b1 1 2 3 {c,d}"]),
        ("echo $(echo rm) `echo x`", ["echo rm", "echo x", "echo rm x"]),
        ("$(which python3) x.py", ["which python3", "python3 x.py"]),
        ("echo $HOME/$UNSET", [f"echo {NOBODY}/{UNKNOWN}"]),
        ("echo ${UNSET:-x}", [f"echo x {UNKNOWN}"]),
        ("for f in a b; do rm $f; done", ["rm a b"]),
        ("if true; then a; elif b; then c; else d; fi", ["true", "a", "b", "c", "d"]),
        ("case $1 in a|b) x;; *) y;; esac", ["x", "y"]),
        ("while read f; do cat $f; done < l", ["read f", f"cat {UNKNOWN}"]),
        ("f() { rm $1; }; f x", ["rm x"]),
        ("f() { rm x; }", ["rm x"]),
        ("(a; b) & { c; } | d; ! e", ["a", "b", "c", "d", "e"]),
        ("[[ $(a) == b ]] && c", ["a", "c"]),
        ("for ((i=0; i<$(n); i++)); do a; done", ["n", "a"]),
        ("a <(b) >(c)", ["b", "c", f"a /dev/fd/{UNKNOWN} /dev/fd/{UNKNOWN}"]),
        ("sudo -u root env A=1 nice -n 5 timeout 3 rm x", ["rm x"]),
        ("echo a b | xargs -n1 rm -f", ["echo a b", "rm -f a b"]),
        ("find src -name '*.pyc' -exec rm {} +", ["find src -name *.pyc -exec rm {} +", "rm src/*.pyc"]),
        ("bash -euo pipefail -c 'a; b'", ["bash -euo pipefail -c a; b", "a", "b"]),
        ("eval a 'b; c'", ["eval a b; c", "a b", "c"]),
        ("ssh -p 22 host 'a b'", ["ssh -p 22 host a b", "a b"]),
        ("echo 'rm x' | sh", ["echo rm x", "sh", "rm x"]),
        ("sh <<< 'rm x'", ["sh", "rm x"]),
        ("cat <<E | sh\nrm $HOME\nE", ["cat", "sh", f"rm {NOBODY}"]),
        ("echo 'rm x' > y.sh; bash y.sh", ["echo rm x", "bash y.sh", "rm x"]),
        ("trap 'rm x' EXIT", ["trap rm x EXIT", "rm x"]),
        ("python3 -c \"import os; os.system('rm x')\"", ["python3 -c import os; os.system('rm x')", "rm x"]),
        ("uv run pytest -q", ["pytest -q"]),
        ("kubectl exec web -- rm x", ["rm x"]),
        ("ls # rm x\n# rm y", ["ls"]),
        ("printf 'r\\x6d %s' x | sh", ["printf r\\x6d %s x", "sh", "rm x"]),
        ('set -- rm x; "$@"', ["set -- rm x", "rm x"]),
        ("rm < in -rf x > out y", ["rm -rf x y"]),
        ("rm <<E -rf x\nE", ["rm -rf x"]),
        ("$1 $@ $(true) rm x", ["true", "rm x"]),
        ("~/x", [f"{NOBODY}/x"]),
        ("alias l='rm x'", ["alias l=rm x", "rm x"]),
    ],
)
def test_a_command_comes_down_to_its_programs(text: str, programs: list[str]) -> None:
    assert [" ".join(argv) or " " for argv in argvs(text)] == programs


def test_a_program_knows_its_input_output_and_place() -> None:
    assert found("cd sub; A=1 sort -u < in.txt > out.txt 2>&1 &")[1] == Step(
        name="sort",
        args=("-u",),
        env=(("A", "1"),),
        input=Input(None, ("in.txt",)),
        writes=("out.txt",),
        cwds=(f"{WORKSPACE}/sub", WORKSPACE),
        background=True,
    )


def test_a_pipe_tells_what_stands_before() -> None:
    assert read("curl x | tee y | sh", WORKSPACE, PLACES).steps[2].input == Input(None, (), ("curl", "tee"))


@pytest.mark.parametrize(
    "text", ["echo 'unclosed", "ls ((", "a |", "if x", "ls \u202e", "ls \x00", "x" * 60_000, "a|" * 3000]
)
def test_what_cannot_be_followed_is_a_puzzle(text: str) -> None:
    assert any(isinstance(each, Puzzle) for each in found(text))
    assert judge(text).decision == "ask"


def test_shells_in_shells_end_somewhere() -> None:
    text = "rm x"
    for _ in range(12):
        text = f"bash -c {shlex.quote(text)}"
    assert any(isinstance(each, Puzzle) for each in found(text))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(texts: list[str]) -> None:
    assert ("echo", *texts) in argvs(shlex.join(["echo", *texts]))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "b'c d'",
                '"x y"',
                "z\\ y",
                "e\\'f",
                '"g\\"h"',
                "''",
                "=",
                "-i",
                "{p,q}r",
                "$'\\t\\x41'",
                '"$V w"',
                "$V",
            ]
        ),
        max_size=6,
    )
)
def test_words_are_those_that_bash_sees(pieces: list[str]) -> None:
    text = "V='one two'; printf '%s\\0' x " + " ".join(pieces)
    ran = subprocess.run(["bash", "-c", text], capture_output=True, check=True)
    assert list(argvs(text)[-1][2:]) == ran.stdout.decode().split("\0")[:-1]


@given(st.text(alphabet="ab '\"\\$`(){}<>|&;#\n~*[]=!", max_size=60))
@settings(deadline=None)
def test_any_text_gets_a_verdict(text: str) -> None:
    assert judge(text).decision in ("allow", "ask", "block")


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_characters_get_a_verdict(text: str) -> None:
    assert judge(text).decision in ("allow", "ask", "block")


@given(st.text(alphabet=st.one_of(st.sampled_from("ab \"'$`(){}<#\n-01.éÿà"), st.characters()), max_size=60))
@settings(deadline=None)
def test_the_parser_sees_latin_1_only_and_gives_back_every_character(text: str) -> None:
    # Its scanner looks characters up in a table for Latin-1, without a look at the table's end.
    root = tree(text)
    whole = (root.text or b"").decode()
    assert max(whole, default="") <= "\xff"
    assert text_of(root) in text.encode("utf-8", "replace").decode()


SHELL_WORDS = sorted(
    listed(
        "if then else fi case esac for select while until do done in function time coproc declare typeset export readonly local unset let"
    )
)
PLAIN = st.text(alphabet="ab01_./:@%+,=-", min_size=1, max_size=8) | st.sampled_from(
    [
        *SHELL_WORDS,
        *listed(
            "sudo env xargs sh bash -c rm -rf cd .. . find -exec git commit -m python3 A=1 a=b nohup timeout 5 true"
        ),
    ]
)


@given(st.lists(PLAIN, min_size=1, max_size=6), st.sampled_from([" ", "  ", "\t", " \t "]))
@settings(deadline=None, max_examples=400)
def test_plain_words_are_read_as_the_grammar_reads_them(words: list[str], between: str) -> None:
    # A line break at the end changes nothing, but for that the grammar is asked.
    text = between.join(words)
    by_grammar = found(text + "\n")
    # It does not understand every word that bash does: 1@ is one; and it loses a word == that is an argument.
    assume(
        "==" not in words
        and plain_words(text)
        and Puzzle("it is not a shell text that can be understood") not in by_grammar
    )
    assert words[0] not in SHELL_WORDS
    assert found(text) == by_grammar


def test_a_brace_before_a_rare_character_does_not_bring_the_process_down() -> None:
    for code in range(0x100, 0x110000, 0x3FF):
        text = "echo {" + chr(code) + "1..2}"
        assert judge(text).decision in ("allow", "ask", "block")


@pytest.mark.parametrize("mark", ["é", "Ж", "конец"])
def test_a_here_document_whose_end_the_grammar_cannot_see_is_asked_about(mark: str) -> None:
    assert judge(f"cat <<{mark}\ntext\n{mark}\nrm -rf ~/papers\n").decision == "ask"


@given(
    st.lists(
        st.sampled_from(
            [
                "rm",
                "-rf",
                "/",
                "$(",
                ")",
                "`",
                "'",
                '"',
                "if",
                "then",
                "fi",
                "do",
                "done",
                "<<E\n",
                "E\n",
                "|",
                "&&",
                ";",
                "{",
                "}",
                "f()",
                "case x in",
                "esac",
                "$x",
                "x=1",
                "> y",
                "sudo",
                "xargs",
                "find . -exec",
                "\\;",
                "bash -c",
            ]
        ),
        max_size=25,
    )
)
@settings(deadline=None)
def test_any_pieces_of_shell_get_a_verdict(pieces: list[str]) -> None:
    assert judge(" ".join(pieces)).decision in ("allow", "ask", "block")


@pytest.mark.parametrize(
    "piece", ["(){", "a|", "${", "<<a ", "`", "((", "$(", "<(", "{ ", "if a;then ", "eval '", "a "]
)
def test_a_hostile_text_is_judged_in_bounded_time(piece: str) -> None:
    began = time.process_time()
    assert judge(piece * (60_000 // len(piece))).decision == "ask"
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "command", ["ls", "cat a | wc", "git log", "grep x a > /dev/null", "cd src && ls", "find .", "ls $X"]
)
def test_reading_changes_nothing(command: str) -> None:
    assert only_reads(command, WORKSPACE, Places(home="", user_home=NOBODY))


@pytest.mark.parametrize(
    "command", ["touch a", "echo x > a", "pytest", "make", "rm a", "sed -i s/a/b/ f", "find . -delete"]
)
def test_what_may_change_something_does_not_only_read(command: str) -> None:
    assert not only_reads(command, WORKSPACE, Places(home="", user_home=NOBODY))


def test_a_pattern_is_judged_by_what_it_matches(tmp_path: Path) -> None:
    assert judge("cat ~/.ss*/id_rsa").rule == "credentials"
    assert judge("cat /etc/sh?dow").rule == "credentials"
    assert judge("cat ~/.ss*/known").decision == "allow"
