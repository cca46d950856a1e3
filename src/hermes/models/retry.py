"""What happens when a model call fails: it is made again, with another key, or by the next model in line."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from random import Random
from typing import Literal

import msgspec

from hermes.models.credentials import Key, KeyPool
from hermes.protocol.errors import (
    AuthFailed,
    ContextTooLong,
    Disconnected,
    ModelError,
    OutputTooLarge,
    Overloaded,
    QuotaSpent,
    RateLimited,
    Refused,
)
from hermes.protocol.models import Began, Delta, Finished, Model, ModelRequest, Retrying

log = logging.getLogger(__name__)

LONGEST_WAIT = 120.0
"""A provider that wants us to wait longer is passed over."""
LONGEST_BACKOFF = 30.0
REST = 60.0
"""How long a key that was limited, or a model that gave up, is passed over."""
REST_OF_DEAD_KEY = 3600.0
"""How long a key that was rejected, or whose money is spent, is passed over."""
SMALLER_OUTPUT = 8192
"""The output cap to try when the provider calls ours too large, and neither of us named a number."""


class Candidate:
    """One model that may answer, with the keys to try; `open` makes it for a key's secret."""

    def __init__(self, keys: KeyPool, open: Callable[[str], Model]) -> None:
        self.keys = keys
        self.rests_until = 0.0
        self.latest = open("")
        self._open = open
        self._secret = ""

    @property
    def name(self) -> str:
        return self.latest.name

    def model(self, secret: str) -> Model:
        """The model with this key, the same one for as long as the key is the same."""
        if secret != self._secret:
            self.latest, self._secret = self._open(secret), secret
        return self.latest

    def woke(self, key: Key) -> None:
        """It answered with this key: neither needs rest."""
        self.rests_until = 0.0
        self.keys.wake(key)


class Resilient:
    """A model made of several, in order. A later one answers only while the earlier ones cannot.

    Until the first call `name`, `dialect`, `window` and `profile` are those of the first candidate, afterwards those
    of the one that was asked last. A candidate that gave up is passed over for a minute, or an hour if none of its
    keys is good; then it comes first again.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        *,
        retries: int = 3,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._candidates = tuple(candidates)
        self._current = self._candidates[0]
        self._retries = retries
        self._sleep = sleep
        self._random = random or Random()
        self._clock = clock

    @property
    def name(self) -> str:
        return self._current.name

    @property
    def dialect(self) -> str:
        return self._current.latest.dialect

    @property
    def window(self) -> int:
        return self._current.latest.window

    @property
    def profile(self) -> Literal["full", "small"]:
        return self._current.latest.profile

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Answer; raises what a caller can act on at once (ContextTooLong, Refused), else when everything was tried."""
        line = self._line()
        failures: list[_Effort] = []
        for place, candidate in enumerate(line):
            self._current = candidate
            effort = _Effort(candidate, request, self._retries, self._random)
            while True:
                try:
                    async with aclosing(effort.stream()) as deltas:
                        async for delta in deltas:
                            yield delta
                    return
                except (ContextTooLong, Refused):
                    raise
                except ModelError as error:
                    wait = effort.after(error)
                    log.info("%s failed: %s: %s", candidate.name, type(error).__name__, error)
                if wait is None:
                    break
                yield Retrying(effort.why, wait, candidate.name)
                await self._sleep(wait)
            candidate.rests_until = self._clock() + max(REST, effort.told_to_wait)
            failures.append(effort)
            if place + 1 < len(line):
                yield Retrying(effort.why, 0.0, line[place + 1].name)
        raise _no_answer(failures) from failures[-1].error

    def _line(self) -> list[Candidate]:
        """The candidates in order, those that rest behind the others."""
        now = self._clock()
        return sorted(self._candidates, key=lambda c: c.rests_until > now or c.keys.resting)


class _Effort:
    """What one call has tried with one candidate so far."""

    def __init__(self, candidate: Candidate, request: ModelRequest, retries: int, random: Random) -> None:
        self.candidate = candidate
        self.tries = 0
        self.told_to_wait = 0.0
        self.error = ModelError("not tried")
        self._request = request
        self._key = candidate.keys.take()
        self._secret = ""
        self._rejected = ""
        self._renewed = False
        self._capped = False
        self._repeats = 0
        self._rotations = 0
        self._retries = retries
        self._random = random

    @property
    def why(self) -> str:
        return str(self.error)

    async def stream(self) -> AsyncGenerator[Delta, None]:
        self.tries += 1
        self._secret = await self._key.secret(self._rejected)
        model = self.candidate.model(self._secret)
        said_something = False
        async with aclosing(model.stream(self._request)) as deltas:
            async for delta in deltas:
                said_something = said_something or (isinstance(delta, Began) and delta.kind != "thought")
                if isinstance(delta, Finished):
                    if not said_something and delta.reason == "stop":
                        raise Disconnected("the model answered with nothing")
                    self.candidate.woke(self._key)
                    yield delta
                    return
                yield delta
        raise Disconnected("the answer ended before its finish")

    def after(self, error: ModelError) -> float | None:
        """Prepare the next try: the seconds to wait before it, or None if this candidate has nothing left to try."""
        self.error = error
        match error:
            case AuthFailed() if self._key.renews and not self._renewed:
                self._renewed = True
                self._rejected = self._secret
                return 0.0
            case AuthFailed() | QuotaSpent():
                return self._other_key(REST_OF_DEAD_KEY)
            case RateLimited():
                self.told_to_wait = error.after or 0.0
                other = self._other_key(error.after or REST)
                return self._repeat(error.after) if other is None else other
            case Overloaded():
                self.told_to_wait = error.after or 0.0
                return self._repeat(error.after)
            case Disconnected():
                return self._repeat(None)
            case OutputTooLarge() if not self._capped:
                self._capped = True
                asked = self._request.max_output
                cap = error.cap or (asked // 2 if asked else SMALLER_OUTPUT)
                self._request = msgspec.structs.replace(self._request, max_output=cap)
                return 0.0
            case _:
                return None

    def _other_key(self, rest: float) -> float | None:
        other = self.candidate.keys.rotate(self._key, rest)
        if other is None or self._rotations >= len(self.candidate.keys) - 1:
            return None  # each key has had its chance in this call
        self._rotations += 1
        self._key, self._rejected, self._renewed = other, "", False
        return 0.0

    def _repeat(self, told: float | None) -> float | None:
        """Wait as told, or longer each time; the jitter keeps processes that failed together apart."""
        if self._repeats == self._retries or (told is not None and told > LONGEST_WAIT):
            return None
        backoff = min(LONGEST_BACKOFF, 2.0**self._repeats)
        self._repeats += 1
        if told is not None:
            return told + self._random.uniform(0.0, min(told, 1.0))
        return backoff * self._random.uniform(0.5, 1.0)


def _no_answer(failures: Sequence[_Effort]) -> ModelError:
    """One line that names what was tried, as an error of the kind that the first model gave."""

    def told(effort: _Effort) -> str:
        tries = f" ({effort.tries} tries)" if effort.tries > 1 else ""
        return f"{effort.candidate.name}: {effort.why}{tries}"

    first = failures[0].error
    return type(first)("; ".join(map(told, failures)), status=first.status)
