"""Bring Hermes up to date. A git checkout is pulled and installed again, after a backup of the home.

--check only looks: exit code 0 up to date, 10 there is something new, 1 it could not be found out.
--branch follows another branch of the same repository from now on.
"""

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path

import hermes
from hermes import config
from hermes.cli.homes import pack, stamp
from hermes.cli.main import print_error
from hermes.cli.programs import ProgramFailed, git, run_program
from hermes.cli.words import many
from hermes.protocol.errors import UserError

NEWER = 10
PACKAGE = "hermes-courier"
SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="only say whether there is something new")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--backup", action="store_true", help="back up all of the home first, not only what matters most")
    kept.add_argument("--no-backup", action="store_true", help="do not back up the home first")
    parser.add_argument("--branch", metavar="NAME", default="", help="update to this branch, and follow it")
    parser.add_argument("-y", "--yes", action="store_true", help="for scripts; an update asks nothing anyway")


async def run(args: argparse.Namespace) -> int:
    tree = Path(hermes.__file__).resolve().parents[2]
    environ = config.environment()
    if not (tree / ".git").exists():
        return _installed(check=args.check)
    if args.check:
        return await look(tree, environ, args.branch)
    return await update(tree, environ, backup=not args.no_backup, whole=args.backup, branch=args.branch)


def _installed(*, check: bool) -> int:
    """Hermes that pip installed is pip's to update."""
    print(f"hermes {hermes.__version__} was installed as a package; to update it: pip install --upgrade {PACKAGE}")
    return 1 if check else 0


async def look(tree: Path, environ: Mapping[str, str], branch: str = "") -> int:
    """Fetch and compare; nothing else is changed."""
    new = await _new(tree, environ, await _fetched(tree, environ, branch))
    if not new:
        print(f"hermes {hermes.__version__} is up to date")
        return 0
    print(f"{many(len(new), 'change')} since hermes {hermes.__version__}: hermes update")
    for line in new[:SHOWN]:
        print(f"  {line}")
    return NEWER


async def _fetched(tree: Path, environ: Mapping[str, str], branch: str) -> str:
    """The name of what is followed, or of another branch of where it comes from, fetched."""
    try:
        followed = (await git(tree, environ, "rev-parse", "--abbrev-ref", "@{upstream}")).strip()
    except ProgramFailed:
        raise UserError(
            f"{tree} follows no branch to update from", "git branch --set-upstream-to=origin/main"
        ) from None
    try:
        await git(tree, environ, "fetch", "--quiet")
    except ProgramFailed as error:
        raise ProgramFailed(f"cannot ask for what is new, are you offline? {error}") from None
    if not branch:
        return followed
    named = f"{followed.partition('/')[0]}/{branch}"
    try:
        await git(tree, environ, "rev-parse", "--quiet", "--verify", f"refs/remotes/{named}")
    except ProgramFailed:
        raise UserError(f"there is no branch {branch!r} to update to", f"git -C {tree} branch --remotes") from None
    return named


async def _new(tree: Path, environ: Mapping[str, str], followed: str) -> list[str]:
    """What the branch that is followed has and this tree does not, newest first."""
    return (await git(tree, environ, "log", "--format=%h %s", f"HEAD..{followed}")).splitlines()


async def update(tree: Path, environ: Mapping[str, str], *, backup: bool, whole: bool = False, branch: str = "") -> int:
    """Bring the tree to what its branch has, or to another `branch`; before that a backup, of the `whole` home if wished."""
    if await git(tree, environ, "status", "--porcelain", "--untracked-files=no"):
        raise UserError(f"files in {tree} were changed", "commit them or put them away: git stash")
    followed = await _fetched(tree, environ, branch)
    new = await _new(tree, environ, followed)
    other = branch and branch != (await git(tree, environ, "rev-parse", "--abbrev-ref", "HEAD")).strip()
    if not new and not other:
        print(f"hermes {hermes.__version__} is up to date")
        return 0
    if not other and await git(tree, environ, "log", "--format=%h", f"{followed}..HEAD"):
        raise UserError(f"{tree} has commits of its own", "git pull --rebase there, then hermes update again")
    home = config.find_home()
    if backup and home.is_dir():
        print(f"backup of {home}: {await asyncio.to_thread(_back_up, home, whole)}", flush=True)
    if other:
        await _switch(tree, environ, branch, followed)
    await git(tree, environ, "merge", "--ff-only", "--quiet", followed)
    print(f"{many(len(new), 'change')} pulled" + (f", on the branch {branch} now" if other else ""), flush=True)
    back = "switch -" if other else "reset --keep ORIG_HEAD"
    return await _install(tree, environ, f"go back: git -C {tree} {back}")


async def _switch(tree: Path, environ: Mapping[str, str], branch: str, followed: str) -> None:
    """Go to a branch: the tree's own of that name, or a new one that follows."""
    if (await git(tree, environ, "branch", "--list", branch)).strip():
        await git(tree, environ, "switch", "--quiet", branch)
    else:
        await git(tree, environ, "switch", "--quiet", "--create", branch, "--track", followed)


async def _install(tree: Path, environ: Mapping[str, str], way_back: str) -> int:
    """Let the launcher set up what is new, by its first start."""
    try:
        said = await run_program([str(tree / "hermes"), "--version"], tree, environ)
    except ProgramFailed as error:
        print_error(f"the new version cannot be installed: {error}", way_back)
        return 1
    print(f"{said.strip()} is installed; sessions that are open go on with the old one until they end")
    return 0


def _back_up(home: Path, whole: bool) -> Path:
    folder = home / "backups"
    folder.mkdir(exist_ok=True, mode=0o700)
    target = folder / f"before-update-{stamp()}.zip"
    pack(home, target, secrets=True, quick=not whole)
    return target
