"""Every fault with every operation that can meet it, and what must come of it."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from hermes.mcp.chaos import scenes
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.plan import Era
from hermes.mcp.chaos.trial import COUNT, ECHO, PATIENCE, Ending, Outcome, Trial, Way
from hermes.mcp.contract import GetPrompt, ListPrompts, ListResources, Operation, ReadResource

SILENCE = 0.3
"""Seconds that a call waits where no answer will come."""
OUTAGE = 0.3
TOO_LARGE = 17 << 20

OPERATIONS: dict[str, tuple[str, Operation]] = {
    "tools/call, an effect": ("tools/call", COUNT),
    "tools/call, read-only": ("tools/call", ECHO),
    "resources/list": ("resources/list", ListResources()),
    "resources/read": ("resources/read", ReadResource("chaos://greeting")),
    "prompts/list": ("prompts/list", ListPrompts()),
    "prompts/get": ("prompts/get", GetPrompt("rest", {})),
}
Play = Callable[[Trial], Awaitable[tuple[str, float]]]
"""Gives what was seen, and the seconds until all was well again."""

BOTH_KINDS = ("tools/call, an effect", "tools/call, read-only")


class Trouble(Struct, frozen=True, kw_only=True):
    """A fault in words, and how a call comes through it that only reads, or that has an effect and `ran` so often.

    `waits` if coming through takes mostly waiting.
    """

    name: str
    fault: Fault
    reading: Ending
    acting: Ending
    ran: int
    connects: int = 0
    timeout: float = PATIENCE
    waits: bool = False


class Case(Struct, frozen=True, kw_only=True):
    """One row of the table: `play` says what it saw, which must be what is `expected`.

    `alone` if it takes so little waiting that another case meanwhile would only falsify its time.
    """

    fault: str
    operation: str
    expected: str
    way: Way
    era: Era
    play: Play
    alone: bool = False


def _status(name: str, status: int, reading: Ending, acting: Ending, ran: int = 0, seconds: float = 0) -> Trouble:
    fault = Fault(kind="status", status=status, seconds=seconds)
    return Trouble(name=name, fault=fault, reading=reading, acting=acting, ran=ran, waits=status >= 429)


def _lost(name: str, fault: Fault, ran: int) -> Trouble:
    return Trouble(name=name, fault=fault, reading="answered", acting="outcome unknown", ran=ran, connects=1)


def _expired(name: str, fault: Fault, waits: bool = False) -> Trouble:
    return Trouble(name=name, fault=fault, reading="answered", acting="answered", ran=1, connects=1, waits=waits)


EXPIRY = (
    _expired("session dropped: 404", Fault(kind="expire", lost="404")),
    _expired("session dropped: 400 that names it", Fault(kind="expire", lost="400")),
    _expired("session dropped: bare 400", Fault(kind="expire", lost="bare-400")),
    _expired("session dropped: error text", Fault(kind="expire", lost="rpc", text="Invalid or expired session")),
)
OVER_HTTP = (
    _expired("connection refused for a while", Fault(kind="refuse", seconds=OUTAGE), waits=True),
    _lost("reset, request unread", Fault(kind="reset", when="unread"), 0),
    _lost("reset before execution", Fault(kind="reset"), 0),
    _lost("reset after execution", Fault(kind="reset", when="after"), 1),
    _lost("reset inside the answer", Fault(kind="reset", when="midway"), 1),
    _status("401", 401, "needs login", "needs login"),
    _status("403 insufficient_scope", 403, "failed", "failed"),
    _status("429, Retry-After", 429, "answered", "answered", ran=1, seconds=0.1),
    _status("503, Retry-After", 503, "answered", "failed", seconds=0.1),
    _status("500", 500, "answered", "failed"),
    _status("502, a page", 502, "answered", "failed"),
)
ANYWHERE = (
    Trouble(
        name="no answer",
        fault=Fault(kind="silent"),
        reading="timed out",
        acting="timed out",
        ran=0,
        timeout=SILENCE,
        waits=True,
    ),
    Trouble(
        name="answer too large",
        fault=Fault(kind="oversize", size=TOO_LARGE),
        reading="failed",
        acting="failed",
        ran=0,
    ),
    Trouble(
        name="slow start",
        fault=Fault(kind="slow", seconds=0.1),
        reading="answered",
        acting="answered",
        ran=1,
        waits=True,
    ),
)
GARBAGE_OVER_HTTP = Trouble(
    name="answer is no JSON",
    fault=Fault(kind="garbage", when="after"),
    reading="answered",
    acting="outcome unknown",
    ran=1,
    waits=True,
)
OVER_STDIO = (
    _lost("exits before execution", Fault(kind="exit"), 0),
    _lost("exits after execution", Fault(kind="exit", when="after"), 1),
    _lost("exits inside the answer", Fault(kind="exit", when="midway"), 1),
    Trouble(name="garbage lines", fault=Fault(kind="garbage"), reading="answered", acting="answered", ran=1),
    Trouble(
        name="flood of stderr",
        fault=Fault(kind="stderr", size=1_000_000),
        reading="answered",
        acting="answered",
        ran=1,
    ),
)


def all_cases(only: str = "") -> list[Case]:
    """The cases whose fault or operation holds the text."""
    wanted = only.lower()
    return [case for case in _cases() if wanted in f"{case.fault} {case.operation}".lower()]


def _cases() -> Iterator[Case]:
    for trouble in (*EXPIRY, *OVER_HTTP, GARBAGE_OVER_HTTP, *ANYWHERE):
        for operation in OPERATIONS:
            yield _case(trouble, operation, "http", "old")
    for trouble in (*OVER_HTTP, GARBAGE_OVER_HTTP, *ANYWHERE):
        for operation in BOTH_KINDS:
            yield _case(trouble, operation, "http", "modern")
    for trouble in (*OVER_STDIO, *ANYWHERE):
        for operation in BOTH_KINDS:
            yield _case(trouble, operation, "stdio", "old")
    yield from _scenes()


def _case(trouble: Trouble, operation: str, way: Way, era: Era) -> Case:
    method, request = OPERATIONS[operation]
    effect = request is COUNT
    ending = trouble.acting if effect else trouble.reading
    fault = trouble.fault
    if not fault.at_once and fault.when != "unread":
        fault = replace(fault, method=method)

    async def play(trial: Trial) -> tuple[str, float]:
        outcome, seconds = await trial.outcome(request, (fault,), trouble.timeout)
        return str(outcome), seconds

    return Case(
        fault=_where(trouble.name, way, era),
        operation=operation,
        expected=str(Outcome(ending, trouble.connects, trouble.ran if effect else None)),
        way=way,
        era=era,
        play=play,
        alone=not trouble.waits and way == "http",
    )


def _scenes() -> Iterator[Case]:
    def scene(name: str, operation: str, expected: str, play: Play, way: Way = "http", era: Era = "old") -> Case:
        where = _where(name, way, era)
        return Case(fault=where, operation=operation, expected=expected, way=way, era=era, play=play, alone=True)

    effect, reading = BOTH_KINDS
    crowd = f"{scenes.CROWD} at once, an effect"
    all_well = f"{scenes.CROWD} answered, ran {scenes.CROWD}x, 1 reconnect"
    one_less = f"{scenes.CROWD - 1} answered, 1 outcome unknown, ran {scenes.CROWD}x, 1 reconnect"
    for trouble in EXPIRY:
        yield scene(trouble.name, crowd, all_well, partial(scenes.crowd, operation=COUNT, fault=trouble.fault))
    outage, cut = Fault(kind="refuse", seconds=OUTAGE), Fault(kind="reset", when="after", method="tools/call")
    yield scene("connection refused for a while", crowd, all_well, partial(scenes.crowd, operation=COUNT, fault=outage))
    yield scene(
        "reset after execution, one of them", crowd, one_less, partial(scenes.crowd, operation=COUNT, fault=cut)
    )
    for era in ("old", "modern"):
        stopped = "returned at once, cancelled 1x, no reconnect"
        yield scene("interrupt", "tools/call, slow", stopped, scenes.interrupt, era=era)
        yield scene("storm of changes", "tools/list", "change seen, read a few times", scenes.storm, era=era)
    yield scene("new schema", "tools/list", "change seen", scenes.new_schema)
    yield scene(
        "interrupt", "tools/call, slow", "returned at once, cancelled 1x, no reconnect", scenes.interrupt, "stdio"
    )
    yield scene("exits while idle", "none", "started anew by itself, 1 reconnect", scenes.die_idle, "stdio")
    yield scene("wrapper dies", "none", "old server ended, 1 reconnect", scenes.orphan, "wrapped stdio")
    for operation, outcome in ((effect, Outcome("outcome unknown", 1, 0)), (reading, Outcome("timed out", 1))):
        play = partial(scenes.wedge, effect=operation == effect)
        yield scene("reads nothing more", operation, str(outcome), play, "stdio")


def _where(name: str, way: Way, era: Era) -> str:
    """The fault's name, and where it strikes if not over HTTP with sessions."""
    if way != "http":
        return f"stdio: {name}"
    return f"stateless: {name}" if era == "modern" else name
