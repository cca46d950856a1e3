"""A model that knows nothing but what stands in its prompt: each task hides a token, and only a prompt that holds it is answered.

In a test:

    model = GatedModel([Task(ask="the colour of the gate", token="ochre-4471", path=(Call("read_file", {"path": "a"}),))])
    async with ModelServer(model) as server:
        ...  # let Hermes ask; then
    assert model.walk().right

While the token is missing the model walks the task's path, one call after the other, which costs steps and tokens; at its end
it gives up. The token is in no question and in no call of a path, so that only what Hermes puts into the prompt (what a tool
found, what it remembers, a skill, a search, a summary) can bring it there. What this measures is that plumbing. A model that has
the fact before it and overlooks it, or believes a wrong one, is not in here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from tests.services.request import Request
from tests.services.script import Call, Reply, Usage, error

BYTES_PER_TOKEN = 4
GAVE_UP = "I could not find it."
Step = Call | Callable[[Request], Call | None]
"""A call, or what makes one of the results so far; None skips it."""


class Task(Struct, frozen=True, kw_only=True):
    """What a person asks for by these words, and what the answer takes.

    `token` must be in the prompt and none of `outdated` beside it; without a token nothing is needed. `shortcuts` are tried
    first, each as soon as its word is in the prompt (the name of a skill). `finish` is called once the token is there.
    """

    ask: str
    token: str = ""
    outdated: tuple[str, ...] = ()
    shortcuts: tuple[tuple[str, Step], ...] = ()
    path: tuple[Step, ...] = ()
    finish: tuple[Step, ...] = ()
    says: str = ""


class Walk(Struct, frozen=True, kw_only=True):
    """What one or more tasks took: model calls, tool steps, tokens in, and bytes that a provider's prefix cache would have had."""

    right: int = 0
    calls: int = 0
    steps: int = 0
    tokens: int = 0
    cached: int = 0

    def __add__(self, other: "Walk") -> "Walk":
        ours, theirs = msgspec.structs.asdict(self), msgspec.structs.asdict(other)
        return Walk(**{name: ours[name] + theirs[name] for name in ours})


Aside = Callable[[Request], str | None]
"""Answers a request that has no tools (a review, a summary), or leaves it to the next."""


class GatedModel:
    """Answers requests for a ModelServer, none above its window (in tokens); `asides` answer what Hermes asks beside a
    conversation, the first that can."""

    def __init__(self, tasks: Iterable[Task] = (), asides: Iterable[Aside] = (), window: int | None = None) -> None:
        self._tasks = {task.ask: task for task in tasks}
        self._asides = tuple(asides)
        self._window = window
        self.refused = 0
        """Requests that were longer than the window."""
        self._last = b""
        self._walk = Walk()
        self.beside = Walk()
        """What the requests beside conversations took."""
        self.prompts: list[bytes] = []
        """What stood before the model in each conversation's request since the last walk."""

    def add(self, *tasks: Task) -> None:
        self._tasks |= {task.ask: task for task in tasks}

    def walk(self) -> Walk:
        """What was done since the last time."""
        done, self._walk = self._walk, Walk()
        self.prompts.clear()
        return done

    def __call__(self, request: Request) -> Reply:
        sent = prompt_of(request)
        size = len(sent) // BYTES_PER_TOKEN
        if self._window is not None and size > self._window:
            self.refused += 1
            return error("context_too_long")
        if not request.body.get("tools"):
            self.beside += Walk(calls=1, tokens=size)
            text = next((said for aside in self._asides if (said := aside(request)) is not None), "")
            return Reply(text, usage=Usage(input=size, output=len(text) // BYTES_PER_TOKEN))
        cached = shared_prefix(self._last, sent)
        self._last = sent
        self.prompts.append(sent)
        reply, right = self._next(request, sent)
        self._walk += Walk(right=right, calls=1, steps=len(reply.calls), tokens=size, cached=cached)
        read = cached // BYTES_PER_TOKEN
        usage = Usage(input=size - read, cache_read=read, output=5 + 20 * len(reply.calls))
        return msgspec.structs.replace(reply, usage=usage, chunk=400)

    def _next(self, request: Request, sent: bytes) -> tuple[Reply, bool]:
        asked = request.user_text
        task = next((task for words, task in self._tasks.items() if words in asked), None)
        if task is None:
            return Reply("Good."), False
        known = task.token.encode() in sent
        steps = (
            task.finish if known else (*(step for word, step in task.shortcuts if word.encode() in sent), *task.path)
        )
        call = next(_not_made(steps, request, task.token), None)
        if call is not None:
            return Reply(calls=(call,)), False
        if not known:
            return Reply(GAVE_UP), False
        misled = any(token.encode() in sent for token in task.outdated)
        return Reply(task.says or f"It is {task.token}."), not misled


def prompt_of(request: Request) -> bytes:
    """A request in the order in which a provider caches it: tools, then messages."""
    return msgspec.json.encode(request.body.get("tools")) + msgspec.json.encode(request.history)


def shared_prefix(one: bytes, other: bytes) -> int:
    """How many bytes two texts have in common from their beginning on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def this_turn(request: Request) -> list[dict[str, Any]]:
    """The messages behind the last one of a person."""
    history = request.history
    last = max((at for at, message in enumerate(history) if message.get("role") == "user"), default=-1)
    return history[last + 1 :]


def results(request: Request) -> list[str]:
    """What the calls of this turn gave, in order."""
    return [message["content"] for message in this_turn(request) if message.get("role") == "tool"]


def _not_made(steps: Iterable[Step], request: Request, token: str) -> Iterator[Call]:
    """The calls that are still to be made, in order."""
    made = [
        (call["function"]["name"], msgspec.json.decode(call["function"]["arguments"]))
        for message in this_turn(request)
        for call in message.get("tool_calls") or ()
    ]
    for step in steps:
        call = step if isinstance(step, Call) else step(request)
        if call is not None and (filled := _filled(call, token)) and (filled.name, filled.args) not in made:
            yield filled


def _filled(call: Call, token: str) -> Call:
    """The call with the token where it says {token}; only a finish says so."""
    text = call.args_text
    return Call(call.name, msgspec.json.decode(text.replace("{token}", token))) if "{token}" in text else call
