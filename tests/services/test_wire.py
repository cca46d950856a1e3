from itertools import islice
from typing import Any

import msgspec
import pytest

from tests.services import wire
from tests.services.script import Call, Fault, Finish, Reply, Usage
from tests.services.wire.frames import CREATED, Asked, Dialect, encrypted, signature

FULL = Reply(
    "Grüße an alle.",
    thought="Höflich bleiben.",
    calls=(Call("read_file", {"path": "ü.txt"}, "a"), Call("todo", id="b")),
    usage=Usage(input=100, output=50, cache_read=20, cache_write=30, reasoning=7),
)


def decoded(events: list[bytes]) -> list[Any]:
    """The data of each event; its name, where it has one, must be the type in the data."""
    found: list[Any] = []
    for event in events:
        assert event.endswith(b"\n\n")
        *names, data = event[:-2].split(b"\n")
        payload = data.removeprefix(b"data: ")
        value: Any = "[DONE]" if payload == b"[DONE]" else msgspec.json.decode(payload)
        assert not names or names == [f"event: {value['type']}".encode()]
        found.append(value)
    return found


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED, "model": "scripted"}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**head, "choices": [choice], "usage": None}


def test_a_chat_stream_has_role_thought_text_calls_finish_usage_and_done():
    reply = Reply("Hello", thought="Hm.", calls=(Call("ls", {"a": 1}, "x"),), chunk=4, usage=Usage(3, 2, 1))
    opened = {"index": 0, "id": "x", "type": "function", "function": {"name": "ls", "arguments": ""}}
    events = decoded(wire.stream_bytes("chat", reply))
    assert events[:-2] == [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "Hm."}),
        chunk({"content": "Hell"}),
        chunk({"content": "o"}),
        chunk({"tool_calls": [opened]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}),
        chunk({}, "tool_calls"),
    ]
    assert events[-2]["choices"] == []
    assert events[-2]["usage"] == {
        "prompt_tokens": 4,
        "completion_tokens": 2,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert events[-1] == "[DONE]"


def test_a_chat_stream_says_nothing_of_usage_unless_it_was_asked_for():
    events = decoded(wire.stream_bytes("chat", Reply("Hi"), Asked(include_usage=False)))
    assert [set(event) & {"usage"} for event in events[:-1]] == [set(), set(), set()]
    assert events[-1] == "[DONE]"


def test_a_vendor_may_call_the_thought_reasoning():
    events = decoded(wire.stream_bytes("chat", Reply("Hi", "Hm.", thought_field="reasoning")))
    assert events[1] == chunk({"reasoning": "Hm."})


def test_a_responses_stream_opens_fills_and_closes_each_item():
    events = decoded(wire.stream_bytes("responses", msgspec.structs.replace(FULL, chunk=1000)))
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        *("response.output_item.added", "response.function_call_arguments.delta"),
        *("response.function_call_arguments.done", "response.output_item.done"),
        *("response.output_item.added", "response.function_call_arguments.delta"),
        *("response.function_call_arguments.done", "response.output_item.done"),
        "response.completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    closed = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert closed == [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Höflich bleiben."}],
            "encrypted_content": encrypted("Höflich bleiben."),
        },
        {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Grüße an alle.", "annotations": [], "logprobs": []}],
        },
        {
            "id": "fc_1_0",
            "type": "function_call",
            "status": "completed",
            "call_id": "a",
            "name": "read_file",
            "arguments": '{"path":"ü.txt"}',
        },
        {
            "id": "fc_1_1",
            "type": "function_call",
            "status": "completed",
            "call_id": "b",
            "name": "todo",
            "arguments": "{}",
        },
    ]
    assert events[-1]["response"]["output"] == closed
    assert events[-1]["response"]["usage"] == {
        "input_tokens": 150,
        "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 30},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 7},
        "total_tokens": 200,
    }


def test_a_messages_stream_has_blocks_with_a_signature_and_ends_with_the_stop_reason():
    events = decoded(wire.stream_bytes("messages", msgspec.structs.replace(FULL, chunk=1000)))
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 20}
    sealed = signature("Höflich bleiben.")

    def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_start", "index": index, "content_block": block}

    def delta(index: int, change: dict[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": change}

    def stop(index: int) -> dict[str, Any]:
        return {"type": "content_block_stop", "index": index}

    assert events == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {**usage, "output_tokens": 1, "output_tokens_details": {"thinking_tokens": 1}},
            },
        },
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        {"type": "ping"},
        delta(0, {"type": "thinking_delta", "thinking": "Höflich bleiben."}),
        delta(0, {"type": "signature_delta", "signature": sealed}),
        stop(0),
        start(1, {"type": "text", "text": ""}),
        delta(1, {"type": "text_delta", "text": "Grüße an alle."}),
        stop(1),
        start(2, {"type": "tool_use", "id": "a", "name": "read_file", "input": {}}),
        delta(2, {"type": "input_json_delta", "partial_json": ""}),
        delta(2, {"type": "input_json_delta", "partial_json": '{"path":"ü.txt"}'}),
        stop(2),
        start(3, {"type": "tool_use", "id": "b", "name": "todo", "input": {}}),
        delta(3, {"type": "input_json_delta", "partial_json": ""}),
        stop(3),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {**usage, "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 7}},
        },
        {"type": "message_stop"},
    ]


