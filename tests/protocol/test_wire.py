"""Events and ops travel as JSON and come back the same; what is not known is kept."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.protocol import events, items, ops
from hermes.protocol.actions import RunCommand
from hermes.protocol.wire import decode_body, decode_event, decode_op, encode_body, encode_event, encode_op

PLACE = {"id": "i", "turn": 1, "step": 2, "index": 3}
ITEMS = [
    items.UserMessage(**PLACE, parts=(items.Text("hi"), items.Image("b", "image/png"), items.Attachment("b", "a/b"))),
    items.Thought(**PLACE, text="hm", opaque=items.Opaque("anthropic", "m", "sig")),
    items.Reply(**PLACE, text="yes", status="interrupted"),
    items.ToolCall(
        **PLACE,
        call_id="c",
        name="t",
        args='{"a": 1',
        locations=(items.Location("/x", 2),),
        files=(items.FileChange("/x", "edited", "@@", 1, 1),),
        result=(items.Text("ok"),),
    ),
    items.Plan(**PLACE, entries=(items.PlanEntry("1", "do", "pending"),)),
    items.Summary(**PLACE, kind="leaf", covers=("a", "b"), text="short"),
]
BODIES = [
    events.SessionOpened("cli", "m", "/", "0", prefix=events.Prefix("a", "b")),
    events.TurnStarted("op"),
    *[events.ItemDone(item) for item in ITEMS],
    events.ItemDelta("i", "text", 0, "x"),
    events.Asked("r", events.Approval(RunCommand("ls", "/"), "hash")),
    events.Asked("r", events.Form("fill", msgspec.Raw(b'{"type":"object"}'))),
    events.Answered("r", "answered", "once"),
    events.Usage(1, "m", 2, 3, cost=None),
    events.Notice("n"),
    events.Changed("config", config=ops.Configure(id="x", model="m")),
    events.TurnEnded("limit", limit="steps"),
    events.SessionClosed(),
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_every_event_comes_back_the_same(body):
    event = events.Event(session="s", at=1.5, seq=7, turn=2, parent="p", body=body)
    assert encode_event(decode_event(encode_event(event))) == encode_event(event)
    assert type(decode_event(encode_event(event)).body) is type(body)


def test_there_are_twelve_kinds_of_event_eight_ops_and_six_items():
    assert len(events.Body.__args__) == 12 + 1  # and Unknown
    assert len(ops.AnyOp.__args__) == 8
    assert len(items.Item.__args__) == 6


@pytest.mark.parametrize(
    "raw",
    [
        b'{"event":"dreamed","of":[1, 2]}',
        b'{"event":"item_done","item":{"type":"hologram","id":"x"}}',
        b'{"event":"asked","request_id":"r","request":{"type":"riddle"}}',
        b'{"event":"turn_ended","reason":"bored"}',
    ],
)
def test_what_a_newer_hermes_wrote_is_kept_byte_for_byte(raw):
    body = decode_body(raw)
    assert body == events.Unknown(raw)
    assert encode_body(body) == raw
    line = b'{"session":"s","at":1.0,"body":' + raw + b',"seq":3}'
    assert encode_event(decode_event(line)) == line


def test_fields_that_a_newer_hermes_added_are_passed_over():
    assert decode_body(b'{"event":"notice","text":"x","colour":"red"}') == events.Notice("x")


def test_ops_come_back_the_same():
    for op in (
        ops.Say(parts=(items.Text("x"),), sender="me"),
        ops.Redirect(parts=(items.Text("x"),)),
        ops.Interrupt(turn=3, background=True),
        ops.Answer(request_id="r", choice="once"),
        ops.Configure(budget=ops.Budget(steps=None, money=1.5), tools=("a",)),
        ops.Compact(focus="f"),
        ops.Rewind(to=2, expect_turn=4),
        ops.Close(),
    ):
        assert decode_op(encode_op(op)) == op


def test_the_data_of_an_answer_stays_out_of_its_row():
    assert b"hunter2" not in encode_op(ops.Answer(request_id="r", data=msgspec.Raw(b'"hunter2"')))


@given(st.text(), st.text())
def test_any_text_survives(words, name):
    body = events.ItemDone(items.UserMessage(**PLACE, parts=(items.Text(words),), sender=name))
    assert decode_body(encode_body(body)) == body
