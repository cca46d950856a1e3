"""Profiles: homes beside each other, each with its own settings, keys, memory and sessions. Without an action: list them.

hermes profile create work --clone      a new one with the settings and keys of the one in use
hermes -p work                          use it once
hermes profile use work                 use it from now on (default: the plain home)
"""

import argparse
import asyncio
import os
import shutil
import sys
from pathlib import Path

from hermes import config
from hermes.cli.aliases import alias_path, aliases_of, make_alias
from hermes.cli.ask import confirm
from hermes.cli.homes import DATABASE, pack, stamp, unpack
from hermes.cli.main import print_error
from hermes.cli.profile_about import facts_of, keep_description, read_description
from hermes.cli.profile_copy import copy_all, copy_settings
from hermes.cli.table import Column, print_table
from hermes.cli.words import many
from hermes.config import ACTIVE_PROFILE, PLAIN_PROFILE
from hermes.learning.skills.bundled import opt_out
from hermes.protocol.errors import UserError
from hermes.store.health import in_use

COLUMNS = (
    Column("profile"),
    Column("in use"),
    Column("model", shrinks=True),
    Column("home", shrinks=True),
    Column("what it is for", shrinks=True),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=show_list)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    actions.add_parser("list", help="every profile").set_defaults(do=show_list)
    named = {}
    for name, do, about in (
        ("use", use, "use a profile from now on"),
        ("create", create, "make a profile"),
        ("show", show, "what a profile has"),
        ("info", show, "the same"),
        ("describe", describe, "say what a profile is for, or show what was said"),
        ("rename", rename, "give a profile another name"),
        ("delete", delete, "remove a profile and all that is in it"),
        ("export", export, "write a profile into a file"),
        ("alias", alias, "make a command that starts Hermes with a profile"),
    ):
        named[name] = actions.add_parser(name, help=about)
        named[name].add_argument("name", metavar="NAME")
        named[name].set_defaults(do=do)
    made = named["create"]
    made.add_argument("--clone", action="store_true", help="with settings, keys and SOUL.md of the one in use")
    made.add_argument("--clone-all", action="store_true", help="with everything, memory and sessions included")
    made.add_argument("--clone-from", metavar="NAME", default="", help="of this profile instead")
    made.add_argument("--description", metavar="TEXT", default="", help="what it is for")
    made.add_argument("--no-skills", action="store_true", help="without the skills that come with Hermes")
    made.add_argument("--no-alias", action="store_true", help="make no command of its name")
    named["describe"].add_argument("text", metavar="TEXT", nargs="*", help="what it is for; an empty one forgets it")
    named["rename"].add_argument("new", metavar="NEW")
    named["delete"].add_argument("-y", "--yes", action="store_true", help="without a question")
    named["export"].add_argument("-o", "--output", metavar="FILE", default="", help="where to")
    named["export"].add_argument("--secrets", action="store_true", help="keys and logins too")
    named["alias"].add_argument("--as", metavar="COMMAND", default="", dest="command_name", help="another name for it")
    named["alias"].add_argument("--remove", action="store_true", help="take it away")
    brought = actions.add_parser("import", help="make a profile of a file that export or backup wrote")
    brought.add_argument("file", metavar="FILE")
    brought.add_argument("--name", metavar="NAME", default="", help="what it is called (default: as the file is)")
    brought.set_defaults(do=bring)


async def run(args: argparse.Namespace) -> int:
    return await args.do(args)


def _there(name: str) -> Path:
    """The home of a profile that exists."""
    root = config.find_root()
    home = config.profile_home(root, name)
    if name != PLAIN_PROFILE and not home.is_dir():
        raise UserError(f"there is no profile {name!r}", f"there is {', '.join(_names(root))}")
    return home


def _free(name: str) -> Path:
    """The home of a profile that does not exist yet."""
    home = config.profile_home(config.find_root(), name)
    if name == PLAIN_PROFILE or home.exists():
        raise UserError(f"there is a profile {name!r} already", "choose another name")
    return home


def _removable(name: str) -> Path:
    if name == PLAIN_PROFILE:
        raise UserError("the plain home is no profile that can be moved or removed", "name another one")
    home = _there(name)
    if busy := in_use(home / DATABASE):
        raise UserError(f"{name} has {many(len(busy), 'open session')}", "end them first")
    return home


def _names(root: Path) -> list[str]:
    folder = root / "profiles"
    return [PLAIN_PROFILE, *(sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else [])]


async def show_list(args: argparse.Namespace) -> int:
    root, current = config.find_root(), config.find_profile() or PLAIN_PROFILE
    rows = [
        (
            name,
            "yes" if name == current else "",
            _model(config.profile_home(root, name)),
            str(config.profile_home(root, name)),
            read_description(config.profile_home(root, name)),
        )
        for name in _names(root)
    ]
    print_table(COLUMNS, rows, sys.stdout)
    return 0


