"""Failing calls: what is tried again, with which key, by whom, how long that may take, and what is said at the end."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from random import Random
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.models.credentials import NO_KEY, ApiKey, Key, KeyPool
from hermes.models.retry import Candidate, Resilient
from hermes.protocol.errors import (
    AuthFailed,
    BadRequest,
    ContextTooLong,
    Disconnected,
    ModelError,
    OutputTooLarge,
    Overloaded,
    QuotaSpent,
    RateLimited,
    Refused,
)
from hermes.protocol.models import Began, Delta, Ended, Finished, Grew, ModelRequest, Retrying, Tokens

REQUEST = ModelRequest(system="", tools=(), items=())
A, B = ApiKey("a", "key-a"), ApiKey("b", "key-b")


class Script:
    """What happens at each call, in order, and what was asked: (model, key, output cap)."""

    def __init__(self, *steps: ModelError | str) -> None:
        self.steps = list(steps)
        self.asked: list[tuple[str, str, int | None]] = []
        self.closed = 0

    def candidate(self, name: str, keys: Sequence[Key] = (NO_KEY,), clock: "Clock | None" = None) -> Candidate:
        return Candidate(KeyPool(keys, clock=clock or Clock()), lambda secret: Scripted(self, name, secret))


class Scripted:
    """A model that follows a script: an error is raised after "…" has come, a text is answered."""

    dialect = "chat"
    window = 1000
    profile: Literal["full", "small"] = "full"

    def __init__(self, script: Script, name: str, secret: str) -> None:
        self.name = name
        self._script = script
        self._secret = secret

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        self._script.asked.append((self.name, self._secret, request.max_output))
        step = self._script.steps.pop(0)
        try:
            yield Began(0, "text")
            yield Grew(0, "…" if isinstance(step, ModelError) else step)
            await asyncio.sleep(0)
            if isinstance(step, ModelError):
                raise step
            if step != "cut":
                yield Ended(0)
                yield Finished("stop", Tokens(), self.name)
        finally:
            self._script.closed += 1


class Clock:
    """A time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 5000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def resilient(clock: Clock, *candidates: Candidate, retries: int = 3) -> Resilient:
    return Resilient(candidates, retries=retries, sleep=clock.sleep, random=Random(7), clock=clock)


async def ask(model: Resilient, request: ModelRequest = REQUEST) -> list[Delta]:
    return [delta async for delta in model.stream(request)]


def retries_in(deltas: Sequence[Delta]) -> list[Retrying]:
    return [delta for delta in deltas if isinstance(delta, Retrying)]


async def test_an_answer_comes_through_as_it_is() -> None:
    clock, script = Clock(), Script("hello")
    assert await ask(resilient(clock, script.candidate("p:m"))) == [
        Began(0, "text"),
        Grew(0, "hello"),
        Ended(0),
        Finished("stop", Tokens(), "p:m"),
    ]
    assert (clock.slept, script.closed) == ([], 1)


async def test_a_stream_that_breaks_in_the_middle_begins_anew_and_says_so() -> None:
    clock, script = Clock(), Script(Disconnected("cut off"), "hello")
    deltas = await ask(resilient(clock, script.candidate("p:m")))
    assert deltas == [
        Began(0, "text"),
        Grew(0, "…"),
        Retrying("cut off", clock.slept[0], "p:m"),
        Began(0, "text"),
        Grew(0, "hello"),
        Ended(0),
        Finished("stop", Tokens(), "p:m"),
    ]
    assert 0.5 <= clock.slept[0] <= 1.0


async def test_a_stream_that_ends_without_a_finish_is_no_answer() -> None:
    clock, script = Clock(), Script("cut", "hello")
    assert isinstance((await ask(resilient(clock, script.candidate("p:m"))))[-1], Finished)
    assert len(script.asked) == 2


@pytest.mark.parametrize("fault", [Disconnected("reset"), Overloaded("busy"), RateLimited("slow down")])
async def test_what_may_pass_is_tried_three_more_times_each_later(fault: ModelError) -> None:
    clock, script = Clock(), Script(*[fault] * 4)
    with pytest.raises(type(fault)) as raised:
        await ask(resilient(clock, script.candidate("p:m")))
    assert str(raised.value) == f"p:m: {fault} (4 tries)"
    assert len(script.asked) == 4
    assert [low <= wait <= 2 * low for wait, low in zip(clock.slept, [0.5, 1, 2], strict=True)] == [True] * 3


async def test_two_processes_that_failed_together_come_back_apart() -> None:
    waits: set[float] = set()
    for seed in range(20):
        clock, script = Clock(), Script(Overloaded("busy"), "hello")
        model = Resilient([script.candidate("p:m")], sleep=clock.sleep, random=Random(seed), clock=clock)
        await ask(model)
        waits |= {*clock.slept}
    assert len(waits) == 20


