"""A wish that was kept needs no review, unless something else was said or an older entry may be wrong now."""

import pytest

from hermes.learning.review.detector import signals
from hermes.learning.review.settled import settled
from hermes.protocol.memories import Memory
from tests.learning.review.test_detector import Talk

WISH = "Remember that the port is 81."
KEPT = Memory(id=1, target="memory", content="the port is 81", origin="person", session="s", item="1", updated=6.0)
NONE, FIRST = frozenset[str](), frozenset({"1"})


def row(content: str, updated: float, **more) -> Memory:
    return Memory(**{"id": 2, "target": "memory", "content": content, "origin": "file", "updated": updated, **more})


def seen(talk: Talk, *rows: Memory) -> tuple[frozenset[str], frozenset[str]]:
    return settled(talk.items, rows, "s", {item.id: 5.0 for item in talk.items})


@pytest.mark.parametrize(
    ("rows", "kept", "clear"),
    [
        ((), NONE, NONE),
        ((KEPT,), FIRST, FIRST),
        ((row("The port is 81", 1.0),), FIRST, FIRST),
        ((KEPT, row("tests need the VPN", 1.0)), FIRST, FIRST),
        ((KEPT, row("the port is 80", 1.0)), FIRST, NONE),
        ((KEPT, row("the port is 80", 1.0, state="retired")), FIRST, FIRST),
        ((KEPT, row("the port is 82", 9.0)), FIRST, FIRST),
    ],
)
def test_a_wish_is_settled_once_it_is_kept_and_contradicts_nothing_older(rows, kept, clear):
    assert seen(Talk().says(WISH), *rows) == (kept, clear)


def test_what_the_model_kept_itself_is_settled_too():
    assert seen(Talk().says(WISH).calls("memory")) == (FIRST, FIRST)
    assert seen(Talk().says(WISH).calls("memory", "failed")) == (NONE, NONE)


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        (WISH, []),
        (f"{WISH} Now list the files.", []),
        (f"Always run make check. {WISH}", ["remember"]),
        (f"{WISH} Remember that tests need the VPN.", ["remember"]),
    ],
)
def test_a_settled_wish_is_no_sign_but_what_is_said_beside_it_is(said, kinds):
    assert [signal.kind for signal in signals(Talk().says(said).items, FIRST)] == kinds
