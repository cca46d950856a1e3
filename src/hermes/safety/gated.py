"""Files and a terminal behind the gate: every effect is asked about once, as what it really is, and can be undone.

`permit` returns if an action may be done and raises Denied if not. `before_change` is told, after that, which paths are about
to change: it takes the checkpoint.
"""

import os
import re
import shlex
from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec.structs import replace

from hermes.protocol.actions import Action, ReadPath, RunCommand, WritePath
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
from hermes.safety.commands import read
from hermes.safety.harmless import only_reads
from hermes.safety.places import Places, is_credential, is_own_secret

# What cannot stand in the name of a file.
_NO_NAME = re.compile(r"[\0\ud800-\udfff]")

Permission = Callable[[Action], Awaitable[None]]
BeforeChange = Callable[[Sequence[str]], Awaitable[None]]


class GatedFiles:
    """Files where each read and write is permitted first; a search passes over the places where keys are kept."""

    def __init__(self, inner: Files, permit: Permission, before_change: BeforeChange, places: Places) -> None:
        self._inner = inner
        self._permit = permit
        self._before_change = before_change
        self._places = places

    async def resolve(self, path: str) -> str:
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
        target = await self._inner.resolve(path)
        await self._change(WritePath(target))
        await self._inner.write(target, data)

    async def remove(self, path: str) -> None:
        # Of a link, the link goes and not what it leads to.
        folder, name = os.path.split(os.path.normpath(path))
        target = os.path.join(await self._inner.resolve(folder or "."), name)
        await self._change(WritePath(target, delete=True))
        await self._inner.remove(target)

    async def _readable(self, path: str) -> str:
        target = await self._inner.resolve(path)
        await self._permit(ReadPath(target))
        return target

    async def _change(self, action: WritePath) -> None:
        await self._permit(action)
        await self._before_change([action.path])

    def _is_secret(self, path: str) -> bool:
        return is_credential(path) or is_own_secret(path, self._places)


class GatedTerminal:
    """A terminal where each command is permitted first, and what is typed into a running process too.

    `typed` holds the unfinished line of each process; whoever makes a terminal for each call hands in the same one.
    """

    def __init__(
        self,
        inner: Terminal,
        permit: Permission,
        before_change: BeforeChange,
        user_home: str,
        typed: dict[str, bytes] | None = None,
    ) -> None:
        self._inner = inner
        self._permit = permit
        self._before_change = before_change
        self._user_home = user_home
        self._typed = {} if typed is None else typed

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
        folder = self._folder(cwd)
        await self.judge(with_input(command, stdin), folder)
        return await self._inner.run(command, timeout=timeout, cwd=cwd, stdin=stdin, on_output=on_output)

    async def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        pty: bool = False,
        on_output: Callable[[str], None] | None = None,
        on_exit: Callable[[ProcessInfo], None] | None = None,
    ) -> BackgroundProcess:
        folder = self._folder(cwd)
        await self.judge(command, folder, background=True)
        process = await self._inner.start(command, cwd=cwd, pty=pty, on_output=on_output, on_exit=on_exit)
        return GatedProcess(process, self.judge, self._typed)

    async def close(self) -> None:
        await self._inner.close()

    async def judge(self, command: str, folder: str, *, background: bool = False) -> None:
        """Permit a command, and let the checkpoint be taken unless it only reads."""
        await self._permit(RunCommand(command, folder, self.kind, background))
        script = read(command)
        if not only_reads(script, folder, self._user_home):
            words = (word.text for simple in script.commands for word in simple.words)
            await self._before_change([folder, *named_files(words, folder)])

    def _folder(self, cwd: str | None) -> str:
        """The folder that a command will run in, as the gate is told."""
        if cwd and (cwd == "~" or cwd.startswith("~/")):
            cwd = self._user_home + cwd[1:]
        folder = os.path.join(self._inner.cwd, cwd or "")
        return os.path.realpath(folder) if self.kind == "local" else os.path.normpath(folder)


class GatedProcess:
    """A background process whose input is judged like a command, for typing into a shell is one."""

    def __init__(
        self, inner: BackgroundProcess, judge: Callable[[str, str], Awaitable[None]], typed: dict[str, bytes]
    ) -> None:
        self._inner = inner
        self._judge = judge
        self._typed = typed

    @property
    def info(self) -> ProcessInfo:
        return self._inner.info

    def output(self, offset: int | None = None, limit: int | None = None) -> tuple[str, int]:
        return self._inner.output(offset, limit)

    async def wait(self, timeout: float) -> ProcessInfo:
        return await self._inner.wait(timeout)

    async def write(self, data: bytes) -> None:
        info = self._inner.info
        typed = self._typed.get(info.id, b"") + data
        await self._judge(with_input(info.command, typed), info.cwd)
        await self._inner.write(data)
        self._typed[info.id] = typed.rpartition(b"\n")[2]

    async def close_input(self) -> None:
        await self._inner.close_input()

    async def kill(self) -> ProcessInfo:
        return await self._inner.kill()


def with_input(command: str, data: bytes) -> str:
    """A command with what it reads, so that the verdict and the person see both."""
    return f"{command} <<< {shlex.quote(data.decode(errors='replace'))}" if data else command


def named_files(words: Iterable[str], folder: str) -> list[str]:
    """The files that a command names, which the checkpoint keeps even where it passes over others like them."""
    paths = (os.path.realpath(os.path.join(folder, word)) for word in words if not _NO_NAME.search(word))
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]
