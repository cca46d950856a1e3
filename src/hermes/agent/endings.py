"""How a turn that raised has ended, in words for a person."""

import logging

from hermes.protocol.errors import HermesError, LimitReached, Refused, UserError
from hermes.protocol.events import TurnEnded
from hermes.protocol.ops import Budget

log = logging.getLogger(__name__)


def ending(error: Exception, budget: Budget) -> TurnEnded:
    match error:
        case LimitReached(limit=limit):
            return TurnEnded("limit", limit=limit, error=str(error))
        case TimeoutError() if budget.seconds is not None:
            return TurnEnded("limit", limit="time", error=f"the limit of {budget.seconds:g} s a turn is reached")
        case Refused():
            return TurnEnded("refused", error=str(error))
        case UserError(hint=hint):
            return TurnEnded("failed", error=str(error), hint=hint)
        case HermesError():
            return TurnEnded("failed", error=str(error))
        case _:
            log.error("a turn failed", exc_info=error)
            return TurnEnded("failed", error=f"internal error: {type(error).__name__}: {error}")


def why_open(ended: TurnEnded) -> str:
    """What the model reads as the result of a call that the ending cut off."""
    match ended.reason:
        case "interrupted":
            return "Interrupted by the person"
        case "limit":
            return f"Stopped: {ended.error}"
        case _:
            return f"Not finished: {ended.error}"
