"""What a bug report needs, in one file that you can look into. Nothing is sent anywhere.

hermes debug share                write it, and say what is in it; secrets are masked
hermes debug delete               remove every such file that is kept in the home
"""

import argparse
import asyncio
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import hermes
from hermes import config
from hermes.cli.doctor import examine, readable_settings
from hermes.cli.doctor_finding import line
from hermes.cli.dump import dump, harmless
from hermes.cli.facts import program_facts
from hermes.cli.homes import stamp
from hermes.cli.logfiles import AGENT, ERRORS, files_of
from hermes.cli.words import many
from hermes.config import Settings
from hermes.protocol.errors import UserError

FOLDER = "debug"
LINES = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    shared = actions.add_parser("share", help="write one file for a bug report; nothing is uploaded")
    shared.add_argument("-o", "--output", metavar="FILE", default="", help=f"where to (default: {FOLDER}/ in the home)")
    shared.add_argument("--lines", metavar="N", type=int, default=LINES, help=f"of each log (default {LINES})")
    shared.set_defaults(do=share)
    actions.add_parser("delete", help="remove the files of share from the home").set_defaults(do=delete)


async def run(args: argparse.Namespace) -> int:
    return await args.do(args)


async def share(args: argparse.Namespace) -> int:
    if args.lines < 0:
        raise UserError("--lines must not be negative", f"the default is {LINES}")
    settings = readable_settings()
    target = Path(os.path.expanduser(args.output)) if args.output else _place(settings)
    texts = {name: harmless(text, settings) for name, text in (await _texts(settings, args.lines)).items()}
    await asyncio.to_thread(_write, target, texts)
    print(f"{target} is for you to look at and to attach to a report; nothing was sent. In it, secrets masked:")
    for name, text in texts.items():
        print(f"  {name:<12} {many(len(text.splitlines()), 'line')}")
    return 0


def _place(settings: Settings) -> Path:
    folder = settings.home / FOLDER
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder / f"hermes-debug-{stamp()}.zip"


async def _texts(settings: Settings, lines: int) -> dict[str, str]:
    """The members of the file by their names."""
    version = [f"hermes {hermes.__version__}", *(f"{name}: {fact}" for name, fact in program_facts().items())]
    doctor = [line(finding) async for finding in examine(settings, offline=True)]
    texts = {
        "version.txt": "\n".join(version) + "\n",
        "doctor.txt": "\n".join(doctor) + "\n",
        "dump.txt": await dump(settings) + "\n",
    }
    for name in (AGENT, ERRORS):
        if last := _last_lines(settings.home / "logs", name, lines):
            texts[name] = last
    return texts


def _last_lines(folder: Path, name: str, count: int) -> str:
    files = files_of(folder, name)
    if not files or not count:
        return ""
    return "".join(files[-1].read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)[-count:])


def _write(target: Path, texts: Mapping[str, str]) -> None:
    """A zip file that only its owner can read. Blocks."""
    try:
        handle = os.open(target, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}", "choose another file with -o") from None


async def delete(args: argparse.Namespace) -> int:
    folder = config.find_home() / FOLDER
    files = sorted(folder.glob("hermes-debug-*.zip"))
    for path in files:
        path.unlink()
    print(f"removed {many(len(files), 'file')} from {folder}" if files else f"there is nothing in {folder} to remove")
    return 0
