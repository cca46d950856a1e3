"""awk and jq: little languages that mostly print; awk can also start programs and write files."""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.scripts import HIDDEN, script_file
from hermes.safety.commands.sed import sed
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

_AWK_RISKY = Pattern(
    r"@\s*\w+\s*\(|system\s*\(|\|\s*(getline|&|\")|\"\s*\|\s*getline|\|\s*getline|print[^;}\n|]*\|(?!\|)|/inet|@(load|include)|print[^;}\n]*>>?\s*[\"$(\w/]"
)
# What goes through these comes back as text, in another order or another form.
_AWK_SORTS = Pattern(
    r"\|\s*\"(sort|uniq|column|tac|nl|cat|wc|head|tail)( +-[\w,.=-]+)*\"|\"date( +[+\w%: -]+)?\"\s*\|\s*getline\b"
)
_AWK_WRITES = Pattern(r">>?\s*\"([^\"]+)\"")
_AWK_READS = Pattern(r"getline\s*\w*\s*<\s*\"([^\"]*)\"")


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
    if code.strip() == UNKNOWN:
        return ask(HIDDEN, "nobody can tell what awk is told to do")
    files += _AWK_READS.findall(code)
    code = _AWK_SORTS.sub("", code)
    if found := _AWK_RISKY.search(re.sub(r"/(?:\\.|[^/\n\\])*/", "//", code)) or _AWK_RISKY.search(code):
        if not _AWK_RISKY.search(_AWK_WRITES.sub("", code)) and not re.search(r"system|getline|\||inet", code):
            return ground.writing(step, _AWK_WRITES.findall(code)) or WORKS
        return ask("code", f"{found.group()[:30]} has awk start a program or write")
    if UNKNOWN in code and not re.search(rf"\"[^\"]*{UNKNOWN}|{UNKNOWN}", code):
        return ask(HIDDEN, "a part of the code is put in only when it runs")
    return ground.reading(step, files) or READS


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
