"""The keys of a provider: where they are found, which one is next, and which ones rest after they failed."""

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Literal, Protocol

from msgspec import Struct

from hermes.models.authfile import StoredKey

Strategy = Literal["fill_first", "round_robin", "random", "least_used"]
STRATEGIES: tuple[Strategy, ...] = ("fill_first", "round_robin", "random", "least_used")


class Key(Protocol):
    """Something that calls can be made with. `label` may be shown, the secret never."""

    @property
    def label(self) -> str: ...

    @property
    def renews(self) -> bool:
        """Whether a rejected secret can be exchanged for a new one."""
        ...

    async def secret(self, rejected: str = "") -> str:
        """The secret to send; never again the one that the provider `rejected`, if that can be helped."""
        ...


class ApiKey(Struct, frozen=True):
    """A key that stays what it is; an empty one is for providers that want none."""

    label: str
    value: str
    renews: bool = False

    async def secret(self, rejected: str = "") -> str:
        return self.value

    def __repr__(self) -> str:
        return f"ApiKey({self.label!r})"


NO_KEY = ApiKey("no key", "")


def find_keys(
    variables: Sequence[str], environ: Mapping[str, str], stored: Sequence[StoredKey] = ()
) -> tuple[ApiKey, ...]:
    """Every key once: from each variable, from NAME_2, NAME_3 and so on, then those of auth.json."""
    found: dict[str, ApiKey] = {}
    for variable in variables:
        name, number = variable, 1
        while value := environ.get(name, "").strip():
            found.setdefault(value, ApiKey(name, value))
            number += 1
            name = f"{variable}_{number}"
    for entry in stored:
        found.setdefault(entry.key, ApiKey(entry.label, entry.key))
    return tuple(found.values())


class KeyPool:
    """The keys of one provider. One that failed rests and is passed over, unless there is no other.

    Whenever `mark` gives something else than before, every key is awake again.
    """

    def __init__(
        self,
        keys: Sequence[Key],
        strategy: Strategy = "fill_first",
        *,
        clock: Callable[[], float] = time.monotonic,
        random: Random | None = None,
        mark: Callable[[], object] = lambda: None,
    ) -> None:
        if not keys:
            raise ValueError("a pool needs a key; a provider that wants none has NO_KEY")
        self.keys = tuple(keys)
        self._strategy = strategy
        self._clock = clock
        self._random = random or Random()
        self._uses = [0] * len(self.keys)
        self._rests_until = [0.0] * len(self.keys)
        self._last = -1
        self._mark = mark
        self._marked = mark()

    @property
    def resting(self) -> bool:
        """Whether every key has failed lately."""
        return not self._awake()

    def __len__(self) -> int:
        return len(self.keys)

    def take(self) -> Key:
        """The next key by the pool's strategy; if all rest, the one whose rest ends first."""
        awake = self._awake()
        return self._use(self._choose(awake) if awake else self._soonest())

    def rotate(self, failed: Key, rest: float) -> Key | None:
        """Let a key rest for some seconds and take another one, if one is awake."""
        self._heed_mark()  # a wish from before this failure is not about it
        self._rests_until[self.keys.index(failed)] = self._clock() + rest
        awake = self._awake()
        return self._use(self._choose(awake)) if awake else None

    def wake(self, key: Key) -> None:
        """A key that works needs no rest."""
        self._rests_until[self.keys.index(key)] = 0.0

    def _heed_mark(self) -> None:
        if (mark := self._mark()) != self._marked:
            self._marked = mark
            self._rests_until = [0.0] * len(self.keys)

    def _awake(self) -> list[int]:
        if not any(self._rests_until):  # as nearly always: there is nothing that a mark could change
            return list(range(len(self.keys)))
        self._heed_mark()
        now = self._clock()
        return [i for i, until in enumerate(self._rests_until) if until <= now]

    def _soonest(self) -> int:
        return min(range(len(self.keys)), key=self._rests_until.__getitem__)

    def _choose(self, awake: list[int]) -> int:
        match self._strategy:
            case "fill_first":
                return awake[0]
            case "round_robin":
                return next((i for i in awake if i > self._last), awake[0])
            case "least_used":
                return min(awake, key=self._uses.__getitem__)
            case _:
                return self._random.choice(awake)

    def _use(self, chosen: int) -> Key:
        self._uses[chosen] += 1
        self._last = chosen
        return self.keys[chosen]
