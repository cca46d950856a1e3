"""How long a provider asks us to wait, in whichever of the ways that it says so."""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

SPAN = r"(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])"
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# A number this large is a moment since 1970 in seconds, or in milliseconds.
MOMENT, MOMENT_IN_MS = 1e9, 1e11


def asked_to_wait(headers: Mapping[str, str], body: Any, message: str, now: float) -> float | None:
    """Seconds from now, or None if nothing was said: first the headers made for it, then the body, then the counters."""
    named = {name.lower(): value.strip() for name, value in headers.items()}
    for wait in (_retry_after(named, now), _in_body(body), _in_message(message), _until_reset(named, now)):
        if wait is not None and math.isfinite(wait):
            return max(0.0, wait)
    return None


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    if (wait := _number(headers.get("retry-after-ms", ""))) is not None:
        return wait / 1000
    value = headers.get("retry-after", "")
    if (wait := _number(value)) is not None:
        return wait
    if not value:
        return None
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(value).timestamp() - now
    except ValueError:
        return _span(value)


def _in_body(body: Any) -> float | None:
    """Gemini's RetryInfo, and retry_after of gateways."""
    match body:
        case {"details": list(details)}:
            waits = [_span(str(entry["retryDelay"])) for entry in details if "retryDelay" in entry]
            return next((wait for wait in waits if wait is not None), None)
        case {"retry_after": int() | float() as wait}:
            return float(wait)
        case _:
            return None


def _in_message(message: str) -> float | None:
    said = re.search(rf"(?:try again|retry|wait)[a-z ]{{0,12}} ((?:{SPAN}\s*)+)", message, re.IGNORECASE)
    return _span(said[1]) if said else None


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    """When the counters that stand at 0 start again; without any at 0, when the only one does."""
    waits: list[float] = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        wait = _moment(value, now)
        left = headers.get(name.replace("reset", "remaining"), "0")
        if wait is not None and _number(left) == 0:
            waits.append(wait)
    return max(waits, default=None)


def _moment(value: str, now: float) -> float | None:
    """Seconds from now to a moment that is written as a span, a number or a date."""
    if (number := _number(value)) is not None:
        if number > MOMENT_IN_MS:
            return number / 1000 - now
        return number - now if number > MOMENT else number
    if (span := _span(value)) is not None:
        return span
    try:
        return datetime.fromisoformat(value).timestamp() - now
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _span(text: str) -> float | None:
    """Seconds of a text like 6m0s, 1.5s, 20ms or 30 seconds."""
    found = re.findall(SPAN, text, re.IGNORECASE)
    if not found or re.sub(SPAN, "", text, flags=re.IGNORECASE).strip(" .,"):
        return None
    return sum(float(number) * _seconds(unit.lower()) for number, unit in found)


def _seconds(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "milli")) else SECONDS[unit[0]]
