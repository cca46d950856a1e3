"""What can go wrong, as one tree.

    HermesError
    ├─ UserError            the person can mend it; has a hint that says how
    ├─ ModelError
    │  ├─ RateLimited       429; `after` seconds if the provider said so
    │  ├─ QuotaSpent        402 or a spent plan; another key may still work
    │  ├─ Overloaded        5xx, 408, 529
    │  ├─ Disconnected      refused, reset, stalled, cut or unreadable: no whole answer came
    │  ├─ ContextTooLong    the request does not fit the window
    │  ├─ OutputTooLarge    the asked-for output cap is above the model's; `cap` if known
    │  ├─ Refused           the provider declined to answer
    │  ├─ AuthFailed        401, 403
    │  └─ BadRequest        anything else the provider says is our fault
    ├─ ToolError            the model sees it as the call's result
    │  └─ Denied            the gate or the person said no
    │     └─ Unanswered     nobody could be asked, or nobody answered
    ├─ TerminalError
    ├─ PlatformError
    ├─ StoreError
    │  ├─ DiskFull          nothing was written; the same call works when there is space
    │  └─ LeaseLost         another process owns the session now
    └─ LimitReached         a budget is spent

Interruption is cancellation, not an error.
"""

from typing import Literal


class HermesError(Exception):
    """Something that Hermes foresaw; str() is one line for a person."""


class UserError(HermesError):
    """The person can mend it, and `hint` says how."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ModelError(HermesError):
    """A model call gave no answer."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class RateLimited(ModelError):
    def __init__(self, message: str, *, after: float | None = None, status: int = 429) -> None:
        super().__init__(message, status=status)
        self.after = after


class QuotaSpent(ModelError):
    pass


class Overloaded(ModelError):
    def __init__(self, message: str, *, after: float | None = None, status: int = 503) -> None:
        super().__init__(message, status=status)
        self.after = after


class Disconnected(ModelError):
    pass


class ContextTooLong(ModelError):
    pass


class OutputTooLarge(ModelError):
    def __init__(self, message: str, *, cap: int | None = None, status: int = 400) -> None:
        super().__init__(message, status=status)
        self.cap = cap


class Refused(ModelError):
    pass


class AuthFailed(ModelError):
    pass


class BadRequest(ModelError):
    pass


class ToolError(HermesError):
    """A tool could not do it; the text is the result that the model reads."""


class Denied(ToolError):
    """An effect was not permitted."""


class Unanswered(Denied):
    """A person would have to permit it, and none has answered."""


class TerminalError(HermesError):
    pass


class PlatformError(HermesError):
    pass


class StoreError(HermesError):
    pass


class DiskFull(StoreError):
    pass


class LeaseLost(StoreError):
    pass


Limit = Literal["steps", "tokens", "output", "money", "time"]


class LimitReached(HermesError):
    """A budget is spent."""

    def __init__(self, limit: Limit, message: str) -> None:
        super().__init__(message)
        self.limit: Limit = limit
