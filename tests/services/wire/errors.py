"""Errors as the vendors send them: status and body by dialect, and the event that ends a broken stream."""

from typing import Any, NamedTuple

import msgspec

from tests.services.script import Error, ErrorKind
from tests.services.wire.frames import CREATED, Answer, Dialect, sse

HTML_PAGE = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n"
    b"<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body>\r\n</html>\r\n"
)


class Known(NamedTuple):
    """What a vendor says of one kind of error."""

    status: int
    type: str
    message: str
    code: str | None = None
    param: str | None = None


OPENAI: dict[ErrorKind, Known] = {
    "bad_request": Known(400, "invalid_request_error", "Invalid request."),
    "invalid_key": Known(401, "invalid_request_error", "Incorrect API key provided.", "invalid_api_key"),
    "no_credit": Known(402, "insufficient_credits", "Insufficient credits. Add more to continue.", "402"),
    "insufficient_quota": Known(
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    "forbidden": Known(403, "invalid_request_error", "Your project may not use this model.", "forbidden"),
    "no_model": Known(404, "invalid_request_error", "The model does not exist.", "model_not_found", "model"),
    "timeout": Known(408, "timeout", "The request timed out."),
    "too_large": Known(413, "invalid_request_error", "The request is too large.", "request_too_large"),
    "context_too_long": Known(
        400,
        "invalid_request_error",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "context_length_exceeded",
        "messages",
    ),
    "max_tokens_too_large": Known(
        400,
        "invalid_request_error",
        "max_tokens is too large: 64000. This model supports at most 4096 completion tokens, "
        "whereas you provided 64000.",
        "invalid_value",
        "max_tokens",
    ),
    "rate_limit": Known(429, "requests", "Rate limit reached. Please try again in 1s.", "rate_limit_exceeded"),
    "server_error": Known(500, "server_error", "The server had an error processing your request.", "server_error"),
    "overloaded": Known(503, "server_error", "The engine is currently overloaded.", "server_is_overloaded"),
}

ANTHROPIC: dict[ErrorKind, Known] = {
    "bad_request": Known(400, "invalid_request_error", "Invalid request."),
    "invalid_key": Known(401, "authentication_error", "invalid x-api-key"),
    "no_credit": Known(402, "billing_error", "There is a problem with your billing details."),
    "insufficient_quota": Known(
        400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."
    ),
    "forbidden": Known(403, "permission_error", "Your API key may not use this resource."),
    "no_model": Known(404, "not_found_error", "model: no-such-model"),
    "timeout": Known(408, "timeout_error", "The request timed out."),
    "too_large": Known(413, "request_too_large", "Request exceeds the maximum size"),
    "context_too_long": Known(400, "invalid_request_error", "prompt is too long: 200679 tokens > 200000 maximum"),
    "max_tokens_too_large": Known(
        400,
        "invalid_request_error",
        "max_tokens: 64000 > 4096, which is the maximum allowed number of output tokens for this model",
    ),
    "rate_limit": Known(429, "rate_limit_error", "This request would exceed your rate limit."),
    "server_error": Known(500, "api_error", "Internal server error"),
    "overloaded": Known(529, "overloaded_error", "Overloaded"),
}

KINDS_BY_STATUS: dict[int, ErrorKind] = {
    401: "invalid_key",
    402: "no_credit",
    403: "forbidden",
    404: "no_model",
    408: "timeout",
    413: "too_large",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}


def answer(dialect: Dialect, error: Error) -> Answer:
    """The HTTP answer of an error."""
    kind = error.kind or _kind_of(error.status or 500)
    match kind:
        case "html_page":
            status, content_type, body = 502, "text/html", HTML_PAGE
        case "empty":
            status, content_type, body = 500, "text/plain", b""
        case _:
            known = _known(dialect, kind)
            status, content_type, body = known.status, "application/json", _body(dialect, known)
    if error.body is not None:
        body = error.body.encode()
    return Answer(error.status or status, {"content-type": content_type, **error.headers}, body)


def refusal(dialect: Dialect, message: str) -> Answer:
    """The 400 of a request that the vendor would not take."""
    known = Known(400, "invalid_request_error", message)
    return Answer(400, {"content-type": "application/json"}, _body(dialect, known))


def event(dialect: Dialect, kind: ErrorKind, number: int) -> bytes:
    """The event that reports an error after the stream has begun."""
    known = _known(dialect, kind)
    match dialect:
        case "chat":
            return sse(_openai(known))
        case "messages":
            return sse(_anthropic(known), "error")
        case "responses":
            failed = {
                "id": "resp_failed",
                "object": "response",
                "created_at": CREATED,
                "status": "failed",
                "error": {"code": known.code or known.type, "message": known.message},
                "output": [],
            }
            data = {"type": "response.failed", "response": failed, "sequence_number": number}
            return sse(data, "response.failed")


def _known(dialect: Dialect, kind: ErrorKind) -> Known:
    known = (ANTHROPIC if dialect == "messages" else OPENAI)[kind]
    if dialect == "responses" and kind == "context_too_long":
        message = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return known._replace(message=message, param="input")
    return known


def _kind_of(status: int) -> ErrorKind:
    if status in KINDS_BY_STATUS:
        return KINDS_BY_STATUS[status]
    return "server_error" if status >= 500 else "bad_request"


def _body(dialect: Dialect, known: Known) -> bytes:
    return msgspec.json.encode(_anthropic(known) if dialect == "messages" else _openai(known))


def _openai(known: Known) -> dict[str, Any]:
    return {
        "error": {
            "message": known.message,
            "type": known.type,
            "param": known.param,
            "code": known.code,
        }
    }


def _anthropic(known: Known) -> dict[str, Any]:
    return {"type": "error", "error": {"type": known.type, "message": known.message}, "request_id": "req_1"}
