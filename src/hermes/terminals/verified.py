"""What a search says it has found, looked at once more, so that no line comes from beyond the folder that was searched.

rg opens a file by its name, and what had that name when rg listed the folder may be a link by then. A match counts only
if the same line is found again in a file that was reached without a link.
"""

import os
import stat
from collections.abc import Sequence
from itertools import islice

from hermes.protocol.terminals import Match
from hermes.terminals.beneath import open_beneath
from hermes.terminals.grep import NotText, lines_in


def verified(folder: int, files: Sequence[tuple[bytes, list[Match]]]) -> list[Match]:
    """The matches of each file, by its path in an open folder, that are there."""
    return [match for path, matches in files for match in _in_file(folder, path, matches)]


def _in_file(folder: int, path: bytes, matches: list[Match]) -> list[Match]:
    try:
        fd = open_beneath(folder, path)
    except OSError:  # gone meanwhile, or a link
        return []
    wanted = {match.line for match in matches}
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return []
        try:
            numbered = enumerate(islice(lines_in(file), max(wanted)), 1)
            there = {number: line for number, line in numbered if number in wanted}
        except NotText:
            return []
    return [match for match in matches if match.line in there and there[match.line].startswith(match.text)]
