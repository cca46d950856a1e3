"""The operations as the SDK's client does them, and what its exceptions mean."""

from typing import Any

import httpx2
from anyio import BrokenResourceError, ClosedResourceError
from mcp import Client, MCPError
from mcp_types import EmptyResult, ErrorData, PingRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from hermes.mcp import faults
from hermes.mcp.catalog import all_pages
from hermes.mcp.contract import CallTool, Fault, GetPrompt, ListPrompts, ListResources, Operation, ReadResource
from hermes.mcp.exchange import CallFailed, Exchange
from hermes.protocol.errors import HermesError, UserError


async def send(client: Client, operation: Operation, exchange: Exchange) -> Any:
    async def report(progress: float, total: float | None, message: str | None) -> None:
        done = f"{progress:g}/{total:g}" if total else f"{progress:g}"
        if exchange.caller:
            exchange.caller.progress(f"{done} {message}" if message else done)

    match operation:
        case CallTool(name, args):
            return await client.call_tool(name, args, progress_callback=report)
        case ListResources():
            return await all_pages(client.list_resources, "resources")
        case ReadResource(uri):
            return await client.read_resource(uri)
        case ListPrompts():
            return await all_pages(client.list_prompts, "prompts")
        case GetPrompt(name, args):
            return await client.get_prompt(name, args)


async def ask(client: Client) -> None:
    """Something harmless that needs the session to be alive."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await client.session.send_discover(client.protocol_version)
    elif client.server_capabilities.tools:
        await client.list_tools()
    else:
        await ping(client)


async def ping(client: Client) -> None:
    await client.session.send_request(PingRequest(), EmptyResult)


def explain(error: Exception, exchange: Exchange) -> CallFailed:
    """What an exception of the SDK means; what the transport saw goes before any words."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if exchange.fault is not None:
        code = error.code if isinstance(error, MCPError) else 0
        return CallFailed(exchange.fault.text, exchange.fault, code)
    match error:
        case MCPError(error=ErrorData(data={"fault": "oversize" | "garbage" as kind})):
            # In these words our own stdio transport answers for a line that it could not read.
            return CallFailed(error.message, Fault(kind=kind, text=error.message), error.code)
        case MCPError():
            fault = faults.of_error(error.code, error.message, had_session=exchange.had_session, sent=exchange.sent)
            return CallFailed(fault.text if fault else error.message or f"error {error.code}", fault, error.code)
        case ValidationError():
            return CallFailed("the answer does not fit the protocol")
        case HermesError():
            hint = getattr(error, "hint", "")
            text = f"{error}; {hint}" if hint else str(error)
            return CallFailed(text, Fault(kind="refused", text=text, sent=False, lasting=isinstance(error, UserError)))
        case ClosedResourceError() | BrokenResourceError() | httpx2.HTTPError():
            text = "the connection was lost"
            return CallFailed(text, Fault(kind="cut" if exchange.sent else "refused", text=text, sent=exchange.sent))
        case _:
            return CallFailed(str(error) or type(error).__name__)
