import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.tools.commandline import OPERATORS, Simple, detaching, simple_commands


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("sleep 9 &", "&"),
        ("sleep 9& echo started", "&"),
        ("(sleep 9 &)", "&"),
        ("cd x && (server &) && curl localhost", "&"),
        ("curl http://host/?a=1&b=2", "&"),
        ("nohup server", "nohup"),
        ("FOO=1 sudo nohup server", "nohup"),
        ("if true; then /usr/bin/setsid server; fi", "setsid"),
        ("server & disown", "&"),
        ("jobs; disown -a", "disown"),
        ("cat <<EOF\nx\nEOF\nserver &", "&"),
    ],
)
def test_a_command_left_running_is_seen(line, sign):
    assert detaching(line) == sign


@pytest.mark.parametrize(
    "line",
    [
        "make && make test || exit 1",
        "make > log 2>&1",
        "make &> log; make &>> log",
        "make |& tee log",
        "exec 3<&0",
        "a & b & wait",
        "for i in 1 2; do work $i & done; wait",
        "echo 'a & b' \"c & d\" e\\&f",
        "git commit -m \"nohup & 'setsid'\"",
        "echo nohup setsid disown",
        "ls # nohup server &",
        "echo $((5 & 3)); (( a = b & c ))",
        "cat > run.sh <<'EOF'\nnohup server &\nEOF\nchmod +x run.sh",
        "cat <<-A <<B\n\tx &\n\tA\ny &\nB\nls",
        "grep x <<< 'a & b'",
        "case $x in a) one ;& b) two ;; esac",
        "",
    ],
)
def test_a_command_that_is_waited_for_is_fine(line):
    assert detaching(line) == ""


def test_simple_commands_are_named_without_their_prefixes():
    assert simple_commands("A=1 sudo -n /usr/bin/make -j2 | tee 'a b' && ! grep x y\nls") == [
        Simple("make", "|"),
        Simple("tee", "&&"),
        Simple("grep", "\n"),
        Simple("ls", ""),
    ]


@settings(deadline=None)
@given(st.text(alphabet="a &|;()'\"\\<>-$#`\n"))
def test_any_text_is_read_and_only_its_last_command_may_end_without_a_sign(line):
    assert {command.operator for command in simple_commands(line)[:-1]} <= {*OPERATORS}


@settings(deadline=None)
@given(st.text(alphabet="ab ;|\n"))
def test_each_piece_between_signs_is_one_command_named_by_its_first_word(line):
    named = [words[0] for piece in re.split(r"[;|\n]", line) if (words := piece.split())]
    assert [command.name for command in simple_commands(line)] == named
