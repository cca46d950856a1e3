"""Events and ops as JSON bytes and back; what a newer Hermes wrote is kept as Unknown, never lost."""

import msgspec
from msgspec import Raw, Struct, ValidationError

from hermes.protocol.events import Body, Event, Unknown
from hermes.protocol.ops import Answer, AnyOp


class _RawEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    at: float
    body: Raw
    seq: int | None = None
    turn: int = 0
    parent: str = ""


_encoder = msgspec.json.Encoder()
_bodies: msgspec.json.Decoder[Body] = msgspec.json.Decoder(Body)
_ops: msgspec.json.Decoder[AnyOp] = msgspec.json.Decoder(AnyOp)
_envelopes: msgspec.json.Decoder[_RawEvent] = msgspec.json.Decoder(_RawEvent)


def encode_body(body: Body) -> bytes:
    return body.raw if isinstance(body, Unknown) else _encoder.encode(body)


def decode_body(raw: bytes) -> Body:
    """The body, or Unknown around the same bytes if this version cannot read it."""
    try:
        return _bodies.decode(raw)
    except ValidationError:
        return Unknown(bytes(raw))


def encode_event(event: Event) -> bytes:
    """One event as one line of JSON, without the newline."""
    if not isinstance(event.body, Unknown):
        return _encoder.encode(event)
    return _encoder.encode(
        _RawEvent(
            session=event.session,
            at=event.at,
            body=Raw(event.body.raw),
            seq=event.seq,
            turn=event.turn,
            parent=event.parent,
        )
    )


def decode_event(line: bytes) -> Event:
    raw = _envelopes.decode(line)
    return Event(
        session=raw.session,
        at=raw.at,
        body=decode_body(bytes(raw.body)),
        seq=raw.seq,
        turn=raw.turn,
        parent=raw.parent,
    )


def encode_op(op: AnyOp) -> bytes:
    """An op for its row in the store; what a person typed into a Secret is in `data` and stays out of it."""
    if isinstance(op, Answer) and op.data is not None:
        op = msgspec.structs.replace(op, data=None)
    return _encoder.encode(op)


def decode_op(raw: bytes) -> AnyOp:
    return _ops.decode(raw)
