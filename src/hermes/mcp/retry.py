"""The rule for a second try: only what was provably not executed, or may be executed twice, is sent again."""

from fnmatch import fnmatchcase
from typing import Literal

from hermes.config import McpServer
from hermes.mcp.contract import CallTool, Catalog, Fault, Operation
from hermes.mcp.faults import is_only_said

Step = Literal[
    "give up",  # the error is the answer
    "unknown",  # nobody can say whether it ran
    "log in",  # refresh what we show, reconnect, send again
    "widen",  # ask for more scopes, send again
    "wait",  # the server says when; send again
    "send again",
    "renew",  # reconnect, send again
    "prove",  # if the session is proven to be gone: reconnect, send again
    "reach",  # it was not sent: reconnect, send; this is no second try
]


def may_repeat(operation: Operation, catalog: Catalog, settings: McpServer) -> bool:
    """Whether running it twice does no harm: it only reads, or the person's settings say so."""
    if not isinstance(operation, CallTool):
        return True
    if any(fnmatchcase(operation.name, pattern) for pattern in settings.tools.idempotent):
        return True
    return any(tool.name == operation.name and tool.read_only for tool in catalog.tools)


def next_step(fault: Fault, *, repeatable: bool, tried_again: bool) -> Step:
    """What follows a fault; `tried_again` if the one second try is spent."""
    step = _wish(fault, repeatable)
    if tried_again and step not in ("reach", "unknown", "wait", "widen"):
        return "give up"
    return step


def _wish(fault: Fault, repeatable: bool) -> Step:
    match fault.kind:
        case "unauthorized":
            return "log in"
        case "scope":
            return "widen"
        case "refused":
            return "reach"
        case "expired" | "rejected" if is_only_said(fault):
            return "renew" if repeatable else "prove"
        case "expired":
            return "renew"
        case "cut":
            return "renew" if repeatable else "unknown"
        case "busy":
            return "wait" if repeatable or fault.status == 429 else "give up"
        case "broken":
            return "send again" if repeatable else "give up"
        case "garbage":
            return "send again" if repeatable else "unknown"
        case "rejected" | "silent" | "oversize":
            return "give up"
