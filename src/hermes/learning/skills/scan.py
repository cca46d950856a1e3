"""Looks a skill over before it may be used: nothing of it is run, every file is read, and what is odd is named."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from hermes.learning.skills import disguise
from hermes.learning.skills.damage import DAMAGE
from hermes.learning.skills.foreign import FOREIGN
from hermes.learning.skills.orders import ORDERS
from hermes.learning.skills.signs import KEYS, NETWORK, PRIVATE, SEND, WHOLE_ENVIRONMENT, Severity, Sign, compiled
from hermes.learning.skills.theft import THEFT
from hermes.learning.skills.tricks import TRICKS
from hermes.protocol.actions import Verdict

Grade = Literal["safe", "caution", "dangerous"]
Judge = Callable[[str], Verdict]
"""What the gate would say to a shell command."""

SIGNS = (*THEFT, *DAMAGE, *FOREIGN, *ORDERS, *TRICKS)
MOST_FILES = 200
LARGEST_TEXT = 100_000
LARGEST_FILE = 1 << 20
# Patterns that look for two things in one line take time by its square: what is longer is read in pieces.
_LINE = 500
_OVERLAP = 250
_PART = 4_000
SECONDS = 10.0
"""Of work for one text; what takes longer was made to."""

_fence = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_comment = re.compile(
    r"<!--(.*?)(?:-->|\Z)|\[(?://|_|\w*)\]:\s*(?:#|<>)\s*[(\"'](.*?)[)\"']\s*$", re.DOTALL | re.MULTILINE
)
_orders = re.compile(
    r"\b(?:you|agent|assistant|model|must|run|execute|send|ignore|always|never|secret|key)\b", re.IGNORECASE
)
# Who warns of something names it: that is no reason to call a skill safe, but one not to call it dangerous.
_warns = re.compile(
    r"\b(?:never|don'?t|do not|avoid|must not|should not|refuse|instead of|rather than|beware|warns?|warning|reject|flag|detect|recogni[sz]e"
    r"|looks? for|search(?:es)? for|watch(?:es)? for|check(?:s|ing)? for|such as|e\.g\.|for example|red flags?|blocks?|forbid\w*|suspicious|dangerous"
    r"|malicious|attacks?|anti-?patterns?|vulnerab\w+|unsafe|risky|harmful|smells?|not allowed|remove)\b(?!\s+(?:forget|fail|hesitate|skip|omit|stop|wait))",
    re.IGNORECASE,
)
# "Never push without asking" is what a good skill says.
_DENIABLE = frozenset({"keeps-secret", "misleads"})
_SHELLS = frozenset({"", "sh", "bash", "shell", "zsh", "console", "terminal", "shellsession"})
# Of what the gate asks about, this is odd in a skill; that a program is unknown or a package is installed is not.
_ODD = re.compile(
    r"sends-data|credentials|records|process-memory|way-in|attack|hidden-code|own-policy|own-files|disks|destroys|traces|users|privileges"
    r"|firewall|stays-behind|schedule"
)
_READS = f"{KEYS}|{PRIVATE}|{WHOLE_ENVIRONMENT}"
_MAGIC = (
    b"\x7fELF",
    b"MZ",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\xfe\xed\xfa",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"!<arch>",
)
_RUNS = frozenset(
    {".pyc", ".pyo", ".so", ".dylib", ".dll", ".exe", ".jar", ".class", ".whl", ".pkl", ".pickle", ".pth"}
)


class Finding(Struct, frozen=True, order=True):
    """Something odd in a skill: where, by which rule, how bad, and what it is in words."""

    file: str
    line: int
    rule: str
    severity: Severity
    what: str
    text: str = ""


class Scan(Struct, frozen=True):
    """What is known about a skill after every file of it was read."""

    verdict: Grade
    findings: tuple[Finding, ...] = ()


def scan(skill_folder: Path, judge: Judge | None = None) -> Scan:
    """Read every file of a skill; with `judge` the gate's rules look at its shell commands too. Blocks."""
    findings: list[Finding] = []
    texts: list[str] = []
    paths = sorted(_files(skill_folder))
    if len(paths) > MOST_FILES:
        findings.append(Finding("", 0, "size", "dangerous", f"has more than {MOST_FILES} files"))
    for path in paths[:MOST_FILES]:
        name = path.relative_to(skill_folder).as_posix()
        content = _content(path, name, findings)
        if content is not None:
            findings += scan_text(content, name, judge)
            texts.append(content)
    findings += _together(texts)
    return _verdict(findings)


