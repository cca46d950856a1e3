"""The circuit breaker of a server: after three failures in a row nobody waits for it until it has had a minute."""

from typing import Literal

from hermes.mcp.clock import Clock

FAILURES = 3
COOLDOWN = 60.0


class Breaker:
    """Counts failures in a row. Once open, it lets one call through after the cooldown, and that call decides."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._opened: float | None = None
        self._probing = False
        self.failures = 0

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        if self._opened is None:
            return "closed"
        return "half-open" if self._probing or not self.cooldown else "open"

    @property
    def cooldown(self) -> float:
        """The seconds until a call is let through again; 0 if one is now."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + COOLDOWN - self._clock.monotonic())

    def admit(self) -> Literal["call", "probe", "refuse"]:
        """Whether a call may be made now. Whoever gets "probe" must report a success, a failure, or let go."""
        match self.state:
            case "closed":
                return "call"
            case "half-open" if not self._probing:
                self._probing = True
                return "probe"
            case _:
                return "refuse"

    def success(self) -> None:
        self.failures, self._opened, self._probing = 0, None, False

    def failure(self) -> None:
        self.failures += 1
        self._probing = False
        if self._opened is not None or self.failures >= FAILURES:
            self._opened = self._clock.monotonic()

    def let_go(self) -> None:
        """The probe was interrupted and says nothing; the next call is the probe."""
        self._probing = False
