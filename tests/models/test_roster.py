"""Choices opened against real servers on loopback: keys, retries and fallbacks as a provider sees them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from hermes.config import CustomProvider
from hermes.models.authfile import AuthFile, Grant, StoredKey
from hermes.models.catalog import WINDOW, Catalog
from hermes.models.choose import Choice, Chooser
from hermes.models.endpoint import Endpoint
from hermes.models.pool import Pool
from hermes.models.prices import Prices
from hermes.models.retry import Resilient
from hermes.models.roster import Roster
from hermes.protocol.errors import AuthFailed, UserError
from hermes.protocol.items import Text, UserMessage
from hermes.protocol.models import Delta, Finished, Grew, Model, ModelRequest, Retrying
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Fault, Reply, error

HELLO = UserMessage(id="u1", turn=1, step=0, index=0, parts=(Text("hello"),))
REQUEST = ModelRequest(system="Be brief.", tools=(), items=(HELLO,))
AGAIN = {"retry-after": "0"}


def no_local(name: str) -> Model:
    raise UserError("the embedded model is not installed")


class Bench:
    """A home with an auth.json, and rosters for it."""

    def __init__(self, home: Path, pool: Pool) -> None:
        self.auth = AuthFile(home / "auth.json")
        self._pool = pool

    def roster(
        self, environ: dict[str, str] | None = None, *, customs: dict[str, CustomProvider] | None = None
    ) -> Roster:
        chooser = Chooser(Catalog(), environ=environ or {}, auth=self.auth.read(), customs=customs)
        return Roster(chooser, self._pool, self.auth, local=no_local, retries=2)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with Pool() as pool:
        yield Bench(tmp_path, pool)


def at(server: ModelServer, key: str = "") -> Choice:
    return Choice("custom", "scripted", base_url=server.base_url, api_key_env=key)


async def ask(model: Resilient) -> list[Delta]:
    return [delta async for delta in model.stream(REQUEST)]


def answer_of(deltas: list[Delta]) -> str:
    """The text behind the last Retrying, if the call finished."""
    assert isinstance(deltas[-1], Finished)
    last = max((i for i, delta in enumerate(deltas) if isinstance(delta, Retrying)), default=0)
    return "".join(delta.text for delta in deltas[last:] if isinstance(delta, Grew))


def reasons(deltas: list[Delta]) -> list[tuple[str, str]]:
    return [(delta.why, delta.model) for delta in deltas if isinstance(delta, Retrying)]


async def test_nothing_is_asked_of_a_provider_before_the_first_call(bench: Bench) -> None:
    async with ModelServer([Reply("hi")]) as server:
        model = bench.roster().open(at(server))
        assert (model.name, model.dialect, model.window, model.profile) == (
            "custom:scripted",
            "chat",
            WINDOW,
            "full",
        )
        assert server.connections == 0
        assert answer_of(await ask(model)) == "hi"
        assert server.violations == []


@pytest.mark.parametrize(
    "fault",
    [
        error(429, headers=AGAIN),
        error("overloaded", headers=AGAIN),
        error("html_page", headers=AGAIN),
    ],
)
async def test_a_provider_that_refuses_for_a_moment_is_asked_again(bench: Bench, fault: Reply) -> None:
    async with ModelServer([fault, Reply("hi")]) as server:
        deltas = await ask(bench.roster().open(at(server)))
        assert answer_of(deltas) == "hi"
        assert len(reasons(deltas)) == 1
        assert len(server.requests) == 2


async def test_an_answer_that_is_cut_is_void_and_comes_anew(bench: Bench) -> None:
    cut = Reply("partial words that never end", fault=Fault(end="cut", after_events=3))
    async with ModelServer([cut, Reply("whole")]) as server:
        model = Resilient([bench.roster().candidate(at(server))], sleep=_no_time)
        assert answer_of(await ask(model)) == "whole"


async def _no_time(seconds: float) -> None:
    """Sleep for no time at all."""


async def test_keys_of_one_provider_rotate_until_one_is_taken(bench: Bench) -> None:
    def answer(request: Request) -> Reply:
        key = request.headers["authorization"].removeprefix("Bearer ")
        return {"one": error(401), "two": error(402), "three": error(429)}.get(key, Reply(f"hi from {key}"))

    environ = {"LAB": "one", "LAB_2": "two", "LAB_3": "three", "LAB_4": "four"}
    async with ModelServer(answer) as server:
        roster = bench.roster(environ)
        assert answer_of(await ask(roster.open(at(server, "LAB")))) == "hi from four"
        assert len(server.requests) == 4
        assert answer_of(await ask(roster.open(at(server, "LAB")))) == "hi from four"
        assert len(server.requests) == 5, "what one session learned of the keys, another knows"


async def test_fallbacks_answer_in_order_and_say_so(bench: Bench) -> None:
    async with (
        ModelServer([error(401)]) as first,
        ModelServer([error(404)]) as second,
        ModelServer([Reply("hi")]) as third,
    ):
        customs = {
            name: CustomProvider(base_url=server.base_url, context_length=9000)
            for name, server in {"a": first, "b": second, "c": third}.items()
        }
        roster = bench.roster(customs=customs)
        one, two, three = (roster.chooser.resolve(f"custom:{name}:m") for name in "abc")
        unusable = Choice("openai", "gpt-6-luna")
        model = roster.open(one, [two, unusable, three])
        deltas = await ask(model)
        assert answer_of(deltas) == "hi"
        assert [name for _, name in reasons(deltas)] == ["custom:b:m", "custom:c:m"]
        assert (model.name, model.window) == ("custom:c:m", 9000)
        finished = deltas[-1]
        assert isinstance(finished, Finished)
        assert finished.model == "custom:c:m"


async def test_when_nobody_answers_one_line_names_everyone(bench: Bench) -> None:
    async with ModelServer([error(401), error(401)]) as server:
        customs = {name: CustomProvider(base_url=server.base_url) for name in ("a", "b")}
        roster = bench.roster(customs=customs)
        model = roster.open(roster.chooser.resolve("a:m"), [roster.chooser.resolve("b:m")])
        with pytest.raises(AuthFailed) as raised:
            await ask(model)
    said = str(raised.value)
    assert said.startswith("custom:a:m: ")
    assert "; custom:b:m: " in said
    assert "\n" not in said


async def test_a_vendors_key_is_not_sent_to_an_address_of_ones_own(bench: Bench) -> None:
    async with ModelServer([Reply("hi"), Reply("hi")]) as server:
        roster = bench.roster({"MISTRAL_API_KEY": "secret"})
        foreign = Choice("mistral", "scripted", base_url=server.base_url)
        await ask(roster.open(foreign))
        assert "authorization" not in server.last.headers
        await ask(roster.open(replace(foreign, api_key_env="MISTRAL_API_KEY")))
        assert server.last.headers["authorization"] == "Bearer secret"


async def test_a_missing_key_is_one_line_with_what_to_set(bench: Bench) -> None:
    with pytest.raises(UserError) as raised:
        bench.roster().open(Choice("openai", "gpt-6-luna"))
    assert str(raised.value) == "there is no key for OpenAI: OPENAI_API_KEY is not set"
    with pytest.raises(UserError) as raised:
        bench.roster().open(Choice("custom", "m", base_url="http://127.0.0.1:9/v1", api_key_env="LAB"))
    assert str(raised.value) == "there is no key for custom:m: LAB is not set"
    assert raised.value.hint == "hermes config set LAB YOUR-KEY"


async def test_an_endpoint_gets_what_the_catalog_knows(bench: Bench) -> None:
    roster = bench.roster({"ANTHROPIC_API_KEY": "k", "DEEPSEEK_API_KEY": "k", "OPENROUTER_API_KEY": "k"})

    def opened(name: str) -> Endpoint:
        model = roster.candidate(roster.chooser.resolve(name)).model("k")
        assert isinstance(model, Endpoint)
        return model

    claude = opened("anthropic:claude-opus-5.5")
    assert (claude.name, claude.model, claude.dialect) == (
        "anthropic:claude-opus-5-5",
        "claude-opus-5-5",
        "anthropic",
    )
    assert (claude.window, claude.max_output) == (1_000_000, 128_000)
    assert claude.prices == Prices(input=4, output=20, cache_read=0.2, cache_write=5)
    assert (claude.url, claude.key, claude.key_for) == (
        "https://api.anthropic.com/v1",
        "k",
        "https://api.anthropic.com/v1",
    )
    deepseek = opened("deepseek:deepseek-v4-pro")
    assert (deepseek.quirks.reasoning_back, deepseek.quirks.images) == (True, False)
    assert opened("deepseek:deepseek-flash").quirks.images
    router = opened("openrouter:anthropic/claude-opus-5.5")
    assert (router.window, router.prices, router.max_output) == (1_000_000, None, None)


async def test_a_login_is_used_behind_the_keys_that_were_set(bench: Bench) -> None:
    bench.auth.change(lambda auth: auth.with_login("nous", Grant("access", "refresh", 4e9)))
    bench.auth.change(lambda auth: auth.with_key("nous", StoredKey("spare", "stored")))
    pool = bench.roster({"NOUS_API_KEY": "set"}).keys(Choice("nous", "m"))
    assert [(key.label, await key.secret()) for key in pool.keys] == [
        ("NOUS_API_KEY", "set"),
        ("spare", "stored"),
        ("login", "access"),
    ]
    foreign = Choice("nous", "m", base_url="http://127.0.0.1:9/v1")
    assert [key.label for key in bench.roster({"NOUS_API_KEY": "set"}).keys(foreign).keys] == ["no key"]


async def test_the_embedded_model_is_opened_by_whoever_has_it(bench: Bench) -> None:
    with pytest.raises(UserError, match="not installed"):
        bench.roster().open(Choice("local", "qwen2.5-coder-1.5b"))


async def test_a_prompt_that_stays_cached_for_an_hour_is_asked_for_and_charged_so(bench: Bench) -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
    chooser = Chooser(Catalog(), environ=environ, auth=bench.auth.read())
    async with Pool() as pool:
        roster = Roster(chooser, pool, bench.auth, local=no_local, cache_ttl="1h")
        claude, haiku, router = (
            roster.candidate(chooser.resolve(name)).model("k")
            for name in (
                "anthropic:claude-opus-5.5",
                "anthropic:claude-haiku-5-5",
                "openrouter:anthropic/claude-opus-5.5",
            )
        )
    assert isinstance(claude, Endpoint) and isinstance(haiku, Endpoint) and isinstance(router, Endpoint)
    assert [model.quirks.cache_ttl for model in (claude, haiku, router)] == ["1h", "1h", "1h"]
    assert claude.prices == Prices(input=4, output=20, cache_read=0.2, cache_write=8)
    assert haiku.prices is not None and haiku.prices.long == Prices(
        input=0.5, output=2.5, cache_read=0.05, cache_write=1
    )
