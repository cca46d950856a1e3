"""A step forced into JSON: what a small model is told and allowed to say, and the reader of what it says.

{"name": "read_file", "arguments": {"path": "notes.txt"}}     a call
{"name": "answer", "arguments": {"text": "It says hello."}}   the answer for the person
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from hermes.protocol.models import ToolSpec

ANSWER = "answer"

EXAMPLES = (
    ("What is in this folder?", "terminal", '{"command": "ls"}'),
    (
        "Which files are there, and what are they for?",
        "terminal",
        '{"command": "ls; cat README* 2>/dev/null | head -n 20"}',
    ),
    ("What does a.txt say?", "read_file", '{"path": "a.txt"}'),
    ("What is the largest number in b.csv?", "read_file", '{"path": "b.csv"}'),
    ("How many lines has a.txt?", "terminal", '{"command": "wc -l a.txt"}'),
    ("Where is the word x?", "terminal", '{"command": "grep -rn x ."}'),
    ("Add the line x to a.txt.", "terminal", '{"command": "echo x >> a.txt"}'),
    ("Move a.txt into a new folder b.", "terminal", '{"command": "mkdir -p b && mv a.txt b/"}'),
    ("There is no c.py here: where is it?", "terminal", '{"command": "find . -name c.py"}'),
)

LOOK_FIRST = (
    "Look first, then answer from what you saw: name the files if files were asked for. Change nothing unasked. "
    "If a call failed, try another. For example:"
)

_START = re.compile(r'\s*\{\s*"name"\s*:\s*"([^"]*)"\s*,\s*"arguments"\s*:\s*')
_TEXT = re.compile(r'\{\s*"text"\s*:\s*"')
_WORDS = re.compile(
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})+"
)
_LONE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}(?=[^\\]|\\[^u]|\\u[0-9a-fA-F]{4})")


class Call(Struct, frozen=True):
    """A call as the model wrote it; `arguments` is JSON, or a piece of it if the answer was cut."""

    name: str
    arguments: str = ""


class _Whole(Struct, frozen=True):
    name: str
    arguments: Raw


def call_text(name: str, arguments: str) -> str:
    """A call as the model writes it, to the byte: then its own words are not evaluated again in the next step."""
    return f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}'


def answer_text(text: str) -> str:
    return call_text(ANSWER, f'{{"text": {json.dumps(text, ensure_ascii=False)}}}')


def instructions(tools: Sequence[ToolSpec]) -> str:
    """What the model is told: the tools it may call, and how. A few examples do more for it than rules."""
    names = {tool.name for tool in tools}
    return "\n".join(
        [
            "Write one JSON object: a call of a tool, or the answer.",
            *(f"- {_signature(tool)}: {_first_sentence(tool.description)}" for tool in tools),
            f"- {ANSWER}(text): The final answer for the person, only from what the results say.",
            LOOK_FIRST,
            *(f"{asked} {call_text(name, arguments)}" for asked, name, arguments in EXAMPLES if name in names),
        ]
    )


def schema(tools: Sequence[ToolSpec], *, only_answer: bool = False) -> dict[str, Any]:
    """The JSON schema of a step."""
    text = {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1}},
        "required": ["text"],
    }
    forms = [] if only_answer else [_form(tool.name, _shape(tool)) for tool in tools]
    return {"anyOf": [*forms, _form(ANSWER, text)]}


def _form(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": {"additionalProperties": False, **arguments}},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _shape(tool: ToolSpec) -> dict[str, Any]:
    """The arguments without the optional ones: a small model fills in whatever it is shown."""
    whole: dict[str, Any] = msgspec.json.decode(tool.schema)
    required = whole.get("required", [])
    if not required:
        return whole
    return {**whole, "properties": {name: whole["properties"][name] for name in required}}


def _signature(tool: ToolSpec) -> str:
    return f"{tool.name}({', '.join(_shape(tool).get('properties', {}))})"


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]


class StepReader:
    """Takes the JSON of a step in pieces: gives an answer's words as they come, a call when it is whole."""

    def __init__(self) -> None:
        self._raw = ""
        self._at: int | None = None

    def feed(self, piece: str) -> str:
        """The answer's words that are new; a piece may end in the middle of an escape."""
        self._raw += piece
        if self._at is None:
            start = _START.match(self._raw)
            text = _TEXT.match(self._raw, start.end()) if start and start[1] == ANSWER else None
            if not text:
                return ""
            self._at = text.end()
        words = ""
        while found := _WORDS.match(self._raw, self._at) or _LONE.match(self._raw, self._at):
            words += json.loads(f'"{found[0]}"', strict=False) if found.re is _WORDS else "\N{REPLACEMENT CHARACTER}"
            self._at = found.end()
        return words

    def call(self) -> Call | None:
        """The call, once all has come; None if it is an answer, or nothing that can be read."""
        if self._at is not None:
            return None
        try:
            whole = msgspec.json.decode(self._raw, type=_Whole)
        except msgspec.DecodeError:
            start = _START.match(self._raw)
            return Call(start[1], self._raw[start.end() :]) if start and start[1] != ANSWER else None
        return Call(whole.name, bytes(whole.arguments).decode())
