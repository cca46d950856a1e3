"""What comes out of a session: twelve kinds of event.

SessionOpened
  TurnStarted
    ItemStarted   a thought, a reply, a tool call; a thing born whole (a message, a plan) has only ItemDone
      ItemDelta   the one kind that is not stored, has no seq, and may be merged or dropped
    ItemDone
    Asked … Answered
    Usage         one per model call
    Notice
  TurnEnded       exactly one per TurnStarted, whatever happened
  Changed         the prompt prefix, the view, the queue, the title …
SessionClosed
"""

from typing import Literal

from msgspec import Raw, Struct

from hermes.protocol.actions import Action
from hermes.protocol.errors import Limit
from hermes.protocol.items import Item
from hermes.protocol.ops import Configure

Channel = Literal["text", "thought", "args", "output", "progress"]
Reason = Literal["done", "interrupted", "refused", "limit", "failed"]
Cause = Literal["prefix", "view", "rewound", "queue", "title", "config", "children", "commands"]


class Prefix(Struct, frozen=True):
    """The blobs that hold system text and tools exactly as they are sent."""

    system: str
    tools: str


class SessionOpened(Struct, frozen=True, tag="session_opened", tag_field="event", omit_defaults=True):
    source: str
    model: str
    cwd: str
    version: str
    forked_from: str = ""
    prefix: Prefix | None = None


class TurnStarted(Struct, frozen=True, tag="turn_started", tag_field="event"):
    op: str


class ItemStarted(Struct, frozen=True, tag="item_started", tag_field="event"):
    item: Item


class ItemDelta(Struct, frozen=True, tag="item_delta", tag_field="event"):
    """Text that an open item grew by; `offset` is where in its channel it begins."""

    item: str
    channel: Channel
    offset: int
    text: str


class ItemDone(Struct, frozen=True, tag="item_done", tag_field="event"):
    item: Item


class Approval(Struct, frozen=True, tag="approval", tag_field="type", omit_defaults=True):
    """May this be done? `hash` binds the answer to exactly this action."""

    action: Action
    hash: str
    why: str = ""
    choices: tuple[str, ...] = ("once", "session", "always", "deny")


class Question(Struct, frozen=True, tag="question", tag_field="type", omit_defaults=True):
    text: str
    choices: tuple[str, ...] = ()


class Form(Struct, frozen=True, tag="form", tag_field="type"):
    """Fields to fill in, as a JSON schema."""

    text: str
    schema: Raw


class Login(Struct, frozen=True, tag="login", tag_field="type", omit_defaults=True):
    url: str
    text: str = ""


class Secret(Struct, frozen=True, tag="secret", tag_field="type"):
    """A value that is never stored or logged."""

    text: str


Request = Approval | Question | Form | Login | Secret


class Asked(Struct, frozen=True, tag="asked", tag_field="event", omit_defaults=True):
    request_id: str
    request: Request
    to: str = "person"
    expires_at: float | None = None
    item: str = ""


class Answered(Struct, frozen=True, tag="answered", tag_field="event", omit_defaults=True):
    request_id: str
    how: Literal["answered", "expired", "cancelled"]
    choice: str = ""
    text: str = ""
    by: str = ""


class Usage(Struct, frozen=True, tag="usage", tag_field="event", omit_defaults=True):
    """What one model call used; `cost` in US dollars is None where the price is not known.

    `purpose` is empty for the conversation itself, else what else the call was for: review, compaction, title.
    """

    step: int
    model: str
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: float | None = None
    context_used: int = 0
    context_size: int = 0
    purpose: str = ""


class Notice(Struct, frozen=True, tag="notice", tag_field="event", omit_defaults=True):
    """One line for a person; `code` lets a front end tell kinds apart."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    code: str = ""


class Changed(Struct, frozen=True, tag="changed", tag_field="event", omit_defaults=True):
    """Something about the session is different from here on, and why."""

    cause: Cause
    why: str = ""
    prefix: Prefix | None = None
    turns: tuple[int, int] | None = None
    items: tuple[str, ...] = ()
    queue: tuple[str, ...] = ()
    title: str = ""
    config: Configure | None = None


class TurnEnded(Struct, frozen=True, tag="turn_ended", tag_field="event", omit_defaults=True):
    reason: Reason
    limit: Limit | None = None
    error: str = ""
    hint: str = ""


class SessionClosed(Struct, frozen=True, tag="session_closed", tag_field="event", omit_defaults=True):
    reason: str = ""


class Unknown(Struct, frozen=True, tag="?", tag_field="event"):
    """An event body of a newer Hermes, kept byte for byte."""

    raw: bytes


Body = (
    SessionOpened
    | TurnStarted
    | ItemStarted
    | ItemDelta
    | ItemDone
    | Asked
    | Answered
    | Usage
    | Notice
    | Changed
    | TurnEnded
    | SessionClosed
    | Unknown
)


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A body with where and when; `seq` is dense within its session and None for a delta."""

    session: str
    at: float
    body: Body
    seq: int | None = None
    turn: int = 0
    parent: str = ""
