"""A conversation with everything in it, and short ways to make its items."""

from typing import Any

from msgspec import Raw

from hermes.protocol.items import (
    Attachment,
    Image,
    Opaque,
    Part,
    Plan,
    PlanEntry,
    Reply,
    Summary,
    Text,
    Thought,
    ToolCall,
    UserMessage,
)
from hermes.protocol.models import ModelRequest, ToolSpec

PNG = b"\x89PNG fake"
PNG_BASE64 = "iVBORyBmYWtl"
SCHEMA = Raw(b'{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}')
READ = ToolSpec("read_file", "Read a file.", SCHEMA)
LIST = ToolSpec("ls", "List a folder.", Raw(b'{"type":"object","properties":{}}'))


def said(step: int, *parts: Part | str, index: int = 90) -> UserMessage:
    texts = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return UserMessage(id=f"u{step}", turn=1, step=step, index=index, parts=texts)


def thought(step: int, text: str, opaque: Opaque | None = None, index: int = 0) -> Thought:
    return Thought(id=f"t{step}", turn=1, step=step, index=index, text=text, opaque=opaque)


def reply(step: int, text: str, opaque: Opaque | None = None, index: int = 1) -> Reply:
    return Reply(id=f"r{step}", turn=1, step=step, index=index, text=text, opaque=opaque)


def call(step: int, call_id: str, name: str, args: str, *result: Part | str, **more: Any) -> ToolCall:
    parts = tuple(Text(part) if isinstance(part, str) else part for part in result)
    given = {"status": "done", "index": 2} | more
    return ToolCall(id=call_id, turn=1, step=step, call_id=call_id, name=name, args=args, result=parts, **given)


def summary(step: int, text: str) -> Summary:
    return Summary(id="s", turn=1, step=step, index=0, kind="leaf", covers=("x",), text=text)


def plan(step: int) -> Plan:
    return Plan(id="p", turn=1, step=step, index=91, entries=(PlanEntry("1", "Do it", "pending"),))


def history(seal: Opaque | None, call_seal: Opaque | None = None) -> ModelRequest:
    """Summary, picture, thought, reply, two calls of one step, a plan, an attachment, a picture in a result."""
    return ModelRequest(
        system="You are Hermes.",
        tools=(READ, LIST),
        items=(
            summary(0, "Earlier we spoke of files."),
            said(0, "What is this?", Image("b1", "image/png", "a.png")),
            thought(1, "Look first.", seal),
            reply(1, "Let me look."),
            call(1, "call_A", "read_file", '{"path": "a.txt"}', "hello", opaque=call_seal),
            call(1, "call_B", "ls", "{}", "no such folder", index=3, status="failed"),
            plan(1),
            said(1, "Hurry.", Attachment("b2", "application/pdf", "r.pdf", 1234)),
            call(2, "call_C", "read_file", '{"path":"a.png"}', Image("b1", "image/png")),
        ),
        images={"b1": PNG},
    )


def request(*items: Any, **more: Any) -> ModelRequest:
    """A request with nothing but items."""
    return ModelRequest(**{"system": "", "tools": (), "items": items, **more})
