"""Programs that say, list, search and show things, and the few of their options that do more."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import RUNS_CODE_IN_INDEX, SECRET, SECRET_NAME, UNKNOWN
from hermes.safety.commands.verdicts import READS, ask
from hermes.safety.patterns import Pattern

_ENVIRONMENT = listed("env printenv set export declare")
_KEYS = Pattern(r"secret|token|passw|api.?key|_key|credential|^aws|^key", re.I)
_RUNS_CODE_IN_TEXT = Pattern(r"\$\(|`")
_TAKE_NAMES = listed("unset read declare typeset local export readonly mapfile readarray getopts wait printf test [ [[")


def says(step: Step, ground: Ground) -> Verdict:
    names_a_variable = step.name in ("printf", "test", "[", "[[", "declare", "read") and has(step.args, "-v")
    if (
        ((names_a_variable or step.name == "let") and any(map(_RUNS_CODE_IN_TEXT.search, step.args)))
        or (step.name in _TAKE_NAMES - {"printf"} and any(map(RUNS_CODE_IN_INDEX.search, step.args)))
        or (step.name == "compgen" and (has(step.args, "-C", "-F") or any(map(_RUNS_CODE_IN_TEXT.search, step.args))))
    ):
        return ask("hidden-code", "the shell would run what stands in this name")
    if step.name in ("set", "shopt") and "history" in step.args:
        return ask("traces", "it stops the record of what is typed")
    if step.name == "unset" and any(arg.startswith("HIST") for arg in step.args):
        return ask("traces", "it stops the record of what is typed")
    if (
        step.name in ("complete", "bind", "enable")
        and step.args
        and any(arg in ("-C", "-F", "-x", "-f") for arg in step.args)
    ):
        return ask("hidden-code", f"{step.name} names code that runs later")
    if step.name in ("man", "info") and any(arg.startswith(("-P", "-H", "--pager", "--html")) for arg in step.args):
        return ask("hidden-code", f"{step.name} is told here what to start")
    told = SECRET in "".join(step.args) if step.name in ("echo", "printf") else False
    if told or (step.name == "printenv" and any(map(SECRET_NAME.fullmatch, step.args))):
        return ask("credentials", "it shows what is in a variable for keys or passwords")
    if step.name == "trap" and step.args[:1] == ("",) and any(arg.endswith("HUP") or arg == "1" for arg in step.args):
        return ask("stays-behind", "what it starts would outlive this command")
    if step.name == "lsof" and has(step.args, "-k"):
        return ask("kills", "it ends programs")
    return READS


def shows(step: Step, ground: Ground) -> Verdict:
    """cat, less, diff: every argument may name a file that is read."""
    if step.name in ("less", "more", "most") and any(arg.startswith("+") and "!" in arg for arg in step.args):
        return ask("hidden-code", f"{step.name} is told here what to start")
    target = value_of(step.args, "-o", "-O", "--output", "--output-file", "-output") or ""
    written = ground.writing(step, [target]) if target and not target.startswith(UNKNOWN) else None
    return written or ground.reading(step, pieces(step.args)) or READS


def searches(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    if step.name in ("fd", "fdfind") and has(args, "-x", "-X", "--exec", "--exec-batch"):
        return ask("hidden-code", f"{step.name} -x starts a program for each file")
    if any(re.match(r"--(pre|hostname-bin|config|rewrite|update-all)\b", arg) for arg in args):
        return ask("hidden-code", f"{step.name} is told here what to start")
    if _ENVIRONMENT & set(step.input.programs) and any(_KEYS.search(arg) for arg in args):
        return ask("credentials", f"{step.name} would pick keys and passwords out of the environment")
    given = value_of(args, "-e", "--regexp", "-f", "--file") is not None or "--files" in args
    valued = (
        "-e",
        "--regexp",
        "-A",
        "-B",
        "-C",
        "-m",
        "-g",
        "--glob",
        "-t",
        "-T",
        "--type",
        "--max-depth",
        "-d",
        "--context",
    )
    words = operands(
        args,
        (
            *valued,
            "--include",
            "--exclude",
            "--exclude-dir",
            "-j",
            "--replace",
            "-M",
            *(["-r"] if step.name == "rg" else []),
        ),
    )
    places = words if given else words[1:]
    listed = [file for file in (value_of(args, "-f", "--file"),) if file]
    deep = step.name in ("rg", "ag", "ack", "ugrep", "sift", "pt") or has(
        args, "-r", "-R", "--recursive", "--dereference-recursive"
    )
    if verdict := ground.reading(step, [*places, *listed]):
        return verdict
    fed = step.input.programs or step.input.text != ""
    looks_through = deep and step.name not in ("fd", "fdfind")
    return (ground.searching(step, places or ["."] * (not fed)) if looks_through else None) or READS


def opens(step: Step, ground: Ground) -> Verdict:
    """open and xdg-open show a file of the working folder, or a page."""
    shown = all(
        (re.match(r"https?://", word) and UNKNOWN not in word) or ground.is_inside(step, word)
        for word in operands(step.args)
    )
    return READS if shown and not has(step.args, "-a") else ask("outside-effect", f"{step.name} starts another program")


RULES: dict[str, Callable[[Step, Ground], Verdict]] = dict.fromkeys(("open", "xdg-open"), opens)
