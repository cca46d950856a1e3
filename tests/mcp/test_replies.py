"""A line that cannot be used still tells whose answer it was, but only when there is no doubt."""

import pytest
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCResponse

from hermes.mcp.lines import EDGE, Overlong
from hermes.mcp.replies import answered, failure, parse


def test_a_message_may_end_with_a_carriage_return():
    assert parse(b'{"jsonrpc":"2.0","method":"x"}\r') == JSONRPCNotification(jsonrpc="2.0", method="x")


def test_bytes_that_are_no_utf_8_are_replaced():
    line = b'{"jsonrpc":"2.0","id":1,"result":{"text":"caf\xe9 \xc3\xa9"}}'
    assert parse(line) == JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "caf\N{REPLACEMENT CHARACTER} é"})


@pytest.mark.parametrize("line", [b"Server running on stdio", b"{", b'{"level":"info"}', b"[]", b"7", b"\xff"])
def test_what_is_no_message_is_an_error_that_answers_nobody(line: bytes):
    with pytest.raises(ValueError):
        parse(line)
    assert answered(line) is None


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":nonsense}', 7),
        (b'{"id": "a-1", "jsonrpc": "2.0", "error": 1}', "a-1"),
        (b'{"result":[1],"jsonrpc":"2.0","id":8}', 8),
        (b'{"jsonrpc":"2.0","error":{},"id":9,"jsonrpc":"2.0"}\r', 9),
    ],
)
def test_the_request_of_a_broken_answer_is_known(line: bytes, request_id: int | str):
    assert answered(line) == request_id


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}',
        b'{"jsonrpc":"2.0","method":"x","params":{"result":1,"id":7}}',
        b'{"result":{"rows":[{"a":1,"id":7}]},"jsonrpc":"2.0"}',
        rb'{"result":"quoted: ,\"id\":7}"}',
    ],
)
def test_what_only_looks_like_an_answer_is_nobodys(line: bytes):
    assert answered(line) is None


def test_the_ends_of_a_line_that_was_too_long_are_enough():
    first = b'{"jsonrpc":"2.0","id":3,"result":{"text":"'.ljust(EDGE, b"x")
    last = b'"},"jsonrpc":"2.0","id":4}'.rjust(EDGE, b"x")
    assert answered(Overlong(first, b"x" * EDGE, 1 << 30)) == 3
    assert answered(Overlong(b'{"result":{"text":"'.ljust(EDGE, b"x"), last, 1 << 30)) == 4
    assert answered(Overlong(b'{"method":"m","params":{"t":"'.ljust(EDGE, b"x"), last, 1 << 30)) is None


def test_a_failure_says_that_it_is_ours():
    error = ErrorData(code=-32603, message="too long", data={"fault": "oversize"})
    assert failure(3, "too long", "oversize") == JSONRPCError(jsonrpc="2.0", id=3, error=error)
