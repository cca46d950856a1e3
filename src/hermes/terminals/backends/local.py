"""Commands on this machine."""

import asyncio
import logging
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from msgspec.structs import replace

from hermes.config import Settings
from hermes.protocol.errors import TerminalError
from hermes.protocol.ids import new_id
from hermes.protocol.safety import NO_GRANTS, Sandbox, granted
from hermes.protocol.terminals import BackgroundProcess, ProcessInfo, Ran
from hermes.terminals.background import Background, Tracked
from hermes.terminals.ends import Ends, given, pipes, pseudo_terminal
from hermes.terminals.files import LocalFiles
from hermes.terminals.marks import call_mark, terminal_mark
from hermes.terminals.output import Heard
from hermes.terminals.paths import absolute, nearest_folder, printable
from hermes.terminals.process import LAST_WORDS, Child, Popen, Reader, in_own_thread, settled, until
from hermes.terminals.shell import Shell, State
from hermes.terminals.tree import Tree, adopt_orphans, reap_adopted

log = logging.getLogger(__name__)

CAP = 50_000
TIMED_OUT = 124
SETUP_SECONDS = 10.0
SCREEN = "xterm-256color"


class LocalTerminal:
    """A terminal on this machine.

    Children get `env` and nothing else of our own environment. `setup` is a command (say `. ~/.bashrc`) that runs once,
    before the first one, for the variables, functions and aliases it leaves. Processes carry a mark made from `name`, by
    which `survivors.end_all_of` finds them after a crash. Output beyond `cap` bytes is cut in the middle. A command that a
    person lets out of the `sandbox` starts as the first one did: what others left could make it do something else. `popen`
    starts what the sandbox has wrapped.
    """

    kind = "local"

    def __init__(
        self,
        cwd: str,
        env: Mapping[str, str],
        *,
        setup: str = "",
        name: str = "",
        cap: int = CAP,
        sandbox: Sandbox | None = None,
        popen: Popen = subprocess.Popen,
    ) -> None:
        self._env = {key: value for key, value in env.items() if key not in ("PWD", "OLDPWD", "_")}
        self._has_term = "TERM" in env
        self._home = env.get("HOME", "/")
        self._bash = shutil.which("bash", path=env.get("PATH", os.defpath))
        self._setup = setup
        self._cap = cap
        self._sandbox = sandbox
        self._popen = popen
        self._first_script = b""
        self._mark = terminal_mark(name)
        self._state = State(os.path.abspath(cwd))
        self._preparing = asyncio.Lock()
        self._children: set[int] = set()
        self._tracked = Tracked()
        self._closed = False

    @property
    def cwd(self) -> str:
        return self._state.folder

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
        code, left = await self._foreground(command, before, timeout, given(stdin), heard.add)
        output, omitted = heard.end()
        after = left or before
        folder = self._carry_over(before, after)
        if folder != after.folder:
            output += f"\n[the folder {printable(after.folder)} is gone; the terminal is now in {printable(folder)}]\n"
        return Ran(
            output=output,
            code=TIMED_OUT if code is None else code,
            seconds=time.monotonic() - began,
            cwd=printable(folder),
            timed_out=code is None,
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
    ) -> Background:
        """Start a process in the terminal's folder and environment, which it does not change."""
        state = await self._ready(cwd)
        self._tracked.make_room()
        mark = call_mark(self._mark)
        ends = pseudo_terminal() if pty else pipes()
        child, shell = self._spawn(command, state, mark, ends, saves=False)
        shell.close()
        row = child.row
        info = ProcessInfo(
            id=new_id("proc_"),
            command=command,
            cwd=printable(state.folder),
            pid=child.pid,
            started=time.time(),
            start_ticks=row.started,
            state="running",
            pty=pty,
        )
        tree = Tree(mark, row, spare=self._children)
        one = Background(info, child, ends, lambda: settled(in_own_thread(tree.end)), on_output, on_exit)
        self._tracked.add(one)
        return one

    async def close(self) -> None:
        """End every background process, and whatever else commands of this terminal left running."""
        self._closed = True
        if self._state.script:
            for one in self._tracked.current():
                one.expect_end()
            await settled(in_own_thread(Tree(self._mark, spare=self._children).end))
            await asyncio.gather(*(one.wait(2 * LAST_WORDS) for one in self._tracked.current()))
        if self._sandbox:
            await asyncio.to_thread(self._sandbox.close)
            reap_adopted(self._mark, self._children)

    async def _ready(self, cwd: str | None) -> State:
        """The state that a command starts from, in an existing folder; the first one is what `setup` leaves."""
        async with self._preparing:
            if not self._state.script:
                await self._set_up()
        if self._closed:
            raise TerminalError("the terminal is closed")
        state = replace(self._state, script=self._first_script) if self._is_let_out else self._state
        if cwd is not None:
            folder = os.path.realpath(absolute(cwd, self.cwd, self._home))
            if not self._is_folder(folder):
                raise TerminalError(f"there is no folder {folder}")
            return replace(state, folder=folder)
        if not self._is_folder(gone := self.cwd):
            self._state = replace(self._state, folder=nearest_folder(gone))
            raise TerminalError(f"the folder {gone} is gone: nothing was run, and the terminal is now in {self.cwd}")
        return state

    def _is_folder(self, path: str) -> bool:
        return os.path.isdir(self._outside(path))

    def _outside(self, path: str) -> str:
        return self._sandbox.outside(path) if self._sandbox else path

    @property
    def _is_let_out(self) -> bool:
        return self._sandbox is not None and granted.get() != NO_GRANTS

    async def _set_up(self) -> None:
        first = replace(self._state, folder=nearest_folder(self.cwd))
        for command in filter(None, (self._setup, ":")):
            _, left = await self._foreground(command, first, SETUP_SECONDS, given(b""), lambda data: None)
            if left:
                self._state = replace(self._state, script=left.script)
                self._first_script = left.script
                # The script holds every variable but those whose names bash cannot write.
                self._env = {key: value for key, value in self._env.items() if not _is_shell_name(key)}
                return
            log.warning("the terminal's set-up command left nothing: %s", command)
        raise TerminalError("bash does not work here: try `bash -c :`")

    async def _foreground(
        self, command: str, state: State, timeout: float, ends: Ends, take: Callable[[bytes], None]
    ) -> tuple[int | None, State | None]:
        """Run to the end. No code means that it took too long, no state that it left none."""
        mark = call_mark(self._mark)
        child, shell = self._spawn(command, state, mark, ends)
        reader = Reader(ends.output, take)
        try:
            await until(child.exited, timeout)
            code = child.exited.result() if child.exited.done() else None
            if code is None:
                await self._end(child, mark)
            await reader.rest()
            reader.ignore()
            return code, shell.left()
        except BaseException:
            await self._end(child, mark)
            await until(child.exited, LAST_WORDS)
            reader.close()
            raise
        finally:
            shell.close()

    async def _end(self, child: Child, mark: str) -> None:
        await settled(in_own_thread(Tree(mark, child.row, spare=self._children).end))

    def _spawn(self, command: str, state: State, mark: str, ends: Ends, saves: bool = True) -> tuple[Child, Shell]:
        adopt_orphans()
        reap_adopted(self._mark, self._children)
        tty = ends.tty
        env = {**self._env, "TERM": SCREEN} if tty and not self._has_term else self._env
        with ExitStack() as after, ExitStack() as failed:
            after.callback(ends.close_theirs)
            failed.callback(ends.close_ours)
            if self._bash is None:
                raise TerminalError("bash is not installed; install it with your package manager")
            shell = Shell(self._bash, command, state, env, mark, saves, tty)
            failed.callback(shell.close)
            argv, env = shell.argv, shell.env
            if self._sandbox:
                argv, env = self._sandbox.wrap(argv, env, state.folder, granted.get(), tty=bool(tty), lasting=not saves)
            child = Child(
                argv,
                env=env,
                cwd=self._outside(state.folder),
                stdin=ends.stdin,
                stdout=ends.stdout,
                keep=shell.keep,
                popen=subprocess.Popen if argv == shell.argv else self._popen,
            )
            failed.pop_all()
        self._children.add(child.pid)
        child.exited.add_done_callback(lambda _: self._children.discard(child.pid))
        return child, shell

    def _carry_over(self, before: State, after: State) -> str:
        """Take over what a command has changed, and only that, since others may have run beside it; its folder now."""
        folder = after.folder if self._is_folder(after.folder) else nearest_folder(after.folder)
        if folder != before.folder:
            self._state = replace(self._state, folder=folder, previous=after.previous)
        if after.script != before.script and not self._is_let_out:
            self._state = replace(self._state, script=after.script)
        return folder


def _is_shell_name(key: str) -> bool:
    return key.isascii() and key.isidentifier()


def open_local(settings: Settings, session: str, cwd: str, env: Mapping[str, str]) -> tuple[LocalTerminal, LocalFiles]:
    """This machine, in the working folder."""
    terminal = LocalTerminal(cwd, env, name=session, cap=settings.file.tool_output.max_bytes)
    return terminal, LocalFiles(lambda: terminal.cwd, env)
