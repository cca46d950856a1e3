"""`hermes skills snapshot`: which skills were installed from where, to have the very same ones on another machine."""

import argparse
import asyncio
import os
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from hermes import config
from hermes.app.hub import Hub
from hermes.cli.main import print_error
from hermes.cli.words import many
from hermes.learning.skills.lock import Pin
from hermes.protocol.errors import HermesError, UserError


class Listed(Struct, frozen=True):
    """A skill by its source, with the hash that its files had."""

    name: str
    source: str
    hash: str
    category: str = ""


class Snapshot(Struct, frozen=True):
    version: int
    skills: tuple[Listed, ...]


def add_parsers(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    exported = actions.add_parser("export", help="write what is installed, by source and hash")
    exported.add_argument("-o", "--output", metavar="FILE", default="", help="write there and not to stdout")
    exported.set_defaults(do=export)
    brought = actions.add_parser("import", help="install what a snapshot lists, if it is still the same")
    brought.add_argument("file", metavar="FILE")
    brought.add_argument("--newer", action="store_true", help="also what its source has changed since")
    brought.add_argument("--force", action="store_true", help="also what is odd; what is dangerous is never installed")
    brought.set_defaults(do=bring)


async def export(args: argparse.Namespace, hub: Hub) -> int:
    pins = hub.lock.read()
    snapshot = Snapshot(1, tuple(_listed(name, pin) for name, pin in pins.items()))
    text = msgspec.json.format(msgspec.json.encode(snapshot), indent=2).decode() + "\n"
    if not args.output:
        print(text, end="")
        return 0
    target = Path(os.path.expanduser(args.output))
    await asyncio.to_thread(config.write_private, target, text)
    print(f"{target}: {many(len(pins), 'skill')}; hermes skills snapshot import brings them to another home")
    return 0


def _listed(name: str, pin: Pin) -> Listed:
    category = str(PurePosixPath(pin.place).parent)
    return Listed(name, pin.source, pin.hash, "" if category == "." else category)


async def bring(args: argparse.Namespace, hub: Hub) -> int:
    """Install each skill; one that cannot be had does not keep the others away."""
    wanted = _read(Path(os.path.expanduser(args.file)))
    pins, failed = hub.lock.read(), False
    for one in wanted.skills:
        if one.name in pins:
            same = pins[one.name].hash == one.hash
            print(f"{one.name} is installed already" + ("" if same else ", in another version"))
            continue
        try:
            expected = "" if args.newer else one.hash
            _, pin, _ = await hub.install(one.source, category=one.category, force=args.force, expected=expected)
        except HermesError as error:
            print_error(f"{one.name}: {error}", error.hint if isinstance(error, UserError) else "")
            failed = True
        else:
            print(f"{one.name} is installed" + ("" if pin.hash == one.hash else ", as its source has it now"))
    return 1 if failed else 0


def _read(path: Path) -> Snapshot:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Snapshot)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", "hermes skills snapshot import FILE") from None
    except msgspec.DecodeError:
        raise UserError(f"{path} is no snapshot of skills", "hermes skills snapshot export makes one") from None
