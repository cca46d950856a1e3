"""Options are told from values and operands as the programs themselves do it."""

import pytest

from hermes.safety.commands.argv import Parsed, parse

SHORT, LONG = "ab:c?12", "all name: pair:: color?"


@pytest.mark.parametrize(
    ("args", "parsed"),
    [
        ("", Parsed()),
        ("x y", Parsed(operands=("x", "y"))),
        ("-a x -", Parsed(options=("a",), operands=("x", "-"))),
        ("x -a", Parsed(options=("a",), operands=("x",))),
        ("-ab value x", Parsed(options=("a", "b"), values=("value",), operands=("x",))),
        ("-abvalue x", Parsed(options=("a", "b"), values=("value",), operands=("x",))),
        ("-b -a", Parsed(options=("b",), values=("-a",))),
        ("-b", Parsed(options=("b",))),
        ("-c x", Parsed(options=("c",), operands=("x",))),
        ("-c9 x", Parsed(options=("c",), values=("9",), operands=("x",))),
        ("-21", Parsed(options=("2", "1"))),
        ("--all x", Parsed(options=("all",), operands=("x",))),
        ("--name n x", Parsed(options=("name",), values=("n",), operands=("x",))),
        ("--name=n x", Parsed(options=("name",), values=("n",), operands=("x",))),
        ("--pair k v x", Parsed(options=("pair",), values=("k", "v"), operands=("x",))),
        ("--color x", Parsed(options=("color",), operands=("x",))),
        ("--color=x", Parsed(options=("color",), values=("x",))),
        ("-a -- -z --all", Parsed(options=("a",), operands=("-z", "--all"))),
        ("--nam n", Parsed(unknown="--nam")),
        ("-az", Parsed(unknown="-az")),
        ("x --zero=1", Parsed(unknown="--zero=1")),
    ],
)
def test_words_are_sorted(args: str, parsed: Parsed) -> None:
    assert parse(args.split(), SHORT, LONG) == parsed
