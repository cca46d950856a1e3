"""What `hermes security audit` looks at on the disk: who can read what, and where secrets lie."""

import os
import re
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from hermes import config
from hermes.cli import keys
from hermes.cli.doctor_finding import Finding, fail, failed, ok, warn
from hermes.cli.words import many
from hermes.config import SECRET_NAME, Settings
from hermes.protocol.errors import UserError

PRIVATE = (".env", "auth.json", "state.db", "state.db-wal", "config.yaml", "history", "SOUL.md")
FOLDERS = (
    "mcp-tokens",
    "memories",
    "logs",
    "backups",
    "cache",
    "checkpoints",
    "profiles",
    "skills",
    "plugins",
    "hooks",
)
OTHERS = 0o077
WRITABLE = 0o022
UNITS = (".config/systemd/user", "Library/LaunchAgents")
_assignment = re.compile(
    r"([A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)(?:_\d+)?)\s*(?:=|</key>\s*<string>)\s*[^\s<$]"
)


def check_modes(settings: Settings) -> Iterator[Finding]:
    """The home, and in it everything that tells something about its owner."""
    home = settings.home
    if not home.is_dir():
        yield ok("home", f"{home} is not there yet")
        return
    closed = not home.stat().st_mode & OTHERS
    if home.stat().st_uid != os.getuid():
        yield fail("home", f"{home} belongs to somebody else", f"sudo chown -R $(id -u) {shlex.quote(str(home))}")
    if not closed:
        yield fail("home", f"others can look into {home}", f"chmod 700 {shlex.quote(str(home))}")
    open_paths = [path for path in _private(home) if path.stat().st_mode & (WRITABLE if closed else OTHERS)]
    for path in open_paths:
        mode = "700" if path.is_dir() else "600"
        what = "others may write" if path.stat().st_mode & WRITABLE else "others may read"
        yield fail("home", f"{what} {path}", f"chmod {mode} {shlex.quote(str(path))}")
    if closed and not open_paths:
        yield ok("home", f"only you can look into {home}")


def _private(home: Path) -> Iterator[Path]:
    """What is there of it; links lead to what the person keeps elsewhere."""
    homes = [home, *sorted(one for one in (home / "profiles").glob("*") if one.is_dir())]
    for place in homes:
        named = [place / name for name in (*PRIVATE, *FOLDERS)]
        tokens = sorted((place / "mcp-tokens").glob("*"))
        yield from (path for path in (*named, *tokens) if path.exists() and not path.is_symlink())


def check_secrets(settings: Settings) -> Iterator[Finding]:
    """Secrets in config.yaml, which people show each other, and .env where git keeps it."""
    path, found = settings.config_path, 0
    try:
        data = config.read_yaml(path)
    except UserError as error:
        yield failed("secrets", error)
        return
    for key, value in keys.flat(data):
        if keys.masked(key, value) != value:
            found += 1
            do = "keep it in .env with hermes config set NAME, and write ${NAME} there"
            yield fail("secrets", f"{path}: {key} looks like a secret", do)
    kept = next((folder for folder in (settings.home, *settings.home.parents) if (folder / ".git").exists()), None)
    if kept and (settings.home / ".env").exists():
        yield warn("secrets", f"{settings.home} lies in the git tree {kept}", "make sure that .env is ignored there")
    if not found:
        yield ok("secrets", "config.yaml holds none")


def check_services(settings: Settings) -> Iterator[Finding]:
    """Service files that start Hermes: what stands in them is shown by `systemctl show` and in backups."""
    person = Path(settings.environ.get("HOME") or Path.home())
    units = [path for place in UNITS for path in sorted((person / place).glob("*hermes*")) if path.is_file()]
    clean = 0
    for path in units:
        names = sorted({name for name in _assignment.findall(_text(path)) if SECRET_NAME.match(name)})
        if names:
            do = f"take it out, and keep it in {settings.home / '.env'} with hermes config set NAME"
            yield fail("services", f"{path} holds {', '.join(names)}", do)
        elif path.stat().st_mode & stat.S_IWOTH:
            yield fail("services", f"others may write {path}", f"chmod o-w {shlex.quote(str(path))}")
        else:
            clean += 1
    if clean == len(units):
        yield ok("services", f"{many(len(units), 'service')} of Hermes" + (" without secrets" if units else ""))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # nobody else can read it either
