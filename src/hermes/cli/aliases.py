"""Commands in ~/.local/bin that start Hermes with one profile."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from hermes.config import find_root
from hermes.protocol.errors import UserError

MARK = "# made by: hermes profile alias"


def alias_path(name: str, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "~").expanduser() / ".local" / "bin" / name


def make_alias(profile: str, name: str, environ: Mapping[str, str]) -> Path:
    """Write the command; UserError if another program has that name."""
    path = alias_path(name, environ)
    if path.exists() and not _is_ours(path):
        raise UserError(f"{path} is something else", "choose another name with --as")
    there = shutil.which(name, path=environ.get("PATH", os.defpath))
    if there and not _is_ours(Path(there)):
        raise UserError(f"there is a command {name} already: {there}", "choose another name with --as")
    program = shutil.which("hermes", path=environ.get("PATH", os.defpath))
    start = shlex.quote(program) if program else f"{shlex.quote(sys.executable)} -m hermes"
    # The profile belongs to the home that is in use now, wherever the command is started from.
    root = f"HERMES_HOME={shlex.quote(str(find_root(environ).absolute()))}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{MARK} {profile}\n{root} exec {start} -p {profile} "$@"\n')
    path.chmod(0o755)
    return path


def aliases_of(profile: str, environ: Mapping[str, str]) -> list[Path]:
    return [path for path in all_aliases(environ) if f"{MARK} {profile}\n" in path.read_text()]


def all_aliases(environ: Mapping[str, str]) -> list[Path]:
    """The commands of every profile."""
    folder = alias_path("", environ)
    return [path for path in sorted(folder.iterdir()) if _is_ours(path)] if folder.is_dir() else []


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(200)
    except OSError:
        return False
