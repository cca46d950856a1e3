"""What a server offers, read from it page by page."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from hermes.mcp.contract import Catalog, ToolInfo

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool

PAGES = 100


async def read_catalog(client: "Client") -> Catalog:
    """The catalog of a connected server; capabilities that it does not announce are not asked for."""
    offers, about = client.server_capabilities, client.server_info
    tools: list[Tool] = (await all_pages(client.list_tools, "tools")).tools if offers.tools else []
    return Catalog(
        tools=tuple(_tool(tool) for tool in tools),
        resources=offers.resources is not None,
        prompts=offers.prompts is not None,
        instructions=client.instructions or "",
        version=about.version if about else "",
    )


async def all_pages(fetch: Callable[..., Awaitable[Any]], field: str) -> Any:
    """The first page of a listing with the entries of all others; one that never ends is cut."""
    first = page = await fetch()
    seen: set[str] = set()
    while page.next_cursor and page.next_cursor not in seen and len(seen) < PAGES:
        seen.add(page.next_cursor)
        page = await fetch(cursor=page.next_cursor)
        getattr(first, field).extend(getattr(page, field))
    return first


def _tool(tool: "Tool") -> ToolInfo:
    hints = tool.annotations
    description, schema = tool.description or "", msgspec.json.encode(tool.input_schema, order="sorted")
    return ToolInfo(
        name=tool.name,
        title=tool.title or (hints and hints.title) or "",
        description=description,
        schema=Raw(schema),
        read_only=bool(hints and hints.read_only_hint),
        idempotent=bool(hints and hints.idempotent_hint),
        contract=hashlib.sha256(description.encode() + b"\0" + schema).hexdigest(),
    )
