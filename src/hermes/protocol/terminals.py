"""The seam to where commands run and files live."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct


class Ran(Struct, frozen=True):
    """What a command did: its output (stdout and stderr as they came, head and tail if it was long) and exit code."""

    output: str
    code: int
    seconds: float
    cwd: str
    timed_out: bool = False
    omitted: int = 0


class ProcessInfo(Struct, frozen=True, kw_only=True):
    """A background process, as shown to people and stored so that it can be found again after a crash."""

    id: str
    command: str
    cwd: str
    pid: int
    started: float
    start_ticks: int
    state: Literal["running", "exited", "killed", "lost"]
    code: int | None = None
    pty: bool = False


class BackgroundProcess(Protocol):
    """A process that outlives the call that started it; its newest output is kept in a ring of 200 KB."""

    @property
    def info(self) -> ProcessInfo: ...

    def output(self, offset: int | None = None, limit: int | None = None) -> tuple[str, int]:
        """Output from byte `offset` on (None: what is new since the last call), and the offset behind it."""
        ...

    async def wait(self, timeout: float) -> ProcessInfo: ...

    async def write(self, data: bytes) -> None: ...

    async def close_input(self) -> None: ...

    async def kill(self) -> ProcessInfo: ...


class Terminal(Protocol):
    """A shell that feels like one: the folder and exported variables carry over from command to command."""

    @property
    def kind(self) -> str: ...

    @property
    def cwd(self) -> str: ...

    @property
    def processes(self) -> Sequence[BackgroundProcess]: ...

    async def run(
        self,
        command: str,
        *,
        timeout: float,
        cwd: str | None = None,
        stdin: bytes = b"",
        on_output: Callable[[str], None] | None = None,
    ) -> Ran:
        """Run a command to its end. A timeout gives code 124 and what there was; cancelling ends the whole process tree."""
        ...

    async def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        pty: bool = False,
        on_output: Callable[[str], None] | None = None,
        on_exit: Callable[[ProcessInfo], None] | None = None,
    ) -> BackgroundProcess: ...

    async def close(self) -> None:
        """End every background process and let go of the place."""
        ...


class Stat(Struct, frozen=True):
    kind: Literal["file", "folder", "link", "other"]
    size: int
    modified: float
    mode: int


class Search(Struct, frozen=True, kw_only=True):
    """A search for text in files (a regular expression) or for files by name (a glob)."""

    pattern: str
    path: str
    target: Literal["content", "files"] = "content"
    glob: str = ""
    context: int = 0
    ignore_case: bool = False


class Match(Struct, frozen=True):
    """One line found; `line` is 0 for a file found by name, `hit` is False for a line of context."""

    path: str
    line: int
    text: str
    hit: bool = True


class Files(Protocol):
    """Files of the place where commands run. Paths are absolute, or relative to the terminal's folder.

    `resolve` follows links. The others are handed what it gave, which may have been judged since: on this machine they
    follow none, so that a link put there meanwhile is an error and not another file.
    """

    async def resolve(self, path: str) -> str:
        """The absolute path with ~ and every link followed, also for a file that is not there yet."""
        ...

    async def stat(self, path: str) -> Stat | None: ...

    async def read(self, path: str, limit: int) -> bytes:
        """The first `limit` bytes."""
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Make the file hold exactly this, all or nothing, with its folders; its mode is kept."""
        ...

    async def remove(self, path: str) -> None: ...

    async def names(self, path: str) -> tuple[str, ...]:
        """Names in a folder, sorted; folders end in a slash."""
        ...

    async def search(self, search: Search, limit: int) -> tuple[Match, ...]:
        """The first `limit` matches, in a stable order."""
        ...