@pytest.mark.parametrize("fault", [RateLimited("slow", after=40), Overloaded("busy", after=40)])
async def test_a_wait_that_the_provider_asks_for_is_kept_to(fault: ModelError) -> None:
    clock, script = Clock(), Script(fault, "hello")
    await ask(resilient(clock, script.candidate("p:m")))
    assert 40 <= clock.slept[0] <= 41


@pytest.mark.parametrize("fault", [RateLimited("slow", after=3600), Overloaded("busy", after=3600)])
async def test_a_wait_that_is_too_long_goes_to_the_next_model_at_once(fault: ModelError) -> None:
    clock, script = Clock(), Script(fault, "hello")
    model = resilient(clock, script.candidate("p:m"), script.candidate("q:n"))
    deltas = await ask(model)
    assert retries_in(deltas) == [Retrying(str(fault), 0.0, "q:n")]
    assert clock.slept == []
    assert [name for name, _, _ in script.asked] == ["p:m", "q:n"]


@pytest.mark.parametrize(
    "fault",
    [RateLimited("slow"), RateLimited("slow", after=3600), QuotaSpent("no credit"), AuthFailed("bad key")],
)
async def test_a_key_that_fails_gives_way_to_the_next_without_waiting(fault: ModelError) -> None:
    clock, script = Clock(), Script(fault, "hello", "again")
    model = resilient(clock, script.candidate("p:m", [A, B], clock))
    deltas = await ask(model)
    assert retries_in(deltas) == [Retrying(str(fault), 0.0, "p:m")]
    await ask(model)
    assert [key for _, key, _ in script.asked] == ["key-a", "key-b", "key-b"]
    assert clock.slept == [0.0]


async def test_a_key_comes_back_after_its_rest() -> None:
    clock, script = Clock(), Script(RateLimited("slow", after=30), "one", "two")
    model = resilient(clock, script.candidate("p:m", [A, B], clock))
    await ask(model)
    clock.now += 31
    await ask(model)
    assert [key for _, key, _ in script.asked] == ["key-a", "key-b", "key-a"]


async def test_the_only_key_is_used_again_once_it_has_worked() -> None:
    clock, script = Clock(), Script(RateLimited("slow"), "one", "two")
    model = resilient(clock, script.candidate("p:m", [A], clock), script.candidate("q:n"))
    await ask(model)
    await ask(model)
    assert [name for name, _, _ in script.asked] == ["p:m", "p:m", "p:m"]


async def test_bad_keys_are_each_tried_once_and_then_the_next_model() -> None:
    clock, script = Clock(), Script(AuthFailed("no a"), AuthFailed("no b"), "hello")
    await ask(resilient(clock, script.candidate("p:m", [A, B], clock), script.candidate("q:n")))
    assert script.asked == [("p:m", "key-a", None), ("p:m", "key-b", None), ("q:n", "", None)]


async def test_fallbacks_are_tried_in_order_and_the_last_error_names_them_all() -> None:
    clock, script = (
        Clock(),
        Script(AuthFailed("bad key", status=401), BadRequest("no such model"), Overloaded("busy")),
    )
    names = ["p:m", "q:n", "r:o"]
    model = resilient(clock, *(script.candidate(name) for name in names), retries=0)
    with pytest.raises(AuthFailed) as raised:
        await ask(model)
    assert str(raised.value) == "p:m: bad key; q:n: no such model; r:o: busy"
    assert raised.value.status == 401
    assert [name for name, _, _ in script.asked] == names


@pytest.mark.parametrize("fault", [ContextTooLong("too long"), Refused("no")])
async def test_what_the_caller_must_act_on_is_not_tried_again(fault: ModelError) -> None:
    clock, script = Clock(), Script(fault)
    with pytest.raises(type(fault)) as raised:
        await ask(resilient(clock, script.candidate("p:m"), script.candidate("q:n")))
    assert raised.value is fault


@pytest.mark.parametrize(
    ("asked", "said", "lowered"), [(None, None, 8192), (64_000, None, 32_000), (64_000, 4096, 4096)]
)
async def test_an_output_cap_that_is_too_large_is_lowered_once_for_this_call(
    asked: int | None, said: int | None, lowered: int
) -> None:
    clock, script = Clock(), Script(OutputTooLarge("max_tokens", cap=said), "hello", "next")
    model = resilient(clock, script.candidate("p:m"))
    request = ModelRequest(system="", tools=(), items=(), max_output=asked)
    await ask(model, request)
    await ask(model, request)
    assert [cap for _, _, cap in script.asked] == [asked, lowered, asked]
    assert model.window == 1000


