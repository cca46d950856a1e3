"""What the fault server offers: small tools that show an effect, a delay, a failure or a question; resources; prompts."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from hermes.mcp.chaos.call import LOG_LEVEL, Call, Message, RpcError
from hermes.mcp.chaos.ledger import Ledger

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
        "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
    )
).decode()
"""A PNG of one point."""

GREETING = "chaos://greeting"
DOT = "chaos://dot"
COUNTS = "chaos://counts"
READ_ONLY = {"readOnlyHint": True}
EFFECT = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False}

Args = dict[str, Any]


def said(text: str, *, failed: bool = False) -> Message:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


async def echo(call: Call, args: Args, ledger: Ledger) -> Message:
    return said(args["text"])


async def count(call: Call, args: Args, ledger: Ledger) -> Message:
    key = args["key"]
    ledger.note("key", key)
    number = ledger.count("key", key)
    await asyncio.sleep(args.get("seconds", 0))
    return said(str(number))


async def slow(call: Call, args: Args, ledger: Ledger) -> Message:
    await asyncio.sleep(args["seconds"])
    return said(f"slept {args['seconds']} s")


async def fail(call: Call, args: Args, ledger: Ledger) -> Message:
    return said(args["text"], failed=True)


async def big(call: Call, args: Args, ledger: Ledger) -> Message:
    return said("x" * args["bytes"])


async def ask(call: Call, args: Args, ledger: Ledger) -> Message:
    schema = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
    form = {"mode": "form", "message": "Which color?", "requestedSchema": schema}
    return said(_json(await call.ask("elicitation/create", form)))


async def sample(call: Call, args: Args, ledger: Ledger) -> Message:
    messages = [{"role": "user", "content": {"type": "text", "text": "Say a word."}}]
    answer = await call.ask("sampling/createMessage", {"messages": messages, "maxTokens": 100})
    return said(_json(answer["content"]))


async def roots(call: Call, args: Args, ledger: Ledger) -> Message:
    return said(_json((await call.ask("roots/list", {}))["roots"]))


async def progress(call: Call, args: Args, ledger: Ledger) -> Message:
    steps = args["steps"]
    for step in range(1, steps + 1):
        await call.progress(step, steps)
        await asyncio.sleep(0)
    return said(f"{steps} steps")


async def log(call: Call, args: Args, ledger: Ledger) -> Message:
    if not call.modern or LOG_LEVEL in call.meta:
        await call.notify("notifications/message", {"level": "info", "logger": "chaos", "data": args["text"]})
    return said("logged")


async def image(call: Call, args: Args, ledger: Ledger) -> Message:
    return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}], "isError": False}


async def link(call: Call, args: Args, ledger: Ledger) -> Message:
    return {"content": [{"type": "resource_link", "uri": GREETING, "name": "greeting"}], "isError": False}


class Tool(Struct, frozen=True):
    """A tool with the JSON types of its arguments; those in `optional` may be left out."""

    run: Callable[[Call, Args, Ledger], Awaitable[Message]]
    description: str
    arguments: dict[str, str] = {}
    optional: tuple[str, ...] = ()
    effect: bool = False

    @property
    def required(self) -> list[str]:
        return [name for name in self.arguments if name not in self.optional]


TOOLS: dict[str, Tool] = {
    "echo": Tool(echo, "Says the text again.", {"text": "string"}),
    "count": Tool(
        count,
        "Counts one up for the key, then takes so many seconds.",
        {"key": "string", "seconds": "number"},
        optional=("seconds",),
        effect=True,
    ),
    "slow": Tool(slow, "Takes so many seconds.", {"seconds": "number"}),
    "fail": Tool(fail, "Fails with the text.", {"text": "string"}),
    "big": Tool(big, "Answers with so many bytes.", {"bytes": "integer"}),
    "ask": Tool(ask, "Asks the person for a color."),
    "sample": Tool(sample, "Asks the client's model for a word."),
    "roots": Tool(roots, "Asks the client for its folders."),
    "progress": Tool(progress, "Reports so many steps.", {"steps": "integer"}),
    "log": Tool(log, "Logs the text.", {"text": "string"}),
    "image": Tool(image, "Answers with a picture."),
    "link": Tool(link, "Answers with a link to a resource."),
}

RESOURCES: list[Message] = [
    {"uri": GREETING, "name": "greeting", "mimeType": "text/plain"},
    {"uri": DOT, "name": "dot", "mimeType": "image/png"},
    {"uri": COUNTS, "name": "counts", "mimeType": "application/json"},
]

PROMPTS: list[Message] = [
    {"name": "greet", "description": "Greet someone.", "arguments": [{"name": "who", "required": True}]},
    {"name": "rest", "description": "Say good night."},
]


def list_tools(description: str, extra: bool) -> list[Message]:
    """The tools; echo as the faults `describe` and `schema` have changed it."""
    return [_described(name, tool, description, extra) for name, tool in TOOLS.items()]


def _described(name: str, tool: Tool, description: str, extra: bool) -> Message:
    changes = name == "echo"
    arguments = tool.arguments | ({"extra": "string"} if extra and changes else {})
    properties = {argument: {"type": kind} for argument, kind in arguments.items()}
    schema: Message = {"type": "object", "properties": properties, "required": tool.required}
    text = description if description and changes else tool.description
    return {
        "name": name,
        "description": text,
        "inputSchema": schema,
        "annotations": EFFECT if tool.effect else READ_ONLY,
    }


async def call_tool(call: Call, ledger: Ledger) -> Message:
    tool = TOOLS.get(call.tool)
    if tool is None:
        raise RpcError(-32602, f"Unknown tool: {call.tool}")
    args = call.params.get("arguments") or {}
    if missing := [name for name in tool.required if name not in args]:
        raise RpcError(-32602, f"Missing argument: {', '.join(missing)}")
    if "inputResponses" not in call.params:
        ledger.note("run", call.tool)
    return await tool.run(call, args, ledger)


def read_resource(call: Call, ledger: Ledger) -> Message:
    uri = call.params.get("uri")
    match uri:
        case "chaos://greeting":
            part = {"mimeType": "text/plain", "text": "Hello from chaos."}
        case "chaos://dot":
            part = {"mimeType": "image/png", "blob": PIXEL}
        case "chaos://counts":
            part = {"mimeType": "application/json", "text": _json(ledger.counts)}
        case _:
            raise RpcError(-32602 if call.modern else -32002, f"Resource not found: {uri}", {"uri": uri})
    return {"contents": [{"uri": uri} | part]}


def get_prompt(call: Call) -> Message:
    args = call.params.get("arguments") or {}
    match call.params.get("name"):
        case "greet" if "who" in args:
            text = f"Greet {args['who']}."
        case "greet":
            raise RpcError(-32602, "Missing argument: who")
        case "rest":
            text = "Say good night."
        case name:
            raise RpcError(-32602, f"Unknown prompt: {name}")
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
