import pytest

from hermes.protocol.errors import ToolError
from hermes.protocol.events import Answered, Question
from hermes.protocol.tools import said


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answered("r", "answered", choice="red"), "red"),
        (Answered("r", "answered", choice="other", text="green, please"), "green, please"),
        (Answered("r", "answered"), "[an empty answer]"),
        (Answered("r", "expired"), "No answer came in time; decide yourself and say so."),
        (Answered("r", "cancelled"), "The person does not want to answer; decide yourself and say so."),
        (None, "Nobody can answer here; decide yourself and say so."),
    ],
)
async def test_the_answer_or_its_absence_is_the_result(ctx, answer, says):
    ctx.answer = answer
    assert await ctx.do("clarify", question="Which?", choices=["red", "blue"]) == said(says, trust="trusted")
    assert ctx.asked == [(Question("Which?", ("red", "blue")), 3600.0)]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"question": " "}, "question is empty"),
        ({"question": "?", "choices": ["a", "b", "c", "d", "e"]}, "choices: Expected `array` of length <= 4"),
    ],
)
async def test_a_question_that_makes_no_sense_is_not_asked(ctx, args, says):
    with pytest.raises(ToolError, match=says):
        await ctx.do("clarify", **args)
    assert ctx.asked == []
