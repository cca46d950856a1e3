"""Files and a terminal behind the gate: every effect is asked about once, as what it really is, and can be undone.

`permit` returns if an action may be done and raises Denied if not. `before_change` is told, after that, which paths are about
to change: it takes the checkpoint. `begin` is awaited first: a place elsewhere has no folder before it is reached.
"""

import os
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from hermes.protocol.actions import Action, ReadPath, RunCommand, WritePath
from hermes.protocol.errors import ToolError
from hermes.protocol.safety import NO_GRANTS, Grants, granted
from hermes.protocol.terminals import (
    BackgroundProcess,
    Files,
    Match,
    ProcessInfo,
    Ran,
    Search,
    Stat,
    Terminal,
)
from hermes.safety.places import Places, followed, is_credential, is_own_secret, is_personal
from hermes.safety.secrets.masks import MASK, has_mask
from hermes.safety.typed import GatedProcess, with_input

# What cannot stand in the name of a file.
_NO_NAME = re.compile(r"[\0\ud800-\udfff]")
WITHOUT = "Change only the lines around it, with patch, or leave the value to a variable or a file."

Permission = Callable[[Action], Awaitable[object]]
BeforeChange = Callable[[Sequence[str]], Awaitable[None]]
Begin = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """The beginning of a place that is here already."""


class GatedFiles:
    """Files where each read and write is permitted first; a search passes over the places where keys are kept."""

    def __init__(
        self,
        inner: Files,
        permit: Permission,
        before_change: BeforeChange,
        places: Places,
        terminal: str = "local",
        begin: Begin = at_once,
    ) -> None:
        self._inner = inner
        self._terminal = terminal
        self._permit = permit
        self._before_change = before_change
        self._places = places
        self._begin = begin

    async def resolve(self, path: str) -> str:
        await self._begin()
        return await self._inner.resolve(path)

    async def stat(self, path: str) -> Stat | None:
        return await self._inner.stat(path)

    async def read(self, path: str, limit: int) -> bytes:
        return await self._inner.read(await self._readable(path), limit)

    async def names(self, path: str) -> tuple[str, ...]:
        return await self._inner.names(await self._readable(path))

    async def search(self, search: Search, limit: int) -> tuple[Match, ...]:
        root = await self._readable(search.path)
        matches = await self._inner.search(replace(search, path=root), limit)
        if self._is_secret(root):
            return matches
        return tuple(match for match in matches if not self._is_secret(os.path.join(root, match.path)))

    async def write(self, path: str, data: bytes) -> None:
        target = await self.resolve(path)
        await self._refuse_mask(target, data)
        await self._change(WritePath(target, terminal=self._terminal))
        await self._inner.write(target, data)

    async def remove(self, path: str) -> None:
        # Of a link, the link goes and not what it leads to.
        folder, name = os.path.split(os.path.normpath(path))
        target = os.path.join(await self.resolve(folder or "."), name)
        await self._change(WritePath(target, delete=True, terminal=self._terminal))
        await self._inner.remove(target)

    async def _refuse_mask(self, path: str, data: bytes) -> None:
        """What was masked for the model must not come back as a file's content, unless it was there before."""
        if MASK.encode() not in data:
            return
        old = await self._inner.read(path, len(data) * 2) if await self._inner.stat(path) else b""
        if MASK.encode() not in old:
            raise ToolError(
                f"Not written: the text holds a masked secret ({MASK}), which would destroy the real one. {WITHOUT}"
            )

    async def _readable(self, path: str) -> str:
        target = await self.resolve(path)
        await self._permit(ReadPath(target, terminal=self._terminal))
        return target

    async def _change(self, action: WritePath) -> None:
        await self._permit(action)
        await self._before_change([action.path])

    def _is_secret(self, path: str) -> bool:
        return is_credential(path) or is_own_secret(path, self._places) or is_personal(path, self._places)


