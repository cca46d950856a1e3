"""How a failure is told apart from others: by what the transport saw first, by the words of an error last."""

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

from hermes.mcp.contract import Fault, FaultKind

EXPIRED = (
    "invalid or expired session",
    "session expired",
    "expired session",
    "session not found",
    "unknown session",
    "session terminated",
)
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
CONNECTION_CLOSED = -32000
SHOWN = 300


class Envelope(Struct):
    """As much of a JSON-RPC message as is needed to know what it is."""

    id: int | str | None = None
    method: str = ""
    error: dict[str, Any] | None = None


def envelope(body: bytes) -> Envelope:
    try:
        return msgspec.json.decode(body, type=Envelope)
    except msgspec.DecodeError:
        return Envelope()


def of_status(status: int, headers: Mapping[str, str], body: bytes, *, had_session: bool) -> Fault:
    """The fault that an HTTP status of 400 or more stands for."""
    error = envelope(body).error or {}
    challenge = headers.get("www-authenticate", "")
    kind: FaultKind
    match status:
        case 401:
            kind = "unauthorized"
        case 403 if "insufficient_scope" in challenge:
            kind = "scope"
        case 404 if had_session:
            kind = "expired"
        case 400 if (
            had_session
            and b"session" in body.lower()
            and error.get("code")
            not in (
                METHOD_NOT_FOUND,
                INVALID_PARAMS,
            )
        ):
            kind = "expired"
        case 429:
            kind = "busy"
        case 503 if "retry-after" in headers:
            kind = "busy"
        case _:
            kind = "broken" if status >= 500 else "rejected"
    return Fault(
        kind=kind,
        text=_described(status, error, body),
        status=status,
        retry_after=_seconds(headers.get("retry-after", "")),
        challenge=challenge,
        had_session=had_session,
    )


def of_error(code: int, message: str, *, had_session: bool, sent: bool) -> Fault | None:
    """The fault that an RPC error of the SDK or of the server stands for; None if it is the server's own answer."""
    # The SDK answers in the server's place with these words; the codes alone are used by servers too.
    if code == CONNECTION_CLOSED and (message == "Connection closed" or message.startswith("SSE stream ended")):
        return Fault(kind="cut" if sent else "refused", text="the connection was lost", sent=sent)
    if message.startswith("SSE stream failed"):
        return Fault(kind="oversize", text="the answer is too large or no event stream")
    if message.startswith(("Failed to parse", "Unexpected content type", "server answered a request with 202")):
        return Fault(kind="garbage", text="the answer is no JSON-RPC")
    if had_session and any(words in message.lower() for words in EXPIRED):
        return Fault(kind="expired", text=message, had_session=True)
    return None


def is_only_said(fault: Fault) -> bool:
    """The session may be gone, but a tool's own words or a wrong argument could read the same."""
    if fault.kind == "expired":
        return fault.status == 0
    return fault.kind == "rejected" and fault.status == 400 and fault.had_session


def _described(status: int, error: Mapping[str, Any], body: bytes) -> str:
    said = str(error.get("message", "")) if error else body.decode(errors="replace")
    said = "" if said.lstrip().startswith("<") else " ".join(said.split())[:SHOWN]
    with contextlib.suppress(ValueError):
        said = said or HTTPStatus(status).phrase
    return f"HTTP {status}: {said}" if said else f"HTTP {status}"


def _seconds(value: str) -> float | None:
    """A Retry-After header: seconds, or a date."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
