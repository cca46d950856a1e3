"""Editors: a file of the working folder to edit is fine, and so is vim's replacing of text; anything to run asks."""

import re
from collections.abc import Iterator

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

NAMES = listed("vim vi nvim nano emacs ed ex view code micro pico joe hx subl")
_VIM = listed("vim vi nvim ex view")
_RUNS = Pattern(
    r"\+(?!\d*$|/)|-[a-zA-Z]*[cSsuUe][a-zA-Z]*$|-(f|l|w|W)$|--(cmd|eval|script|batch|headless|load|remote|speller)"
)
# Only here is -s silent and not the name of a file with keys to press.
_SILENT = Pattern(r"-[nNRE]*[eE][nNRE]*s[nNRE]*")
_QUIET = Pattern(r"-[nNReE]+|--headless|--clean|--noplugin")
_RANGE = r"(?:%|(?:\d+|[.$])(?:,(?:\d+|[.$]))?)?\s*"
# `\=` in a replacement is a piece of code, and `|` begins another order.
_ORDER = Pattern(
    rf":?\s*(?:{_RANGE}(?:s(?P<m>[/#,@])(?:\\[^=]|(?!(?P=m))[^\\|\n])*(?P=m)(?:\\[^=]|(?!(?P=m))[^\\|\n])*(?:(?P=m)[gciIne]*)?"
    r"|d|j|sort(?:\s+u)?|retab!?|>|<)"
    r"|[gv]/(?:\\.|[^/\\|\n])*/(?:d|p)?"
    r"|\d+|(?:w|wq|x|q|wa|wqa|xa|qa|up|update|write|quit)!?|noh(?:lsearch)?|syntax (?:on|off)|startinsert"
    r"|set?(?:l|local)?\s+(?:no)?(?:nu|number|rnu|relativenumber|list|wrap|et|expandtab|ro|readonly|paste|hlsearch|spell|eol"
    r"|fixeol|bomb|ic|ai)"
    r"|set?(?:l|local)?\s+(?:(?:ts|sw|sts|tw|tabstop|shiftwidth|textwidth)=\d+|(?:ff|fileformat)=\w+|(?:fenc|fileencoding)=[\w-]+))"
)


def editor(step: Step, ground: Ground) -> Verdict:
    """vim, nano, emacs: a file to edit is fine, a command to run is not."""
    plain = step.name in ("nano", "pico", "micro") and not has(step.args, "-s", "--speller")
    files = list(step.args)
    if not plain and any(_RUNS.match(arg) for arg in step.args):
        rest = list(_without_orders(step)) if step.name in _VIM else [None]
        if None in rest:
            return ask("hidden-code", f"{step.name} is told here what to run")
        files = [file for file in rest if file is not None]
    if step.input.text != "":
        return ask("hidden-code", f"{step.name} is fed what to do")
    if step.name == "view" or "-R" in step.args:
        return ground.reading(step, operands(files)) or READS
    return ground.writing(step, operands(files)) or WORKS


def _without_orders(step: Step) -> Iterator[str | None]:
    """The files that vim is told, if all its orders only change their text; None for anything else."""
    rest = iter(step.args)
    for arg in rest:
        if arg in ("-c", "-u", "-i"):
            value = next(rest, "")
            if not (_ORDER.fullmatch(value) if arg == "-c" else value == "NONE"):
                yield None
        elif arg.startswith("+"):
            if not _ORDER.fullmatch(arg[1:]) and not re.fullmatch(r"\+(/[^|]*)?", arg):
                yield None
        elif arg.startswith("-"):
            if not (_SILENT.fullmatch(arg) or _QUIET.fullmatch(arg) or (arg == "-s" and step.name == "ex")):
                yield None
        else:
            yield arg
