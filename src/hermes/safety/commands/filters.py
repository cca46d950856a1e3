"""awk, sed and jq: little languages that mostly print, and can also start programs and write files."""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.scripts import HIDDEN, script_file
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

_AWK_RISKY = Pattern(
    r"system\s*\(|\|\s*(getline|&|\")|\"\s*\|\s*getline|\|\s*getline|print[^;}\n|]*\|(?!\|)|/inet|@(load|include)|print[^;}\n]*>>?\s*[\"$(\w/]"
)


def awk(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    words = operands(args, ("-F", "-v", "-f", "--field-separator", "--assign", "--file"))
    file = value_of(args, "-f", "--file")
    if value_of(args, "-i", "--include") == "inplace":
        words = operands(args, ("-F", "-v", "-i", "--include"))
        return (
            awk(replace(step, args=tuple(words[:1])), ground)
            if (wrong := ground.writing(step, words[1:])) is None
            else wrong
        )
    if has(args, "-i", "--include", "-l", "--load", "-E", "--exec"):
        return ask(HIDDEN, "awk is told to load other code")
    if file:
        return script_file(step, ground, file)
    code, *files = words or [""]
    if found := _AWK_RISKY.search(re.sub(r"/(?:\\.|[^/\n\\])*/", "//", code)) or _AWK_RISKY.search(code):
        target = re.search(r">>?\s*\"([^\"]+)\"", code)
        if target and not re.search(r"system|getline|\||inet", code):
            return ground.writing(step, [target[1]]) or WORKS
        return ask("code", f"{found.group()[:30]} has awk start a program or write")
    if UNKNOWN in code and not re.search(rf"\"[^\"]*{UNKNOWN}|{UNKNOWN}", code):
        return ask(HIDDEN, "a part of the code is put in only when it runs")
    return ground.reading(step, files) or READS


_SED_CHANGE = Pattern(
    r"[sy](?P<mark>[^\w\s\\;])((?:\\.|(?!(?P=mark)).)*)(?P=mark)((?:\\.|(?!(?P=mark)).)*)(?P=mark)(?P<flags>[a-zA-Z0-9]*)(?P<file>[ ]\S+)?",
    re.DOTALL,
)
_SED_ADDRESS = Pattern(r"(^|[;{}\n,!])\s*(?:/(?:\\.|[^/\\\n])*/|\\(.)(?:(?!\2).)*\2)")
_SED_FILES = Pattern(r"(?:^|[;{}\s\d$!,])([wWrR])\s+(\S+)")
_SED_RUNS = Pattern(r"(?:^|[;{}\n\d$!,])\s*e(?:\s|$|;)")


def sed(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    scripts = [args[at + 1] for at, arg in enumerate(args[:-1]) if re.fullmatch(r"-[nEsruz]*e|--expression", arg)]
    scripts += [arg.partition("=")[2] for arg in args if arg.startswith("--expression=")]
    words = operands(args, ("-e", "--expression", "-f", "--file", "-l", "-ne", "-Ee"))
    if value_of(args, "-f", "--file"):
        return script_file(step, ground, value_of(args, "-f", "--file") or "")
    if not scripts:
        scripts, words = words[:1], words[1:]
    writes: list[str] = []
    for script in scripts:
        for change in _SED_CHANGE.finditer(script):
            if "e" in change["flags"]:
                return ask("code", "the flag e has sed start a program")
            if "w" in change["flags"] and change["file"]:
                writes.append(change["file"].strip())
        rest = re.sub(r"(?:^|[;{}\n\d$])\s*[aic]\\?.*", "", _SED_ADDRESS.sub(r"\1", _SED_CHANGE.sub("", script)))
        if _SED_RUNS.search(rest):
            return ask("code", "the command e has sed start a program")
        for letter, file in _SED_FILES.findall(rest):
            if letter in "rR" and (verdict := ground.reading(step, [file])):
                return verdict
            writes += [file] * (letter in "wW")
    edits = any(re.match(r"-[nErsuz]*i|--in-place", arg) for arg in args)
    if edits and any(word.startswith(UNKNOWN) for word in words):
        return ask("unknown-target", "nobody can tell which files sed would change")
    if verdict := ground.writing(step, [*writes, *(words if edits else [])]) or ground.reading(step, words):
        return verdict
    return WORKS if edits or writes else READS


def jq(step: Step, ground: Ground) -> Verdict:
    words = operands(step.args, ("--arg", "--argjson", "--indent", "-L"))
    edits = step.name == "yq" and has(step.args, "-i", "--inplace")
    return ground.reading(step, [*words[1:], *pieces(arg for arg in step.args if arg in words[1:])]) or (
        ground.writing(step, words[1:]) or WORKS if edits else READS
    )


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    **dict.fromkeys(("sed", "gsed"), sed),
    **dict.fromkeys(("jq", "yq", "gojq"), jq),
}
