"""What a server's tools are called: mcp__server__tool, in the signs and the length that every model accepts."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 64
SIGNS = re.compile(r"[^A-Za-z0-9_]")
HASHED = 8


def tool_name(server: str, tool: str) -> str:
    """The name of one tool; a long one is cut and ends in a hash of the whole."""
    name = _plain(server, tool)
    return name if len(name) <= LONGEST else hashed_name(server, tool)


def hashed_name(server: str, tool: str) -> str:
    """The name of a tool whose plain one is too long or is another's."""
    tail = hashlib.sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:HASHED]
    return f"{_plain(server, tool)[: LONGEST - HASHED - 1]}_{tail}"


def tool_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """A name for each tool of a server, all distinct and whatever their order.

    Of tools that would be called the same, the one whose name needed no change keeps it and the others end in a hash.
    """
    tools = dict.fromkeys(tools)
    wanted = Counter(tool_name(server, tool) for tool in tools)
    return {
        tool: tool_name(server, tool)
        if wanted[tool_name(server, tool)] == 1 or not SIGNS.search(tool)
        else hashed_name(server, tool)
        for tool in tools
    }


def _plain(server: str, tool: str) -> str:
    return f"mcp__{SIGNS.sub('_', server)}__{SIGNS.sub('_', tool)}"
