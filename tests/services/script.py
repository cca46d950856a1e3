"""What the scripted model server is told to say: replies, errors and faults as plain data.

A reply belongs to no dialect; `wire` turns it into the bytes of one. All of it decodes from JSON, so that a
script file can drive the server from another process:

    [{"calls": [{"name": "read_file", "args": {"path": "a.txt"}}]},
     {"error": {"status": 429, "headers": {"retry-after": "1"}}},
     {"text": "It says hello.", "fault": {"end": "cut", "after_bytes": 200}}]
"""

from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

Finish = Literal["stop", "tool_calls", "length", "content_filter", "refusal"]

ErrorKind = Literal[
    "bad_request",
    "invalid_key",
    "no_credit",
    "insufficient_quota",
    "forbidden",
    "no_model",
    "timeout",
    "too_large",
    "context_too_long",
    "max_tokens_too_large",
    "rate_limit",
    "server_error",
    "overloaded",
    "html_page",
    "empty",
]


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """One tool call; `args` given as a string is sent as it stands, so it may be cut or bad JSON."""

    name: str
    args: dict[str, Any] | str = msgspec.field(default_factory=dict[str, Any])
    id: str = ""
    """Empty: the server gives one that it never repeats."""

    @property
    def args_text(self) -> str:
        """The arguments as the text that a model would have written."""
        return self.args if isinstance(self.args, str) else msgspec.json.encode(self.args).decode()


class Usage(Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens of one reply; `input` excludes what the cache gave or took, `output` includes `reasoning`."""

    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Error(Struct, frozen=True, forbid_unknown_fields=True):
    """An HTTP error in place of a reply; what is not given is as the vendor would send it."""

    kind: ErrorKind | None = None
    """None: the kind that goes with the status."""
    status: int | None = None
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    body: str | None = None


class Fault(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What goes wrong while an answer is sent. Bytes are those of the body, before HTTP's own framing."""

    delay: float = 0.0
    """Seconds before the first byte."""
    end: Literal["cut", "reset", "stall", "error"] | None = None
    """How the answer ends early: closed in good form, TCP reset, silent but open, or with an error event."""
    after_bytes: int | None = None
    after_events: int | None = None
    """Where it ends. With neither, a cut, reset or stall comes before even the status line."""
    error: ErrorKind = "overloaded"
    """What the error event of `end="error"` says."""
    bad_event: int | None = None
    """The index of an event whose JSON is broken off in the middle."""
    as_json: bool = False
    """One JSON body, though a stream was asked for."""

    def __post_init__(self) -> None:
        if self.end is None and not (self.after_bytes is None and self.after_events is None):
            raise ValueError("after_bytes and after_events need an end")
        if self.end == "error" and self.after_bytes is not None:
            raise ValueError("an error event comes after_events, not after_bytes")


NO_FAULT = Fault()


class Reply(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer of the model: thought, then text, then calls."""

    text: str = ""
    thought: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish | Literal["auto"] | None = "auto"
    """auto: tool_calls or stop. None: the event that would carry it is never sent."""
    usage: Usage = Usage()
    model: str = ""
    """Empty: the model that the request named."""
    chunk: int = 12
    """Characters of text, thought or arguments in one stream event."""
    endless: bool = False
    """The text is repeated until the client hangs up; only a stream can do that."""
    thought_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    """Vendors of the chat dialect do not agree on its name."""
    error: Error | None = None
    fault: Fault = NO_FAULT

    @property
    def finish_reason(self) -> Finish | None:
        """The finish with auto worked out."""
        if self.finish == "auto":
            return "tool_calls" if self.calls else "stop"
        return self.finish


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """One reply for each model request, in order; then `then`, for ever. No replies and "echo": an echo."""

    replies: tuple[Reply, ...] = ()
    then: Reply | Literal["echo"] = Reply("done")


ECHO = Script(then="echo")


def call(name: str, /, **args: Any) -> Reply:
    """The commonest reply: one tool call."""
    return Reply(calls=(Call(name, args),))


def error(what: int | ErrorKind, *, headers: dict[str, str] | None = None, body: str | None = None) -> Reply:
    """An HTTP error by its status or by its kind."""
    if isinstance(what, int):
        return Reply(error=Error(status=what, headers=headers or {}, body=body))
    return Reply(error=Error(kind=what, headers=headers or {}, body=body))


def read_script(path: Path) -> Script:
    """A script from a JSON file: a list of replies, or an object with `replies` and `then`."""
    match msgspec.json.decode(path.read_bytes(), type=Script | tuple[Reply, ...]):
        case Script() as script:
            return script
        case replies:
            return Script(replies)
