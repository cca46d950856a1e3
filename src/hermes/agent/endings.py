"""How a turn that raised has ended, in words for a person."""

import logging

from hermes.protocol.errors import (
    AuthFailed,
    BadRequest,
    ContextTooLong,
    Disconnected,
    HermesError,
    LimitReached,
    Overloaded,
    QuotaSpent,
    RateLimited,
    Refused,
    UserError,
)
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
            return TurnEnded("failed", error=str(error), hint=_hint(error))
        case _:
            log.error("a turn failed", exc_info=error)
            return TurnEnded("failed", error=f"internal error: {type(error).__name__}: {error}")


def _hint(error: HermesError) -> str:
    """What a person can do about it."""
    match error:
        case AuthFailed():
            return "check the key: hermes model shows which variable holds it, hermes config set NAME changes it"
        case QuotaSpent():
            return "add credit there, or choose another model: hermes model"
        case RateLimited() | Overloaded():
            return "try again later, or choose another model: hermes model"
        case Disconnected():
            return "try again; if it stays, check the network and the address: hermes config get model"
        case ContextTooLong():
            return "start a new session, or go back with /undo"
        case BadRequest(status=0):
            return "check the model's address: hermes config get model"
        case BadRequest(status=404):
            return "check the model's name and address, which often ends in /v1: hermes config get model"
        case BadRequest():
            return "is it a model of that provider? hermes model lists them"
        case _:
            return ""


def why_open(ended: TurnEnded) -> str:
    """What the model reads as the result of a call that the ending cut off."""
    match ended.reason:
        case "interrupted":
            return "Interrupted by the person"
        case "limit":
            return f"Stopped: {ended.error}"
        case _:
            return f"Not finished: {ended.error}"
