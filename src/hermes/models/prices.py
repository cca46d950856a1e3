"""What a call costs."""

from msgspec import Struct
from msgspec.structs import replace

from hermes.protocol.models import Tokens


class Prices(Struct, frozen=True, kw_only=True):
    """US dollars per million tokens; a cache price that is None is the input price.

    A call with more than `long_from` tokens of input is charged by `long`, all of it.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_from: int = 0
    long: "Prices | None" = None


def for_an_hour(prices: Prices | None) -> Prices | None:
    """The prices of calls whose beginning is cached for an hour: Anthropic writes it for twice the price of input."""
    if prices is None or prices.cache_write is None:
        return prices
    return replace(prices, cache_write=2 * prices.input, long=for_an_hour(prices.long))


def cost_of(tokens: Tokens, prices: Prices) -> float:
    """The cost of one call in US dollars."""
    if prices.long is not None and tokens.input > prices.long_from:
        prices = prices.long
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    fresh = tokens.input - tokens.cache_read - tokens.cache_write
    dollars = (
        max(0, fresh) * prices.input
        + tokens.cache_read * read
        + tokens.cache_write * write
        + tokens.output * prices.output
    )
    return dollars / 1_000_000
