"""Results that are too long for the model are kept whole as a blob; it sees their head, their tail and where the rest is."""

from collections.abc import Awaitable, Callable

from hermes.protocol.items import Part, Text

HEAD, TAIL = 1_000, 500
TOGETHER = 200_000
"""Characters that the results of one step may have together."""
Keep = Callable[[bytes, str], Awaitable[str]]


class Room:
    """How much the results of a step may still hold together. Whoever comes first takes it; a preview is always allowed."""

    def __init__(self) -> None:
        self._left = TOGETHER

    async def fit(self, parts: tuple[Part, ...], cap: int, keep: Keep) -> tuple[Part, ...]:
        """The parts with every text cut down to a preview that is above `cap` characters, or all if there is no room."""
        texts = [len(part.text) for part in parts if isinstance(part, Text)]
        whole = sum(length for length in texts if length <= cap)
        limit = f"above the limit of {cap:,}"
        if whole <= self._left:
            self._left -= whole
        else:
            cap, limit = min(cap, HEAD + TAIL), f"with the other results of this step above the limit of {TOGETHER:,}"
        return tuple([await _spill(p, limit, keep) if isinstance(p, Text) and len(p.text) > cap else p for p in parts])


async def _spill(part: Text, limit: str, keep: Keep) -> Text:
    ref = await keep(part.text.encode(errors="surrogatepass"), "text/plain")
    lines = part.text.count("\n") + 1
    note = (
        f"[{len(part.text):,} characters in {lines:,} lines, {limit}; "
        f'read any of it with read_file(path="blob:{ref[:16]}", offset=…, limit=…)]'
    )
    return Text(f"{part.text[:HEAD]}\n…\n{note}\n…\n{part.text[-TAIL:]}")
