"""Bring Hermes up to date. A git checkout is pulled and installed again, after a backup of the home.

--check only looks: exit code 0 up to date, 10 there is something new, 1 it could not be found out.
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
    parser.add_argument("--no-backup", action="store_true", help="do not back up the home first")


async def run(args: argparse.Namespace) -> int:
    tree = Path(hermes.__file__).resolve().parents[2]
    environ = config.environment()
    if not (tree / ".git").exists():
        return _installed(check=args.check)
    if args.check:
        return await look(tree, environ)
    return await update(tree, environ, backup=not args.no_backup)


def _installed(*, check: bool) -> int:
    """Hermes that pip installed is pip's to update."""
    print(f"hermes {hermes.__version__} was installed as a package; to update it: pip install --upgrade {PACKAGE}")
    return 1 if check else 0


async def look(tree: Path, environ: Mapping[str, str]) -> int:
    """Fetch and compare; nothing else is changed."""
    new = await _new(tree, environ)
    if not new:
        print(f"hermes {hermes.__version__} is up to date")
        return 0
    print(f"{many(len(new), 'change')} since hermes {hermes.__version__}: hermes update")
    for line in new[:SHOWN]:
        print(f"  {line}")
    return NEWER


async def _new(tree: Path, environ: Mapping[str, str]) -> list[str]:
    """What the branch that is followed has and this tree does not, newest first."""
    try:
        await git(tree, environ, "rev-parse", "--abbrev-ref", "@{upstream}")
    except ProgramFailed:
        raise UserError(
            f"{tree} follows no branch to update from", "git branch --set-upstream-to=origin/main"
        ) from None
    try:
        await git(tree, environ, "fetch", "--quiet")
    except ProgramFailed as error:
        raise ProgramFailed(f"cannot ask for what is new, are you offline? {error}") from None
    return (await git(tree, environ, "log", "--format=%h %s", "HEAD..@{upstream}")).splitlines()


async def update(tree: Path, environ: Mapping[str, str], *, backup: bool) -> int:
    if await git(tree, environ, "status", "--porcelain", "--untracked-files=no"):
        raise UserError(f"files in {tree} were changed", "commit them or put them away: git stash")
    new = await _new(tree, environ)
    if not new:
        print(f"hermes {hermes.__version__} is up to date")
        return 0
    if await git(tree, environ, "log", "--format=%h", "@{upstream}..HEAD"):
        raise UserError(f"{tree} has commits of its own", "git pull --rebase there, then hermes update again")
    home = config.find_home()
    if backup and home.is_dir():
        print(f"backup of {home}: {await asyncio.to_thread(_back_up, home)}", flush=True)
    await git(tree, environ, "pull", "--ff-only", "--quiet")
    print(f"{many(len(new), 'change')} pulled", flush=True)
    try:
        said = await run_program([str(tree / "hermes"), "--version"], tree, environ)
    except ProgramFailed as error:
        print_error(f"the new version cannot be installed: {error}", f"go back: git -C {tree} reset --keep ORIG_HEAD")
        return 1
    print(f"{said.strip()} is installed; sessions that are open go on with the old one until they end")
    return 0


def _back_up(home: Path) -> Path:
    folder = home / "backups"
    folder.mkdir(exist_ok=True, mode=0o700)
    target = folder / f"before-update-{stamp()}.zip"
    pack(home, target, secrets=True, quick=True)
    return target
