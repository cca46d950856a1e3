"""A list to choose from: what keys do to it, and how it stands on a screen."""

from pathlib import Path

import pytest

from hermes.cli.picker import HINT, Choosing, Option
from tests.cli.terminal import terminal

FRUIT = [Option("apple"), Option("banana", "yellow curved"), Option("cherry"), Option("date")]
DOWN, UP, END, ESCAPE = "\x1b[B", "\x1b[A", "\x1b[F", "\x1b"
PROGRAM = """
import asyncio
from hermes.cli.picker import Option, pick

print("chose", asyncio.run(pick("fruit", [Option(name) for name in ("apple", "banana", "cherry", "date")])))
"""


def pressed(*keys: str) -> Choosing:
    choosing = Choosing(FRUIT)
    for key in keys:
        choosing.press(key)
    return choosing


def test_arrows_stay_within_the_list() -> None:
    assert [pressed(*keys).chosen for keys in ((), ("up",), ("down",), ("last", "down"), ("last", "up"))] == [
        *(0, 0, 1, 3, 2)
    ]
    assert (pressed("page down").chosen, pressed("last", "page up").chosen, pressed("last", "first").chosen) == (
        3,
        0,
        0,
    )


def test_typing_leaves_what_has_all_the_words_and_erasing_brings_the_rest_back() -> None:
    assert pressed(*"an").found == [1]
    assert pressed(*"YEL curv").found == [1]
    assert (pressed(*"zz").found, pressed(*"zz").chosen) == ([], None)
    assert pressed(*"ae", "erase").found == [0, 1, 3]
    assert pressed("down", *"x", "erase all").chosen == 0


def test_the_marked_option_is_always_among_what_is_shown() -> None:
    assert pressed("down").lines("fruit", 80, 24) == [
        *("fruit: ", "  apple", "› banana", "  cherry", "  date", f"4 of 4; {HINT}")
    ]
    for at in range(4):
        lines = pressed(*["down"] * at).lines("fruit", 80, 5)
        assert len(lines) == 4 and f"› {FRUIT[at].line}" in lines
    assert pressed(*"zz").lines("fruit", 20, 24) == ["fruit: zz", "  nothing has thes…", "0 of 4; arrows mov…"]


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ("\r", "0"),
        (DOWN + DOWN + UP + "\r", "1"),
        ("ch\r", "2"),
        (END + "\r", "3"),
        (ESCAPE, "None"),
        ("\x04", "None"),
        ("nothing\r", "None"),
    ],
)
async def test_a_person_chooses_at_a_terminal_that_is_left_as_it_was(tmp_path: Path, keys: str, chosen: str) -> None:
    environ = {"TERM": "xterm", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    async with terminal(["-c", PROGRAM], environ, tmp_path) as there:
        await there.until("Escape leaves")
        there.type(keys)
        await there.until(f"chose {chosen}")
        assert await there.end() == 0
        assert there.shows_what_is_typed


async def test_ctrl_c_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    environ = {"TERM": "xterm", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    async with terminal(["-c", PROGRAM], environ, tmp_path) as there:
        await there.until("Escape leaves")
        there.type("\x03")
        await there.until("KeyboardInterrupt")
        assert await there.end() != 0
        assert there.shows_what_is_typed


async def test_a_terminal_that_cannot_draw_is_asked_by_number(tmp_path: Path) -> None:
    environ = {"TERM": "dumb", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    async with terminal(["-c", PROGRAM], environ, tmp_path) as there:
        await there.until("fruit [1]: ")
        await there.say("3", "chose 2")
        assert await there.end() == 0
