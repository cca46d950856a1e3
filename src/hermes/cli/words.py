"""Numbers and times in the words of a list."""

import time

from hermes.commands.numbers import span


def ago(at: float, now: float) -> str:
    """How long a moment is past, in one unit: 5m ago."""
    return "now" if now - at < 1 else f"{span(now - at)} ago"


def moment(at: float) -> str:
    """A moment as ISO 8601 in local time, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(at))


def many(count: int, thing: str) -> str:
    """A number of things: 1 session, 2 sessions."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")
