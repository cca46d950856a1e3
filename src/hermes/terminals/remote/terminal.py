"""A terminal elsewhere: the same shell that feels like one, at any place that can start a program."""

import asyncio
import logging
import os
import posixpath
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from hermes.protocol.errors import TerminalError, UserError
from hermes.protocol.ids import new_id
from hermes.protocol.terminals import BackgroundProcess, ProcessInfo, Ran
from hermes.terminals.background import Background, Tracked
from hermes.terminals.ends import pseudo_terminal
from hermes.terminals.marks import call_mark, terminal_mark
from hermes.terminals.output import Heard
from hermes.terminals.paths import printable
from hermes.terminals.process import Child
from hermes.terminals.remote import background, commands
from hermes.terminals.remote.background import FarBackground
from hermes.terminals.remote.link import Link
from hermes.terminals.remote.place import Place
from hermes.terminals.remote.script import Reply, quoted
from hermes.terminals.shell import State, left_state

log = logging.getLogger(__name__)

CAP = 50_000
TIMED_OUT = 124
SETUP_SECONDS = 30.0
IDLE = 300.0
LONGEST_WORD = 120_000


class RemoteTerminal:
    """A terminal at a place; `exports` are variables that it begins with, beside those that the place has.

    The same `name` finds its background processes again after a crash.
    """

    def __init__(
        self,
        place: Place,
        *,
        exports: Mapping[str, str] | None = None,
        name: str = "",
        cap: int = CAP,
        idle: float = IDLE,
    ) -> None:
        self.place = place
        self.kind = place.kind
        self._mark = terminal_mark(name)
        self.link = Link(place, self._mark, idle)
        self.link.busy = lambda: any(one.info.state == "running" for one in self._tracked.current())
        self._exports = exports or {}
        self._cap = cap
        self._state = State(place.folder)
        self._shell = commands.Shell("")
        self._folder = ""
        self._preparing = asyncio.Lock()
        self._tracked = Tracked()
        self.home = "/"

    @property
    def cwd(self) -> str:
        """Its folder; until it is connected, home may have no better name."""
        return self._state.folder or "~"

    @property
    def processes(self) -> Sequence[BackgroundProcess]:
        return self._tracked.current()

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
        began = time.monotonic()
        before = await self._ready(cwd)
        heard = Heard(self._cap, on_output)
        mark = call_mark(self._mark)
        body = commands.in_folder(before.folder, self._shell.command(command, before, mark))
        reply = await self.link.call(body, heard.add, stdin=stdin, timeout=timeout, mark=mark, end=commands.end(mark))
        output, omitted = heard.end()
        self._must_have_begun(reply, before, cwd)
        if reply.cut == "broken":
            await self._after_break(mark)
        after = left_state(reply.said) or before
        self._carry_over(before, after)
        return Ran(
            output=output,
            code=TIMED_OUT if reply.code is None else reply.code,
            seconds=time.monotonic() - began,
            cwd=printable(after.folder),
            timed_out=reply.code is None,
            omitted=omitted,
        )

    async def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        pty: bool = False,
        on_output: Callable[[str], None] | None = None,
        on_exit: Callable[[ProcessInfo], None] | None = None,
    ) -> BackgroundProcess:
        """Start a process in the terminal's folder and environment, which it does not change."""
        state = await self._ready(cwd)
        self._tracked.make_room()
        mark = call_mark(self._mark)
        info = ProcessInfo(
            # The mark goes into the id, so that what outlives us can be ended by whoever reads the id.
            id=f"proc_{mark[8:]}{new_id()[:5]}",
            command=command,
            cwd=printable(state.folder),
            pid=0,
            started=time.time(),
            start_ticks=0,
            state="running",
            pty=pty,
        )
        if pty:
            text = self._shell.command(command, state, mark, saves=False, screen=True)
            return await self._on_screen(info, text, mark, on_output, on_exit)
        streams = background.streams(self._folder, info.id)
        text = self._shell.command(command, state, mark, saves=False, streams=streams)
        said = bytearray()
        body = commands.in_folder(state.folder, background.launch(self._folder, info.id, text, mark))
        reply = await self.link.call(body, said.extend)
        self._must_have_begun(reply, state, cwd)
        numbers = said.split()
        if reply.code != 0 or len(numbers) != 2:
            raise TerminalError(f"{self.kind}: cannot keep a background process in {self._folder}")
        info = replace(info, pid=int(numbers[0]), start_ticks=int(numbers[1]))
        one = FarBackground(info, self.link, self._folder, mark, on_output, on_exit)
        self._tracked.add(one)
        return one

    async def adopt(self, infos: Sequence[ProcessInfo]) -> Sequence[BackgroundProcess]:
        """Look again after processes that an owner of this terminal's name left running when it died."""
        await self._ready(None)
        for info in infos:
            if info.state == "running" and not info.pty:
                mark = self._mark + info.id.removeprefix("proc_")[:7]
                self._tracked.add(FarBackground(info, self.link, self._folder, mark, None, None))
        return self.processes

    async def close(self) -> None:
        """End every background process, and whatever else commands of this terminal left running."""
        if self._folder:
            for one in self._tracked.current():
                one.expect_end()
            try:
                await self.link.call(commands.end(self._mark), timeout=SETUP_SECONDS)
                await asyncio.gather(*(one.wait(background.PATIENCE) for one in self._tracked.current()))
                await self.link.call(f"rm -rf {quoted(self._folder)}", timeout=SETUP_SECONDS)
            except (TerminalError, UserError) as error:
                log.warning("what was running there could not be ended: %s", error)
            for one in self._tracked.current():
                if isinstance(one, FarBackground):
                    await one.forget()
        await self.link.close()

    async def ready(self) -> None:
        """Connect now rather than with the first command."""
        await self._ready(None)

    async def _ready(self, cwd: str | None) -> State:
        async with self._preparing:
            if not self._folder:
                await self._set_up()
        if cwd is None:
            return self._state
        return replace(self._state, folder=posixpath.normpath(posixpath.join(self.cwd, self.expand(cwd))))

    def expand(self, path: str) -> str:
        """A path with the home folder there for `~`."""
        return self.home + path[1:] if path == "~" or path.startswith("~/") else path

    async def _set_up(self) -> None:
        """Learn what the place has, and what its shell begins with."""
        reply = await self.link.call(commands.PROBE, timeout=SETUP_SECONDS)
        if reply.code is None or reply.said.count(b"\0") != 5:
            raise TerminalError(f"{self.kind}: no shell answered there")
        bash, self.home, here, temporary, user = (os.fsdecode(part) for part in reply.said.split(b"\0")[:5])
        self._shell = commands.Shell(bash)
        first = State(self.expand(self._state.folder) or self.home or here)
        exports = " ".join(quoted(f"{key}={value}") for key, value in self._exports.items())
        for login in (self.place.login, False):
            mark = call_mark(self._mark)
            command = f"export {exports}" if exports else ":"
            text = self._shell.command(command, first, mark, login=login, first=True)
            reply = await self.link.call(text, timeout=SETUP_SECONDS, mark=mark, end=commands.end(mark))
            if left := left_state(reply.said):
                break
        else:
            raise TerminalError(f"{self.kind}: the shell there does not work")
        self._state = State(first.folder, "", left.script)
        self._folder = f"{temporary}/hermes-{user}-{self._mark}"

    def _must_have_begun(self, reply: Reply, state: State, cwd: str | None) -> None:
        gone, _, nearest = reply.said.partition(b"\0")
        if gone != b"gone":
            return
        if cwd is not None:
            raise TerminalError(f"there is no folder {printable(state.folder)}")
        self._state = replace(self._state, folder=os.fsdecode(nearest))
        raise TerminalError(
            f"the folder {printable(state.folder)} is gone: nothing was run, and the terminal is now in {self.cwd}"
        )

    async def _after_break(self, mark: str) -> None:
        """The connection broke in the middle: end what still runs, and say that the outcome is not known."""
        try:
            await self.link.call(commands.end(mark), timeout=SETUP_SECONDS)
            rest = "what was left of it was ended"
        except TerminalError as error:
            rest = f"it may still run ({error})"
        raise TerminalError(
            f"{self.kind}: the connection broke while the command ran; {rest}; "
            "look at what it has done before you run it again"
        )

    async def _on_screen(
        self,
        info: ProcessInfo,
        text: str,
        mark: str,
        on_output: Callable[[str], None] | None,
        on_exit: Callable[[ProcessInfo], None] | None,
    ) -> Background:
        """A process on a pseudo-terminal lives as long as its connection does."""
        body = f"exec 9>/dev/null\n{commands.in_folder(info.cwd, f'exec {text}')}"
        way = self.place.on_screen(("sh", "-c", body))
        if way is None:
            raise TerminalError(f"{self.kind} has no pseudo-terminals: start it without pty")
        if len(body) > LONGEST_WORD:
            raise TerminalError("that is too long for a pseudo-terminal: put it into a file and run that")
        await self.link.open()
        argv, env = way
        ends = pseudo_terminal()
        try:
            child = Child(argv, env=env, cwd="/", stdin=ends.stdin, stdout=ends.stdout)
        except BaseException:
            ends.close_ours()
            raise
        finally:
            ends.close_theirs()
        info = replace(info, pid=child.pid, start_ticks=child.row.started)

        async def end() -> None:
            await self.link.call(commands.end(mark))
            await asyncio.wait([child.exited], timeout=1.0)
            if not child.exited.done():
                child.kill()

        one = Background(info, child, ends, end, on_output, on_exit)
        self._tracked.add(one)
        return one

    def _carry_over(self, before: State, after: State) -> None:
        """Take over what a command has changed, and only that, since others may have run beside it."""
        if after.folder != before.folder:
            self._state = replace(self._state, folder=after.folder, previous=after.previous)
        if after.script != before.script:
            self._state = replace(self._state, script=after.script)
