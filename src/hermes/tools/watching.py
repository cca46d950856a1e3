"""Telling the session when a background process prints what it waits for, without ever flooding it."""

from collections import deque
from collections.abc import Sequence

WINDOW = 15.0
NOISY_WINDOWS = 3
BURST = 15
BURST_SECONDS = 10.0
LINES_SHOWN = 5
LONGEST_LINE = 500
LONGEST_PART = 10_000


class Breaker:
    """Lets through at most 15 notifications in 10 seconds, of all processes of a session together."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def allows(self, now: float) -> bool:
        while self._times and self._times[0] <= now - BURST_SECONDS:
            self._times.popleft()
        if len(self._times) >= BURST:
            return False
        self._times.append(now)
        return True


class Watch:
    """One process: a notification opens a window of 15 seconds in which further matches are dropped.

    Three windows in a row with something dropped end the watch.
    """

    def __init__(self, patterns: Sequence[str], breaker: Breaker) -> None:
        self._patterns = tuple(patterns)
        self._breaker = breaker
        self._part = ""
        self._until = float("-inf")
        self._dropped = 0
        self._noisy = 0
        self._ended = False

    def feed(self, text: str, now: float) -> str:
        """Take in output; returns what to say to the session, mostly nothing."""
        lines = [] if self._ended else self._matching(text)
        if not lines:
            return ""
        if now < self._until or not self._breaker.allows(now):
            return self._drop(len(lines))
        if not self._dropped:
            self._noisy = 0
        more = self._dropped + max(0, len(lines) - LINES_SHOWN)
        self._until, self._dropped = now + WINDOW, 0
        shown = "\n".join(line.rstrip()[:LONGEST_LINE] for line in lines[:LINES_SHOWN])
        return f"printed:\n{shown}" + (f"\n[{more} more matching lines were left out]" if more else "")

    def _drop(self, count: int) -> str:
        if not self._dropped:
            self._noisy += 1
        self._dropped += count
        if self._noisy < NOISY_WINDOWS:
            return ""
        self._ended = True
        return "matches its watch_patterns too often and is no longer watched; use process to look at it."

    def _matching(self, text: str) -> list[str]:
        """The lines with a pattern in them, also one that is not ended yet: a prompt never is."""
        *lines, self._part = (self._part + text).split("\n")
        found = [line for line in lines if self._fits(line)]
        if self._fits(self._part):
            found.append(self._part)
            self._part = ""
        self._part = self._part[-LONGEST_PART:]
        return found

    def _fits(self, line: str) -> bool:
        return any(pattern in line for pattern in self._patterns)
