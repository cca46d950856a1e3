"""A small model is told little, can say only a call or an answer, and is read while it speaks."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.models.forced import LOOK_FIRST, Call, StepReader, answer_text, call_text, instructions, schema
from hermes.protocol.models import ToolSpec

READ = ToolSpec(
    "read_file",
    "Read a file. It may be long.",
    msgspec.Raw(
        b'{"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},'
        b' "required": ["path"], "additionalProperties": false}'
    ),
)
LIST = ToolSpec("list", "List what runs.", msgspec.Raw(b'{"type": "object", "properties": {"all": {}}}'))


def read(text: str, size: int = 1) -> tuple[str, Call | None]:
    """What a reader gives for a text that comes in pieces of a size."""
    reader = StepReader()
    words = "".join(reader.feed(text[at : at + size]) for at in range(0, len(text), size))
    return words, reader.call()


@given(st.text(), st.booleans(), st.integers(1, 20))
def test_an_answer_in_pieces_is_the_answer(text: str, ascii_only: bool, size: int):
    written = call_text("answer", f'{{"text": {json.dumps(text, ensure_ascii=ascii_only)}}}')
    assert read(written, size) == (text, None)


def test_words_are_given_as_soon_as_they_have_come():
    reader = StepReader()
    assert [reader.feed(piece) for piece in ('{"name": "answer", "arguments": {"text": "It', " is\\", "n", 'so"}}')] == [
        "It",
        " is",
        "\n",
        "so",
    ]  # fmt: skip


def test_half_a_character_becomes_the_sign_for_it():
    written = call_text("answer", r'{"text": "a\ud83d b\udc00\ud83d\ude00"}')
    assert read(written) == ("a\N{REPLACEMENT CHARACTER} b\N{REPLACEMENT CHARACTER}\N{GRINNING FACE}", None)


def test_blanks_between_the_parts_do_not_matter():
    assert read('{ "name" : "answer",\n "arguments" : {\n "text" : "yes" } }') == ("yes", None)


@given(st.dictionaries(st.text(max_size=5), st.text() | st.integers(-9, 9)), st.integers(1, 20))
def test_a_call_is_given_whole_with_the_arguments_as_they_were_written(arguments: dict[str, object], size: int):
    written = json.dumps(arguments)
    assert read(call_text("read_file", written), size) == ("", Call("read_file", written))


@pytest.mark.parametrize(
    ("written", "call"),
    [
        ('{"name": "write_file", "arguments": {"path": "a", "con', Call("write_file", '{"path": "a", "con')),
        ('{"name": "write_file", "arg', None),
        ('{"name": "answer", "arguments": {"te', None),
        ("Sure! Here is", None),
    ],
)
def test_what_was_cut_is_no_whole_call(written: str, call: Call | None):
    assert read(written) == ("", call)


def test_a_cut_answer_keeps_the_words_before_the_cut():
    assert read('{"name": "answer", "arguments": {"text": "It is 4\\') == ("It is 4", None)


def test_the_history_is_written_as_the_model_writes_it():
    assert call_text("read_file", '{"path": "a"}') == '{"name": "read_file", "arguments": {"path": "a"}}'
    assert answer_text('"é"\n') == r'{"name": "answer", "arguments": {"text": "\"é\"\n"}}'


def test_the_model_is_told_what_it_must_fill_in_and_shown_examples_of_the_tools_it_has():
    assert instructions([READ, LIST]).splitlines() == [
        "Write one JSON object: a call of a tool, or the answer.",
        "- read_file(path): Read a file.",
        "- list(all): List what runs.",
        "- answer(text): The final answer for the person, only from what the results say.",
        LOOK_FIRST,
        'What does a.txt say? {"name": "read_file", "arguments": {"path": "a.txt"}}',
        'What is the largest number in b.csv? {"name": "read_file", "arguments": {"path": "b.csv"}}',
    ]


def form(name: str, arguments: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1}},
    "required": ["text"],
    "additionalProperties": False,
}
PATH = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}


def test_a_step_is_a_call_of_a_known_tool_or_the_answer():
    assert schema([READ]) == {"anyOf": [form("read_file", PATH), form("answer", TEXT)]}


def test_when_only_the_answer_is_left_no_tool_can_be_called():
    assert schema([READ], only_answer=True) == {"anyOf": [form("answer", TEXT)]}
