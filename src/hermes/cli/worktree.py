"""A git worktree of its own for one conversation (-w): several can work on one repository at a time.

It lies in .worktrees/hermes-<id> on a branch of that name, gets the untracked files that .worktreeinclude names (such as
.env), and is removed at the end if nothing was changed or committed in it.
"""

import argparse
import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from hermes import config
from hermes.cli.main import print_error
from hermes.cli.programs import ProgramFailed, git
from hermes.protocol.errors import UserError
from hermes.protocol.ids import new_id

FOLDER = ".worktrees"
INCLUDE = ".worktreeinclude"


class Worktree(Struct, frozen=True):
    """Where it is, its branch, the commit that it began at, and the files that were copied into it."""

    repository: Path
    path: Path
    branch: str
    base: str
    copied: frozenset[str]


@asynccontextmanager
async def workplace(args: argparse.Namespace) -> AsyncIterator[None]:
    """Let a conversation have a worktree of its own as its folder."""
    environ = config.environment()
    tree = await make_worktree(Path.cwd(), environ)
    args.cwd = str(tree.path)
    print_error(f"working in {tree.path}, on the branch {tree.branch}")
    try:
        yield
    finally:
        await leave(tree, environ)


async def make_worktree(folder: Path, environ: Mapping[str, str]) -> Worktree:
    try:
        top = Path((await git(folder, environ, "rev-parse", "--show-toplevel")).rstrip("\n"))
        base = (await git(top, environ, "rev-parse", "HEAD")).strip()
    except ProgramFailed as error:
        raise UserError(f"-w needs a git repository with a commit: {error}", "go into one, or leave -w out") from None
    branch = new_id("hermes-").lower()
    path = top / FOLDER / branch
    await _ignore(top, environ)
    await git(top, environ, "worktree", "add", "--quiet", "-b", branch, str(path), base)
    copied = await asyncio.to_thread(_copy, top, path, await _included(top, environ))
    return Worktree(top, path, branch, base, frozenset(copied))


async def _ignore(top: Path, environ: Mapping[str, str]) -> None:
    """Keep the folder out of the repository's own status, in the file that is not committed."""
    exclude = Path((await git(top, environ, "rev-parse", "--git-path", "info/exclude")).rstrip("\n"))
    exclude = top / exclude
    line = f"/{FOLDER}/"
    text = exclude.read_text(encoding="utf-8") if exclude.exists() else ""
    if line not in text.splitlines():
        exclude.parent.mkdir(parents=True, exist_ok=True)
        exclude.write_text(f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n", encoding="utf-8")


async def _included(top: Path, environ: Mapping[str, str]) -> list[str]:
    """Untracked files that the patterns of .worktreeinclude match."""
    if not (top / INCLUDE).is_file():
        return []
    listed = await git(top, environ, "ls-files", "-z", "--others", "--ignored", f"--exclude-from={INCLUDE}")
    return [name for name in listed.split("\0") if name and not name.startswith(f"{FOLDER}/")]


def _copy(top: Path, path: Path, names: list[str]) -> list[str]:
    files = [name for name in names if (top / name).is_file() and not (top / name).is_symlink()]
    for name in files:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(top / name, path / name)
    return files


async def leave(tree: Worktree, environ: Mapping[str, str]) -> None:
    """Remove a worktree in which nothing happened; say where the others are."""
    try:
        if tree.path.is_dir() and await _is_used(tree, environ):
            print_error(f"what was done is kept in {tree.path}, on the branch {tree.branch}")
            return
        if tree.path.is_dir():
            await git(tree.repository, environ, "worktree", "remove", "--force", str(tree.path))
        await git(tree.repository, environ, "worktree", "prune")
        await git(tree.repository, environ, "branch", "-D", tree.branch)
    except ProgramFailed as error:
        print_error(f"{tree.path} is left as it is: {error}", f"git worktree remove {tree.path}")


async def _is_used(tree: Worktree, environ: Mapping[str, str]) -> bool:
    head = (await git(tree.path, environ, "rev-parse", "HEAD")).strip()
    if head != tree.base or (await git(tree.path, environ, "rev-parse", tree.branch)).strip() != tree.base:
        return True
    changed = await git(tree.path, environ, "status", "--porcelain", "-z", "--untracked-files=all")
    return any(entry and entry[3:] not in tree.copied for entry in changed.split("\0"))
