"""A span knows when each of its items was said."""

from hermes.learning.review.span import Span
from hermes.protocol.events import Event, ItemDone
from tests.learning.review.test_detector import Talk


def test_the_time_of_each_item_is_kept_even_when_it_was_reviewed():
    span = Span(0)
    for seq, item in enumerate(Talk().says("one").replies("two").items, 1):
        span.take(Event(session="s", seq=seq, at=10.0 * seq, turn=1, body=ItemDone(item)))
    span.forget(1)
    assert ([item.id for item in span.items], span.times) == (["2"], {"1": 10.0, "2": 20.0})
