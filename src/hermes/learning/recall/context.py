"""context_expand and context_grep: what compaction took out of view in this session is one call away, word for word."""

from hermes.learning.recall.hidden import beneath, items_of, out_of_view
from hermes.learning.recall.quotes import TRUST, body_of, one_line
from hermes.learning.recall.search import role_of
from hermes.protocol.errors import StoreError, ToolError
from hermes.protocol.items import Item, Summary, ToolCall, Trust
from hermes.protocol.store import Log
from hermes.protocol.tools import Result, ToolContext, said

PAGE = 30_000
"""Characters shown at a time: a window that was just made smaller should not be full again at once."""
HITS = 20
BESIDE = 120
"""Characters on both sides of what was looked for."""
HEX = frozenset("0123456789abcdef")


class HiddenContext:
    """Reads the log of whichever session calls."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def expand(self, ctx: ToolContext, ref: str, offset: int = 0) -> Result:
        """An item, the items that a summary stands for, or a blob: whole, page by page."""
        ref = ref.strip()
        items = await items_of(self._log, ctx.session)
        exact = items.get(ref)
        found = [exact] if exact else [item for name, item in items.items() if ref and name.startswith(ref)]
        if len(found) > 1:
            raise ToolError(f"{ref!r} is the beginning of {len(found)} ids; give more of it.")
        if not found:
            return await self._blob(ctx, ref, offset)
        covered = beneath(items, found[0]) if isinstance(found[0], Summary) else found
        text = "\n\n".join(f"[{item.id} {role_of(item)}]\n{_whole(item)}" for item in covered)
        return said(_page(text, ref, offset), trust=_trust(covered), source=_source(covered))

    async def grep(self, ctx: ToolContext, pattern: str) -> Result:
        """The items out of view that have a text, or one of several with | between them."""
        wanted = [piece.casefold() for piece in pattern.split("|") if piece.strip()]
        if not wanted:
            raise ToolError("context_grep needs a text to look for.")
        hidden = out_of_view(await items_of(self._log, ctx.session))
        if not hidden:
            return said("[nothing of this session is out of view]", trust="trusted")
        hits = [(item, place) for item in hidden if (place := _found(_whole(item), wanted))]
        if not hits:
            return said(f"[{pattern!r} is not in the {len(hidden)} items that are out of view]", trust="trusted")
        lines = [f"{item.id} {role_of(item)}: {place}" for item, place in hits[:HITS]]
        if len(hits) > HITS:
            lines.append(f"[and {len(hits) - HITS} more; look for something longer]")
        shown = [item for item, _ in hits[:HITS]]
        return said("\n".join(lines), trust=_trust(shown), source=_source(shown), title=pattern)

    async def _blob(self, ctx: ToolContext, ref: str, offset: int) -> Result:
        name = ref.removeprefix("blob:")
        if len(name) < 8 or not HEX.issuperset(name):
            raise ToolError(f"Nothing in this session is named {ref!r}.")
        try:
            data = await ctx.blob(name)
        except StoreError as error:
            raise ToolError(f"Nothing in this session is named {ref!r} ({error}).") from error
        # Nothing tells what a blob was part of: it may be a page of the web.
        return said(_page(data.decode(errors="replace"), ref, offset), trust="untrusted")


def _whole(item: Item) -> str:
    return (
        f"{item.name} {item.args}\n{body_of(item).partition(chr(10))[2]}"
        if isinstance(item, ToolCall)
        else body_of(item)
    )


def _page(text: str, ref: str, offset: int) -> str:
    if offset < 0 or (offset and offset >= len(text)):
        raise ToolError(f"{ref} has {len(text):,} characters: offset {offset:,} is behind them.")
    page = text[offset : offset + PAGE]
    left = len(text) - offset - len(page)
    return f'{page}\n[… {left:,} more characters: context_expand("{ref}", {offset + PAGE})]' if left else page


def _found(text: str, wanted: list[str]) -> str:
    """The first place in a text that has one of these, with a little of what stands around it; empty if none is there."""
    folded = text.casefold()
    places = [(at, len(piece)) for piece in wanted if (at := folded.find(piece)) >= 0]
    if not places:
        return ""
    at, length = min(places)
    start = max(0, at - BESIDE)
    return ("…" if start else "") + one_line(text[start : at + length + BESIDE])


def _trust(items: list[Item]) -> Trust:
    return TRUST[max((TRUST.index(item.trust) for item in items), default=0)]


def _source(items: list[Item]) -> str:
    """Where the least trusted of these came from, so that the gate knows it for what it was."""
    worst = max(items, key=lambda item: TRUST.index(item.trust), default=None)
    return worst.source if worst is not None and worst.trust != "trusted" else ""
