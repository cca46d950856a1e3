"""The verbs of git that can throw something away or send it out, and when they do."""

import os
import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, operands, value_of
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

HARMLESS_SETTING = Pattern(
    r"user\.(name|email)|color\..*|advice\..*|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|core\.(quotepath|autocrlf|"
    r"filemode|ignorecase|abbrev|eol|safecrlf|longpaths|precomposeunicode|whitespace)|log\..*|diff\.(renames|algorithm|colormoved|"
    r"context|noprefix|mnemonicprefix)|pull\.(rebase|ff)|push\.(default|autosetupremote)|rebase\.(autostash|autosquash)|"
    r"merge\.(conflictstyle|ff)|branch\..*\.(merge|remote|rebase)|fetch\.prune|status\..*|column\..*|grep\..*|blame\..*|"
    r"rerere\.enabled|format\.pretty|protocol\.version|help\.autocorrect|submodule\.recurse|feature\..*|index\..*|gc\.auto|"
    r"pack\..*|core\.pager=cat|core\.editor=true",
    re.I,
)
_FILE = Pattern(
    r".*\.(py|js|ts|tsx|jsx|go|rs|c|h|cc|cpp|java|rb|php|md|txt|json|ya?ml|toml|html|css|sh|lock|cfg|ini)|\.|\.\.|\*|.*/"
)

HISTORY, UNSAVED = "git-history", "git-unsaved"


def _unless(bad: Callable[[list[str]], bool], rule: str, why: str) -> Callable[[Step, Ground, list[str]], Verdict]:
    return lambda step, ground, rest: ask(rule, why) if bad(rest) else WORKS


def _push(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "-n", "--dry-run"):
        return READS
    forced = has(rest, "-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d", "--prune") or any(
        word.startswith(("+", ":")) for word in rest
    )
    return ask(
        "git-remote", "git push rewrites or deletes what others have" if forced else "git push sends commits to others"
    )


def _reset(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "--hard", "--merge", "--keep"):
        return ask(UNSAVED, "git reset throws unsaved changes away")
    return WORKS


def _checkout(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "-f", "--force", "-B", "--theirs", "--ours", "--discard-changes", "-C"):
        return ask(UNSAVED, "it throws unsaved changes, or a branch, away")
    if "--" in rest or has(rest, "--pathspec-from-file", "-p"):
        return ask(UNSAVED, "git checkout of files throws their unsaved changes away")
    makes = has(rest, "-b", "-c", "--create", "--orphan", "-t", "--track", "--detach", "-d")
    words = operands(rest, ("-b", "-c", "--create", "--orphan"))
    if not makes and (len(words) > 1 or any(_is_file(step, ground, word) for word in words)):
        return ask(UNSAVED, "git checkout of files throws their unsaved changes away")
    return WORKS


def _is_file(step: Step, ground: Ground, word: str) -> bool:
    if _FILE.fullmatch(word) and not re.fullmatch(r"v?\d+(\.\w+)*", word):
        return True
    return ground.local and any(os.path.lexists(path) for path in ground.paths(step, word))


