from typing import Any

import pytest

from tests.services import rules
from tests.services.wire.frames import encrypted, signature

Body = dict[str, Any]

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
VERSION = {"anthropic-version": "2023-06-01"}


def chat(*messages: Body, **more: Any) -> Body:
    return {"model": "m", "messages": list(messages), **more}


def chat_calls(*ids: str, arguments: str = "{}") -> Body:
    function = {"name": "f", "arguments": arguments}
    calls = [{"id": call_id, "type": "function", "function": function} for call_id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(call_id: str) -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": ""}


def chat_tool(**function: Any) -> Body:
    return {"type": "function", "function": function}


SYSTEM = {"role": "system", "content": "Be kind."}
HI = {"role": "user", "content": "hi"}


def test_a_good_chat_request_is_taken():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = chat(
        SYSTEM,
        HI,
        {**chat_calls("a", "b", arguments='{"path": "x"}'), "reasoning_content": "Hm."},
        chat_result("b"),
        chat_result("a"),
        chat_calls("c"),
        chat_result("c"),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": [{"type": "text", "text": "and this?"}, image]},
        tools=[chat_tool(name="f", parameters=SCHEMA, description="Does it.")],
        stream=True,
        stream_options={"include_usage": True},
    )
    assert rules.violation("chat", {}, body) == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([], "Expected `object`, got `array`"),
        ({"messages": [HI]}, "missing required field `model`"),
        (chat(), "length >= 1 - at `$.messages`"),
        (chat(SYSTEM), "must have the role user"),
        (chat(SYSTEM, {"role": "assistant", "content": "Hello"}, HI), "must have the role user"),
        (chat({"role": "robot", "content": "hi"}), "Invalid value 'robot' - at `$.messages[0].role`"),
        (chat({"role": "user", "content": ""}), "length >= 1 - at `$.messages[0].content`"),
        (chat({"role": "user", "content": None}), "got `null` - at `$.messages[0].content`"),
        (chat({"role": "user", "content": []}), "length >= 1 - at `$.messages[0].content`"),
        (chat({"role": "user", "content": [{"type": "sound"}]}), "Invalid value 'sound'"),
        (chat(HI, {"role": "assistant", "content": ""}, HI), "without tool_calls must have content"),
        (chat(HI, {"role": "assistant", "content": "x", "tool_calls": []}, HI), "length >= 1"),
        (chat(HI, chat_result("a")), "must be a response to a preceding message"),
        (chat(HI, chat_calls("a"), chat_result("b")), "must be a response to a preceding message"),
        (chat(HI, chat_calls("a"), chat_result("a"), chat_result("a")), "must be a response to a preceding"),
        (chat(HI, chat_calls("a"), HI), "Without a response: a"),
        (chat(HI, chat_calls("a", "b"), chat_result("a"), HI, chat_result("b")), "Without a response: b"),
        (chat(HI, chat_calls("a")), "Without a response: a"),
        (chat(HI, chat_calls("a", "a"), chat_result("a")), "a comes twice"),
        (chat(HI, chat_calls("a"), chat_result("a"), chat_calls("a"), chat_result("a")), "a comes twice"),
        (chat(HI, chat_calls("a", arguments='{"pa'), chat_result("a")), "arguments are not a JSON object"),
        (chat(HI, chat_calls("a", arguments="[]"), chat_result("a")), "arguments are not a JSON object"),
        (chat(HI, tools=[]), "length >= 1 - at `$.tools`"),
        (chat(HI, tools=[chat_tool(parameters=SCHEMA)]), "missing required field `name`"),
        (chat(HI, tools=[chat_tool(name="f")]), "missing required field `parameters`"),
        (chat(HI, tools=[chat_tool(name="a.b", parameters=SCHEMA)]), "matching regex"),
        (chat(HI, tools=[chat_tool(name="f", parameters={"type": "object"})]), "field `properties`"),
        (chat(HI, tools=[chat_tool(name="f", parameters=SCHEMA)] * 2), "f comes twice"),
        (chat(HI, stream_options={"include_usage": True}), "only allowed when stream is true"),
    ],
)
def test_a_chat_request_that_a_provider_would_refuse_is_refused(body: Any, reason: str):
    assert reason in rules.violation("chat", {}, body)


