"""Effects that the gate judges, and its verdict.

An action names the real effect: the path resolved, the command as it will run, the address to dial.
"""

from typing import Literal

from msgspec import Struct


class RunCommand(Struct, frozen=True, tag="run_command", tag_field="type", omit_defaults=True):
    command: str
    cwd: str
    terminal: str = "local"
    background: bool = False


class ReadPath(Struct, frozen=True, tag="read_path", tag_field="type", omit_defaults=True):
    path: str
    terminal: str = "local"


class WritePath(Struct, frozen=True, tag="write_path", tag_field="type", omit_defaults=True):
    path: str
    delete: bool = False
    terminal: str = "local"


class OpenURL(Struct, frozen=True, tag="open_url", tag_field="type", omit_defaults=True):
    url: str
    method: str = "GET"


class CallServer(Struct, frozen=True, tag="call_server", tag_field="type", omit_defaults=True):
    """A call of an MCP server's tool; `contract` is a hash of its description and schema."""

    server: str
    tool: str
    args: str
    read_only: bool = False
    contract: str = ""


class StartServer(Struct, frozen=True, tag="start_server", tag_field="type"):
    server: str
    command: tuple[str, ...]


class Persist(Struct, frozen=True, tag="persist", tag_field="type", omit_defaults=True):
    """Something that outlives the session: memory, a skill, a schedule, a setting.

    A draft has no effect until it is adopted; `content` is the text that will be kept, as it can be read later.
    """

    what: str
    content: str
    stage: Literal["final", "draft", "adoption"] = "final"


class SendMessage(Struct, frozen=True, tag="send_message", tag_field="type"):
    target: str
    content: str


class Spend(Struct, frozen=True, tag="spend", tag_field="type"):
    what: str
    amount: float


Action = RunCommand | ReadPath | WritePath | OpenURL | CallServer | StartServer | Persist | SendMessage | Spend


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who caused an action: the surface, the session, the tool, and what its context holds.

    `untrusted` names texts from elsewhere, `local` those of files and commands of the workspace; `said` is what the person
    said in this turn.
    """

    surface: str
    session: str
    turn: int = 0
    tool: str = ""
    workspace: str = ""
    untrusted: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    said: str = ""


class Verdict(Struct, frozen=True, omit_defaults=True):
    """The gate's answer: what to do, by which rule, and why in one line."""

    decision: Literal["allow", "ask", "block"]
    rule: str
    why: str = ""
