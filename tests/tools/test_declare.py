from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from hermes.protocol.errors import ToolError
from hermes.protocol.tools import parse_args, said
from hermes.tools.declare import tool


class Point(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for readers of the code, not for the model."""

    title: str
    x: int = 0


async def draw(
    ctx,
    points: Annotated[tuple[Point, ...], Meta(description="where to")],
    colour: Literal["red", "blue"] = "red",
    width: int | None = None,
    default: bool = False,
    *,
    end: Annotated[Point | None, Meta(description="last")] = None,
    names: dict[str, Point] | None = None,
    marks: tuple[int | str, ...] = (),
) -> str:
    """Draw a line
    through points."""
    return f"{points} {colour} {width} {default} {end} {names} {marks}"


POINT = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "x": {"type": "integer"}},
    "required": ["title"],
    "additionalProperties": False,
}
DRAW = tool(draw, kind="edit", toolset="art", cap=7)


def test_name_docstring_and_signature_are_what_the_model_is_told():
    assert (DRAW.spec.name, DRAW.spec.description) == ("draw", "Draw a line through points.")
    assert msgspec.json.decode(DRAW.spec.schema) == {
        "type": "object",
        "properties": {
            "points": {
                "type": "array",
                "description": "where to",
                "items": POINT,
            },
            "colour": {"type": "string", "enum": ["blue", "red"]},
            "width": {"type": "integer"},
            "default": {"type": "boolean"},
            "end": POINT | {"description": "last"},
            "names": {"type": "object", "additionalProperties": POINT},
            "marks": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        },
        "required": ["points"],
        "additionalProperties": False,
    }
    assert (DRAW.kind, DRAW.toolset, DRAW.effect, DRAW.cap) == ("edit", "art", True, 7)


def test_arguments_are_decoded_leniently():
    args = parse_args(DRAW, '{"points": [{"title": "a", "x": "2"}], "width": null, "default": "true"}')
    assert args == DRAW.args(points=(Point("a", 2),), colour="red", width=None, default=True)


async def test_a_text_result_becomes_a_result():
    args = parse_args(DRAW, '{"points": []}')
    assert await DRAW.run(None, args) == said("() red None False None None ()")  # type: ignore[arg-type]


def test_no_text_at_all_counts_as_no_arguments():
    async def rest(ctx) -> str:
        """Rest."""
        return ""

    declared = tool(rest, kind="other", toolset="")
    assert parse_args(declared, "") == parse_args(declared, "{}") == declared.args()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ('{"points": [', "draw did not run: its arguments are not JSON (Input data was truncated)."),
        ("[]", "draw did not run: its arguments must be one JSON object."),
        (
            '{"point": [], "size": 1}',
            "draw did not run: unknown argument 'point'; unknown argument 'size'; argument 'points' is missing.",
        ),
        (
            '{"points": null}',
            "draw did not run: argument 'points' is missing. It takes (points, colour?, width?, default?, end?, names?, marks?).",
        ),
        ('{"points": [{}]}', "draw did not run: points[0]: Object missing required field `title`."),
        ('{"points": [], "width": "many"}', "draw did not run: width: Expected `int | null`, got `str`."),
        ('{"points": [], "colour": "green"}', "draw did not run: colour: Invalid enum value 'green'."),
    ],
)
def test_wrong_arguments_are_named(raw, says):
    with pytest.raises(ToolError) as error:
        parse_args(DRAW, raw)
    assert str(error.value).startswith(says)


def test_arguments_cut_at_any_byte_never_decode():
    whole = '{"points": [{"title": "a", "x": 2}], "width": 1}'
    for end in range(1, len(whole)):
        with pytest.raises(ToolError):
            parse_args(DRAW, whole[:end])


def test_every_session_shares_what_is_derived():
    assert tool(draw, kind="edit", toolset="art").args is DRAW.args
