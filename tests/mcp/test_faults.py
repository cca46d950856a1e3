import pytest

from hermes.mcp.chaos.faults import LOST_TEXTS
from hermes.mcp.contract import Fault, FaultKind
from hermes.mcp.faults import is_only_said, of_error, of_status

BARE = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}'
NAMING = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}'
PARAMS = b'{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"the argument session is missing"}}'


@pytest.mark.parametrize(
    ("status", "headers", "body", "had_session", "kind"),
    [
        (401, {"www-authenticate": "Bearer"}, b"session expired", True, "unauthorized"),
        (403, {"www-authenticate": 'Bearer error="insufficient_scope"'}, b"", True, "scope"),
        (403, {}, b"", True, "rejected"),
        (404, {}, b"", True, "expired"),
        (404, {}, b"", False, "rejected"),
        (400, {}, NAMING, True, "expired"),
        (400, {}, NAMING, False, "rejected"),
        (400, {}, BARE, True, "rejected"),
        (400, {}, PARAMS, True, "rejected"),
        (429, {}, b"", True, "busy"),
        (503, {"retry-after": "2"}, b"", True, "busy"),
        (503, {}, b"", True, "broken"),
        (500, {}, b"", True, "broken"),
        (502, {}, b"<html>", True, "broken"),
        (410, {}, b"", True, "rejected"),
    ],
)
def test_a_status_says_what_kind_of_fault_it_is(
    status: int, headers: dict[str, str], body: bytes, had_session: bool, kind: FaultKind
) -> None:
    assert of_status(status, headers, body, had_session=had_session).kind == kind


def test_the_server_says_how_long_to_wait() -> None:
    assert of_status(429, {"retry-after": "2.5"}, b"", had_session=True).retry_after == 2.5
    assert of_status(429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, b"", had_session=True).retry_after == 0
    assert of_status(429, {"retry-after": "soon"}, b"", had_session=True).retry_after is None


def test_a_fault_is_described_in_the_servers_words_but_never_by_a_page() -> None:
    assert of_status(400, {}, BARE, had_session=True).text == "HTTP 400: Bad Request: Server not initialized"
    assert of_status(502, {}, b"<html>oh</html>", had_session=True).text == "HTTP 502: Bad Gateway"


@pytest.mark.parametrize("text", [*LOST_TEXTS, "ERROR: SESSION NOT FOUND (abc)"])
def test_an_error_with_the_words_of_a_lost_session_is_an_expiry(text: str) -> None:
    assert of_error(-32000, text, had_session=True, sent=True) == Fault(kind="expired", text=text, had_session=True)


@pytest.mark.parametrize("text", ["", "Tool failed to execute", "Connection refused", "401 Unauthorized", "session"])
def test_other_words_and_no_words_are_the_servers_own_answer(text: str) -> None:
    assert of_error(-32603, text, had_session=True, sent=True) is None


def test_without_a_session_no_words_mean_an_expiry() -> None:
    assert of_error(-32000, "Session not found", had_session=False, sent=True) is None


def test_a_lost_connection_is_cut_if_the_request_was_sent_and_refused_if_not() -> None:
    cut = of_error(-32000, "Connection closed", had_session=False, sent=True)
    refused = of_error(-32000, "Connection closed", had_session=False, sent=False)
    assert cut and refused
    assert (cut.kind, cut.sent, refused.kind, refused.sent) == ("cut", True, "refused", False)


def test_words_and_a_bare_400_need_a_proof_but_a_404_does_not() -> None:
    said = of_error(-32000, "session expired", had_session=True, sent=True)
    assert said and is_only_said(said)
    assert is_only_said(of_status(400, {}, BARE, had_session=True))
    assert not is_only_said(of_status(404, {}, b"", had_session=True))
    assert not is_only_said(of_status(400, {}, NAMING, had_session=True))
