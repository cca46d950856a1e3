"""Everything that a model API does wrong, in each dialect: the right ending, a bounded number of requests, a usable session."""

import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes.models.endpoint import Patience
from hermes.protocol.events import Notice, TurnEnded, Usage
from tests.services.model_server import Answerer, ModelServer
from tests.services.script import Call, Error, Fault, Reply, call, error
from tests.services.script import Usage as Tokens
from tests.stories.stage import DIALECTS, Home, QuickApp, Story, tell

TRIES = 4
"""The first one and the three of agent.api_max_retries."""
NO_CLASS_NAME = r"^(?!.*\wError)"
"""A person is told what happened, not which class of a library said so."""
FINE = Reply("fine")
DONE = TurnEnded("done")

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def broken(**fault: Any) -> Reply:
    return Reply("words that never came to an end", fault=Fault(**fault))


PASSING: dict[str, tuple[Reply, str]] = {
    "429": (error(429), "rate limit"),
    "429 with Retry-After": (error(429, headers={"retry-after": "7"}), "rate limit"),
    "429 with Retry-After: 0": (error(429, headers={"retry-after": "0"}), "rate limit"),
    "408": (error(408), "timed out"),
    "500": (error(500), "error"),
    "502": (error(502), "error"),
    "503": (error(503), "overloaded"),
    "529": (error(529), "overloaded"),
    "503 with Retry-After": (error(503, headers={"retry-after": "2"}), "overloaded"),
    "an HTML error page": (error("html_page"), "^[^<>]*502 Bad Gateway[^<>]*$"),
    "an error without a body": (error("empty"), "HTTP 500"),
    "a body of no bytes": (Reply(error=Error(kind="empty", status=200)), "cut off"),
    "a reset before the answer": (broken(end="reset"), f"{NO_CLASS_NAME}.*connection"),
    "a reset amid the answer": (broken(end="reset", after_events=3), f"{NO_CLASS_NAME}.*connection"),
    "a cut before the answer": (broken(end="cut"), "disconnected"),
    "a cut amid the answer": (broken(end="cut", after_events=3), "connection"),
    "bad JSON": (broken(bad_event=2), "cannot be read"),
    "an error amid the answer": (broken(end="error", after_events=3), "overloaded"),
    "a rate limit amid the answer": (broken(end="error", after_events=3, error="rate_limit"), "rate limit"),
    "no finish reason": (Reply("no end", finish=None), "cut off"),
}

FINAL: dict[str, tuple[Reply, str]] = {
    "401": (error(401), "api.key"),
    "402": (error(402), "credits|billing"),
    "403": (error(403), "may not use"),
    "404": (error(404), "does not exist|no-such-model"),
    "400": (error("bad_request"), "invalid request"),
    "413": (error(413), "too large|maximum size"),
    "context too long": (error("context_too_long"), "context|too long"),
    "context too long amid the answer": (
        broken(end="error", after_events=3, error="context_too_long"),
        "context|too long",
    ),
    "insufficient quota": (error("insufficient_quota"), "quota|credit balance"),
    "a web page with status 200": (Reply(error=Error(kind="html_page", status=200)), "web page.*check base_url"),
    "a Retry-After that nobody would wait for": (error(429, headers={"retry-after": "4000"}), "rate limit"),
}


@asynccontextmanager
async def against(
    home: Home, dialect: str, script: list[Reply] | Answerer, patience: Patience = Patience(), **more: Any
):
    """A session against a server that says this and nothing that a provider would have refused."""
    async with ModelServer(script) as server:
        home.use(server.base_url, dialect, **more)
        app = QuickApp(home.settings(), patience)
        async with tell(home, app) as story:
            yield server, story, app.waits
    assert server.violations == []


async def is_usable(story: Story, answer: str = "fine") -> bool:
    ended = await story.say("again")
    return (ended, story.answers()[-1:]) == (DONE, [answer])


@every_dialect
@pytest.mark.parametrize("fault", PASSING)
async def test_a_fault_that_may_pass_is_tried_again_and_not_for_ever(home, dialect, fault):
    reply, words = PASSING[fault]
    async with against(home, dialect, [reply, FINE, *[reply] * TRIES, FINE]) as (server, story, waits):
        assert await story.say("it passes") == DONE
        assert (story.answers(), len(server.requests), len(waits)) == (["fine"], 2, 1)
        assert [notice.code for notice in story.of(Notice)] == ["retry"]

        ended = await story.say("it stays")
        assert (ended.reason, len(server.requests), len(waits)) == ("failed", 2 + TRIES, TRIES)
        assert re.search(words, ended.error, re.IGNORECASE), ended.error
        assert f"{TRIES} tries" in ended.error
        assert story.answers() == ["fine"]
        assert await is_usable(story)