def spoken(dialect: Dialect, events: list[Any]) -> dict[str, str]:
    """The text, thought and arguments that the deltas of a stream add up to."""
    found = {"text": "", "thought": "", "args": ""}
    for event in events:
        match dialect, event:
            case "chat", {"choices": [{"delta": {"content": text}}]}:
                found["text"] += text
            case "chat", {"choices": [{"delta": {"reasoning_content": text}}]}:
                found["thought"] += text
            case "chat", {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": text}}]}}]}:
                found["args"] += text
            case "responses", {"type": "response.output_text.delta", "delta": text}:
                found["text"] += text
            case "responses", {"type": "response.reasoning_summary_text.delta", "delta": text}:
                found["thought"] += text
            case "responses", {"type": "response.function_call_arguments.delta", "delta": text}:
                found["args"] += text
            case "messages", {"delta": {"type": "text_delta", "text": text}}:
                found["text"] += text
            case "messages", {"delta": {"type": "thinking_delta", "thinking": text}}:
                found["thought"] += text
            case "messages", {"delta": {"type": "input_json_delta", "partial_json": text}}:
                found["args"] += text
    return found


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("dialect", wire.DIALECTS)
def test_the_pieces_of_a_stream_add_up_to_the_reply_at_any_size(dialect: Dialect, size: int):
    reply = Reply("Grüße", "Höflich", (Call("f", '{"ü": "cut off'),), chunk=size)
    events = decoded(wire.stream_bytes(dialect, reply))
    assert spoken(dialect, events) == {"text": "Grüße", "thought": "Höflich", "args": '{"ü": "cut off'}


@pytest.mark.parametrize("dialect", wire.DIALECTS)
def test_without_a_finish_only_the_event_that_carries_it_is_missing(dialect: Dialect):
    with_finish = wire.stream_bytes(dialect, FULL)
    without = wire.stream_bytes(dialect, msgspec.structs.replace(FULL, finish=None))
    carriers = {"chat": -3, "responses": -1, "messages": -2}
    del with_finish[carriers[dialect]]
    assert without == with_finish


@pytest.mark.parametrize(
    ("finish", "chat", "responses", "messages"),
    [
        ("stop", "stop", ("completed", None), "end_turn"),
        ("tool_calls", "tool_calls", ("completed", None), "tool_use"),
        ("length", "length", ("incomplete", {"reason": "max_output_tokens"}), "max_tokens"),
        ("content_filter", "content_filter", ("incomplete", {"reason": "content_filter"}), "refusal"),
        ("refusal", "stop", ("completed", None), "refusal"),
        (None, None, ("in_progress", None), None),
    ],
)
def test_a_body_without_a_stream_carries_the_finish_in_the_words_of_its_dialect(
    finish: Finish | None, chat: str | None, responses: tuple[str, Any], messages: str | None
):
    reply = Reply("No.", finish=finish)
    bodies = {dialect: msgspec.json.decode(wire.body_bytes(dialect, reply)) for dialect in wire.DIALECTS}
    assert bodies["chat"]["choices"][0]["finish_reason"] == chat
    assert (bodies["responses"]["status"], bodies["responses"]["incomplete_details"]) == responses
    assert bodies["messages"]["stop_reason"] == messages


def test_a_refusal_is_not_sent_as_text():
    reply = Reply("I cannot.", finish="refusal")
    message = msgspec.json.decode(wire.body_bytes("chat", reply))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": None, "refusal": "I cannot."}
    assert decoded(wire.stream_bytes("chat", reply))[1] == chunk({"refusal": "I cannot."})
    [item] = msgspec.json.decode(wire.body_bytes("responses", reply))["output"]
    assert item["content"] == [{"type": "refusal", "refusal": "I cannot."}]
    kinds = [event["type"] for event in decoded(wire.stream_bytes("responses", reply))]
    assert kinds[4:6] == ["response.refusal.delta", "response.refusal.done"]


@pytest.mark.parametrize("dialect", wire.DIALECTS)
def test_calls_without_an_id_get_one_each(dialect: Dialect):
    body = wire.body_bytes(dialect, Reply(calls=(Call("a"), Call("b"))), Asked("7"))
    assert b'"call_7_0"' in body
    assert b'"call_7_1"' in body


@pytest.mark.parametrize("dialect", wire.DIALECTS)
def test_a_bad_event_is_cut_and_every_other_stays(dialect: Dialect):
    good = wire.stream_bytes(dialect, FULL)
    bad = wire.stream_bytes(dialect, msgspec.structs.replace(FULL, fault=Fault(bad_event=3)))
    assert bad[:3] + bad[4:] == good[:3] + good[4:]
    with pytest.raises(msgspec.DecodeError):
        decoded(bad[3:4])


@pytest.mark.parametrize("dialect", wire.DIALECTS)
def test_an_endless_reply_repeats_its_text_and_has_no_whole(dialect: Dialect):
    reply = Reply("again ", endless=True)
    events = list(islice(wire.stream(dialect, reply), 1000))
    assert spoken(dialect, decoded(events))["text"].startswith("again " * 900)
    with pytest.raises(ValueError, match="endless"):
        wire.stream_bytes(dialect, reply)
    with pytest.raises(ValueError, match="endless"):
        wire.body_bytes(dialect, reply)
