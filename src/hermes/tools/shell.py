"""Running commands: to their end, or in the background with a process to look after."""

from typing import Annotated, Literal

from msgspec import Meta

from hermes.config import File
from hermes.protocol.errors import ToolError
from hermes.protocol.terminals import BackgroundProcess, ProcessInfo, Ran
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.commandline import detaching, simple_commands
from hermes.tools.declare import tool
from hermes.tools.exits import is_harmless, meaning
from hermes.tools.watching import Breaker, Watch

LONGEST_TIMEOUT = 600
OUTPUT_SHOWN = 20_000
TAIL_SHOWN = 2_000
COMMAND_SHOWN = 100
CAP = 100_000
NOTES = 2_000
"""Characters that may stand behind the output of a command."""

Action = Literal["list", "poll", "log", "wait", "kill", "write", "submit", "close"]


class Shell:
    """The commands of one session, and what it is to be told about those in the background."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._breaker = Breaker()
        self._told: dict[str, Told] = {}

    async def terminal(
        self,
        ctx: ToolContext,
        command: str,
        background: Annotated[bool, Meta(description="for servers, watchers and what takes minutes")] = False,
        timeout: Annotated[int, Meta(description="seconds, at most 600")] = 0,
        workdir: Annotated[str, Meta(description="folder for this command only")] = "",
        pty: Annotated[bool, Meta(description="background: for programs that want a screen")] = False,
        notify_on_complete: Annotated[bool, Meta(description="background: tell me when it ends")] = False,
        watch_patterns: Annotated[
            tuple[str, ...], Meta(description="background: tell me when a line contains one of these")
        ] = (),
    ) -> Result:
        """Run a bash command. The folder and exported variables carry over to the next one. Nobody can type into it:
        use flags such as -y. Prefer the file tools to cat, sed, grep and find."""
        if not command.strip():
            raise ToolError("command is empty.")
        if background:
            return await self._start(ctx, command, workdir, pty, (notify_on_complete, watch_patterns))
        if pty or notify_on_complete or watch_patterns:
            raise ToolError("pty, notify_on_complete and watch_patterns need background=true.")
        return await _run(ctx, command, workdir, self._limit(timeout))

    async def process(
        self,
        ctx: ToolContext,
        action: Annotated[
            Action,
            Meta(
                description="poll: new output; log: output from offset; "
                "submit: write data and Enter; close: end its input"
            ),
        ],
        session_id: Annotated[str, Meta(description="proc_..., for all but list")] = "",
        data: str = "",
        timeout: Annotated[int, Meta(description="wait: seconds")] = 0,
        offset: Annotated[int, Meta(description="log: first byte")] = 0,
        limit: Annotated[int, Meta(description="log: bytes")] = OUTPUT_SHOWN,
    ) -> Result:
        """Look after processes started with terminal background=true."""
        if action == "list":
            lines = [_line(running.info) for running in ctx.terminal.processes]
            return said("\n".join(lines) or "[no processes]")
        found = _find(ctx, session_id)
        match action:
            case "poll":
                text = _news(found)
            case "log":
                output, end = found.output(max(0, offset), min(max(1, limit), OUTPUT_SHOWN))
                text = _with_output(output, f"[{_line(found.info)}; next offset={end}]")
            case "wait":
                await self._wait(found, self._limit(timeout))
                text = _news(found)
            case "kill":
                await found.kill()
                text = _news(found)
            case "write" | "submit":
                await found.write(data.encode() + (b"\n" if action == "submit" else b""))
                text = f"[wrote {len(data)} characters; poll for what it answers]"
            case "close":
                await found.close_input()
                text = f"[closed the input of {found.info.id}]"
        return said(text)

    async def _start(
        self, ctx: ToolContext, command: str, workdir: str, pty: bool, tell: tuple[bool, tuple[str, ...]]
    ) -> Result:
        at_end, patterns = tell
        if at_end and patterns:
            raise ToolError("choose one: notify_on_complete or watch_patterns.")
        if not all(patterns):
            raise ToolError("a pattern in watch_patterns is empty.")
        told = Told(ctx, at_end, Watch(patterns, self._breaker) if patterns else None)

        def ended(info: ProcessInfo) -> None:
            self._told.pop(info.id, None)
            told.exit(info)

        started = await ctx.terminal.start(command, cwd=workdir or None, pty=pty, on_output=told.output, on_exit=ended)
        told.process = started
        self._told[started.info.id] = told
        return said(f"[started {_line(started.info)}; process looks after it]")

    def _limit(self, asked: int) -> float:
        """The seconds that a command or a wait may take: what was asked for, or what is set."""
        return min(asked, LONGEST_TIMEOUT) if asked > 0 else self._seconds

    async def _wait(self, found: BackgroundProcess, seconds: float) -> None:
        """Wait for a process; what ends while the model waits for it needs no notification."""
        if told := self._told.get(found.info.id):
            told.waited_for += 1
        try:
            await found.wait(seconds)
        finally:
            if told:
                told.waited_for -= 1


class Told:
    """What the session is told about one background process."""

    def __init__(self, ctx: ToolContext, at_end: bool, watch: Watch | None) -> None:
        self._ctx = ctx
        self._at_end = at_end
        self._watch = watch
        self.process: BackgroundProcess | None = None
        self.waited_for = 0

    def output(self, text: str) -> None:
        if self._watch and (news := self._watch.feed(text, self._ctx.now())):
            name = self.process.info.id if self.process else "just started"
            self._ctx.post(f"[background process {name} {news}]")

    def exit(self, info: ProcessInfo) -> None:
        if self._at_end and not self.waited_for and info.state != "killed":
            output = self.process.output(0)[0] if self.process else ""
            self._ctx.post(_with_output(output[-TAIL_SHOWN:], f"[background process {_line(info)}]"))


def shell_tools(settings: File) -> list[Tool]:
    """terminal and process for one session."""
    shell = Shell(settings.terminal.timeout)
    return [
        tool(
            shell.terminal,
            kind="execute",
            toolset="terminal",
            title=lambda args: _short(args.command),
            cap=max(CAP, settings.tool_output.max_bytes + NOTES),
        ),
        tool(
            shell.process,
            kind="execute",
            toolset="terminal",
            title=lambda args: f"{args.action} {args.session_id}".rstrip(),
        ),
    ]


async def _run(ctx: ToolContext, command: str, workdir: str, seconds: float) -> Result:
    if sign := detaching(command):
        raise ToolError(
            f"Not run: {sign!r} leaves a process running behind a command that is waited for. "
            "Leave it out and set background=true; if it is text, quote it."
        )
    folder = ctx.terminal.cwd
    ran = await ctx.terminal.run(
        command, timeout=seconds, cwd=workdir or None, on_output=lambda text: ctx.emit("output", text)
    )
    commands = simple_commands(command) if ran.code else []
    last = commands[-1].name if commands else ""
    notes = _ending(ran, last, seconds)
    if ctx.terminal.cwd != folder:
        notes.append(f"[folder is now {ctx.terminal.cwd}]")
    text = _with_output(ran.output, "\n".join(notes) or ("" if ran.output.strip() else "[exit 0]")).rstrip()
    return said(text, failed=ran.timed_out or not is_harmless(last, ran.code))


def _ending(ran: Ran, command: str, seconds: float) -> list[str]:
    if ran.timed_out:
        return [f"[timed out after {seconds:g} s and was ended; for long work use background=true]"]
    if ran.code == 0:
        return []
    what = meaning(command, ran.code)
    return [f"[exit {ran.code}: {what}]" if what else f"[exit {ran.code}]"]


def _find(ctx: ToolContext, name: str) -> BackgroundProcess:
    for found in ctx.terminal.processes:
        if name and found.info.id == name:
            return found
    known = ", ".join(found.info.id for found in ctx.terminal.processes) or "none"
    raise ToolError(f"There is no process {name!r}. There are: {known}.")


def _news(found: BackgroundProcess) -> str:
    """How a process is, and its output since the model last looked."""
    output, _ = found.output()
    if len(output) > OUTPUT_SHOWN:
        output = f"[only the end; log shows the rest]\n{output[-OUTPUT_SHOWN:]}"
    return _with_output(output, f"[{_line(found.info)}]")


def _with_output(output: str, line: str) -> str:
    return f"{output.rstrip()}\n{line}" if output.strip() else line


def _line(info: ProcessInfo) -> str:
    code = f" with code {info.code}" if info.code is not None else ""
    return f"{info.id} {info.state}{code}: {_short(info.command)}"


def _short(command: str) -> str:
    """Its first line, and not too much of that."""
    line = command.strip().partition("\n")[0][:COMMAND_SHOWN]
    return line if line == command.strip() else f"{line}..."