async def test_an_output_cap_that_is_still_too_large_is_given_up() -> None:
    clock, script = Clock(), Script(OutputTooLarge("max_tokens"), OutputTooLarge("max_tokens"))
    with pytest.raises(OutputTooLarge):
        await ask(resilient(clock, script.candidate("p:m")))


@pytest.mark.parametrize(
    ("fault", "rest"),
    [
        (Overloaded("busy"), 60),
        (RateLimited("slow", after=500), 500),
        (QuotaSpent("no credit"), 3600),
        (AuthFailed("bad key"), 3600),
    ],
)
async def test_a_fallback_answers_until_the_first_model_has_rested(fault: ModelError, rest: float) -> None:
    clock, script = Clock(), Script(fault, "one", "two", "three")
    model = resilient(clock, script.candidate("p:m", clock=clock), script.candidate("q:n", clock=clock), retries=0)
    assert model.name == "p:m"
    await ask(model)
    assert model.name == "q:n"
    clock.now += rest - 1
    await ask(model)
    clock.now += 2
    await ask(model)
    assert [name for name, _, _ in script.asked] == ["p:m", "q:n", "q:n", "p:m"]
    assert model.name == "p:m"


async def test_when_all_have_failed_lately_all_are_tried_again() -> None:
    clock, script = Clock(), Script(BadRequest("1"), BadRequest("2"), BadRequest("3"), "hello")
    model = resilient(clock, script.candidate("p:m"), script.candidate("q:n"))
    with pytest.raises(BadRequest):
        await ask(model)
    await ask(model)
    assert [name for name, _, _ in script.asked] == ["p:m", "q:n", "p:m", "q:n"]


FAULTS = [
    RateLimited("slow"),
    RateLimited("slow", after=100),
    RateLimited("slow", after=9999),
    QuotaSpent("no credit"),
    AuthFailed("bad key"),
    Overloaded("busy"),
    Disconnected("reset"),
    OutputTooLarge("max_tokens"),
    BadRequest("no"),
    ContextTooLong("too long"),
    Refused("no"),
]


@given(faults=st.lists(st.sampled_from(FAULTS), max_size=30))
@settings(max_examples=200, deadline=None)
def test_whatever_fails_a_call_ends_after_few_tries_and_within_minutes(faults: list[ModelError]) -> None:
    clock, script = Clock(), Script(*faults, *["hello"] * 30)
    candidates = [script.candidate(name, [A, B], clock) for name in ("p:m", "q:n")]
    try:
        deltas = asyncio.run(ask(resilient(clock, *candidates)))
    except ModelError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(deltas[-1], Finished)
        assert len(retries_in(deltas)) == len(script.asked) - 1
    most = len(candidates) * (1 + 3 + 1 + 1)
    assert len(script.asked) <= most, "one try, three repeats, one other key, one lower cap"
    assert sum(clock.slept) <= len(candidates) * 3 * 101
    assert script.closed == len(script.asked)


class Renewing:
    """A login whose token changes when the old one is rejected."""

    label = "login"
    renews = True

    def __init__(self) -> None:
        self.token = "old"

    async def secret(self, rejected: str = "") -> str:
        if rejected == self.token:
            self.token = "new"
        return self.token


async def test_a_rejected_login_is_renewed_before_another_key_is_tried() -> None:
    clock, script = Clock(), Script(AuthFailed("expired"), "hello")
    await ask(resilient(clock, script.candidate("p:m", [Renewing(), B], clock)))
    assert [key for _, key, _ in script.asked] == ["old", "new"]


async def test_a_login_that_fails_again_after_renewal_gives_way() -> None:
    clock, script = Clock(), Script(AuthFailed("expired"), AuthFailed("banned"), "hello")
    await ask(resilient(clock, script.candidate("p:m", [Renewing(), B], clock)))
    assert [key for _, key, _ in script.asked] == ["old", "new", "key-b"]


async def test_closing_early_closes_the_stream_inside() -> None:
    clock, script = Clock(), Script("hello")
    async with aclosing(resilient(clock, script.candidate("p:m")).stream(REQUEST)) as deltas:
        assert await anext(deltas) == Began(0, "text")
    assert script.closed == 1


async def test_cancelling_while_it_waits_ends_it_at_once() -> None:
    script = Script(Overloaded("busy"), "never")
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.sleep(3600)

    model = Resilient([script.candidate("p:m")], sleep=sleep)
    task = asyncio.ensure_future(ask(model))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(script.asked) == 1


async def test_an_error_that_is_no_model_error_is_not_hidden() -> None:
    class Broken(Scripted):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
            raise ZeroDivisionError
            yield

    candidate = Candidate(KeyPool([NO_KEY]), lambda secret: Broken(Script(), "p:m", secret))
    with pytest.raises(ZeroDivisionError):
        await ask(resilient(Clock(), candidate))
