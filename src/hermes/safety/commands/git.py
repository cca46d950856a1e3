"""What git may do without a question: ordinary work, in the repository of the working folder."""

import os
import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import listed, operands, value_of
from hermes.safety.commands.git_verbs import HARMLESS_SETTING, SPECIAL
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

_READS = listed(
    "status log diff show blame annotate describe shortlog rev-parse rev-list ls-files ls-tree ls-remote cat-file "
    "merge-base name-rev grep show-ref for-each-ref count-objects whatchanged help version cherry diff-tree "
    "diff-index diff-files check-ignore check-attr check-ref-format var verify-commit verify-tag range-diff "
    "show-branch fsck get-tar-commit-id rev-list merge-tree verify-pack stripspace column request-pull "
    "interpret-trailers mktree"
)
_WORKS = listed(
    "add commit merge cherry-pick revert fetch pull clone init mv apply am format-patch bundle rerere "
    "pack-refs commit-tree write-tree read-tree update-index sparse-checkout repack hash-object commit-graph"
)
_STARTS = Pattern(
    r"--(upload-pack|receive-pack|exec|ext-diff|open-files-in-pager|extcmd|config-env|exec-path|git-dir|work-tree|namespace|"
    r"template|config|textconv|output|output-directory|tool|gui|command|contents|super-prefix|server-option)(=.*)?"
)
_EXT = Pattern(r"[a-z][\w-]*::", re.I)


def git(step: Step, ground: Ground) -> Verdict:
    args, folder = list(step.args), ""
    while args and args[0].startswith("-"):
        word = args.pop(0)
        if word in ("--help", "--version", "-h", "-v", "--html-path", "--man-path", "--info-path"):
            return READS
        if word == "-C" and args:
            folder = os.path.join(folder, args.pop(0))
        elif word == "-c" and args:
            setting = args.pop(0)
            if not HARMLESS_SETTING.fullmatch(setting) and not HARMLESS_SETTING.fullmatch(setting.partition("=")[0]):
                return ask("hidden-code", f"git -c {setting} can name a program that git starts")
        elif word not in (
            "--no-pager",
            "-P",
            "--literal-pathspecs",
            "--no-optional-locks",
            "-p",
            "--paginate",
            "--bare",
        ):
            return ask("hidden-code", f"git {word} makes git take its programs or files from elsewhere")
    verb, rest = (args[0], args[1:]) if args else ("", [])
    if UNKNOWN in verb:
        return ask("hidden-code", "nobody can tell what git is to do")
    if "--help" in rest or rest in (["-h"], ["--tool-help"]):
        return READS
    return _trap(step, ground, folder, verb) or _options(verb, rest) or _verb(step, ground, verb, rest)


def _trap(step: Step, ground: Ground, folder: str, verb: str) -> Verdict | None:
    """A repository's own settings can name programs that git starts, so a foreign one is not harmless to look at."""
    if verb in ("clone", "init", "help", "version", "ls-remote", "config"):
        return None
    for path in ground.paths(step, folder or "."):
        if not ground.is_inside(step, path):
            return ask(
                "outside-code", "it is git outside the working folder, which may start what the settings there say"
            )
        if ground.local and is_made_of_plain_files(path):
            return ask("hidden-code", "git would take a plain folder for a repository, and start what its settings say")
    return None


def _options(verb: str, rest: list[str]) -> Verdict | None:
    for arg in rest:
        if arg == "--":
            return None
        allowed = (verb == "difftool" and arg.startswith("--tool")) or (
            verb in ("archive", "log", "diff", "format-patch") and arg.startswith("--output")
        )
        if (
            _STARTS.fullmatch(arg)
            and not allowed
            and not (verb == "rebase" and re.fullmatch(r"--exec(=.*)?", arg))
            and not (verb in ("show", "cat-file", "log", "diff") and arg == "--textconv")
        ):
            return ask("hidden-code", f"git {verb} {arg} starts a program, or takes files from elsewhere")
        reaches = verb in ("clone", "fetch", "pull", "ls-remote", "remote", "submodule")
        if reaches and re.search(r"-o\s*(ProxyCommand|LocalCommand)", arg, re.I):
            return ask("hidden-code", f"git {verb} is told here what ssh starts")
        if _EXT.match(arg):
            return ask("hidden-code", f"{arg.partition('::')[0]}:: has git start a program")
    if verb == "grep" and any(re.match(r"-O", arg) for arg in rest):
        return ask("hidden-code", "git grep -O starts a program")
    if (
        verb in ("clone", "fetch", "pull", "ls-remote")
        and any(re.match(r"-u$|-c$", arg) for arg in rest)
        and verb == "clone"
    ):
        return ask("hidden-code", "git clone is told here what to start")
    return None


def _verb(step: Step, ground: Ground, verb: str, rest: list[str]) -> Verdict:
    if rule := SPECIAL.get(verb):
        return rule(step, ground, rest)
    if verb in _READS:
        output = value_of(rest, "--output")
        paths = (
            [word.partition(":")[2] or word for word in operands(rest)]
            if verb in ("show", "diff", "blame", "cat-file", "grep")
            else []
        )
        return ground.reading(step, paths) or (ground.writing(step, [output]) if output else None) or READS
    if verb in _WORKS:
        return _written(step, ground, verb, rest) or WORKS
    if not verb:
        return READS
    return ask("git", f"git {verb} is not ordinary work")


def _written(step: Step, ground: Ground, verb: str, rest: list[str]) -> Verdict | None:
    """Why what git writes beside the repository asks, or None."""
    match verb:
        case "bundle" if rest[:1] == ["create"]:
            return ground.writing(step, operands(rest[1:])[:1])
        case "format-patch" if folder := value_of(rest, "-o", "--output-directory"):
            return ground.writing(step, [folder])
        case "apply" if "--unsafe-paths" in rest:
            return ask("outside", "git apply would change files outside the repository")
        case "init" if words := operands(rest, ("-b", "--initial-branch")):
            return ground.writing(step, words[:1])
        case _:
            return None


def is_made_of_plain_files(folder: str) -> bool:
    """Whether git, started here, may take a folder for a repository that has no `.git`.

    Such a folder is made by writing a few ordinary files, and its settings name programs that git starts.
    """
    while True:
        has_ = {
            name for name in ("HEAD", "objects", "refs", "commondir", ".git") if os.path.lexists(f"{folder}/{name}")
        }
        if {"HEAD", "commondir"} <= has_ or {"HEAD", "objects", "refs"} <= has_:
            return True
        if ".git" in has_ or folder == os.path.dirname(folder):
            return False
        folder = os.path.dirname(folder)


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {"git": git}
