"""Where commands run.

hermes terminal                   the chosen terminal, and which others there are
hermes terminal test [NAME]       prove it: commands, files, background, search; prints what was measured
"""

import argparse
import sys
import time

from msgspec.structs import replace

from hermes.cli.main import print_error
from hermes.cli.open import settings_for
from hermes.cli.table import Column, print_table
from hermes.config import Settings
from hermes.protocol.errors import TerminalError, UserError
from hermes.safety.environment import scrubbed
from hermes.terminals.choose import TERMINALS, open_terminal
from hermes.terminals.proof import Proof, prove

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
    """Prove the chosen terminal in a task of its own, and leave nothing behind."""
    chosen = replace(settings.file.terminal, container_persistent=False)
    settings = replace(settings, file=replace(settings.file, terminal=chosen))
    terminal, files = open_terminal(settings, f"terminal test {time.time()}", "/", scrubbed(settings.shell))
    proofs: list[Proof] = []
    try:
        async for proof in prove(terminal, files):
            proofs.append(proof)
    finally:
        try:
            await terminal.close()
        except TerminalError as error:
            print_error(error)
    rows = [(proof.name, "ok" if proof.works else "failed", proof.measured) for proof in proofs]
    print_table(COLUMNS, rows, sys.stdout)
    return 0 if all(proof.works for proof in proofs) else 1
