"""The git that keeps checkpoints: a bare repository of Hermes' own, out of reach of every other setting of git.

Files go in byte for byte, and nothing in a project can change that: the repository's own attributes, which come before all
others, switch off every conversion. The project's own repository, index and settings are never opened.
"""

import asyncio
import fcntl
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from hermes.protocol.errors import ToolError
from hermes.protocol.ids import new_id

LINK = 0o120000

_CONFIG = """\
[core]
\trepositoryFormatVersion = 0
\tbare = true
\tfileMode = true
\tsymlinks = true
\tignoreCase = false
\tprecomposeUnicode = false
\tprotectNTFS = false
\tprotectHFS = false
\tautocrlf = false
\tquotePath = false
\tlogAllRefUpdates = false
\tlooseCompression = 1
\thooksPath = /dev/null
[gc]
\tauto = 0
\tpackRefs = false
"""
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding\n"
# What a build or a package manager makes again; a folder without a .gitignore should not drag it along.
_EXCLUDED = "node_modules/\n.venv/\n__pycache__/\n.mypy_cache/\n.pytest_cache/\n.ruff_cache/\n.tox/\n.nox/\n"
# Git streams what it takes for large into packs. A file of its own for each object is what made the first checkpoint slow:
# with 50,000 small files four times the work, and 200 MB of blocks on the disk instead of 10.
_IN_PACKS = ("-c", "core.bigFileThreshold=1", "-c", "pack.compression=1")
_IN_ONE_PACK = 5_000
"""Files that one command streams: for each of them git looks through all that it has streamed before."""
_FEW = 500
_STREAMS_SINCE = (2, 39)
# Git takes and gives back a quarter of a megabyte for each file; with this, glibc does not trouble the kernel each time.
_SPARE_MEMORY = str(4 << 20)
_READY = "hermes-1"
_POLL = 0.01


class GitFailed(ToolError):
    """A git command of the checkpoints went wrong."""


class Change(Struct, frozen=True):
    """A file that differs between two trees; a mode of 0 means that it is not in that tree."""

    name: bytes
    old_mode: int
    old: str
    new_mode: int
    new: str


@asynccontextmanager
async def held(path: Path, *, shared: bool = False) -> AsyncIterator[None]:
    """Hold a lock file while others wait; the kernel lets go of it if this process dies."""
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with path.open("ab") as file:
        # A lock of another process rings no bell here.
        while not _locked(file.fileno(), how):  # noqa: ASYNC110
            await asyncio.sleep(_POLL)
        yield


