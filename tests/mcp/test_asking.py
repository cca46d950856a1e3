"""What servers ask of us, and what they are told."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as wire
import pytest
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

from hermes.config import Elicitation, McpServer, Sampling
from hermes.mcp.asking import Asking
from hermes.mcp.contract import Sample
from hermes.protocol.errors import Overloaded
from hermes.protocol.events import Answered, Form, Login, Request

SLOW = {"role": "nobody waits for this"}


class Person:
    """Whoever called the server: answers from a list, notes what was asked."""

    session = "s1"
    roots = ("/srv/my project",)

    def __init__(self, *answers: Answered | None, model: Any = None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Request, float]] = []
        self.wishes: list[Sample] = []
        self._model = model

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        self.asked.append((request, timeout))
        return self.answers.pop(0)

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        self.wishes.append(wish)
        if isinstance(self._model, Exception):
            raise self._model
        if self._model is SLOW:
            await asyncio.sleep(60)
        return self._model or {"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "m"}

    def progress(self, text: str) -> None:
        raise AssertionError(text)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def said(text: str = "", choice: str = "") -> Answered:
    return Answered("r", "answered", choice, text)


def question(**more: Any) -> wire.CreateMessageRequestParams:
    message = wire.SamplingMessage(role="user", content=wire.TextContent(text="6 times 7?"))
    return wire.CreateMessageRequestParams(**({"messages": [message], "max_tokens": 100} | more))


def asking(**settings: Any) -> Asking:
    return Asking("quiz", McpServer(**settings))


def refusal(text: str) -> wire.ErrorData:
    return wire.ErrorData(code=wire.INVALID_REQUEST, message=text)


ANSWER = wire.CreateMessageResult(role="assistant", content=wire.TextContent(text="42"), model="m")
AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
FORM = wire.ElicitRequestFormParams(message="How old are you?", requested_schema=AGE)
PAGE = wire.ElicitRequestURLParams(message="Please pay.", url="https://pay.example/1", elicitation_id="e1")
TOOL = wire.Tool(name="add", input_schema={"type": "object"})


# A model's answer


async def test_a_server_gets_a_models_answer_within_its_bounds() -> None:
    person = Person()
    params = question(max_tokens=9999, system_prompt="Be brief.", temperature=0.5, stop_sequences=["."])
    assert await asking(sampling=Sampling(max_tokens_cap=50)).sample(person, params) == ANSWER
    assert person.wishes == [
        Sample(
            messages=[{"role": "user", "content": {"type": "text", "text": "6 times 7?"}}],
            system="Be brief.",
            max_tokens=50,
            temperature=0.5,
            stop=(".",),
        )
    ]


async def test_one_question_too_many_within_a_minute_is_refused_and_the_window_slides() -> None:
    clock, person = Clock(), Person()
    one = Asking("quiz", McpServer(sampling=Sampling(max_rpm=2)), monotonic=clock)
    assert await one.sample(person, question()) == ANSWER
    clock.now += 30
    assert await one.sample(person, question()) == ANSWER
    assert await one.sample(person, question()) == refusal("quiz may ask a model 2 times a minute; wait and ask again")
    clock.now += 30
    assert await one.sample(person, question()) == ANSWER
    assert isinstance(await one.sample(person, question()), wire.ErrorData)
    assert len(person.wishes) == 3


@pytest.mark.parametrize(
    ("settings", "hints", "model"),
    [
        (Sampling(), ["sonnet"], ""),
        (Sampling(model="a:big"), ["sonnet"], "a:big"),
        (Sampling(model="a:big", allowed_models=("a:big",)), [], "a:big"),
        (Sampling(allowed_models=("a:small", "b:sonnet-5")), ["gpt", "sonnet"], "b:sonnet-5"),
        (Sampling(allowed_models=("a:small", "b:sonnet-5")), ["gpt"], "a:small"),
    ],
)
async def test_the_settings_say_which_model_answers(settings: Sampling, hints: list[str], model: str) -> None:
    person = Person()
    wanted = wire.ModelPreferences(hints=[wire.ModelHint(name=hint) for hint in hints])
    await asking(sampling=settings).sample(person, question(model_preferences=wanted))
    assert [(wish.model, wish.hints) for wish in person.wishes] == [(model, tuple(hints))]


async def test_a_model_that_is_not_allowed_is_not_asked() -> None:
    person = Person()
    settings = Sampling(model="a:big", allowed_models=("a:small",))
    assert await asking(sampling=settings).sample(person, question()) == refusal(
        "a:big is not among the models that quiz may ask"
    )
    assert person.wishes == []


async def test_a_model_may_use_a_servers_tools_only_so_often() -> None:
    used = wire.ToolUseContent(name="add", id="1", input={"a": 1})
    result = wire.ToolResultContent(tool_use_id="1", content=[wire.TextContent(text="2")])
    rounds = [
        wire.SamplingMessage(role="assistant", content=[used]),
        wire.SamplingMessage(role="user", content=[result]),
    ]
    one = asking(sampling=Sampling(max_tool_rounds=2))
    answer = {"role": "assistant", "content": [used.model_dump(by_alias=True)], "model": "m", "stopReason": "toolUse"}
    person = Person(model=answer)
    choice = wire.ToolChoice(mode="required")
    again = await one.sample(person, question(messages=rounds, tools=[TOOL], tool_choice=choice))
    assert again == wire.CreateMessageResultWithTools(
        role="assistant", content=[used], model="m", stop_reason="toolUse"
    )
    assert [(wish.tools, wish.tool_choice) for wish in person.wishes] == [
        (({"name": "add", "inputSchema": {"type": "object"}},), "required")
    ]
    assert await one.sample(person, question(messages=rounds * 2, tools=[TOOL])) == refusal(
        "a model may use a server's tools 2 times for one question"
    )


async def test_a_model_that_is_slow_broken_or_wrong_gives_an_error_in_one_line() -> None:
    one = Asking("quiz", McpServer(sampling=Sampling(timeout=0.01)), redact=lambda text: text.replace("sk-1", "***"))
    assert await one.sample(Person(model=SLOW), question()) == refusal("the model did not answer within 0.01 seconds")
    assert await one.sample(Person(model=Overloaded("busy sk-1")), question()) == refusal("busy ***")
    assert await one.sample(Person(model={"role": "assistant"}), question()) == refusal(
        "the model gave no answer that fits the request"
    )
    assert await one.sample(None, question()) == refusal("no call is in flight that a model could answer for")


# A person's answer


async def test_a_form_goes_to_whoever_called_and_comes_back_filled_in() -> None:
    person = Person(said("36"))
    one = asking(elicitation=Elicitation(timeout=7))
    assert await one.elicit(person, FORM) == wire.ElicitResult(action="accept", content={"age": 36})
    [(request, timeout)] = person.asked
    assert isinstance(request, Form)
    assert (request.text.splitlines()[0], timeout) == ("quiz asks: How old are you?", 7)


async def test_a_form_that_is_not_filled_in_right_comes_back_and_not_for_ever() -> None:
    person = Person(said("old"), said('{"age": 36}'))
    assert await asking().elicit(person, FORM) == wire.ElicitResult(action="accept", content={"age": 36})
    again = person.asked[1][0]
    assert isinstance(again, Form)
    assert again.text.startswith("That does not fit: age: 'old' is not of type 'integer'\nquiz asks:")
    stubborn = Person(*[said("old")] * 5)
    assert await asking().elicit(stubborn, FORM) == wire.ElicitResult(action="cancel")
    assert len(stubborn.asked) == 3


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (said(choice="decline"), "decline"),
        (said("cancel"), "cancel"),
        (Answered("r", "expired"), "cancel"),
        (Answered("r", "cancelled"), "cancel"),
        (None, "cancel"),
    ],
)
async def test_a_person_who_does_not_answer_is_told_apart_from_one_who_declines(answer: Any, action: Any) -> None:
    assert await asking().elicit(Person(answer), FORM) == wire.ElicitResult(action=action)
    assert await asking().elicit(Person(answer), PAGE) == wire.ElicitResult(action=action)


async def test_without_a_call_in_flight_there_is_nobody_to_ask() -> None:
    assert await asking().elicit(None, FORM) == wire.ElicitResult(action="cancel")


async def test_a_page_is_shown_with_its_host_and_opened_only_by_the_person() -> None:
    person = Person(said("done"))
    assert await asking().elicit(person, PAGE) == wire.ElicitResult(action="accept")
    text = "quiz asks you to open a page of pay.example: Please pay."
    assert person.asked == [(Login("https://pay.example/1", text), 300)]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "https://", "https://[broken", "https://a.b/\u202ec"]
)
async def test_only_a_web_page_is_shown(url: str) -> None:
    person = Person()
    page = wire.ElicitRequestURLParams(message="Look.", url=url, elicitation_id="e1")
    assert await asking().elicit(person, page) == refusal("only a web page can be opened for a person")
    assert person.asked == []


# Folders, and lines for the log


async def test_folders_are_told_as_addresses() -> None:
    found = await asking().roots(Person())
    assert [(str(root.uri), root.name) for root in found.roots] == [("file:///srv/my%20project", "my project")]
    assert await asking().roots(None) == wire.ListRootsResult(roots=[])


async def test_a_servers_log_is_ours_in_one_line_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    one = Asking("quiz", McpServer(), redact=lambda text: text.replace("sk-1", "***"))
    with caplog.at_level(logging.DEBUG, "hermes.mcp.asking"):
        await one.log(wire.LoggingMessageNotificationParams(level="notice", data="key\n sk-1\x1b[2J"))
        await one.log(wire.LoggingMessageNotificationParams(level="alert", data={"a": [1]}))
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "quiz says: key ***[2J"),
        ("ERROR", 'quiz says: {"a":[1]}'),
    ]


# Through the SDK


class Age(BaseModel):
    age: int


def quiz() -> MCPServer:
    server = MCPServer("quiz")

    @server.tool()
    async def how_old(ctx: Context[Any]) -> str:
        answer = await ctx.elicit("How old are you?", Age)
        return f"{answer.action} {answer.data.age if answer.action == 'accept' else ''}"

    return server


async def test_the_sdks_client_takes_the_callbacks_and_a_form_goes_the_whole_way() -> None:
    person = Person(said("36"))
    async with Client(quiz(), mode="legacy", **asking().callbacks(lambda: person)) as client:
        result = await client.call_tool("how_old", {})
    assert result.content == [wire.TextContent(text="accept 36")]


def test_what_is_switched_off_is_not_announced() -> None:
    off = asking(sampling=Sampling(enabled=False), elicitation=Elicitation(enabled=False))
    assert sorted(off.callbacks(lambda: None)) == ["list_roots_callback", "log_level", "logging_callback"]
    no_tools = asking(sampling=Sampling(max_tool_rounds=0)).callbacks(lambda: None)
    assert no_tools["sampling_capabilities"] == wire.SamplingCapability()
    assert asking().callbacks(lambda: None)["sampling_capabilities"].tools is not None
