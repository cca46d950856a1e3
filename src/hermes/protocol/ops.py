"""What goes into a session: eight ops. `send` returns once an op's row is committed; a repeated id has no second effect."""

from typing import Literal

from msgspec import Raw, Struct, field

from hermes.protocol.ids import new_id
from hermes.protocol.items import Origin, Part


class Op(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every op has; with `expect_turn` it has an effect only while that turn is the current one."""

    id: str = field(default_factory=new_id)
    by: str = "person"
    expect_turn: int | None = None


class Say(Op, frozen=True, tag="say", tag_field="op"):
    """Start a turn with this message, or queue it behind the running one.

    `quoted` names where parts of it come from that nobody vouches for, a web page say: it makes the message untrusted.
    """

    parts: tuple[Part, ...]
    origin: Origin = "person"
    sender: str = ""
    quoted: str = ""


class Redirect(Op, frozen=True, tag="redirect", tag_field="op"):
    """Join the running turn before its next model call; without a running turn it is a Say."""

    parts: tuple[Part, ...]
    sender: str = ""
    quoted: str = ""


class Interrupt(Op, frozen=True, tag="interrupt", tag_field="op"):
    """End the running turn, or only the one numbered `turn`; with `background`, the background processes too."""

    turn: int | None = None
    background: bool = False


class Answer(Op, frozen=True, tag="answer", tag_field="op"):
    """Answer what was Asked."""

    request_id: str
    choice: str = ""
    text: str = ""
    data: Raw | None = None


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hard limits of a turn; None means unlimited. `tokens` counts what goes in and comes out, in all calls."""

    steps: int | None = 90
    tokens: int | None = None
    money: float | None = None
    seconds: float | None = None


class Configure(Op, frozen=True, tag="configure", tag_field="op"):
    """Change the session from its next step on; what is None stays."""

    model: str | None = None
    tools: tuple[str, ...] | None = None
    approvals: Literal["manual", "smart", "off"] | None = None
    cwd: str | None = None
    title: str | None = None
    budget: Budget | None = None
    personality: str | None = None
    effort: str | None = None
    mode: str | None = None


class Compact(Op, frozen=True, tag="compact", tag_field="op"):
    """Let summaries stand for older steps; with `keep`, for all but the steps of the last so many exchanges."""

    focus: str = ""
    keep: int | None = None


class Rewind(Op, frozen=True, tag="rewind", tag_field="op"):
    """Hide turn `to` and every later one from the model; the log keeps them."""

    to: int


class Close(Op, frozen=True, tag="close", tag_field="op"):
    reason: str = ""


AnyOp = Say | Redirect | Interrupt | Answer | Configure | Compact | Rewind | Close


class Receipt(Struct, frozen=True):
    """Proof that an op is on disk: its id and its row."""

    op: str
    row: int
