"""What `hermes doctor` looks at in the home: settings, secrets, who may read them, leftovers, room on the disk."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from hermes import config
from hermes.cli import keys
from hermes.cli.doctor_finding import Finding, fail, failed, ok, warn
from hermes.cli.words import many
from hermes.config import File, McpServer, Settings
from hermes.config_faults import lines_of
from hermes.models.authfile import AuthFile
from hermes.protocol.errors import UserError

PRIVATE = (".env", "auth.json", "state.db", "config.yaml")
LOW = 200 << 20
"""Bytes below which a disk is nearly full; a session of a day writes some 20 MB."""
FULL = 1 << 20
LARGE_LOGS = 100 << 20
TEXTS = ("SOUL.md", "memories/MEMORY.md", "memories/USER.md")


def check_home(settings: Settings) -> Iterator[Finding]:
    """Everything that can be said of the home without asking anybody."""
    home = settings.home
    if not home.is_dir():
        yield warn("home", f"{home} is not there yet", "hermes setup", lambda: _make(home))
        return
    yield _mode(home, 0o700, "home")
    yield from check_settings(settings)
    yield from _secrets(home)
    yield _room(home)
    yield from _leftovers(home)
    yield _logs(home / "logs")
    yield from _texts(home)


def _make(home: Path) -> str:
    home.mkdir(parents=True, mode=0o700)
    return f"made {home}"


def _mode(path: Path, wanted: int, check: str) -> Finding:
    if path.stat().st_mode & 0o077 == 0:
        return ok(check, str(path))
    command = f"chmod {wanted:o} {shlex.quote(str(path))}"

    def mend() -> str:
        path.chmod(wanted)
        return command

    return warn(check, f"others can look into {path}", command, mend)


# Settings


def check_settings(settings: Settings) -> Iterator[Finding]:
    """config.yaml: that it can be read, holds what settings may hold, and nothing that Hermes does not know."""
    path = settings.config_path
    if not path.exists():
        yield ok("config.yaml", "there is none: every setting has its default")
        return
    try:
        data = config.read_yaml(path)
    except UserError as error:
        yield failed("config.yaml", error)
        return
    try:
        config.convert(data, settings.environ, path)
    except UserError as error:
        yield fail("config.yaml", str(error).removeprefix(str(path)).lstrip(": "), error.hint)
        return
    lines = lines_of(path)
    unknown = [(key, why) for key, _ in keys.flat(data) if (why := _unknown(key))]
    for key, why in unknown:
        yield warn("config.yaml", f"line {lines.get(key, '?')}: {why}", f"hermes config unset {key}")
    for key, value in keys.flat(data):
        if keys.masked(key, value) != value:
            do = "keep it in .env with hermes config set NAME, and write ${NAME} here"
            yield warn("config.yaml", f"line {lines.get(key, '?')}: {key} looks like a secret", do)
    if not unknown:
        yield ok("config.yaml", str(path))


def _unknown(key: str) -> str:
    group, _, rest = key.partition(".")
    name, _, field = rest.partition(".")
    if group == "mcp_servers" and field:
        why = keys.not_known(field, McpServer())
        for before in ("setting '", "did you mean "):
            why = why.replace(before, f"{before}mcp_servers.{name}.")
        return why
    return keys.not_known(key, File())


# Secrets


def _secrets(home: Path) -> Iterator[Finding]:
    for name in PRIVATE:
        if (home / name).is_file() and (home / name).stat().st_mode & 0o077:
            yield _mode(home / name, 0o600, name)
    try:
        yield ok(".env", many(len(config.read_env(home / ".env")), "variable"))
    except UserError as error:
        yield failed(".env", error)
    auth = AuthFile(home / "auth.json")
    try:
        stored = auth.read()
        known = sum(map(len, stored.keys.values()))
        yield ok("auth.json", f"{many(known, 'key')}, {many(len(stored.logins), 'login')}")
    except UserError as error:
        yield failed("auth.json", error)


# The disk


def _room(home: Path) -> Finding:
    free = shutil.disk_usage(home).free
    amount = f"{free / 1e6:,.0f} MB free on the disk of {home}"
    if not os.access(home, os.W_OK):
        return fail("disk", f"{home} cannot be written", "check its owner and whether its disk is mounted read-only")
    if is_full(home):
        return fail("disk", f"the disk of {home} is full", "free some space, or set HERMES_HOME to a larger disk")
    if free < LOW:
        return warn("disk", f"only {amount}", "free some space; hermes sessions prune removes old sessions")
    return ok("disk", amount)


def is_full(home: Path) -> bool:
    return shutil.disk_usage(home).free < FULL


def _leftovers(home: Path) -> Iterator[Finding]:
    """Files that a process which was killed had not finished, and locks of files that are gone."""
    found = [path for path in home.iterdir() if _is_leftover(path)]
    if not found:
        return

    def mend() -> str:
        for path in found:
            path.unlink(missing_ok=True)
        return f"removed {', '.join(path.name for path in found)}"

    names = ", ".join(path.name for path in found)
    yield warn("leftovers", f"nothing needs {names} in {home} any more", "hermes doctor --fix removes it", mend)


def _is_leftover(path: Path) -> bool:
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    name, _, end = path.name.rpartition(".")
    if name.startswith(".") and end.isdecimal():
        return not _runs(int(end))
    if name.startswith(".") and end == "lock":
        return not path.with_name(name[1:]).exists()
    return end == "part"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _logs(folder: Path) -> Finding:
    files = [path for path in folder.glob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    text = f"{many(len(files), 'file')}, {size / 1e6:,.1f} MB"
    if size > LARGE_LOGS:
        return warn("logs", text, f"remove what is old in {folder}")
    if files and not all(os.access(path, os.W_OK) for path in files):
        return warn("logs", f"a file in {folder} cannot be written", f"chmod -R u+rw {shlex.quote(str(folder))}")
    return ok("logs", text)


def _texts(home: Path) -> Iterator[Finding]:
    """Files that become part of the prompt: one that cannot be read is missing from it."""
    skills = sorted((home / "skills").rglob("SKILL.md")) if (home / "skills").is_dir() else []
    files = [home / name for name in TEXTS if (home / name).exists()] + skills
    broken = [(path, why) for path in files if (why := _unreadable(path))]
    for path, why in broken:
        yield fail("memory and skills", f"{path} cannot be read: {why}", "mend it, or move it away")
    if files and not broken:
        yield ok("memory and skills", f"{many(len(files), 'file')} can be read")


def _unreadable(path: Path) -> str:
    try:
        path.read_text(encoding="utf-8")
    except OSError as error:
        return error.strerror or str(error)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    return ""