@every_dialect
@pytest.mark.parametrize("fault", FINAL)
async def test_a_fault_that_would_only_come_again_ends_the_turn_at_once(home, dialect, fault):
    reply, words = FINAL[fault]
    async with against(home, dialect, [reply, FINE]) as (server, story, waits):
        ended = await story.say("go")
        assert (ended.reason, len(server.requests), waits) == ("failed", 1, [])
        assert re.search(words, ended.error, re.IGNORECASE), ended.error
        assert "\n" not in ended.error
        assert await is_usable(story)


@every_dialect
async def test_waits_are_as_long_as_the_provider_says_or_longer_each_time(home, dialect):
    told = [error(429, headers={"retry-after": "7"})] * 2
    untold = [error(500)] * 3
    async with against(home, dialect, [*told, FINE, *untold, FINE]) as (_, story, waits):
        assert await story.say("told") == DONE
        assert await story.say("untold") == DONE
        assert all(7 <= wait <= 8 for wait in waits[:2])
        spans = [(0.5, 1), (1, 2), (2, 4)]
        assert all(low <= wait <= high for (low, high), wait in zip(spans, waits[2:], strict=True))


async def test_a_server_that_falls_silent_is_given_up(tmp_path: Path):
    async def silence(name: str, dialect: str, stall: Reply) -> None:
        (tmp_path / name).mkdir()
        script = [stall, FINE, stall, stall, FINE]
        patience = Patience(first=1.0, between=1.0)
        retries = {"agent": {"api_max_retries": 1}}
        async with against(Home(tmp_path / name), dialect, script, patience, **retries) as (server, story, _):
            assert await story.say("it passes") == DONE
            ended = await story.say("it stays")
            assert (ended.reason, len(server.requests)) == ("failed", 4)
            assert "sent nothing for 1 s (2 tries)" in ended.error
            assert await is_usable(story)

    stalls = {"before": broken(end="stall"), "amid": broken(end="stall", after_events=3)}
    await asyncio.gather(*[silence(f"{d} {when}", d, stall) for d in DIALECTS for when, stall in stalls.items()])


@every_dialect
@pytest.mark.parametrize(
    ("finish", "words"),
    [("content_filter", "I would rath"), ("content_filter", ""), ("refusal", "I would rather not.")],
)
async def test_a_refusal_is_told_as_one_and_its_words_are_kept(home, dialect, finish, words):
    async with against(home, dialect, [Reply(words, finish=finish), FINE]) as (server, story, _):
        ended = await story.say("go")
        assert (ended.reason, story.answers(), len(server.requests)) == ("refused", [words] if words else [], 1)
        # The words stand in the answer already; what is to be told is why the turn ended.
        assert "declined" in ended.error
        assert await is_usable(story)


CAP_FIELD = {"chat": "max_tokens", "responses": "max_output_tokens", "anthropic": "max_tokens"}


@every_dialect
async def test_max_tokens_too_large_lowers_the_cap_of_this_call_and_not_the_window(home, dialect):
    async with against(home, dialect, [error("max_tokens_too_large"), FINE, FINE]) as (server, story, waits):
        window = story.session.model.window
        assert await story.say("go") == DONE
        assert await is_usable(story)
        first, second, third = (request.body.get(CAP_FIELD[dialect]) for request in server.requests)
        assert (second, third, waits) == (4096, first, [0.0])
        assert {usage.context_size for usage in story.of(Usage)} == {story.session.model.window} == {window}


@every_dialect
async def test_max_tokens_that_stay_too_large_are_not_tried_for_ever(home, dialect):
    async with against(home, dialect, [error("max_tokens_too_large")] * 2 + [FINE]) as (server, story, _):
        ended = await story.say("go")
        assert (ended.reason, len(server.requests)) == ("failed", 2)
        assert await is_usable(story)