def scan_text(text: str, file: str = "SKILL.md", judge: Judge | None = None, seconds: float = SECONDS) -> list[Finding]:
    """What is odd in one text; the name of its file says whether it is words or code."""
    cut, deadline = _cut(text), time.thread_time() + seconds
    prose = file.endswith((".md", ".txt", ".markdown"))
    found = [*_matches(cut, file, prose, deadline), *_hidden(cut, file, deadline)]
    plain = disguise.plain(cut)
    if plain != cut:
        known = {each.rule for each in found}
        found += [_worse(each) for each in _matches(plain, file, prose, deadline) if each.rule not in known]
    found += _of_file(cut, file) if not prose else []
    if prose:
        found += _comments(cut, file)
    if judge is not None:
        found += _commands(text, file, judge)
    return sorted(set(found))


def _verdict(findings: Iterable[Finding]) -> Scan:
    kept = tuple(sorted(set(findings)))
    grades = {each.severity for each in kept}
    return Scan("dangerous" if "dangerous" in grades else "caution" if grades else "safe", kept)


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        yield from (Path(root, name) for name in names)
        yield from (Path(root, name) for name in folders if Path(root, name).is_symlink())


def _content(path: Path, name: str, findings: list[Finding]) -> str | None:
    """The text of a file, or None and why there is nothing to read in it."""
    info = path.lstat()

    def odd(severity: Severity, rule: str, what: str) -> None:
        findings.append(Finding(name, 0, rule, severity, what))

    if not stat.S_ISREG(info.st_mode):
        odd("dangerous", "no-file", "is a link or a device, not a file")
        return None
    if info.st_size > LARGEST_FILE:
        odd("dangerous", "size", f"is larger than {LARGEST_FILE >> 20} MiB")
        return None
    data = path.read_bytes()
    if path.suffix.lower() in _RUNS or data.startswith(_MAGIC):
        odd("dangerous", "unreadable", "is a program or an archive that nobody can read")
        return None
    try:
        text = data.decode("utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8")
    except UnicodeDecodeError:
        if name == "SKILL.md" or path.suffix in (".md", ".py", ".sh", ".txt", ".js"):
            odd("dangerous", "unreadable", "is not UTF-8 text")
        elif info.st_mode & 0o111:
            odd("dangerous", "unreadable", "can be run, but nobody can read it")
        return None
    if name == "SKILL.md" and len(text) > LARGEST_TEXT:
        odd("dangerous", "size", f"has more than {LARGEST_TEXT:,} signs")
    return text


def _cut(text: str) -> str:
    """The text with the lines that a backslash continues made one, and lines without end in pieces that overlap."""
    text = re.sub(r"\\\r?\n[ \t]*", " ", text).replace("\r\n", "\n")
    if all(len(line) <= _LINE for line in text.split("\n")):
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        lines += [line[at : at + _LINE] for at in range(0, max(len(line), 1), _LINE - _OVERLAP)]
    return "\n".join(lines)


def _matches(text: str, file: str, prose: bool, deadline: float) -> Iterator[Finding]:
    for start, end in _parts(text):
        for sign in SIGNS:
            if time.thread_time() > deadline:
                yield Finding(file, 0, "size", "dangerous", "takes too long to read")
                return
            for match in compiled(sign.pattern).finditer(text, start, end):
                if sign.severity == "dangerous" or sign.rule not in _DENIABLE or not _is_denied(text, match.start()):
                    yield _finding(sign, text, match, file, prose)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Where parts of a text begin and end, whole lines each: the clock is looked at between them."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PART) + 1 or len(text)
        yield start, end
        start = end


def _finding(sign: Sign, text: str, match: re.Match[str], file: str, prose: bool) -> Finding:
    shown = " ".join(match[0].split())[:120]
    warned = prose and sign.severity == "dangerous" and _is_warned_of(text, match.start())
    severity: Severity = "caution" if warned else sign.severity
    return Finding(file, text.count("\n", 0, match.start()) + 1, sign.rule, severity, sign.what, shown)


def _worse(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, severity="dangerous", what=f"{finding.what}, in disguise")


