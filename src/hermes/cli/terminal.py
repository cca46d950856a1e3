"""Where commands run.

hermes terminal                   the chosen terminal, and which others there are
hermes terminal test [NAME]       prove it: sandbox, commands, files, background, search; prints what was measured
"""

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hermes.app.surroundings import terminal_of
from hermes.cli.main import print_error
from hermes.cli.open import settings_for
from hermes.cli.table import Column, print_table
from hermes.config import Settings
from hermes.protocol.errors import TerminalError, UserError
from hermes.protocol.ids import new_id
from hermes.protocol.terminals import Terminal
from hermes.safety.places import places_of
from hermes.terminals.choose import TERMINALS
from hermes.terminals.proof import PATIENCE, Proof, prove

if TYPE_CHECKING:
    from hermes.safety.sandbox.local import LocalSandbox

COLUMNS = (Column("check"), Column("result"), Column("measured", shrinks=True))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="*", help="see above")


async def run(args: argparse.Namespace) -> int:
    settings = settings_for(args)
    match args.words:
        case []:
            print(f"{settings.file.terminal.backend}  (there are {', '.join(TERMINALS)})")
            return 0
        case ["test"]:
            return await test(settings)
        case ["test", name]:
            chosen = replace(settings.file.terminal, backend=name)
            return await test(replace(settings, file=replace(settings.file, terminal=chosen)))
        case _:
            raise UserError(f"cannot read {' '.join(args.words)!r}", "hermes terminal --help shows the forms")


async def test(settings: Settings) -> int:
    """Prove the terminal that sessions would have in this folder, in a task of its own, and leave nothing behind."""
    chosen = replace(settings.file.terminal, container_persistent=False)
    settings = replace(settings, file=replace(settings.file, terminal=chosen))
    user_home = settings.environ.get("HOME") or str(Path.home())
    places, cwd = places_of(settings.home, user_home), str(Path.cwd())
    terminal, files, box = terminal_of(settings, f"terminal test {time.time()}", cwd, places, lambda text: None)
    proofs: list[Proof] = []
    try:
        if chosen.backend == "local":
            proofs.append(await held(terminal, box, Path(user_home)))
        async for proof in prove(terminal, files):
            proofs.append(proof)
    finally:
        if box is not None:
            box.close()
        try:
            await terminal.close()
        except TerminalError as error:
            print_error(error)
    rows = [(proof.name, "ok" if proof.works else "failed", proof.measured) for proof in proofs]
    print_table(COLUMNS, rows, sys.stdout)
    return 0 if all(proof.works for proof in proofs) else 1


async def held(terminal: Terminal, box: "LocalSandbox | None", user_home: Path) -> Proof:
    """Which sandbox holds commands, proved by one that must not reach the person's own folder."""
    if box is None:
        return Proof("sandbox", True, "off: hermes config set terminal.sandbox auto")
    if box.kind == "none":
        return Proof("sandbox", True, box.notice)
    trace = user_home / new_id(".hermes-test-")
    await terminal.run(f"touch {shlex.quote(str(trace))}", timeout=PATIENCE)
    escaped = trace.exists()
    trace.unlink(missing_ok=True)
    held = "a command could write to your home folder" if escaped else box.notice or "commands stay in their folder"
    return Proof("sandbox", not escaped, f"{box.kind}: {held}")