@every_dialect
async def test_one_json_body_in_place_of_a_stream_is_an_answer(home, dialect):
    look = Reply(calls=(Call("read_file", {"path": "."}),), fault=Fault(as_json=True))
    async with against(home, dialect, [look, Reply("whole", fault=Fault(as_json=True)), FINE]) as (server, story, _):
        assert await story.say("go") == DONE
        assert (story.answers(), len(server.requests)) == (["whole"], 2)
        assert await is_usable(story)


@every_dialect
async def test_ids_that_come_twice_in_an_answer_or_later_are_told_apart(home, dialect):
    twice = Reply(calls=tuple(Call("write_file", {"path": f"{n}.txt", "content": n}, "call_0") for n in "ab"))
    again = Reply(calls=(Call("write_file", {"path": "c.txt", "content": "c"}, "call_0"),))
    async with against(home, dialect, [twice, again, FINE, FINE]) as (server, story, _):
        assert await story.say("go") == DONE
        assert sorted(path.name for path in home.work.iterdir()) == ["a.txt", "b.txt", "c.txt"]
        assert [item.status for item in story.calls()] == ["done"] * 3
        assert len(server.requests[2].results) == 3
        assert await is_usable(story)


NOT_RUN: dict[str, tuple[Call, str]] = {
    "an unknown tool": (Call("write_fiel", {"path": "x", "content": "x"}), "did you mean write_file"),
    "arguments that are cut": (Call("write_file", '{"path": "x", "conte'), "are not JSON"),
    "arguments that are no object": (Call("write_file", '["x"]'), "one JSON object"),
    "arguments against the schema": (Call("write_file", {"path": "x", "content": ["x"]}), "content: Expected"),
    "arguments that are missing": (Call("write_file", {"path": "x"}), "'content' is missing"),
}


@every_dialect
@pytest.mark.parametrize("what", NOT_RUN)
async def test_a_call_that_cannot_be_meant_is_not_run_and_the_model_is_told(home, dialect, what):
    wrong, words = NOT_RUN[what]
    async with against(home, dialect, [Reply(calls=(wrong,)), FINE, FINE]) as (server, story, _):
        assert await story.say("go") == DONE
        assert [item.status for item in story.calls()] == ["failed"]
        assert words in "".join(server.requests[1].results.values())
        assert list(home.work.iterdir()) == []
        assert await is_usable(story)


@every_dialect
async def test_a_model_that_never_stops_calling_stops_at_the_cap(home, dialect):
    def repeat(request):
        return FINE if request.user_text == "again" else call("read_file", path=".")

    async with against(home, dialect, repeat, agent={"max_turns": 6}) as (server, story, _):
        ended = await story.say("go")
        assert (ended.reason, ended.limit, len(server.requests)) == ("limit", "steps", 6)
        assert await is_usable(story)


@pytest.mark.parametrize(
    ("budget", "limit"), [({"max_tokens_per_turn": 4000}, "tokens"), ({"max_seconds_per_turn": 1}, "time")]
)
async def test_a_model_that_never_stops_calling_stops_when_the_budget_is_spent(home, budget, limit):
    def repeat(request):
        again = Reply(calls=(Call("terminal", {"command": "seq 200"}),), usage=Tokens(input=500, output=100))
        return FINE if request.user_text == "again" else again

    async with against(home, "chat", repeat, agent=budget, approvals={"mode": "off"}) as (server, story, _):
        ended = await story.say("go")
        assert (ended.reason, ended.limit) == ("limit", limit)
        assert 1 < len(server.requests) < (8 if limit == "tokens" else 90)
        assert await is_usable(story)


@every_dialect
async def test_an_answer_without_an_end_is_cut_off(home, dialect):
    async with against(home, dialect, [Reply("again and " * 4096, endless=True, chunk=40_960), FINE]) as stage:
        server, story, _ = stage
        ended = await story.say("go")
        assert (ended.reason, ended.limit, len(server.requests)) == ("limit", "output", 1)
        assert await is_usable(story)


@every_dialect
async def test_calls_that_reach_the_output_limit_are_not_run(home, dialect):
    long = Call("write_file", '{"path": "x", "content": "so far')
    async with against(home, dialect, [Reply(calls=(long,), finish="length")] * 3 + [FINE]) as (server, story, _):
        ended = await story.say("go")
        assert (ended.reason, ended.limit, len(server.requests)) == ("limit", "output", 3)
        assert {item.status for item in story.calls()} == {"failed"}
        assert list(home.work.iterdir()) == []
        assert await is_usable(story)
