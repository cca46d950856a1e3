"""The words in which the parts of the MCP client talk to each other. Nothing here imports the SDK, which costs 0.8 s."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct

from hermes.protocol.errors import ToolError
from hermes.protocol.events import Answered, Request

State = Literal["connecting", "ready", "backoff", "parked", "needs_auth", "closed"]

FaultKind = Literal[
    "expired",  # the session is gone: rejected before execution
    "refused",  # no connection: provably not sent
    "cut",  # sent, and no whole answer came
    "unauthorized",  # 401
    "scope",  # 403 insufficient_scope
    "busy",  # 429, or 503 with Retry-After
    "broken",  # any other 5xx
    "rejected",  # any other 4xx: the server says the request is wrong
    "silent",  # no answer by the deadline
    "garbage",  # an answer that is no JSON-RPC
    "oversize",  # an answer larger than we read
]


class Fault(Struct, frozen=True, kw_only=True):
    """What went wrong below JSON-RPC, as the transport saw it; `sent` is False only if no byte can have reached the server,
    `lasting` means that a person must mend something first."""

    kind: FaultKind
    text: str
    sent: bool = True
    status: int = 0
    retry_after: float | None = None
    challenge: str = ""
    had_session: bool = False
    lasting: bool = False


class ToolInfo(Struct, frozen=True, kw_only=True):
    """A tool as its server describes it. `contract` is a hash of description and schema: what a person approved."""

    name: str
    title: str
    description: str
    schema: Raw
    read_only: bool
    idempotent: bool
    contract: str


class Catalog(Struct, frozen=True, kw_only=True):
    """What a server offers, as of its newest connection; `resources` and `prompts` say whether it has any."""

    tools: tuple[ToolInfo, ...] = ()
    resources: bool = False
    prompts: bool = False
    instructions: str = ""
    version: str = ""


class CallTool(Struct, frozen=True):
    name: str
    args: dict[str, Any]


class ListResources(Struct, frozen=True):
    pass


class ReadResource(Struct, frozen=True):
    uri: str


class ListPrompts(Struct, frozen=True):
    pass


class GetPrompt(Struct, frozen=True):
    name: str
    args: dict[str, str]


Operation = CallTool | ListResources | ReadResource | ListPrompts | GetPrompt


class Sample(Struct, frozen=True, kw_only=True):
    """A server's wish for a model's answer. Messages, tools and tool choice are plain JSON as in the specification.

    `model` must answer if it is named; else the session's own, and `hints` are only what the server would like.
    """

    messages: Sequence[Mapping[str, Any]]
    system: str = ""
    max_tokens: int = 0
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    model: str = ""


class Caller(Protocol):
    """For whom a call is made. A server's own wishes (a form, a login page, a model's answer) go to whoever called it."""

    @property
    def session(self) -> str: ...

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the session works in."""
        ...

    async def ask(self, request: Request, timeout: float) -> Answered | None: ...

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        """A model's answer as the plain JSON of a CreateMessageResult."""
        ...

    def progress(self, text: str) -> None: ...


class Status(Struct, frozen=True, kw_only=True):
    """A server as `hermes mcp list` shows it. Times are seconds; `latency` is the mean of the newest calls."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    state: State
    breaker: Literal["closed", "open", "half-open"]
    tools: int
    failures: int = 0
    cooldown: float = 0.0
    restarts: int = 0
    calls: int = 0
    latency: float | None = None
    protocol: str = ""
    pid: int | None = None
    last_error: str = ""


class ServerFailed(ToolError):
    """A call of an MCP server gave no result; the text is one line that the model reads, with secrets masked.

    ServerFailed              the ordinary "MCP call failed: ..."
    ├─ Unreachable            the breaker is open, or the server is parked or reconnecting: not called
    ├─ NeedsLogin             401 that no refresh could mend: a person must log in
    ├─ OutcomeUnknown         the tool may or may not have run; it was not run again
    └─ TimedOut               no answer by the deadline
    """

    def __init__(self, server: str, text: str) -> None:
        super().__init__(text)
        self.server = server


class Unreachable(ServerFailed):
    pass


class NeedsLogin(ServerFailed):
    needs_reauth = True


class OutcomeUnknown(ServerFailed):
    pass


class TimedOut(ServerFailed):
    pass


class Authority(Protocol):
    """Who vouches for us at one server. It outlives connections: a reconnect never registers or logs in again."""

    async def header(self) -> str:
        """The Authorization header to send, "" if there is none yet; refreshed first if it is known to have expired."""
        ...

    async def refused(self, header: str, challenge: str) -> bool:
        """A 401 came for this header. True if there is another one to try (refreshed once for all callers, or a peer's).

        False if only a person can help; Unreachable is raised while the login server gives no answer.
        """
        ...

    async def step_up(self, header: str, challenge: str) -> bool:
        """A 403 insufficient_scope came. True if there is a header now with the union of scopes."""
        ...
