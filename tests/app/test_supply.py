"""Which tools of a session's servers are in the prompt, and which can be called."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from hermes.app.supply import ServerSupply
from hermes.config import McpServer
from hermes.mcp.contract import Catalog, Sample, ToolInfo
from hermes.mcp.servers import Servers


class Known:
    """A server that only has a name and a catalog."""

    settings = McpServer(url="http://127.0.0.1:9/mcp")

    def __init__(self, name: str, *tools: str, size: int = 10) -> None:
        self.name = name
        self.catalog = catalog(*tools, size=size)


def catalog(*tools: str, size: int = 10) -> Catalog:
    infos = [
        ToolInfo(
            name=name,
            title="",
            description="x" * size,
            schema=msgspec.Raw(b'{"type":"object"}'),
            read_only=False,
            idempotent=False,
            contract="c",
        )
        for name in tools
    ]
    return Catalog(tools=tuple(infos))


class Shelf:
    def __init__(self, *servers: Known) -> None:
        self.servers = servers

    def all(self) -> tuple[Known, ...]:
        return self.servers


async def never(server: str, wish: Sample) -> Mapping[str, Any]:
    raise AssertionError("nobody asks a model here")


def supply(*servers: Known, room: int | None = 1000, chosen: frozenset[str] | None = None) -> ServerSupply:
    return ServerSupply(
        cast(Servers, Shelf(*servers)),
        chosen=lambda name: chosen is None or name in chosen,
        room=room,
        patience=0,
        roots=tuple,
        sampler=never,
        watched=lambda tool: tool,
    )


def names(tools: Any) -> list[str]:
    return [tool.spec.name for tool in tools]


SEARCH = ["tool_search", "tool_call"]


def test_servers_that_fit_are_told_in_the_order_of_the_settings_and_the_others_are_only_found():
    made = supply(Known("a", "one", size=400), Known("b", "two", size=900), Known("c", "three", size=400), room=250)
    assert names(made.offered()) == [*SEARCH, "mcp__a__one", "mcp__c__three"]
    assert made.find("mcp__b__two") is not None
    assert names(made.everything()) == ["mcp__a__one", "mcp__b__two", "mcp__c__three"]


def test_a_session_has_only_the_servers_that_it_named():
    made = supply(Known("a", "one"), Known("b", "two"), chosen=frozenset({"b"}))
    assert names(made.offered()) == [*SEARCH, "mcp__b__two"]
    assert made.find("mcp__a__one") is None


def test_without_servers_nothing_is_told_and_without_search_everything():
    assert names(supply().offered()) == []
    assert names(supply(Known("a", "one", size=9000), room=None).offered()) == ["mcp__a__one"]


def test_tools_of_a_server_that_was_given_up_are_withdrawn_but_calling_one_still_reaches_it():
    server = Known("a", "one")
    made = supply(server)
    assert names(made.offered()) == [*SEARCH, "mcp__a__one"]
    server.catalog = Catalog()
    assert names(made.offered()) == SEARCH
    assert made.find("mcp__a__one") is not None
    assert made.find("mcp__a__other") is None


def test_a_catalog_is_turned_into_tools_once():
    made = supply(Known("a", "one"))
    assert made.find("mcp__a__one") is made.find("mcp__a__one")
