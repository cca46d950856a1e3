"""The MCP side of the fault server, whatever the transport: a request in, a JSON-RPC answer out, in both eras."""

import asyncio

from hermes.mcp.chaos import offer
from hermes.mcp.chaos.call import VERSION, Call, InputNeeded, Message, RpcError
from hermes.mcp.chaos.ledger import Ledger
from hermes.mcp.chaos.plan import Era

OLD_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
INFO = {"name": "chaos", "version": "1"}
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
CHANGED = "notifications/tools/list_changed"
CACHEABLE = frozenset({"server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"})
INSTRUCTIONS = "A server that fails on demand."


class Answers:
    """Answers requests. What the faults `describe` and `schema` have changed shows in the list of tools."""

    def __init__(self, era: Era, ledger: Ledger) -> None:
        self.era: Era = era
        self.description = ""
        self.extra = False
        self._ledger = ledger

    async def answer(self, call: Call) -> Message:
        """The whole answer; being cancelled is answered too, so that whoever still listens hears the end."""
        try:
            result = await self._result(call)
        except RpcError as error:
            return failure(call, error)
        except InputNeeded as needed:
            result = {"resultType": "input_required", "inputRequests": needed.questions, "requestState": "asked"}
        except asyncio.CancelledError:
            return failure(call, RpcError(0, "Request cancelled"))
        return {"jsonrpc": "2.0", "id": call.id, "result": self._dated(call, result)}

    def check_era(self, call: Call) -> None:
        """Refuse what belongs to an era that is not spoken here."""
        asked = call.meta.get(VERSION) if call.modern else call.params.get("protocolVersion")
        if call.modern and self.era == "old":
            raise RpcError(-32601, "Method not found")
        if (call.modern and asked != MODERN_VERSION) or (not call.modern and self.era == "modern"):
            data = {"supported": [MODERN_VERSION], "requested": str(asked)}
            raise RpcError(-32022, "Unsupported protocol version", data)

    async def _result(self, call: Call) -> Message:
        match call.method:
            case "initialize" if not call.modern:
                asked = call.params.get("protocolVersion")
                version = asked if asked in OLD_VERSIONS else OLD_VERSIONS[-1]
                return {"protocolVersion": version, "serverInfo": INFO} | _about()
            case "server/discover" if call.modern:
                return {"supportedVersions": [MODERN_VERSION]} | _about()
            case "ping" | "logging/setLevel" if not call.modern:
                return {}
            case "tools/list":
                return {"tools": offer.list_tools(self.description, self.extra)}
            case "tools/call":
                return await offer.call_tool(call, self._ledger)
            case "resources/list":
                return {"resources": offer.RESOURCES}
            case "resources/templates/list":
                return {"resourceTemplates": []}
            case "resources/read":
                return offer.read_resource(call, self._ledger)
            case "prompts/list":
                return {"prompts": offer.PROMPTS}
            case "prompts/get":
                return offer.get_prompt(call)
            case _:
                raise RpcError(-32601, "Method not found")

    def _dated(self, call: Call, result: Message) -> Message:
        """What the modern era wants in every result."""
        if not call.modern:
            return result
        result = {"resultType": "complete", "_meta": {SERVER_INFO: INFO}} | result
        if call.method in CACHEABLE or call.method == "resources/read":
            result |= {"ttlMs": 0, "cacheScope": "private"}
        return result


def failure(call: Call, error: RpcError) -> Message:
    return {"jsonrpc": "2.0", "id": call.id, "error": error.error}


def acknowledged(call: Call) -> Message:
    """The first message of a subscription: what was asked for is what will be told."""
    params = {"_meta": {SUBSCRIPTION: call.id}, "notifications": call.params.get("notifications", {})}
    return {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}


def changed(subscription: str | int | None = None) -> Message:
    """The news that the tools have changed, marked for a subscription if it goes to one."""
    params = {} if subscription is None else {"_meta": {SUBSCRIPTION: subscription}}
    return {"jsonrpc": "2.0", "method": CHANGED, "params": params}


def _about() -> Message:
    capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}}
    return {"capabilities": capabilities, "instructions": INSTRUCTIONS}
