"""A home as one file, and back: the database as it was at one moment, secrets only if they are asked for."""

import contextlib
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

import hermes
from hermes.protocol.errors import StoreError, UserError
from hermes.protocol.ids import new_id
from hermes.safety.archives import Bounds, extract
from hermes.store.health import copy, in_use

MANIFEST = "hermes-backup.json"
DATABASE = "state.db"
SECRET = frozenset({".env", "auth.json", "mcp-tokens"})
LEFT_OUT = frozenset({"models", "logs", "cache", "sandbox", "backups", "debug", "auth-reset"})
"""What can be fetched or made again, and what says nothing to anybody else."""
OF_PROFILES = frozenset({"profiles", "active_profile"})
QUICK = frozenset({"config.yaml", "SOUL.md", "memories", "skills", "cron", DATABASE}) | SECRET
ENDS = (".lock", ".queue", ".part", "-wal", "-shm")
BOUNDS = Bounds(members=2_000_000, size=1 << 38)


class Manifest(Struct, frozen=True):
    """The first member of a backup."""

    version: str
    made: float
    secrets: bool


class Packed(Struct, frozen=True):
    files: int
    size: int


# Out


def pack(home: Path, target: Path, *, secrets: bool, quick: bool = False, profiles: bool = True) -> Packed:
    """Write a home into a zip file that only its owner can read, whole or not at all. Blocks."""
    left_out = LEFT_OUT | (frozenset() if secrets else SECRET) | (frozenset() if profiles else OF_PROFILES)
    unfinished = target.with_name(f".{target.name}.part")
    files = 0
    try:
        handle = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            made = Manifest(hermes.__version__, time.time(), secrets)
            archive.writestr(MANIFEST, msgspec.json.encode(made))
            for path, name in _members(home, left_out, QUICK if quick else None):
                files += _add(archive, path, name)
        unfinished.replace(target)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}", "choose another file with -o") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return Packed(files, target.stat().st_size)


def _members(
    home: Path, left_out: AbstractSet[str], only: AbstractSet[str] | None
) -> Iterator[tuple[Path, PurePosixPath]]:
    """The files of a home that belong into a backup, with their names in it."""
    for folder, folders, names in os.walk(home):
        at = Path(folder)
        here = PurePosixPath(at.relative_to(home).as_posix())
        folders[:] = sorted(one for one in folders if _belongs(here / one, left_out, only))
        for name in sorted(names):
            path = at / name
            if path.is_file() and not path.is_symlink() and _belongs(here / name, left_out, only):
                yield path, here / name


def _belongs(name: PurePosixPath, left_out: AbstractSet[str], only: AbstractSet[str] | None) -> bool:
    """By the first word of its name; that of a profile's files comes behind profiles/<name>/."""
    parts = name.parts
    if parts[0] == "profiles" and "profiles" not in left_out:
        parts = parts[2:]
        if not parts:
            return True
    if len(parts) == 1 and (parts[0].endswith(ENDS) or parts[0].rpartition(".")[2].isdecimal()):
        return False
    return parts[0] not in left_out and (only is None or parts[0] in only)


def _add(archive: zipfile.ZipFile, path: Path, name: PurePosixPath) -> int:
    if name.name != DATABASE:
        with contextlib.suppress(FileNotFoundError):  # it went while we looked
            archive.write(path, str(name))
            return 1
        return 0
    with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
        still = Path(folder) / DATABASE
        copy(path, still)
        archive.write(still, str(name))
    return 1


# In


def unpack(archive: Path, home: Path, *, force: bool) -> tuple[Manifest, int]:
    """Bring a backup into a home; what it does not hold stays as it is. Blocks.

    All of it is unpacked and looked at beside the home first. A home that has something is only replaced with `force`.
    """
    taken = [name for name in (DATABASE, "config.yaml") if (home / name).exists()]
    if taken and not force:
        raise UserError(f"{home} has {' and '.join(taken)} already", "-f replaces them, and keeps a backup of them")
    if busy := in_use(home / DATABASE):
        raise UserError(f"{home} is in use", f"end these sessions first: {', '.join(busy)}")
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = home / f".{new_id('import-')}"
    aside.mkdir(mode=0o700)
    try:
        names = extract(str(archive), str(aside), BOUNDS)
        manifest = _manifest(archive, aside)
        if taken:
            _keep(home)
        for name in names:
            if name != MANIFEST:
                _place(aside / name, home / name)
    finally:
        shutil.rmtree(aside)
    return manifest, len(names) - 1


def _keep(home: Path) -> None:
    """Back up what is about to be replaced; a damaged database is put aside as it is."""
    folder = home / "backups"
    folder.mkdir(exist_ok=True, mode=0o700)
    target = folder / f"before-import-{stamp()}.zip"
    try:
        pack(home, target, secrets=True)
    except StoreError:
        (home / DATABASE).replace(folder / f"{DATABASE}.damaged-{stamp()}")
        pack(home, target, secrets=True)


def manifest_of(archive: Path) -> Manifest | None:
    """What a zip file says of itself; None if it is no backup. Blocks."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return msgspec.json.decode(opened.read(MANIFEST), type=Manifest)
    except (OSError, KeyError, zipfile.BadZipFile, msgspec.DecodeError):
        return None


def _manifest(archive: Path, folder: Path) -> Manifest:
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        raise UserError(f"{archive} is no backup of Hermes", "hermes backup makes one") from None


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    source.chmod(0o700 if source.stat().st_mode & 0o100 else 0o600)
    if target.name == DATABASE:
        for end in ("-wal", "-shm"):
            target.with_name(target.name + end).unlink(missing_ok=True)
    source.replace(target)


def stamp() -> str:
    return time.strftime("%Y%m%d-%H%M%S")
