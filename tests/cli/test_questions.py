"""Which answer a typed line gives."""

import msgspec
import pytest

from hermes.cli.questions import answer_in
from hermes.protocol.actions import RunCommand
from hermes.protocol.events import Approval, Asked, Login, Question, Request, Secret
from hermes.protocol.ops import Answer

APPROVAL = Approval(RunCommand("rm -r x", "/w"), "hash")
TWICE = Approval(RunCommand("rm -r x", "/w"), "hash", choices=("once", "deny"))
COLOUR = Question("Which colour?", ("red", "blue"))


@pytest.mark.parametrize(
    ("request_", "line", "choice", "text"),
    [
        (APPROVAL, "o", "once", ""),
        (APPROVAL, " Once ", "once", ""),
        (APPROVAL, "s", "session", ""),
        (APPROVAL, "always", "always", ""),
        (APPROVAL, "d", "deny", ""),
        (APPROVAL, "y", "once", ""),
        (APPROVAL, "no", "deny", ""),
        (APPROVAL, "d not that folder", "deny", "not that folder"),
        (COLOUR, "2", "blue", ""),
        (COLOUR, "3", "", "3"),
        (COLOUR, "green, please", "", "green, please"),
        (Question("How many?"), "2", "", "2"),
        (Login("http://a"), "done", "", "done"),
    ],
)
def test_a_line_answers(request_: Request, line: str, choice: str, text: str):
    answer = answer_in(line, Asked("r", request_))
    assert answer is not None
    assert answer == Answer(id=answer.id, request_id="r", choice=choice, text=text)


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        (APPROVAL, ""),
        (APPROVAL, "x"),
        (APPROVAL, "a lot of other things"),
        (APPROVAL, "once more"),
        (APPROVAL, "do it"),
        (TWICE, "a"),
        (TWICE, "session"),
        (COLOUR, "  "),
    ],
)
def test_a_line_that_nobody_offered_is_no_answer(request_: Request, line: str):
    assert answer_in(line, Asked("r", request_)) is None


def test_a_secret_goes_where_it_is_never_stored():
    answer = answer_in(' pa"ss ', Asked("r", Secret("Password?")))
    assert answer is not None
    assert answer == Answer(id=answer.id, request_id="r", data=answer.data)
    assert answer.data is not None
    assert msgspec.json.decode(answer.data) == ' pa"ss '