def _locked(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class ShadowGit:
    """Runs git on a repository in Hermes' home; `search_path` says where programs are."""

    def __init__(self, home: Path, search_path: str) -> None:
        self.home = home
        self.store = store = home / "checkpoints" / "store"
        self.program = shutil.which("git", path=search_path)
        self._env = {
            "PATH": search_path,
            "HOME": str(store),
            "LC_ALL": "C",
            "MALLOC_TOP_PAD_": _SPARE_MEMORY,
            "GIT_DIR": str(store),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Hermes",
            "GIT_AUTHOR_EMAIL": "hermes@localhost",
            "GIT_COMMITTER_NAME": "Hermes",
            "GIT_COMMITTER_EMAIL": "hermes@localhost",
        }

    async def open(self) -> None:
        """Make the repository if it is not there; done half, it is done again."""
        if (self.store / _READY).exists():
            return
        await asyncio.to_thread(self._prepare)

    def _prepare(self) -> None:
        self.store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in ("", "objects", "refs", "info", "folders"):
            (self.store / folder).mkdir(mode=0o700, exist_ok=True)
        texts = {"HEAD": "ref: refs/heads/none\n", "config": _CONFIG, "info/attributes": _ATTRIBUTES}
        for name, text in (texts | {"info/exclude": _EXCLUDED, _READY: ""}).items():
            written = self.store / new_id(f"{name}.")
            written.write_text(text)
            written.replace(self.store / name)

    async def run(
        self,
        *args: str,
        folder: bytes = b"",
        index: Path | None = None,
        stdin: bytes = b"",
        fine: Sequence[int] = (0,),
    ) -> bytes:
        """Run a git command to its end and give its output; raises GitFailed with git's own last words."""
        process = await asyncio.create_subprocess_exec(
            self.program or "git", *args, stdin=PIPE, stdout=PIPE, stderr=PIPE, **self._around(folder, index)
        )
        try:
            output, errors = await process.communicate(stdin)
        finally:
            await _end(process)
        if process.returncode not in fine:
            words = errors.decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
            raise GitFailed(f"git: {words[-1].removeprefix('fatal: ')}")
        return output

    def _around(self, folder: bytes, index: Path | None) -> dict[str, Any]:
        """The folder and the environment of a git command."""
        env = dict(self._env)
        if folder:
            env["GIT_WORK_TREE"] = os.fsdecode(folder)
        if index:
            env["GIT_INDEX_FILE"] = str(index)
        return {"env": env, "cwd": folder or self.store}

    async def names(self, folder: bytes, most: int) -> list[bytes] | None:
        """Every file below a folder that is not ignored, repositories inside it included; None if there are more."""
        found: list[bytes] = []
        waiting = [b""]
        while waiting:
            below = waiting.pop()
            listed = await self._names(os.path.join(folder, below) if below else folder, most - len(found))
            if listed is None:
                return None
            for name in listed:
                (waiting if name.endswith(b"/") else found).append(below + name)
        return found

    async def _names(self, folder: bytes, most: int) -> list[bytes] | None:
        args = (*_rules_of(folder), "ls-files", "-z", "--others", "--exclude-standard", *self._but_own(folder))
        around = self._around(folder, self.store / "no-index")
        process = await asyncio.create_subprocess_exec(
            self.program or "git", *args, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, **around
        )
        assert process.stdout is not None
        chunks: list[bytes] = []
        count = 0
        try:
            while count <= most and (chunk := await process.stdout.read(1 << 16)):
                chunks.append(chunk)
                count += chunk.count(b"\0")
        finally:
            await _end(process)
        if count > most:
            return None
        if process.returncode:
            raise GitFailed(f"git could not list {os.fsdecode(folder)}")
        return b"".join(chunks).split(b"\0")[:-1]

    def _but_own(self, folder: bytes) -> tuple[str, ...]:
        """Leave out Hermes' home, which may lie in a project: these very checkpoints, and what must not be rolled back."""
        own = os.path.relpath(os.path.realpath(os.fsencode(self.home)), folder)
        if own.split(b"/")[0] in (b".", b".."):
            return ()
        return ("--exclude", "/" + re.sub(r"([\\*?\[\] ])", r"\\\1", os.fsdecode(own)) + "/")

    async def tracked(self, index: Path) -> list[bytes]:
        return (await self.run("ls-files", "-z", index=index)).split(b"\0")[:-1]

    async def tree(
        self, folder: bytes, index: Path, present: Sequence[bytes], gone: Iterable[bytes], *, all_new: bool = False
    ) -> str:
        """Bring an index up to the state of these files, and write its tree; `all_new` if none of them was ever stored."""
        if left := b"".join(name + b"\0" for name in gone):
            await self.run("update-index", "-z", "--force-remove", "--stdin", folder=folder, index=index, stdin=left)
        how, at_once = (), max(len(present), 1)
        if all_new and len(present) > _FEW and await self._streams():
            how, at_once = _IN_PACKS, _IN_ONE_PACK
        args = (*how, "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        for start in range(0, len(present), at_once):
            names = b"".join(name + b"\0" for name in present[start : start + at_once])
            await self.run(*args, folder=folder, index=index, stdin=names)
        return (await self.run("write-tree", index=index)).decode().strip()

    async def _streams(self) -> bool:
        """Whether this git makes one pack of what one command adds; older ones made one of each file."""
        version = re.findall(rb"\d+", await self.run("version"))
        return tuple(map(int, version[:2])) >= _STREAMS_SINCE

    async def commit(self, tree: str, message: bytes) -> str:
        return (await self.run("commit-tree", tree, stdin=message)).decode().strip()

    async def commits(self, hashes: Sequence[str]) -> list[tuple[str, bytes] | None]:
        """The tree and the message of each commit; None for one that is lost."""
        found: list[tuple[str, bytes] | None] = []
        for data in await self.objects(hashes):
            head, _, message = (data or b"").partition(b"\n\n")
            found.append((head[5:45].decode(), message) if head.startswith(b"tree ") else None)
        return found

    async def objects(self, hashes: Sequence[str]) -> list[bytes | None]:
        """The bytes of each object; None for one that is lost."""
        if not hashes:
            return []
        output = await self.run("cat-file", "--batch", stdin="".join(f"{each}\n" for each in hashes).encode())
        found: list[bytes | None] = []
        at = 0
        for _ in hashes:
            end = output.index(b"\n", at)
            words = output[at:end].split()
            at = end + 1
            if words[-1] == b"missing":
                found.append(None)
                continue
            size = int(words[2])
            found.append(output[at : at + size])
            at += size + 1
        return found

    async def contents(self, tree: str) -> list[bytes]:
        return (await self.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree)).split(b"\0")[:-1]

    async def changes(self, old: str, new: str) -> list[Change]:
        fields = (await self.run("diff-tree", "-r", "-z", "--no-renames", old, new)).split(b"\0")
        found: list[Change] = []
        for head, name in zip(fields[0:-1:2], fields[1::2], strict=False):
            old_mode, new_mode, before, after, _ = head.decode().lstrip(":").split()
            found.append(Change(name, int(old_mode, 8), before, int(new_mode, 8), after))
        return found

    async def ignored(self, folder: bytes, names: Iterable[bytes]) -> set[bytes]:
        """Which of these names the folder's own rules tell git to leave alone."""
        # The dot keeps git from reading a name that begins with a colon as a pattern.
        stdin = b"".join(b"./" + name + b"\0" for name in names)
        args = (*_rules_of(folder), "check-ignore", "-z", "--no-index", "--stdin")
        output = await self.run(*args, folder=folder, stdin=stdin, fine=(0, 1)) if stdin else b""
        return {name.removeprefix(b"./") for name in output.split(b"\0") if name}


def _rules_of(folder: bytes) -> tuple[str, ...]:
    """The rules of what to ignore that lie in a project's own repository."""
    return ("-c", f"core.excludesFile={os.fsdecode(folder)}/.git/info/exclude")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave no git behind, also if whoever waited for it gave up."""
    if process.returncode is None and process.stdout is not None and not process.stdout.at_eof():
        process.kill()
        await process.stdout.read()
    await asyncio.shield(process.wait())
