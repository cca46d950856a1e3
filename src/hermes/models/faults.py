"""What a provider's refusal means: status, headers and body become one typed error with one line for a person."""

import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hermes.models.limits import context_is_full, output_cap
from hermes.models.waits import asked_to_wait
from hermes.protocol.errors import (
    AuthFailed,
    BadRequest,
    ContextTooLong,
    ModelError,
    OutputTooLarge,
    Overloaded,
    QuotaSpent,
    RateLimited,
    Refused,
)

LONGEST_MESSAGE = 300

# Patterns are compiled when the first error needs them.
SPENT = (
    r"insufficient[_ ](quota|credit|balance|funds)|credit balance|(any|enough|out of) credits|no resource package"
    r"|usage[_ ]limit[_ ]reached|spending limit"
)
MAYBE_SPENT = r"current[_ ]quota|billing"
POLICY = (
    r"content[_ ](policy|filter|management)|responsible ?ai ?policy|usage polic|safety system|moderation"
    r"|flagged|content exists risk|data_inspection_failed|inappropriate content|prohibited_content"
)
KEY = (
    r"(invalid|incorrect|wrong|missing|expired)[\w -]{0,20}api[_ -]?key|api[_ ]?key[_ ](not[_ ]valid|invalid)"
    r"|authentication_error"
)

# Streams report an error by a word where HTTP has a status.
STATUSES = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "timeout_error": 408,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "overloaded_error": 529,
}


class _Fault(Struct, frozen=True):
    """What the body says: a sentence, the words that programs look at, and the status if it names one."""

    message: str = ""
    words: tuple[str, ...] = ()
    status: int = 0
    raw: Any = None

    @property
    def text(self) -> str:
        return " ".join((self.message, *self.words))


def classify(status: int, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> ModelError:
    """The error that an HTTP answer other than 2xx stands for."""
    if 300 <= status < 400:
        where = dict(headers).get("location", "another address")
        return BadRequest(f"the server sends us on to {where}; set base_url to where it answers", status=status)
    fault = _read(body)
    after = asked_to_wait(headers, fault.raw, fault.message, time.time() if now is None else now)
    return _error(status, fault, after)


def from_event(error: Any) -> ModelError:
    """The error that a stream reports after it has begun, or an answer with status 200 carries."""
    fault = _fault(error)
    named = (STATUSES[word] for word in fault.words if word in STATUSES)
    status = fault.status or next(named, 500)
    return _error(status, fault, asked_to_wait({}, fault.raw, fault.message, time.time()))


def _error(status: int, fault: _Fault, after: float | None) -> ModelError:
    line = one_line(fault.message) or _phrase(status)
    text = fault.text
    if status < 500:
        return _refusal(status, text, line, after)
    # Some local servers report a full window as their own failure.
    if status in (500, 503) and context_is_full(text):
        return ContextTooLong(line, status=status)
    return Overloaded(line, after=after, status=status)


def _refusal(status: int, text: str, line: str, after: float | None) -> ModelError:
    cap = output_cap(text)
    if cap is not None:
        return OutputTooLarge(line, cap=cap or None, status=status)
    if status == 413 or context_is_full(text):
        return ContextTooLong(line, status=status)
    if status != 429 and _finds(POLICY, text):
        return Refused(line, status=status)
    # Gemini calls every limit a quota, OpenRouter sends 402 for one that passes: those come with a time to wait.
    if _finds(SPENT, text) or (after is None and (status == 402 or _finds(MAYBE_SPENT, text))):
        return QuotaSpent(line, status=status)
    if status in (402, 429):
        return RateLimited(line, after=after, status=status)
    if status in (401, 403) or _finds(KEY, text):
        return AuthFailed(line, status=status)
    if status in (408, 409, 425, 498):
        return Overloaded(line, after=after, status=status)
    return BadRequest(line, status=status)


def _finds(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def one_line(text: str) -> str:
    """A text as one line for a person: the title of a web page, no tags, at most 300 characters."""
    if "<" in text:
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = title[1] if title else re.sub(r"(?is)<(script|style).*?</\1>", " ", text)
        text = re.sub(r"<[a-zA-Z/!][^>]*>", " ", text)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1].rstrip() + "…"


def _phrase(status: int) -> str:
    from http import HTTPStatus

    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"


def _read(body: bytes) -> _Fault:
    try:
        return _fault(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Fault(body.decode("utf-8", "replace"))


def _fault(payload: Any) -> _Fault:
    """Find sentence and words in whatever shape a vendor wraps them."""
    match payload:
        case str():
            return _Fault(payload)
        case [first, *_]:
            return _fault(first)
        case {"error": dict() | str() as inner, **around}:
            return _join(_fault(inner), around)
        case dict():
            return _join(_Fault(), payload)
        case _:
            return _Fault()


def _join(inner: _Fault, fields: dict[Any, Any]) -> _Fault:
    message = inner.message or _sentence(fields)
    metadata = fields.get("metadata")
    # OpenRouter's own message says only that a provider failed; what the provider said stands in `raw`.
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        message = f"{message}: {_read(metadata['raw'].encode()).message}"
    words = [fields.get(name) for name in ("code", "type", "status", "reason", "param")]
    words += [detail.get("reason") for detail in _list(fields.get("details"))]
    numbers = [word for word in words if isinstance(word, int)]
    status = inner.status or next((number for number in numbers if 400 <= number < 600), 0)
    texts = (word.lower() for word in words if isinstance(word, str) and word)
    return _Fault(message, (*inner.words, *texts), status, inner.raw or fields)


def _sentence(fields: dict[Any, Any]) -> str:
    for name in ("message", "detail", "msg", "error_message", "title"):
        match fields.get(name):
            case str() as text if text:
                return text
            case dict() as nested:
                return _sentence(nested)
            case [{"msg": str() as text}, *_]:
                return text
            case _:
                continue
    return ""


def _list(value: Any) -> list[dict[Any, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
