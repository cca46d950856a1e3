"""Tools that the model was not told of: found by what they do, and called by name."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.declare import tool

MOST = 10
DESCRIPTION = 400
_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


class Finder:
    """Searches whatever tools there are at the moment of the call."""

    def __init__(self, tools: Callable[[], Sequence[Tool]]) -> None:
        self._tools = tools

    async def tool_search(self, ctx: ToolContext, query: str, limit: int = 5) -> Result:
        """Find further tools of connected servers by what they do; call one that is found with tool_call, or by its
        name."""
        found = rank(query, self._tools())[: max(1, min(limit, MOST))]
        if not found:
            return said(f"[nothing fits; there are {len(self._tools())} tools: {self._all()}]", trust="trusted")
        # The gate knows what each server says of its tools, found or not.
        return said("\n\n".join(_described(one) for one in found), trust="trusted")

    async def tool_call(
        self, ctx: ToolContext, name: str, arguments: Annotated[dict[str, Any], Meta(description="as its schema says")]
    ) -> Result:
        """Call a tool that tool_search found."""
        return await ctx.call(name, msgspec.json.encode(arguments).decode())

    def _all(self) -> str:
        names = sorted(one.spec.name for one in self._tools())
        return ", ".join(names[:40]) + (" ..." if len(names) > 40 else "")


def search_and_call(tools: Callable[[], Sequence[Tool]]) -> tuple[Tool, ...]:
    """tool_search and tool_call over the tools that the function gives."""
    finder = Finder(tools)
    return (
        tool(finder.tool_search, kind="search", toolset="tool_search", effect=False, title=lambda args: args.query),
        tool(finder.tool_call, kind="other", toolset="tool_search", parallel=True, title=lambda args: args.name),
    )


def rank(query: str, tools: Sequence[Tool]) -> list[Tool]:
    """Those that share a word with the query, the best first: a rare word counts more, and in a name twice."""
    exact = [one for one in tools if one.spec.name == query.strip()]
    if exact:
        return exact
    documents = [Counter(words(one.spec.name) * 2 + words(one.spec.description)) for one in tools]
    spread = Counter(word for document in documents for word in document)
    asked = set(words(query))

    def score(document: Counter[str]) -> float:
        return sum(
            math.log(1 + len(tools) / spread[word]) * document[word] / (document[word] + 1)
            for word in asked & document.keys()
        )

    scores = [score(document) for document in documents]
    best = sorted(range(len(tools)), key=lambda at: (-scores[at], tools[at].spec.name))
    return [tools[at] for at in best if scores[at] > 0]


def words(text: str) -> list[str]:
    """The words of a text in one form: lower case, names split at their humps, plural and verb endings cut."""
    return [_stem(word.lower()) for word in _word.findall(text)]


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _described(one: Tool) -> str:
    spec = one.spec
    short = spec.description if len(spec.description) <= DESCRIPTION else f"{spec.description[:DESCRIPTION]}…"
    return f"{spec.name}: {short}\n{bytes(spec.schema).decode()}"
