"""Results that are too long for the model are kept whole as a blob; it sees their head, their tail and where the rest is."""

from collections.abc import Awaitable, Callable

from hermes.protocol.items import Part, Text

HEAD, TAIL = 1_000, 500
Keep = Callable[[bytes, str], Awaitable[str]]


async def spill(parts: tuple[Part, ...], cap: int, keep: Keep) -> tuple[Part, ...]:
    """The parts with every text above `cap` characters cut down to a preview."""
    return tuple([await _spill(p, cap, keep) if isinstance(p, Text) and len(p.text) > cap else p for p in parts])


async def _spill(part: Text, cap: int, keep: Keep) -> Text:
    ref = await keep(part.text.encode(errors="surrogatepass"), "text/plain")
    lines = part.text.count("\n") + 1
    note = (
        f"[{len(part.text):,} characters in {lines:,} lines, above the limit of {cap:,}; "
        f'read any of it with read_file(path="blob:{ref[:16]}", offset=…, limit=…)]'
    )
    return Text(f"{part.text[:HEAD]}\n…\n{note}\n…\n{part.text[-TAIL:]}")
