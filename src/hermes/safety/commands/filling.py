"""Filling a disk: an endless source that is led into a file, or a file of a size that no work needs."""

import re

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import value_of
from hermes.safety.commands.steps import Step
from hermes.safety.commands.verdicts import ask
from hermes.safety.patterns import Pattern
from hermes.safety.places import SINKS

_ENDLESS = Pattern(r"(?:if=)?/dev/(?:zero|u?random|full)")
_HUGE = Pattern(r"\d{3,}\s*[gG](?:i?[bB])?|\d+\s*[tTpPeE](?:i?[bB])?|\d{12,}")


def fills(step: Step) -> Verdict | None:
    """Why a step would fill the disk, or None."""
    files = [target for target in step.writes if target not in SINKS and not target.startswith("/dev/")]
    endless = any(_ENDLESS.fullmatch(word) for word in (*step.args, *step.input.files))
    match step.name:
        case "fallocate":
            found = _HUGE.fullmatch(value_of(step.args, "-l", "--length") or "") is not None
        case "dd":
            sizes = dict(arg.split("=", 1) for arg in step.args if "=" in arg)
            into = sizes.get("of", "/dev/null")
            found = (
                endless and (bool(files) or not into.startswith("/dev/")) and ("count" not in sizes or _is_huge(sizes))
            )
        case "head":
            found = endless and _HUGE.fullmatch(value_of(step.args, "-c", "--bytes") or "") is not None
        case "cp":
            found = endless and not any(arg in SINKS for arg in step.args)
        case "cat" | "pv" | "tr" | "base64" | "od" | "xxd" | "tee":
            found = endless and bool(files)
        case "yes":
            found = bool(files)
        case _:
            found = False
    return ask("fills-disk", f"{step.name} would fill the disk") if found else None


def _is_huge(sizes: dict[str, str]) -> bool:
    blocks = re.fullmatch(r"(\d+)([a-zA-Z]*)", sizes.get("bs", "512"))
    count = sizes["count"]
    if not blocks or not count.isdigit():
        return True
    unit = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}.get(blocks[2][:1].lower(), 2**40)
    return int(blocks[1]) * unit * int(count) >= 100 * 2**30
