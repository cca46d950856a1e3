"""What a new profile takes over from another one."""

import shutil
import tempfile
from pathlib import Path

from hermes.cli.homes import pack, unpack

SETTINGS = ("config.yaml", ".env", "auth.json", "SOUL.md")


def copy_settings(source: Path, home: Path) -> None:
    """Settings, keys and manner; not what was learned or said. Blocks."""
    for name in SETTINGS:
        if (source / name).is_file():
            shutil.copyfile(source / name, home / name)
            (home / name).chmod(0o600)


def copy_all(source: Path, home: Path) -> None:
    """Everything, with the database as it is at one moment; of the plain home the other profiles are no part. Blocks."""
    with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
        archive = Path(folder) / "home.zip"
        pack(source, archive, secrets=True, profiles=False)
        unpack(archive, home, force=False)