def _restore(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    only_index = has(rest, "--staged", "-S") and not has(rest, "--worktree", "-W")
    return WORKS if only_index else ask(UNSAVED, "git restore throws unsaved changes away")


def _branch(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "-D", "-M", "-C", "-f", "--force"):
        return ask(HISTORY, "it throws a branch away, merged or not")
    words = operands(
        rest, ("--contains", "--no-contains", "--merged", "--no-merged", "--sort", "--format", "--points-at")
    )
    return WORKS if words or has(rest, "-d", "--delete", "-m", "-u") else READS


def _tag(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "-d", "--delete", "-f", "--force"):
        return ask(HISTORY, "it removes or moves a tag")
    return READS if not operands(rest) or has(rest, "-l", "--list", "-n", "--contains") else WORKS


def _stash(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    match operands(rest)[:1]:
        case ["drop" | "clear"]:
            return ask(UNSAVED, "it throws stashed changes away")
        case ["list" | "show"]:
            return READS
        case _:
            return WORKS


def _clean(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    return READS if has(rest, "-n", "--dry-run") else ask(UNSAVED, "git clean deletes files that git does not know")


def _rm(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "--cached", "-n", "--dry-run"):
        return WORKS
    wide = any(word in (".", "*", "/", "./*", "..") or UNKNOWN in word for word in operands(rest))
    return (
        ask(UNSAVED, "git rm would remove changed files, or all of them")
        if wide or has(rest, "-f", "--force")
        else WORKS
    )


def _remote(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    match operands(rest):
        case [] | ["show" | "get-url", *_]:
            return READS
        case ["add" | "update" | "prune" | "set-head" | "set-branches", *_]:
            return WORKS
        case _:
            return ask("git-remote", "it changes where commits go")


def _config(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    words = operands(rest, ("--file", "-f", "--type", "--blob", "--default"))
    if has(
        rest, "--get", "--list", "-l", "--get-all", "--get-regexp", "--show-origin", "--get-urlmatch", "--name-only"
    ):
        return (
            ask("credentials", "it shows a stored password") if any("credential" in word for word in words) else READS
        )
    if words[:1] in (["get"], ["list"]) or (
        len(words) == 1 and not has(rest, "--unset", "--unset-all", "--add", "-e", "--edit")
    ):
        return READS
    if has(rest, "--global", "--system", "--file", "-f", "--worktree", "-e", "--edit"):
        return ask("outside-effect", "git config changes settings beyond this project")
    name = words[1] if words[:1] in (["set"], ["unset"]) and len(words) > 1 else words[0] if words else ""
    value = words[-1] if len(words) > 1 else ""
    if HARMLESS_SETTING.fullmatch(name) or HARMLESS_SETTING.fullmatch(f"{name}={value}"):
        return WORKS
    return ask("hidden-code", f"git config {name} can name a program that git starts, or whom it speaks to")


def _reflog(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    return ask(HISTORY, "it removes the way back to old commits") if rest[:1] in (["expire"], ["delete"]) else READS


def _gc(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    prunes = any(re.match(r"--prune=(now|all)|--prune$", arg) for arg in rest)
    return ask(HISTORY, "it removes commits for good") if prunes else WORKS


def _rebase(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    if has(rest, "--root"):
        return ask(HISTORY, "it rewrites all of the history")
    return WORKS


def _worktree(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    match operands(rest):
        case ["list", *_]:
            return READS
        case ["add", path, *_]:
            return ground.writing(step, [path]) or WORKS
        case ["prune" | "lock" | "unlock", *_]:
            return WORKS
        case _:
            return ask(UNSAVED, "it removes or moves a working tree")


def _submodule(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    match operands(rest)[:1]:
        case [] | ["status" | "summary"]:
            return READS
        case ["update" | "init" | "sync" | "add"]:
            return ask(UNSAVED, "it throws changes away") if has(rest, "-f", "--force") else WORKS
        case ["foreach"]:
            return WORKS
        case _:
            return ask(UNSAVED, "git submodule removes, or changes where code comes from")


def _notes(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    match operands(rest)[:1]:
        case [] | ["list" | "show" | "get-ref"]:
            return READS
        case ["prune" | "remove"]:
            return ask(HISTORY, "it throws notes away")
        case _:
            return ask(HISTORY, "it overwrites a note") if has(rest, "-f", "--force") else WORKS


def _hash_object(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    return ground.reading(step, operands(rest, ("-t",))) or WORKS


def _archive(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    output = value_of(rest, "-o", "--output")
    if value_of(rest, "--remote"):
        return ask("outside-effect", "git archive asks another machine")
    return ground.writing(step, [output]) or WORKS if output else READS


def _lfs(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    match rest[:1]:
        case ["ls-files" | "status" | "env" | "version"]:
            return READS
        case ["pull" | "fetch" | "track" | "checkout"]:
            return WORKS
        case _:
            return ask("git-remote", "git lfs changes hooks, history or the remote")


def _clone(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    words = operands(rest, ("-b", "--branch", "--depth", "-o", "--origin", "-j", "--jobs", "--filter", "--reference"))
    return ground.writing(step, words[1:2] or ["."]) or WORKS


def _symbolic(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    return READS if len(operands(rest)) <= 1 and not has(rest, "-d") else ask(HISTORY, "it moves a branch by hand")


def _commit(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    file = value_of(rest, "-F", "--file")
    return (ground.reading(step, [file]) if file and file != "-" else None) or WORKS


SPECIAL: dict[str, Callable[[Step, Ground, list[str]], Verdict]] = {
    "push": _push,
    "reset": _reset,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "branch": _branch,
    "tag": _tag,
    "stash": _stash,
    "clean": _clean,
    "rm": _rm,
    "remote": _remote,
    "config": _config,
    "reflog": _reflog,
    "gc": _gc,
    "rebase": _rebase,
    "worktree": _worktree,
    "submodule": _submodule,
    "bisect": _unless(lambda rest: False, UNSAVED, ""),
    "notes": _notes,
    "maintenance": _unless(lambda rest: rest[:1] != ["run"], "schedule", "it has git work by itself from now on"),
    "hash-object": _hash_object,
    "fetch": _unless(
        lambda rest: has(rest, "-f", "--force") or any(word.startswith("+") and ":" in word for word in rest),
        HISTORY,
        "it moves branches here, whatever is on them",
    ),
    "repack": _unless(lambda rest: has(rest, "-d") and has(rest, "-a"), HISTORY, "it removes what no branch reaches"),
    "archive": _archive,
    "lfs": _lfs,
    "clone": _clone,
    "symbolic-ref": _symbolic,
    "commit": _commit,
    "read-tree": _unless(lambda rest: has(rest, "--reset", "-u"), UNSAVED, "it overwrites files"),
    "update-index": _unless(lambda rest: False, UNSAVED, ""),
}
