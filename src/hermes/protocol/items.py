"""What a conversation is made of: six kinds of item, plain data.

The model's view sorts items by (step, index). A step is one model call, numbered through the session;
an item that did not come from a model call (a message, a plan) stands behind the items of the step that it followed.
"""

from typing import Literal

from msgspec import Struct

Trust = Literal["trusted", "workspace", "untrusted"]
Kind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]
Origin = Literal["person", "redirect", "process", "subagent", "cron", "skill", "hook"]
CallStatus = Literal["running", "done", "failed", "refused", "interrupted", "unknown", "discarded"]
TextStatus = Literal["running", "done", "interrupted", "discarded"]


class Text(Struct, frozen=True, tag="text", tag_field="type"):
    text: str


class Image(Struct, frozen=True, tag="image", tag_field="type", omit_defaults=True):
    """A picture whose bytes are a blob."""

    blob: str
    media_type: str
    name: str = ""


class Attachment(Struct, frozen=True, tag="attachment", tag_field="type", omit_defaults=True):
    """Any other file whose bytes are a blob."""

    blob: str
    media_type: str
    name: str = ""
    size: int = 0


Part = Text | Image | Attachment


class Opaque(Struct, frozen=True):
    """Bytes of a provider (signed reasoning, say), sent back only to the same dialect and model."""

    dialect: str
    model: str
    data: str


class Location(Struct, frozen=True, omit_defaults=True):
    path: str
    line: int = 0


class FileChange(Struct, frozen=True, omit_defaults=True):
    """One file that a tool call changed, with the change as a unified diff."""

    path: str
    change: Literal["created", "edited", "deleted", "moved"]
    diff: str = ""
    added: int = 0
    removed: int = 0


class PlanEntry(Struct, frozen=True):
    id: str
    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]


class Place(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every item has: its name, where it stands, and where it came from."""

    id: str
    turn: int
    step: int
    index: int
    source: str = ""
    trust: Trust = "trusted"
    opaque: Opaque | None = None


class UserMessage(Place, frozen=True, tag="user", tag_field="type"):
    parts: tuple[Part, ...]
    origin: Origin = "person"
    sender: str = ""


class Thought(Place, frozen=True, tag="thought", tag_field="type"):
    text: str
    status: TextStatus = "done"


class Reply(Place, frozen=True, tag="reply", tag_field="type"):
    text: str
    status: TextStatus = "done"


class ToolCall(Place, frozen=True, tag="call", tag_field="type"):
    """A call with its arguments exactly as received and, once done, a result for the model and one for people."""

    call_id: str
    name: str
    args: str
    kind: Kind = "other"
    title: str = ""
    locations: tuple[Location, ...] = ()
    status: CallStatus = "running"
    result: tuple[Part, ...] = ()
    shown: str = ""
    files: tuple[FileChange, ...] = ()
    seconds: float = 0.0


class Plan(Place, frozen=True, tag="plan", tag_field="type"):
    """The plan as people see it; the model sees it through its own todo call."""

    entries: tuple[PlanEntry, ...]


class Summary(Place, frozen=True, tag="summary", tag_field="type"):
    """A shorter text that stands in the model's view for the items it covers, which stay in the log."""

    kind: Literal["mask", "leaf", "node"]
    covers: tuple[str, ...]
    text: str


Item = UserMessage | Thought | Reply | ToolCall | Plan | Summary


def text_of(parts: tuple[Part, ...]) -> str:
    """The text in some parts, for a person or a search; files are named in brackets."""
    return "\n".join(p.text if isinstance(p, Text) else f"[{p.name or p.media_type}]" for p in parts)
