"""Recorded streams of every kind of vendor through the pure decoders, whole and cut at every byte.

Each .sse file is a response's body, the .json file of the same name what it means.
"""

from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from hermes.models import dialects
from hermes.models.answer import joined
from hermes.models.decoder import Decoder
from hermes.protocol import errors
from hermes.protocol.errors import BadRequest, Disconnected, ModelError
from hermes.protocol.models import Began, Delta, Ended, Finished, Grew, Tokens
from tests.services import wire
from tests.services.script import Call, Reply

STREAMS = Path(__file__).parent / "streams"
NAMES = sorted(str(path.relative_to(STREAMS).with_suffix("")) for path in STREAMS.glob("*/*.sse"))


class Part(Struct, frozen=True):
    kind: str
    text: str = ""
    id: str = ""
    name: str = ""
    opaque: str = ""


class Meaning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a stream says: parts and an end, or an error."""

    parts: list[Part] = []
    finish: str = ""
    tokens: Tokens = Tokens()
    model: str = ""
    cost: float | None = None
    error: str = ""
    message: str = ""
    status: int = 0


def decoder_for(stream: str) -> Decoder:
    numbers = count(1)
    dialect: Any = dialects.load(stream.partition("/")[0])
    new_decoder: Callable[..., Decoder] = dialect.decoder
    return new_decoder(lambda prefix: f"{prefix}{next(numbers)}")


def decode(stream: str, *pieces: bytes) -> list[Delta]:
    decoder = decoder_for(stream)
    deltas = [delta for piece in pieces for delta in decoder.feed(piece)]
    return deltas + decoder.close()


def meaning(deltas: list[Delta]) -> Meaning:
    """Put the parts together, and see to it that the deltas come in the order that the protocol promises."""
    parts: list[Part] = []
    ended: set[int] = set()
    *told, last = deltas
    for delta in told:
        match delta:
            case Began(index=index, kind=kind, call_id=call_id, name=name):
                assert index == len(parts)
                parts.append(Part(kind, id=call_id, name=name))
            case Grew(index=index, text=text):
                assert text and index not in ended
                parts[index] = msgspec.structs.replace(parts[index], text=parts[index].text + text)
            case Ended(index=index, opaque=opaque):
                assert index not in ended
                ended.add(index)
                parts[index] = msgspec.structs.replace(parts[index], opaque=opaque)
            case _:
                pytest.fail(f"{delta} is not a part of an answer")
    assert isinstance(last, Finished) and ended == set(range(len(parts)))
    return Meaning(parts, last.reason, last.tokens, last.model, last.cost)


def read(stream: str) -> tuple[bytes, Meaning]:
    expected = msgspec.json.decode((STREAMS / f"{stream}.json").read_bytes(), type=Meaning)
    return (STREAMS / f"{stream}.sse").read_bytes(), expected


def outcome(stream: str, *pieces: bytes) -> list[Delta] | str:
    """The deltas, or the error with its message."""
    try:
        return decode(stream, *pieces)
    except ModelError as error:
        return f"{type(error).__name__}: {error}"


def test_there_are_twenty_streams_of_each_dialect():
    for dialect in dialects.NAMES:
        assert sum(name.startswith(f"{dialect}/") for name in NAMES) >= 20


@pytest.mark.parametrize("stream", NAMES)
def test_a_stream_means_what_the_vendor_meant(stream: str):
    data, expected = read(stream)
    if not expected.error:
        assert meaning(decode(stream, data)) == expected
        return
    with pytest.raises(getattr(errors, expected.error)) as caught:
        decode(stream, data)
    assert type(caught.value).__name__ == expected.error
    assert caught.value.status == expected.status
    assert expected.message in ("", str(caught.value))


@pytest.mark.parametrize("stream", NAMES)
def test_a_stream_cut_at_any_byte_is_an_error_or_the_whole_answer(stream: str):
    data, _ = read(stream)
    whole = outcome(stream, data)
    for cut in range(len(data)):
        try:
            deltas = decode(stream, data[:cut])
        except ModelError:
            continue
        # Behind the finish reason only the bill can still be missing.
        assert isinstance(whole, list) and deltas[:-1] == whole[:-1]
        meant = whole[-1]
        assert isinstance(meant, Finished)
        assert deltas[-1] in (meant, Finished(meant.reason, Tokens(), meant.model))


@pytest.mark.parametrize("stream", NAMES)
def test_a_stream_in_two_pieces_says_the_same_wherever_it_is_parted(stream: str):
    data, _ = read(stream)
    whole = outcome(stream, data)
    for cut in range(1, len(data)):
        assert outcome(stream, data[:cut], data[cut:]) == whole


@pytest.mark.parametrize("stream", NAMES)
def test_a_stream_byte_by_byte_says_the_same(stream: str):
    data, _ = read(stream)
    assert outcome(stream, *(data[i : i + 1] for i in range(len(data)))) == outcome(stream, data)


@pytest.mark.parametrize("stream", [name for name in NAMES if not read(name)[1].error])
def test_deltas_that_came_at_once_say_the_same_in_fewer(stream: str):
    data, expected = read(stream)
    fewer = joined(decode(stream, data))
    assert meaning(fewer) == expected
    grown = [(delta.index if isinstance(delta, Grew) else -1) for delta in fewer]
    assert all(index == -1 or index != other for index, other in pairwise(grown))


REPLIES = {
    "all": Reply("Look, ünïcode.", "Hm, 思考.", (Call("a", {"x": [1, "é"]}, "c1"), Call("b", {}, "c2")), chunk=3),
    "cut arguments": Reply(calls=(Call("a", '{"x": ', "c1"),), finish="length"),
    "refusal": Reply("No.", finish="refusal"),
    "filtered": Reply("No.", finish="content_filter"),
    "empty": Reply(),
}


# A whole body of the one dialect has no text of arguments that could be cut.
SPOKEN = [(dialect, reply) for dialect in dialects.NAMES for reply in REPLIES]
SPOKEN.remove(("anthropic", "cut arguments"))


@pytest.mark.parametrize(("dialect", "reply"), SPOKEN)
def test_a_stream_and_a_whole_body_of_the_scripted_server_mean_the_same(dialect: str, reply: str):
    spoken: Any = "messages" if dialect == "anthropic" else dialect
    streamed = meaning(decode(f"{dialect}/", b"".join(wire.stream_bytes(spoken, REPLIES[reply]))))
    assert meaning(decode(f"{dialect}/", wire.body_bytes(spoken, REPLIES[reply]))) == streamed
    assert [part.name for part in streamed.parts if part.name] == [call.name for call in REPLIES[reply].calls]


@pytest.mark.parametrize("dialect", dialects.NAMES)
@pytest.mark.parametrize("body", [b"", b"\n\n", b"upstream connect error", b"{}", b"[]", b"[1"])
def test_what_is_no_answer_is_a_lost_connection(dialect: str, body: bytes):
    with pytest.raises(Disconnected):
        decode(f"{dialect}/", body)


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_what_comes_behind_the_end_is_not_read(dialect: str):
    spoken: Any = "messages" if dialect == "anthropic" else dialect
    events = wire.stream_bytes(spoken, REPLIES["all"])
    once = decode(f"{dialect}/", *events)
    assert decode(f"{dialect}/", *events, *events, b"data: {broken\n\n") == once


def test_an_event_that_is_cut_behind_the_finish_reason_takes_nothing_away():
    *events, usage, _ = wire.stream_bytes("chat", REPLIES["all"])
    whole = decode("chat/", *events)
    for cut in range(len(usage) - 3):
        assert decode("chat/", *events, usage[:cut]) == whole


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_events_without_data_are_signs_of_life(dialect: str):
    spoken: Any = "messages" if dialect == "anthropic" else dialect
    events = wire.stream_bytes(spoken, REPLIES["all"])
    padded = [piece for event in events for piece in (b"data:\n\n", b"data:  \n\n", event)]
    assert decode(f"{dialect}/", *padded) == decode(f"{dialect}/", *events)


def test_what_a_server_adds_to_a_part_that_it_ended_is_passed_over():
    item = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}
    late = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"}
    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        late,
        {"type": "response.completed", "response": {"status": "completed", "output": [{**item, "arguments": "{}{}"}]}},
    ]
    stream = b"".join(b"data: " + msgspec.json.encode(event) + b"\n\n" for event in events)
    assert meaning(decode("responses/", stream)).parts == [Part("call", "{}", "c", "a")]


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_web_page_says_to_check_the_address(dialect: str):
    with pytest.raises(BadRequest, match=r"web page \(Welcome\): check base_url"):
        decode(f"{dialect}/", b"\r\n<!DOCTYPE html><ti", b"tle>Welcome</title>")


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_json_that_is_nested_without_end_is_a_lost_connection(dialect: str):
    for body in (b'{"error": ' + b"[" * 100_000, b'data: {"delta": ' + b"[" * 100_000 + b"\n\n"):
        with pytest.raises(Disconnected):
            decode(f"{dialect}/", body)


def test_a_dialect_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'klingon' is not a dialect"):
        dialects.load("klingon")