def _model(home: Path) -> str:
    try:
        file = config.convert(config.read_yaml(home / "config.yaml"), {}, home / "config.yaml")
    except UserError:
        return "config.yaml cannot be read"
    named = config.model_settings(file.model)
    return ":".join(filter(None, (named.provider, named.name)))


async def use(args: argparse.Namespace) -> int:
    home, root = _there(args.name), config.find_root()
    if args.name == PLAIN_PROFILE:
        (root / ACTIVE_PROFILE).unlink(missing_ok=True)
    else:
        config.write_private(root / ACTIVE_PROFILE, f"{args.name}\n")
    print(f"from now on hermes uses {home}")
    return 0


def _make(home: Path) -> None:
    """Make a folder that only its owner can look into; `parents=True` would leave those above it open to all."""
    for folder in (home.parents[1], home.parent, home):
        folder.mkdir(exist_ok=True, mode=0o700, parents=folder is home.parents[1])


async def create(args: argparse.Namespace) -> int:
    home = _free(args.name)
    source = _there(args.clone_from or config.find_profile() or PLAIN_PROFILE)
    _make(home)
    if args.clone_all:
        await asyncio.to_thread(copy_all, source, home)
    elif args.clone or args.clone_from:
        await asyncio.to_thread(copy_settings, source, home)
    if args.description:
        keep_description(home, args.description)
    if args.no_skills:
        opt_out(home)
    print(f"{args.name} is in {home}: hermes -p {args.name}")
    if not args.no_alias:
        try:
            print(f"its command is {make_alias(args.name, args.name, config.environment())}")
        except UserError as error:
            print_error(f"it has no command of its own: {error}", f"hermes profile alias {args.name} --as NAME")
    return 0


async def show(args: argparse.Namespace) -> int:
    home = _there(args.name)
    facts = await asyncio.to_thread(facts_of, args.name, home, _model(home))
    for name, fact in facts.items():
        print(f"{name:<10} {fact}")
    return 0


async def describe(args: argparse.Namespace) -> int:
    home = _there(args.name)
    if args.text:
        keep_description(home, " ".join(args.text))
    print(read_description(home) or f"{args.name} is not described")
    return 0


async def rename(args: argparse.Namespace) -> int:
    home, target = _removable(args.name), _free(args.new)
    home.rename(target)
    environ = config.environment()
    for path in aliases_of(args.name, environ):
        path.unlink()
        make_alias(args.new, args.new if path.name == args.name else path.name, environ)
    if _chosen() == args.name:
        config.write_private(config.find_root() / ACTIVE_PROFILE, f"{args.new}\n")
    print(f"{args.name} is called {args.new} now")
    return 0


async def delete(args: argparse.Namespace) -> int:
    home = _removable(args.name)
    if not args.yes and not await confirm(f"Remove {home} with all that is in it?"):
        print("nothing was removed")
        return 1
    await asyncio.to_thread(shutil.rmtree, home)
    for path in aliases_of(args.name, config.environment()):
        path.unlink()
    if _chosen() == args.name:
        (config.find_root() / ACTIVE_PROFILE).unlink()
    print(f"{args.name} is removed")
    return 0


def _chosen() -> str:
    """The profile that `use` wrote down."""
    path = config.find_root() / ACTIVE_PROFILE
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


async def export(args: argparse.Namespace) -> int:
    target = Path(os.path.expanduser(args.output or f"{args.name}-{stamp()}.zip"))
    packed = await asyncio.to_thread(pack, _there(args.name), target, secrets=args.secrets, profiles=False)
    secrets = "with keys and logins" if args.secrets else "without keys and logins"
    print(f"{target}: {many(packed.files, 'file')}, {packed.size / 1e6:,.1f} MB, {secrets}")
    return 0


async def bring(args: argparse.Namespace) -> int:
    archive = Path(os.path.expanduser(args.file))
    if not archive.is_file():
        raise UserError(f"there is no file {archive}", "hermes profile import FILE --name NAME")
    name = args.name or archive.stem
    home = _free(name)
    _make(home)
    try:
        _, files = await asyncio.to_thread(unpack, archive, home, force=False)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    print(f"{name} is in {home}, {many(files, 'file')}: hermes -p {name}")
    return 0


async def alias(args: argparse.Namespace) -> int:
    _there(args.name)
    environ, command = config.environment(), args.command_name or args.name
    if not args.remove:
        print(f"{make_alias(args.name, command, environ)} starts hermes -p {args.name}")
        return 0
    path = alias_path(command, environ)
    if path not in aliases_of(args.name, environ):
        raise UserError(f"{path} is no command of the profile {args.name}", f"hermes profile show {args.name}")
    path.unlink()
    print(f"removed {path}")
    return 0
