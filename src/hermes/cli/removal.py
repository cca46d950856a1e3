"""What there is of Hermes on a machine that may be removed, each part known to be its own."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from hermes.cli.aliases import alias_path, all_aliases
from hermes.protocol.errors import UserError

SHOWN = 5
CLONE = "hermes-agent"
"""Where install.sh clones to, in the home."""
ADDED = "# Added by the installer of Hermes"
COMPLETIONS = {
    ".local/share/bash-completion/completions/hermes": "complete -o default -F _hermes hermes",
    ".zfunc/_hermes": "#compdef hermes",
    ".config/fish/completions/hermes.fish": "__hermes_at",
}
"""Where `hermes completion --help` says to put them, and a line that only ours have."""
SHELLS = (".bashrc", ".zshrc", ".config/fish/conf.d/hermes.fish")
_own = re.compile(
    r"config\.yaml|\.env|auth\.json|SOUL\.md|memories|skills|state\.db|history|cron|scripts|hooks|plugins|skins|logs|pairing"
    r"|mcp-tokens|mcp-contracts\.json|mcp-reconnect|auth-reset|checkpoints|pending|profiles|active_profile|cache|models|sandbox"
    r"|backups|debug|sessions|description|\.no-bundled-skills|processes\.json"
    r"|state\.db[-.].+|config\.yaml\..+|\..+\.(lock|\d+)|.+\.part"
)
"""The names in a home that Hermes gives, with those of locks, of what lies aside and of what is unfinished."""


class Part(Struct, frozen=True):
    """Something to remove; `remove` is how, where it is not simply a file or a folder."""

    path: Path
    what: str
    remove: Callable[[], None] | None = None

    def take_away(self) -> None:
        """Blocks. OSError if it cannot be done."""
        if self.remove is not None:
            self.remove()
        elif self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path)
        else:
            self.path.unlink()


def program_parts(tree: Path, root: Path, environ: Mapping[str, str]) -> list[Part]:
    """What the installer and commands of Hermes put around it: links, commands, completion, the line for the PATH, the clone."""
    person = Path(environ.get("HOME") or "~").expanduser()
    parts: list[Part] = []
    link = alias_path("hermes", environ)
    if link.is_symlink() and Path(os.path.realpath(link)) == (tree / "hermes").resolve():
        parts.append(Part(link, f"the link to {tree / 'hermes'}"))
    parts += [Part(path, "the command of a profile") for path in all_aliases(environ)]
    for name, sign in COMPLETIONS.items():
        if sign in _text(person / name):
            parts.append(Part(person / name, "completion for a shell"))
    for name in SHELLS:
        if ADDED in _text(person / name):
            parts.append(
                Part(person / name, "only the lines of the installer", partial(_take_out_lines, person / name))
            )
    if tree == (root / CLONE).resolve() and (tree / ".git").is_dir():
        parts.append(Part(tree, "the program, as the installer cloned it"))
    return parts


def home_part(root: Path, environ: Mapping[str, str], going: Path) -> Part | None:
    """The home as a whole; UserError if it holds something that Hermes did not make, beside what is `going` anyway."""
    if not root.is_dir():
        return None
    person = Path(environ.get("HOME") or "~").expanduser()
    others = sorted(path.name for path in root.iterdir() if path != going and not _own.fullmatch(path.name))
    if others or root.resolve() in (person.resolve(), Path("/")):
        why = f"it also holds {', '.join(others[:SHOWN])}" if others else "it is your own folder"
        raise UserError(f"{root} is not removed: {why}", "hermes uninstall without --all; remove the rest by hand")
    if root.is_symlink():
        raise UserError(f"{root} is a link", f"remove it by hand: {root.resolve()}")
    return Part(root, "your home: settings, keys, memory, skills, sessions")


def size_of(path: Path) -> int:
    """Bytes in a file or folder."""
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum((Path(where) / name).lstat().st_size for where, _, names in os.walk(path) for name in names)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _take_out_lines(path: Path) -> None:
    """Take out what the installer added: an empty line, its comment and the line below; a file of nothing else goes."""
    lines = path.read_bytes().splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if line.rstrip() == ADDED.encode()), None)
    if at is None:
        return
    begin = at - 1 if at and not lines[at - 1].strip() else at
    kept = b"".join((*lines[:begin], *lines[at + 2 :]))
    if kept:
        path.write_bytes(kept)
    else:
        path.unlink()