def responses(*items: Body, **more: Any) -> Body:
    return {"model": "m", "input": list(items), **more}


def call(call_id: str, arguments: str = "{}", **more: Any) -> Body:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": arguments, **more}


def output(call_id: str) -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": ""}


def reasoning(**more: Any) -> Body:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted("Hm."), **more}


ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
FUNCTION = {"type": "function", "name": "f", "parameters": SCHEMA}


def test_a_good_responses_request_is_taken():
    body = responses(
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        reasoning(),
        call("a", '{"path": "x"}', id="fc_1"),
        call("b"),
        output("b"),
        output("a"),
        reasoning(),
        ANSWER,
        {"role": "user", "content": "thanks"},
        instructions="Be kind.",
        tools=[FUNCTION],
        store=False,
        stream=True,
    )
    assert rules.violation("responses", {}, body) == ""
    assert rules.violation("responses", {}, {"model": "m", "input": "hi"}) == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (responses(), "length >= 1"),
        ({"model": "m", "input": ""}, "length >= 1"),
        (responses({"role": "robot", "content": "hi"}), "Invalid enum value 'robot'"),
        (responses({"type": "sound"}), "Invalid value 'sound'"),
        (responses({"role": "user", "content": ""}), "length >= 1"),
        (responses({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}), "cannot have"),
        (responses({**ANSWER, "role": "user"}), "cannot have"),
        (responses(HI, output("a")), "No tool call found for function call output with call_id a."),
        (responses(HI, output("a"), call("a")), "No tool call found"),
        (responses(HI, call("a"), output("a"), output("a")), "No tool call found"),
        (responses(HI, call("a"), HI), "No tool output found for function call a."),
        (responses(HI, call("a"), call("a"), output("a")), "a comes twice"),
        (responses(HI, call("a", '{"pa'), output("a")), "arguments are not a JSON object"),
        (responses(HI, call("a", id="call_1"), output("a")), "matching regex"),
        (responses(HI, reasoning(), HI), "without its required following item"),
        (responses(HI, reasoning()), "without its required following item"),
        (responses(HI, reasoning(encrypted_content=None), ANSWER, store=False), "Items are not persisted"),
        (responses(HI, reasoning(encrypted_content=signature("Hm.")), ANSWER), "matching regex"),
        (responses(HI, {"type": "reasoning", "id": "rs_1"}, ANSWER), "missing required field `summary`"),
        (responses(HI, tools=[chat_tool(name="f", parameters=SCHEMA)]), "missing required field `name`"),
        (responses(HI, tools=[{"type": "function", "name": "f"}]), "missing required field `parameters`"),
        (responses(HI, tools=[FUNCTION, FUNCTION]), "f comes twice"),
        (responses(HI, max_output_tokens=5), ">= 16"),
    ],
)
def test_a_responses_request_that_the_api_would_refuse_is_refused(body: Any, reason: str):
    assert reason in rules.violation("responses", {}, body)


def messages(*said: Body, **more: Any) -> Body:
    return {"model": "m", "max_tokens": 100, "messages": list(said), **more}


def user(*blocks: Body) -> Body:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Body) -> Body:
    return {"role": "assistant", "content": list(blocks)}


def text(said: str, **more: Any) -> Body:
    return {"type": "text", "text": said, **more}


def use(call_id: str, arguments: Any = None) -> Body:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {} if arguments is None else arguments}


def result(call_id: str, **more: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "", **more}


def thinking(thought: str, **more: Any) -> Body:
    return {"type": "thinking", "thinking": thought, "signature": signature(thought), **more}


CACHED = {"cache_control": {"type": "ephemeral"}}
TOOL = {"name": "f", "input_schema": {"type": "object"}}