def _is_denied(text: str, at: int) -> bool:
    """Whether a "never" earlier in the same sentence turns what follows round: "never push without asking"."""
    sentence = re.split(r"[.;:!?\n]", text[max(0, at - 200) : at])[-1]
    return bool(re.search(r"\b(?:never|don'?t|do not|not|no|nothing|nobody|avoid|refuse)\b", sentence, re.IGNORECASE))


def _is_warned_of(text: str, at: int) -> bool:
    """Whether the words before a place, the line that leads to it or the heading above it warn of it."""
    before = text[:at].split("\n")
    if _warns.search(before[-1]):
        return True
    leading = next((line for line in reversed(before[:-1]) if line.rstrip().endswith(":")), "")
    heading = next((line for line in reversed(before[:-1]) if line.startswith("#")), "")
    near = leading in before[-25:] and leading
    return bool((near and _warns.search(near)) or _warns.search(heading))


def _hidden(text: str, file: str, deadline: float) -> Iterator[Finding]:
    if what := disguise.unseen(text):
        yield Finding(file, 0, "disguise", "dangerous", f"holds {what}")
    if disguise.looks_alike(text):
        yield Finding(file, 0, "disguise", "caution", "mixes letters of two alphabets in one word")
    if "\x1b" in text or "\b" in text or "\x00" in text:
        yield Finding(file, 0, "disguise", "dangerous", "holds signs that steer a terminal")
    for inner in disguise.unpacked(text):
        inside = list(_matches(inner, file, prose=False, deadline=deadline))
        severity: Severity = "dangerous" if inside else "caution"
        what = inside[0].what if inside else "nobody reads it as it stands"
        if inside or not inner.lstrip().startswith(("{", "[", "<svg", "<?xml")):
            shown = " ".join(inner.split())[:120]
            yield Finding(file, 0, "disguise", severity, f"packs a text into signs that say nothing: {what}", shown)
    for whole in disguise.joined(text):
        if re.fullmatch(
            r"(?:.*/)?(?:curl|wget|eval|exec|system|popen|bash|sh|nc|requests|subprocess|socket|__import__)", whole
        ):
            yield Finding(file, 0, "hidden-code", "dangerous", "puts the name of a program together from pieces", whole)


def _comments(text: str, file: str) -> Iterator[Finding]:
    for match in _comment.finditer(text):
        said = (match[1] or match[2] or "").strip()
        if len(said) >= 40 and _orders.search(said):
            line = text.count("\n", 0, match.start()) + 1
            shown = " ".join(said.split())[:120]
            yield Finding(file, line, "disguise", "caution", "speaks to the model where a reader does not look", shown)


def _of_file(text: str, file: str) -> Iterator[Finding]:
    """What is odd only as a whole: a program that reads keys in one line and talks to another machine in the next."""
    read, sent = compiled(_READS).search(text), compiled(NETWORK).search(text)
    if read and sent:
        line = text.count("\n", 0, read.start()) + 1
        yield Finding(
            file,
            line,
            "sends-keys",
            "dangerous",
            "reads private data and talks to other machines",
            read[0].strip()[:120],
        )


def _together(texts: list[str]) -> Iterator[Finding]:
    """What is odd only across files: one tells where the keys are, another sends."""
    whole = "\n".join(texts)
    if compiled(_READS).search(whole) and compiled(SEND).search(whole):
        yield Finding("", 0, "sends-keys", "caution", "knows where private data is and sends something")


def _commands(text: str, file: str, judge: Judge) -> Iterator[Finding]:
    if file.endswith((".sh", ".bash", ".zsh")) or text.startswith(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")):
        blocks = [(1, text)]
    else:
        fences = _fence.finditer(text) if file.endswith((".md", ".markdown")) else ()
        blocks = [(text.count("\n", 0, m.start(3)) + 1, m[3]) for m in fences if m[2].lower() in _SHELLS - {""}]
    for line, block in blocks:
        verdict = judge(re.sub(r"^\s*\$ ", "", block, flags=re.MULTILINE))
        if verdict.decision == "block":
            yield Finding(file, line, verdict.rule, "dangerous", f"has a command that never runs here: {verdict.why}")
        elif verdict.decision == "ask" and _ODD.fullmatch(verdict.rule):
            yield Finding(file, line, verdict.rule, "caution", verdict.why)