class GatedTerminal:
    """A terminal where each command is permitted first, and what is typed into a running process too.

    `typed` holds what was typed into each process; whoever makes a terminal for each call hands in the same one. `after` is
    called when a command has ended.
    """

    def __init__(
        self,
        inner: Terminal,
        permit: Permission,
        before_change: BeforeChange,
        places: Places,
        typed: dict[str, bytes] | None = None,
        begin: Begin = at_once,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner = inner
        self._after = after
        self._permit = permit
        self._before_change = before_change
        self._places = places
        self._typed = {} if typed is None else typed
        self._begin = begin

    @property
    def kind(self) -> str:
        return self._inner.kind

    @property
    def cwd(self) -> str:
        return self._inner.cwd

    @property
    def processes(self) -> Sequence[BackgroundProcess]:
        return [GatedProcess(process, self.judge, self._typed) for process in self._inner.processes]

    async def run(
        self,
        command: str,
        *,
        timeout: float,
        cwd: str | None = None,
        stdin: bytes = b"",
        on_output: Callable[[str], None] | None = None,
    ) -> Ran:
        folder = await self._folder(cwd)
        grants = await self.judge(with_input(command, stdin), folder)
        where = self._as_judged(cwd, folder)
        try:
            with granting(grants or NO_GRANTS):
                return await self._inner.run(command, timeout=timeout, cwd=where, stdin=stdin, on_output=on_output)
        finally:
            self._after()

    async def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        pty: bool = False,
        on_output: Callable[[str], None] | None = None,
        on_exit: Callable[[ProcessInfo], None] | None = None,
    ) -> BackgroundProcess:
        folder = await self._folder(cwd)
        grants = await self.judge(command, folder, background=True)
        where = self._as_judged(cwd, folder)
        with granting(grants or NO_GRANTS):
            process = await self._inner.start(command, cwd=where, pty=pty, on_output=on_output, on_exit=on_exit)
        return GatedProcess(process, self.judge, self._typed)

    async def close(self) -> None:
        await self._inner.close()

    async def judge(self, command: str, folder: str, *, background: bool = False) -> Grants | None:
        """Permit a command, and let the checkpoint be taken unless it only reads. Gives what a person's yes opens beyond the
        sandbox, None if nobody had to be asked."""
        if has_mask(command):
            raise ToolError(
                f"Not run: the command holds a masked secret ({MASK}), and the real one is not known. {WITHOUT}"
            )
        approved = await self._permit(RunCommand(command, folder, self.kind, background))
        # Loaded with the first command.
        from hermes.safety.commands.read import only_reads, read

        reading = read(command, folder, self._places)
        if not only_reads(command, folder, self._places):
            words = (word for step in reading.steps for word in (*step.args, *step.writes))
            await self._before_change([folder, *named_files(words, folder)])
        if approved is not True:
            return None
        from hermes.safety.sandbox.approved import grants_of

        return grants_of(reading, folder, self._places.user_home)

    async def _folder(self, cwd: str | None) -> str:
        """The folder that a command will run in, as the gate is told."""
        await self._begin()
        if cwd and (cwd == "~" or cwd.startswith("~/")):
            cwd = self._places.user_home + cwd[1:]
        elif cwd and self.kind == "local":
            cwd = os.path.expanduser(cwd)
        folder = os.path.join(self._inner.cwd, cwd or "")
        return followed(folder) if self.kind == "local" else os.path.normpath(folder)

    def _as_judged(self, cwd: str | None, folder: str) -> str | None:
        """The folder to hand on: on this machine the very one that was judged, elsewhere `~` is known only there."""
        return folder if cwd and self.kind == "local" else cwd


@contextmanager
def granting(grants: Grants) -> Iterator[None]:
    """Hand grants to the sandbox of whatever is started within."""
    token = granted.set(grants)
    try:
        yield
    finally:
        granted.reset(token)


def named_files(words: Iterable[str], folder: str) -> list[str]:
    """The files that a command names, which the checkpoint keeps even where it passes over others like them."""
    paths = (followed(os.path.join(folder, word)) for word in words if not _NO_NAME.search(word))
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]
