from typing import Any, get_args

import msgspec
import pytest

from tests.services import wire
from tests.services.script import Error, ErrorKind, Fault, Reply
from tests.services.wire import errors
from tests.services.wire.frames import CREATED, Dialect


@pytest.mark.parametrize("kind", get_args(ErrorKind))
@pytest.mark.parametrize("dialect", wire.DIALECTS)
def test_every_kind_of_error_has_an_answer_in_every_dialect(dialect: Dialect, kind: ErrorKind):
    answer = errors.answer(dialect, Error(kind))
    assert 400 <= answer.status < 600
    assert isinstance(answer.body, bytes)
    match kind:
        case "html_page":
            assert answer.body.startswith(b"<html>")
        case "empty":
            assert answer.body == b""
        case _:
            assert msgspec.json.decode(answer.body)["error"]["message"]


@pytest.mark.parametrize(
    ("status", "chat", "messages"),
    [
        (400, "invalid_request_error", "invalid_request_error"),
        (401, "invalid_request_error", "authentication_error"),
        (402, "insufficient_credits", "billing_error"),
        (403, "invalid_request_error", "permission_error"),
        (404, "invalid_request_error", "not_found_error"),
        (408, "timeout", "timeout_error"),
        (413, "invalid_request_error", "request_too_large"),
        (429, "requests", "rate_limit_error"),
        (500, "server_error", "api_error"),
        (503, "server_error", "overloaded_error"),
        (529, "server_error", "overloaded_error"),
    ],
)
def test_a_status_alone_gives_the_error_that_goes_with_it(status: int, chat: str, messages: str):
    kinds: dict[Dialect, str] = {"chat": chat, "responses": chat, "messages": messages}
    for dialect, kind in kinds.items():
        answer = errors.answer(dialect, Error(status=status))
        assert isinstance(answer.body, bytes)
        assert (answer.status, msgspec.json.decode(answer.body)["error"]["type"]) == (status, kind)


def test_what_the_script_says_of_an_error_goes_before_what_the_vendor_would_say():
    answer = errors.answer("chat", Error("rate_limit", 418, {"retry-after": "3"}, "slow down"))
    assert answer.status == 418
    assert answer.headers == {"content-type": "application/json", "retry-after": "3"}
    assert answer.body == b"slow down"


@pytest.mark.parametrize(
    ("dialect", "phrase"),
    [
        ("chat", b"maximum context length"),
        ("responses", b"exceeds the context window"),
        ("messages", b"prompt is too long"),
    ],
)
def test_a_context_that_is_too_long_is_told_in_the_words_of_the_vendor(dialect: Dialect, phrase: bytes):
    answer = errors.answer(dialect, Error("context_too_long"))
    assert answer.status == 400
    assert isinstance(answer.body, bytes)
    assert phrase in answer.body


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (
            "chat",
            {
                "error": {
                    "message": "The engine is currently overloaded.",
                    "type": "server_error",
                    "param": None,
                    "code": "server_is_overloaded",
                }
            },
        ),
        (
            "responses",
            {
                "type": "response.failed",
                "response": {
                    "id": "resp_failed",
                    "object": "response",
                    "created_at": CREATED,
                    "status": "failed",
                    "error": {
                        "code": "server_is_overloaded",
                        "message": "The engine is currently overloaded.",
                    },
                    "output": [],
                },
                "sequence_number": 2,
            },
        ),
        (
            "messages",
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Overloaded"},
                "request_id": "req_1",
            },
        ),
    ],
)
def test_an_error_event_ends_the_stream(dialect: Dialect, expected: dict[str, Any]):
    fault = Fault(end="error", after_events=2, error="overloaded")
    *before, last = wire.stream_bytes(dialect, Reply("Hello", fault=fault))
    assert before == wire.stream_bytes(dialect, Reply("Hello"))[:2]
    assert msgspec.json.decode(last.split(b"data: ")[1]) == expected
