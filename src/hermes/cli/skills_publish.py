"""`hermes skills publish`: a skill as a checked archive, ready to be put where others can install it from. Nothing is sent."""

import argparse
import asyncio
import io
import os
import zipfile
from pathlib import Path

from hermes.app.hub import Hub
from hermes.cli.main import print_error
from hermes.cli.words import many
from hermes.learning.skills.scan import scan
from hermes.learning.skills.tree import Files, hash_files, read_files
from hermes.protocol.errors import UserError
from hermes.safety.secrets.redact import Redactor

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""A time that zip files can hold: the same files make the same archive."""


async def publish(args: argparse.Namespace, hub: Hub) -> int:
    await hub.shelf.refresh()
    folder = hub.shelf.get(args.name).folder
    files = await asyncio.to_thread(read_files, folder)
    found = await asyncio.to_thread(scan, folder, hub.judge)
    if found.verdict == "dangerous":
        worst = next(each for each in found.findings if each.severity == "dangerous")
        raise UserError(f"{args.name} is dangerous: {worst.file}: it {worst.what}", "nobody could install it; mend it")
    if leaks := _with_secrets(files):
        raise UserError(f"{', '.join(leaks)} of {args.name} seems to hold a key", "take it out first")
    target = Path(os.path.expanduser(args.output or f"{args.name}.zip"))
    try:
        await asyncio.to_thread(target.write_bytes, _packed(args.name, files))
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}", "choose another file with -o") from None
    print(
        f"{target}: {many(len(files), 'file')}, scan {found.verdict}, hash {hash_files(files)[:16]}; nothing was sent"
    )
    print(f"others install it from the file: hermes skills install {target.name}")
    print(f"or from a repository that has the folder {args.name}/: hermes skills install OWNER/REPO/{args.name}")
    if found.verdict != "safe":
        print_error("the scan found something odd, so others need --force", f"hermes skills inspect {target}")
    return 0


def _with_secrets(files: Files) -> list[str]:
    redactor = Redactor(())
    texts = {name: data.decode(errors="replace") for name, data in files.items()}
    return [name for name, text in texts.items() if redactor.mask(text) != text]


def _packed(name: str, files: Files) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            member = zipfile.ZipInfo(f"{name}/{path}", EARLIEST)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o755 if data.startswith(b"#!") else 0o644) << 16
            archive.writestr(member, data)
    return whole.getvalue()
