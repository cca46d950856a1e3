"""Removing files: work where a build makes them again or a checkpoint keeps them, a question elsewhere."""

import os
import re
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, operands
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

# Folders and files that a build or a run makes again.
_MADE_AGAIN = Pattern(
    r"build|dist|out|output|target|node_modules|__pycache__|\.?cache|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.nox|"
    r"\.next|\.nuxt|\.svelte-kit|\.turbo|\.parcel-cache|\.gradle|\.eggs|.*\.egg-info|\.?coverage|htmlcov|\.nyc_output|"
    r"\.?venv|env|tmp|temp|\.tmp|logs?|bin|obj|cmake-build-.*|_build|\.terraform|\.hypothesis|\.ipynb_checkpoints|site|"
    r"public|\.sass-cache|bower_components|\.dart_tool|DerivedData|\.build|Pods|\.serverless|\.aws-sam|\.vite|storybook-static|"
    r"test-results|playwright-report|\.docusaurus|\.angular|\.yarn/cache|wheelhouse|release|debug|artifacts|reports?|"
    r".*\.(py[co]|o|so|a|obj|class|log|tmp|temp|swp|bak|orig|rej|cache|pid|lock|tsbuildinfo|gcda|gcno|profraw|whl|egg|"
    r"tar\.gz|tgz|zip|out|coverage|DS_Store)|.*~|\.DS_Store|\.coverage(\..*)?|core|nohup\.out|coverage\.xml|package-lock\.json",
    re.I,
)
# Files of which there may be no other copy.
_PRECIOUS = Pattern(
    r".*\.(db|sqlite3?|sql|dump|bak|backup|pem|key|p12|kdbx|tfstate|keystore|jks|gpg|asc|mdb|rdb|aof|vmdk|qcow2)|"
    r"\.env(\..*)?|\.git|\.git(ignore|modules|attributes)|backups?|data|database|uploads|migrations|\*|\.\*|\.|\.\.",
    re.I,
)


def _is_made_again(step: Step, ground: Ground, text: str) -> bool:
    """Whether a word names, in the working folder, only what a build or a run makes again."""
    if not ground.is_inside(step, text):
        return False
    for path in ground.paths(step, text):
        names = os.path.relpath(path, ground.workspace).split("/")
        if ".git" in names or not any(map(_MADE_AGAIN.fullmatch, names)):
            return False
    return True


def rm(step: Step, ground: Ground) -> Verdict:
    """Removing is work if it can be made again or, for single files of the working folder, if there is a checkpoint."""
    targets = operands(step.args)
    deep = has(step.args, "-r", "-R", "--recursive")
    for target in targets:
        if UNKNOWN in target:
            return ask("destroys", "nobody can tell what rm would remove")
        if re.match(r"~(/|$)", target):
            return ask("destroys", f"{target} may have been meant as a home")
        if _is_made_again(step, ground, target):
            continue
        name = target.rstrip("/").rpartition("/")[2]
        if ground.is_temporary(step, target) and "*" not in target and not ground.is_inside(step, target):
            continue
        if not ground.is_inside(step, target):
            return ask("destroys", f"rm would remove {target}, which is outside the working folder")
        if deep:
            return ask("destroys", f"rm would remove all of {target}, which no build makes again")
        if _PRECIOUS.fullmatch(name) or re.search(r"[*?\[]", target):
            return ask("destroys", f"there may be no other copy of {target}")
        if verdict := ground.writing(step, [target]):
            return verdict
    return WORKS


def rimraf(step: Step, ground: Ground) -> Verdict:
    return rm(replace(step, name="rm", args=("-r", *step.args)), ground)


RULES: dict[str, Callable[[Step, Ground], Verdict]] = dict.fromkeys(("rimraf", "del-cli"), rimraf)


def find(step: Step, ground: Ground) -> Verdict:
    """find by itself lists names; with -delete it removes, and what -exec starts is judged on its own."""
    from hermes.safety.commands.handed import names_found

    args = list(step.args)
    if "-delete" in args:
        found = names_found(args)
        if all(_is_made_again(step, ground, name) for name in found):
            return WORKS
        narrow = "-empty" in args
        if not narrow or (not all(_is_made_again(step, ground, name) for name in found) and "-empty" not in args):
            return ask("destroys", "find would delete what it finds")
        return (
            WORKS if all(ground.is_inside(step, name) for name in found) else ask("destroys", "find deletes elsewhere")
        )
    outputs = [args[at + 1] for at, arg in enumerate(args[:-1]) if re.fullmatch(r"-fprint0?|-fprintf|-fls", arg)]
    if outputs:
        return ground.writing(step, outputs) or WORKS
    return READS


def empties(targets: Iterable[str]) -> Verdict | None:
    """Why files may not be emptied without a question, or None: of some kinds there may be no other copy."""
    for target in targets:
        name = target.rstrip("/").rpartition("/")[2]
        if "." in name and not name.startswith(".git") and _PRECIOUS.fullmatch(name):
            return ask("destroys", f"it empties {target}, and there may be no other copy")
    return None


def says_nothing(step: Step) -> bool:
    """Whether a program has no output, so that a file it is redirected to ends up empty."""
    match step.name, step.args:
        case ("" | ":" | "true" | "false", _) | ("cat", ("/dev/null",)) | ("echo", ("-n",) | ("-n", "")):
            return True
        case "printf", ("",):
            return True
        case _:
            return False