def test_a_good_messages_request_is_taken():
    body = messages(
        user(text("hi")),
        {"role": "user", "content": "and again"},
        assistant(thinking("Hm."), text("Let me see."), use("a", {"path": "x"}), use("b")),
        user(result("b", content=[text("found")]), result("a", is_error=True, content="no")),
        user(text("go on")),
        assistant(use("c")),
        user(result("c", **CACHED), text("and then?")),
        system=[text("Be kind.", **CACHED)],
        tools=[{**TOOL, **CACHED}],
        thinking={"type": "enabled", "budget_tokens": 1024},
    )
    assert rules.violation("messages", VERSION, {**body, "max_tokens": 2000}) == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"model": "m", "messages": [HI]}, "missing required field `max_tokens`"),
        (messages(), "length >= 1"),
        (messages(SYSTEM, HI), "Invalid enum value 'system'"),
        (messages(assistant(text("Hello")), HI), 'first message must use the "user" role'),
        (messages(HI, assistant(text("Hello"))), "end with a user message"),
        (messages(user()), "length >= 1"),
        (messages({"role": "user", "content": ""}), "length >= 1"),
        (messages({"role": "user", "content": " \n"}), "non-whitespace"),
        (messages(user(text(""))), "length >= 1"),
        (messages(user(text(" "))), "non-whitespace"),
        (messages(HI, system=""), "length >= 1"),
        (messages(user({"type": "sound"})), "Invalid value 'sound'"),
        (messages(user(use("a"))), "user messages cannot hold a ToolUse block"),
        (messages(HI, assistant(result("a")), HI), "assistant messages cannot hold a ToolResult block"),
        (messages(HI, user(result("a"))), "unexpected `tool_use_id` found in `tool_result` blocks: a"),
        (messages(HI, assistant(use("a")), user(text("no"))), "immediately after: a"),
        (messages(HI, assistant(use("a")), user(text("first"), result("a"))), "immediately after: a"),
        (messages(HI, assistant(use("a"), use("b")), user(result("a"))), "immediately after: b"),
        (
            messages(HI, assistant(use("a")), HI, assistant(text("so")), user(result("a"))),
            "immediately after: a",
        ),
        (messages(HI, assistant(use("a")), user(result("a"), result("a"))), "a comes twice"),
        (messages(HI, assistant(use("a"), use("a")), user(result("a"))), "a comes twice"),
        (messages(HI, assistant(use("a")), user(result("a", is_error=True))), "content cannot be empty"),
        (messages(HI, assistant(use("a", "{}")), user(result("a"))), "Expected `object`, got `str`"),
        (messages(HI, assistant(use("a:1")), user(result("a:1"))), "matching regex"),
        (messages(HI, assistant({"type": "thinking", "thinking": "Hm."}), HI), "field `signature`"),
        (messages(HI, assistant(thinking("Hm.", signature=signature("H"))), HI), "Invalid `signature`"),
        (messages(HI, assistant(thinking("Hm.", **CACHED)), HI), "unknown field `cache_control`"),
        (messages(HI, assistant(text("so"), thinking("Hm.")), HI), "must start with one"),
        (messages(HI, tools=[{"input_schema": {"type": "object"}}]), "missing required field `name`"),
        (messages(HI, tools=[{"name": "f"}]), "missing required field `input_schema`"),
        (messages(HI, tools=[{"name": "f", "input_schema": {}}]), "missing required field `type`"),
        (messages(HI, tools=[TOOL, TOOL]), "f comes twice"),
        (messages(user(*[text("x", **CACHED)] * 5)), "maximum of 4 blocks with cache_control"),
        (messages(HI, thinking={"type": "enabled", "budget_tokens": 1024}), "must be greater than"),
    ],
)
def test_a_messages_request_that_the_api_would_refuse_is_refused(body: Any, reason: str):
    assert reason in rules.violation("messages", VERSION, body)


def test_a_messages_request_names_the_version_of_the_api():
    assert rules.violation("messages", {}, messages(HI)) == "anthropic-version: header is required"
