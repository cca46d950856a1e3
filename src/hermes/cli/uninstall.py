"""Remove Hermes from this machine. It first shows exactly what would go, and asks.

Your home (settings, memory, skills, sessions) stays unless --all is given, and always if something lies in it that
Hermes did not make.
"""

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path

import hermes
from hermes import config
from hermes.cli.ask import confirm
from hermes.cli.homes import DATABASE
from hermes.cli.main import print_error
from hermes.cli.programs import ProgramFailed, git
from hermes.cli.removal import Part, home_part, program_parts, size_of
from hermes.cli.words import many
from hermes.protocol.errors import UserError
from hermes.store.health import in_use


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="the home too, with every profile: nothing of it is left")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be removed")
    parser.add_argument("-y", "--yes", action="store_true", help="without a question")


async def run(args: argparse.Namespace) -> int:
    environ, root = config.environment(), config.find_root()
    tree = Path(hermes.__file__).resolve().parents[2]
    parts = program_parts(tree, root, environ)
    if any(part.path == tree for part in parts) and await has_changes(tree, environ):
        print(f"{tree} has changes of your own, so it stays")
        parts = [part for part in parts if part.path != tree]
    if args.all:
        _check_unused(root)
        going = next((part.path for part in parts if part.path == tree), root)
        home = home_part(root, environ, going)
        parts += [home] if home else []
    if not parts:
        print("there is nothing here that the installer made")
    for part in parts:
        print(f"{part.path}  {part.what}{await asyncio.to_thread(_size, part)}")
    if parts and not args.dry_run:
        if not (args.yes or await confirm(f"Remove {many(len(parts), 'thing')}?")):
            print("nothing was removed")
            return 1
        await asyncio.to_thread(_remove, parts)
    _tell_what_stays(args, tree, root, parts)
    return 0


def _check_unused(root: Path) -> None:
    """A home in which a session is open is not removed."""
    homes = [root, *sorted((root / "profiles").glob("*"))]
    busy = [name for home in homes if (home / DATABASE).is_file() for name in in_use(home / DATABASE)]
    if busy:
        raise UserError(f"{root} is in use", f"end these sessions first: {', '.join(busy)}")


def _size(part: Part) -> str:
    size = size_of(part.path) if part.remove is None else 0
    return f", {size / 1e6:,.1f} MB" if size >= 1e5 else ""


async def has_changes(tree: Path, environ: Mapping[str, str]) -> bool:
    """Whether a clone holds work that nobody else has; one that git cannot read might."""
    try:
        changed = await git(tree, environ, "status", "--porcelain", "--untracked-files=no")
        return bool(changed or await git(tree, environ, "log", "--format=%h", "HEAD", "--not", "--remotes"))
    except ProgramFailed:
        return True


def _remove(parts: list[Part]) -> None:
    """Each part, also if another one cannot be removed."""
    gone = 0
    for part in parts:
        try:
            part.take_away()
            gone += 1
        except OSError as error:
            print_error(f"{part.path} stays: {error.strerror}")
    print(f"removed {many(gone, 'thing')}")


def _tell_what_stays(args: argparse.Namespace, tree: Path, root: Path, parts: list[Part]) -> None:
    if not args.all and root.is_dir():
        print(f"your home stays: {root} (hermes uninstall --all removes it too; hermes backup keeps a copy)")
    if any(part.path == tree for part in parts):
        return
    if (tree / ".git").exists():
        print(f"the program is your own clone: {tree}")
    else:
        print("the program was installed as a package: pip uninstall hermes-courier")
