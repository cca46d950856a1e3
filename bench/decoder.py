"""What it costs to turn the bytes of a streamed answer into deltas, in each dialect, against bare JSON decoding."""

from collections.abc import Iterator
from functools import partial

import msgspec

from bench.cost import Stopwatch, least
from bench.stage import Stage
from bench.table import Row
from hermes.models import dialects
from tests.services import wire
from tests.services.script import Reply
from tests.services.wire.frames import Dialect

WIRE: dict[str, Dialect] = {"chat": "chat", "responses": "responses", "anthropic": "messages"}
DELTAS = 1000


def measure(stage: Stage) -> Iterator[Row]:
    for name in dialects.NAMES:
        events = wire.stream_bytes(WIRE[name], Reply("token " * DELTAS, chunk=6))
        ours, bare = stage.alternate(15, partial(_decode, name, events), partial(_read, events))
        yield Row(
            what=f"{DELTAS:,} deltas decoded, {name}, CPU",
            value=least(ours),
            unit="ms",
            floor=least(bare),
            beside="their JSON decoded, nothing else",
        )


def _decode(name: str, events: list[bytes]) -> float:
    decoder = dialects.load(name).decoder()
    with Stopwatch() as watch:
        for event in events:
            decoder.feed(event)
        decoder.close()
    return watch.cpu


def _read(events: list[bytes]) -> float:
    with Stopwatch() as watch:
        for event in events:
            data = event.partition(b"data: ")[2]
            if data.startswith(b"{"):
                msgspec.json.decode(data)
    return watch.cpu
