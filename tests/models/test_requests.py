"""What goes out: requests of each dialect as whole objects, and the histories that providers are fussy about."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from hermes.models import dialects
from hermes.models.quirks import Quirks
from hermes.protocol.items import Image, Opaque
from hermes.protocol.models import ModelRequest
from tests.models.histories import (
    LIST,
    PNG,
    PNG_BASE64,
    READ,
    call,
    history,
    reply,
    request,
    said,
    summary,
    thought,
)
from tests.services import rules

NAME = "vendor:m1"
URL = f"data:image/png;base64,{PNG_BASE64}"
READ_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
LIST_SCHEMA = {"type": "object", "properties": {}}
EPHEMERAL = {"type": "ephemeral"}


def sealed(dialect: str, data: Any, model: str = NAME) -> Opaque:
    return Opaque(dialect, model, msgspec.json.encode(data).decode())


def encoded(dialect: str, asked: ModelRequest, **quirks: Any) -> dict[str, Any]:
    """The body that is sent, which must be one that the vendor takes."""
    quirk = Quirks(**quirks)
    body = msgspec.json.decode(dialects.load(dialect).encode(asked, model="m1", name=NAME, quirks=quirk))
    spoken: Any = "messages" if dialect == "anthropic" else dialect
    assert rules.violation(spoken, {"anthropic-version": "2023-06-01"}, body) == ""
    return body


def test_a_chat_request():
    seal = sealed("chat", {"details": [{"type": "reasoning.text", "text": "Look first.", "signature": "S"}]})
    signature = {"google": {"thought_signature": "G"}}
    body = encoded("chat", history(seal, sealed("chat", {"extra_content": signature})))
    assert body == {
        "model": "m1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read a file.",
                    "parameters": READ_SCHEMA,
                },
            },
            {
                "type": "function",
                "function": {"name": "ls", "description": "List a folder.", "parameters": LIST_SCHEMA},
            },
        ],
        "messages": [
            {"role": "system", "content": "You are Hermes."},
            {"role": "user", "content": "Earlier we spoke of files."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": URL}},
                ],
            },
            {
                "role": "assistant",
                "content": "Let me look.",
                "reasoning_details": [{"type": "reasoning.text", "text": "Look first.", "signature": "S"}],
                "tool_calls": [
                    {
                        "id": "call_A",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'},
                        "extra_content": signature,
                    },
                    {"id": "call_B", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "call_A", "content": "hello"},
            {"role": "tool", "tool_call_id": "call_B", "content": "no such folder"},
            {"role": "user", "content": "Hurry.\n[attached file: r.pdf (application/pdf, 1234 bytes)]"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_C",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path":"a.png"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_C", "content": "(no output)"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Pictures from read_file:"},
                    {"type": "image_url", "image_url": {"url": URL}},
                ],
            },
        ],
    }


def test_a_responses_request():
    body = encoded("responses", history(sealed("responses", {"id": "rs_1", "encrypted": "enc_" + "0" * 16})))
    assert body == {
        "model": "m1",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "instructions": "You are Hermes.",
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Read a file.",
                "parameters": READ_SCHEMA,
                "strict": False,
            },
            {
                "type": "function",
                "name": "ls",
                "description": "List a folder.",
                "parameters": LIST_SCHEMA,
                "strict": False,
            },
        ],
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Earlier we spoke of files."}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "image_url": URL},
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Look first."}],
                "encrypted_content": "enc_" + "0" * 16,
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Let me look."}],
            },
            {
                "type": "function_call",
                "call_id": "call_A",
                "name": "read_file",
                "arguments": '{"path": "a.txt"}',
            },
            {"type": "function_call", "call_id": "call_B", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_A", "output": "hello"},
            {"type": "function_call_output", "call_id": "call_B", "output": "no such folder"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Hurry."},
                    {"type": "input_text", "text": "[attached file: r.pdf (application/pdf, 1234 bytes)]"},
                ],
            },
            {
                "type": "function_call",
                "call_id": "call_C",
                "name": "read_file",
                "arguments": '{"path":"a.png"}',
            },
            {"type": "function_call_output", "call_id": "call_C", "output": "(no output)"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Pictures from read_file:"},
                    {"type": "input_image", "image_url": URL},
                ],
            },
        ],
    }


def signed(text: str, dialect: str = "anthropic", model: str = NAME) -> Opaque:
    """A seal as the decoder makes it, with the signature that the strict rules recognise."""
    from hermes.models.dialects.anthropic.seals import seal
    from tests.services.wire.frames import signature

    return Opaque(dialect, model, seal(signature(text), text))


def test_an_anthropic_request():
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_BASE64}}
    seal = signed("Look first.")
    signature = msgspec.json.decode(seal.data)["signature"]
    body = encoded("anthropic", history(seal))
    assert body == {
        "model": "m1",
        "stream": True,
        "max_tokens": 8192,
        "tools": [
            {"name": "read_file", "description": "Read a file.", "input_schema": READ_SCHEMA},
            {"name": "ls", "description": "List a folder.", "input_schema": LIST_SCHEMA},
        ],
        "system": [{"type": "text", "text": "You are Hermes.", "cache_control": EPHEMERAL}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Earlier we spoke of files."},
                    {"type": "text", "text": "What is this?"},
                    picture,
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look first.", "signature": signature},
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "call_A", "name": "read_file", "input": {"path": "a.txt"}},
                    {"type": "tool_use", "id": "call_B", "name": "ls", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_A",
                        "content": [{"type": "text", "text": "hello"}],
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_B",
                        "content": [{"type": "text", "text": "no such folder"}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "Hurry."},
                    {
                        "type": "text",
                        "text": "[attached file: r.pdf (application/pdf, 1234 bytes)]",
                        "cache_control": EPHEMERAL,
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "call_C",
                        "name": "read_file",
                        "input": {"path": "a.png"},
                        "cache_control": EPHEMERAL,
                    }
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_C",
                        "content": [picture],
                        "cache_control": EPHEMERAL,
                    }
                ],
            },
        ],
    }


def outline(dialect: str, body: dict[str, Any]) -> list[str]:
    """Who says what kind of thing, in order."""
    if dialect == "responses":
        return [item.get("role") or item["type"] for item in body["input"]]
    if dialect == "anthropic":
        return [f"{message['role']} {block['type']}" for message in body["messages"] for block in message["content"]]
    return [message["role"] for message in body["messages"]]


@pytest.mark.parametrize("dialect", dialects.NAMES)
@pytest.mark.parametrize(
    "args", ["", "{", "[1]", '"text"', "null", '{"a": 1} trailing', '{"a": "\\ud800"}', "{'a': 1}"]
)
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(dialect: str, args: str):
    body = encoded(dialect, request(said(0, "go"), call(1, "c1", "ls", args, "these arguments are not JSON")))
    sent = msgspec.json.encode(body).decode()
    assert '"arguments":"{}"' in sent or '"input":{}' in sent


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_call_by_a_name_that_nobody_may_have_is_sent_by_one_that_is_allowed(dialect: str):
    asked = request(
        said(0, "go"),
        call(1, "c1", "read file!", "{}", "unknown tool"),
        call(2, "c2", "", "{}", "unknown tool"),
    )
    sent = msgspec.json.encode(encoded(dialect, asked)).decode()
    assert '"name":"read_file_"' in sent and '"name":"unnamed"' in sent


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_ids_of_calls_are_unique_and_stay_the_same_from_step_to_step(dialect: str):
    ids = ["same", "same", "has spaces", "x" * 80, "", "functions.ls:0"]
    items = [said(0, "go"), *(call(step, name, "ls", "{}", "r") for step, name in enumerate(ids, 1))]
    before = encoded(dialect, request(*items[:-1]))
    after = encoded(dialect, request(*items))

    def found(body: dict[str, Any]) -> list[str]:
        if dialect == "responses":
            return [item["call_id"] for item in body["input"] if item["type"] == "function_call"]
        if dialect == "chat":
            return [made["id"] for message in body["messages"] for made in message.get("tool_calls", ())]
        blocks = [block for message in body["messages"] for block in message["content"]]
        return [block["id"] for block in blocks if block["type"] == "tool_use"]

    assert found(after)[:-1] == found(before)
    assert found(after)[0] == "same" and len(set(found(after))) == len(ids)
    assert (found(after)[-1] == "functions.ls:0") is (dialect != "anthropic")


def test_mistral_gets_ids_of_nine_letters_and_digits():
    asked = request(said(0, "go"), call(1, "call_1", "ls", "{}", "r"), call(2, "D681PevKs", "ls", "{}", "r"))
    body = encoded("chat", asked, short_call_ids=True)
    ids = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
    assert ids[1] == "D681PevKs" and len(ids[0]) == 9 and ids[0].isalnum()


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_blank_texts_are_not_sent(dialect: str):
    asked = request(
        said(0, "", "  \n"),
        said(0, "hi"),
        summary(0, ""),
        thought(1, "only a thought"),
        reply(1, " \n"),
        said(1, "again"),
        reply(2, "\n"),
        call(2, "c", "ls", "{}"),
        system=" ",
    )
    expected = {
        "chat": ["user", "user", "assistant", "tool"],
        "responses": ["user", "user", "function_call", "function_call_output"],
        "anthropic": ["user text", "user text", "assistant tool_use", "user tool_result"],
    }
    assert outline(dialect, encoded(dialect, asked)) == expected[dialect]


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_conversation_begins_and_ends_with_somebody_elses_words(dialect: str):
    expected = {
        "chat": ["user", "assistant", "user"],
        "responses": ["user", "assistant", "user"],
        "anthropic": ["user text", "assistant text", "user text"],
    }
    assert outline(dialect, encoded(dialect, request(reply(1, "Hello.")))) == expected[dialect]
    assert outline(dialect, encoded(dialect, request())) == expected[dialect][:1]


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_words_among_the_parts_of_a_step_come_behind_its_results(dialect: str):
    asked = request(
        said(0, "go"),
        call(1, "a", "ls", "{}", "r"),
        summary(1, "short"),
        call(1, "b", "ls", "{}", "r", index=9),
    )
    expected = {
        "chat": ["user", "assistant", "tool", "tool", "user"],
        "responses": ["user", *["function_call"] * 2, *["function_call_output"] * 2, "user"],
        "anthropic": ["user text", *["assistant tool_use"] * 2, *["user tool_result"] * 2, "user text"],
    }
    assert outline(dialect, encoded(dialect, asked)) == expected[dialect]


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_picture_that_cannot_be_sent_is_named(dialect: str):
    pictures = (Image("gone", "image/png", "lost.png"), Image("b", "image/svg+xml"))
    asked = request(said(0, *pictures), call(1, "c", "look", "{}", *pictures), images={"b": PNG})
    sent = msgspec.json.encode(encoded(dialect, asked)).decode()
    assert sent.count("[a picture that cannot be shown here: lost.png]") == 2
    assert sent.count("[a picture that cannot be shown here: image/svg+xml]") == 2


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_model_that_cannot_see_is_told_of_pictures(dialect: str):
    sent = msgspec.json.encode(encoded(dialect, history(None), images=False)).decode()
    assert PNG_BASE64 not in sent and sent.count("cannot be shown here") == 2


SEALS: dict[str, Callable[[str, str], Opaque]] = {
    "chat": lambda dialect, model: sealed(dialect, {"details": [{"type": "x", "data": "SEAL"}]}, model),
    "responses": lambda dialect, model: sealed(dialect, {"id": "rs_1", "encrypted": "enc_" + "5" * 16}, model),
    "anthropic": lambda dialect, model: signed("Hm.", dialect, model),
}


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_thought_goes_back_only_to_the_dialect_and_model_that_it_came_from(dialect: str):
    def sent(opaque: Opaque | None) -> bytes:
        items = (said(0, "go"), thought(1, "Hm.", opaque), reply(1, "Yes."), said(1, "And?"))
        return msgspec.json.encode(encoded(dialect, request(*items)))

    seal = SEALS[dialect]
    without = sent(None)
    assert b"Hm." not in without
    assert sent(seal(dialect, NAME)) != without
    assert sent(seal(dialect, "vendor:m2")) == without
    assert sent(seal("other", NAME)) == without


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_the_same_beginning_gives_the_same_bytes(dialect: str):
    def sent(asked: ModelRequest) -> bytes:
        return dialects.load(dialect).encode(asked, model="m1", name=NAME, quirks=Quirks())

    asked = history(None)
    shorter = msgspec.structs.replace(asked, items=asked.items[:2])
    last = {"chat": b'"messages"', "responses": b'"input"', "anthropic": b'"messages"'}[dialect]
    assert sent(asked) == sent(asked)
    assert sent(asked).partition(last)[0] == sent(shorter).partition(last)[0]
    if dialect != "anthropic":  # There the marks of the cache move along.
        assert sent(asked).startswith(sent(shorter).removesuffix(b"]}"))


def test_chat_sends_what_a_quirk_asks_for():
    asked = request(said(0, "hi"), max_output=50, effort="xhigh")
    assert encoded(
        "chat",
        asked,
        max_tokens_field="max_completion_tokens",
        stream_options=False,
        temperature=0.3,
        top_effort="xhigh",
        body={"usage": {"include": True}},
    ) == {
        "model": "m1",
        "stream": True,
        "max_completion_tokens": 50,
        "temperature": 0.3,
        "reasoning_effort": "xhigh",
        "usage": {"include": True},
        "messages": [{"role": "user", "content": "hi"}],
    }


@pytest.mark.parametrize(
    "quirk,effort,sent",
    [
        ("", "low", {"reasoning_effort": "low"}),
        ("field", "xhigh", {"reasoning_effort": "high"}),
        ("object", "medium", {"reasoning": {"effort": "medium"}}),
        ("switch", "low", {"thinking": {"type": "enabled"}}),
        ("switch", "none", {"thinking": {"type": "disabled"}}),
        ("none", "high", {}),
        ("field", "", {}),
    ],
)
def test_chat_asks_for_effort_the_vendors_way(quirk: str, effort: str, sent: dict[str, Any]):
    body = encoded("chat", request(said(0, "hi"), effort=effort), effort=quirk, stream_options=False)
    assert body == {"model": "m1", "stream": True, **sent, "messages": [{"role": "user", "content": "hi"}]}


def test_deepseek_gets_its_reasoning_back_and_a_blank_where_there_is_none():
    own = sealed("chat", {})
    asked = request(
        said(0, "go"),
        thought(1, "Mine.", own),
        call(1, "a", "ls", "{}", "r"),
        thought(2, "Another's.", sealed("chat", {}, "vendor:m2")),
        reply(2, "Done."),
        said(2, "Thanks."),
    )
    body = encoded("chat", asked, reasoning_back=True)
    sent = [message["reasoning_content"] for message in body["messages"] if message["role"] == "assistant"]
    assert sent == ["Mine.", " "]
    assert "reasoning_content" not in msgspec.json.encode(encoded("chat", asked)).decode()


def test_gemini_gets_a_stand_in_for_the_signature_of_another_models_call():
    stub = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    own = {"google": {"thought_signature": "mine"}}
    asked = request(
        said(0, "go"),
        call(1, "a", "ls", "{}", "r", opaque=sealed("chat", {"extra_content": own})),
        call(2, "b", "ls", "{}", "r", opaque=sealed("chat", {"extra_content": own}, "vendor:m2")),
    )
    body = encoded("chat", asked, unsigned_call=stub)
    made = [made for message in body["messages"] for made in message.get("tool_calls", ())]
    assert [one["extra_content"] for one in made] == [own, stub]


def test_details_of_several_thoughts_of_a_step_are_put_together():
    def detail(**more: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "index": 0, **more}

    asked = request(
        said(0, "go"),
        thought(1, "A", sealed("chat", {"details": [detail(text="A")]})),
        thought(1, "", sealed("chat", {"details": [detail(signature="S")]})),
        call(1, "a", "ls", "{}", "r"),
    )
    (message,) = [m for m in encoded("chat", asked)["messages"] if m["role"] == "assistant"]
    assert message["reasoning_details"] == [detail(text="A", signature="S")]


def test_chat_marks_what_to_cache_for_claude_behind_openrouter():
    asked = request(
        said(0, "one"),
        reply(1, "two"),
        said(1, "three"),
        call(2, "c", "ls", "{}", "four"),
        system="S",
        tools=(LIST,),
    )
    body = encoded("chat", asked, cache_marks=True, cache_ttl="1h")
    mark = {"type": "ephemeral", "ttl": "1h"}
    marked = {
        part["text"]: part["cache_control"]
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    }
    assert marked == {"S": mark, "two": mark, "three": mark, "four": mark}


def test_responses_of_a_model_that_cannot_reason_ask_for_no_reasoning():
    asked = request(said(0, "hi"), max_output=5, effort="high")
    hi = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    plain = {"model": "m1", "stream": True, "store": False, "max_output_tokens": 16}
    assert encoded("responses", asked, effort="none") == {**plain, "input": [hi]}
    assert encoded("responses", asked, summaries=False) == {
        **plain,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high"},
        "input": [hi],
    }


def test_responses_keep_the_phase_of_a_reply():
    asked = request(
        said(0, "go"),
        reply(1, "Looking.", sealed("responses", {"phase": "commentary"})),
        call(1, "a", "ls", "{}", "r"),
    )
    assert encoded("responses", asked)["input"][1] == {
        "type": "message",
        "role": "assistant",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "Looking."}],
    }


def test_responses_leave_out_reasoning_that_led_to_nothing():
    seal = SEALS["responses"]("responses", NAME)
    asked = request(said(0, "go"), reply(1, "Yes.", index=0), thought(1, "Hm.", seal, index=1), said(1, "?"))
    assert outline("responses", encoded("responses", asked)) == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    "effort,limit,sent",
    [
        ("", 64000, {}),
        ("none", 64000, {}),
        ("low", 64000, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("medium", 64000, {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        ("high", 64000, {"thinking": {"type": "enabled", "budget_tokens": 16384}}),
        ("xhigh", 64000, {"thinking": {"type": "enabled", "budget_tokens": 32000}}),
        ("high", 8192, {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("high", 2000, {}),
    ],
)
def test_anthropic_thinks_within_a_budget_of_at_most_half_the_output(effort: str, limit: int, sent: dict[str, Any]):
    body = encoded("anthropic", request(said(0, "hi"), effort=effort, max_output=limit))
    assert {key: body[key] for key in ("thinking", "output_config") if key in body} == sent
    assert body["max_tokens"] == limit


def test_anthropic_thinks_as_much_as_it_likes_where_that_is_the_only_way():
    body = encoded("anthropic", request(said(0, "hi"), effort="xhigh"), effort="adaptive")
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "high"}


def test_anthropic_does_not_think_amid_the_calls_of_another_model():
    asked = request(said(0, "go"), thought(1, "Hm."), call(1, "a", "ls", "{}", "r"), effort="low")
    assert "thinking" not in encoded("anthropic", asked)
    own = request(said(0, "go"), thought(1, "Hm.", signed("Hm.")), call(1, "a", "ls", "{}", "r"), effort="low")
    assert "thinking" in encoded("anthropic", own)
    later = msgspec.structs.replace(asked, items=(*asked.items, reply(2, "Done."), said(2, "And now?")))
    assert "thinking" in encoded("anthropic", later)


def test_a_thought_whose_text_was_changed_is_left_out():
    asked = request(said(0, "go"), thought(1, "key ***", signed("key sk-1")), reply(1, "Yes."), said(1, "?"))
    assert outline("anthropic", encoded("anthropic", asked)) == ["user text", "assistant text", "user text"]


def test_a_redacted_thought_goes_back():
    asked = request(
        said(0, "go"),
        thought(1, "", sealed("anthropic", {"redacted": "Em=="})),
        reply(1, "Yes."),
        said(1, "?"),
    )
    assert encoded("anthropic", asked)["messages"][1]["content"][0] == {
        "type": "redacted_thinking",
        "data": "Em==",
    }


def test_a_thought_behind_a_step_that_lost_its_own_is_left_out():
    asked = request(
        said(0, "go"),
        thought(1, "lost", index=0),
        reply(1, "One."),
        thought(1, "kept", signed("kept"), index=2),
        call(1, "a", "ls", "{}", "r", index=3),
    )
    expected = ["user text", "assistant text", "assistant tool_use", "user tool_result"]
    assert outline("anthropic", encoded("anthropic", asked)) == expected


def test_the_mark_of_the_cache_is_never_on_a_thought():
    items = (
        said(0, "go"),
        thought(1, "A", signed("A")),
        reply(1, "One."),
        thought(1, "B", signed("B"), index=5),
        said(1, "?"),
    )
    body = encoded("anthropic", request(*items, system="S", tools=(READ,)), cache_ttl="1h")
    marked = [block["text"] for message in body["messages"] for block in message["content"] if "cache_control" in block]
    assert marked == ["go", "One.", "?"]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    "dialect,base,url",
    [
        ("chat", "https://a.example/v1", "https://a.example/v1/chat/completions"),
        ("chat", "https://a.example/v1/chat/completions/", "https://a.example/v1/chat/completions"),
        ("responses", "https://a.example/v1/", "https://a.example/v1/responses"),
        ("responses", "https://a.example/v1/responses", "https://a.example/v1/responses"),
        ("anthropic", "https://a.example", "https://a.example/v1/messages"),
        ("anthropic", "https://a.example/anthropic/v1/", "https://a.example/anthropic/v1/messages"),
        ("anthropic", "https://a.example/v1/messages", "https://a.example/v1/messages"),
    ],
)
def test_a_base_url_may_be_written_in_any_of_the_usual_ways(dialect: str, base: str, url: str):
    assert dialects.load(dialect).url(base) == url
