"""Programs that remove, move, copy, pack or change files: work inside the working folder, a question elsewhere."""

import os
import re
from collections.abc import Callable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask

# Folders and files that a build or a run makes again.
_MADE_AGAIN = re.compile(
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
_PRECIOUS = re.compile(
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


def find(step: Step, ground: Ground) -> Verdict:
    """find by itself lists names; with -delete it removes, and what -exec starts is judged on its own."""
    from hermes.safety.commands.wrappers import names_found

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


def _written(step: Step, ground: Ground, *, valued: tuple[str, ...] = ()) -> Verdict:
    return ground.writing(step, operands(step.args, valued)) or WORKS


def makes(step: Step, ground: Ground) -> Verdict:
    return _written(step, ground, valued=("-m", "--mode", "-d", "-t", "-r", "-s", "--size", "--reference", "--date"))


def copy(step: Step, ground: Ground) -> Verdict:
    """cp, mv, install, ln: what is read, what is written, and for mv what is gone afterwards."""
    args = list(step.args)
    folder = value_of(args, "-t", "--target-directory")
    words = operands(args, ("-t", "--target-directory", "-m", "--mode", "-o", "-g", "-S", "--suffix"))
    sources, targets = (words, [folder]) if folder else (words[:-1], words[-1:])
    if not targets:
        return READS
    if step.name == "ln" and len(words) == 1:
        sources, targets = words, ["."]
    if verdict := ground.reading(step, sources) or ground.writing(step, targets):
        return verdict
    deep = step.name == "cp" and has(args, "-r", "-R", "-a", "--recursive", "--archive")
    if deep and (verdict := ground.searching(step, sources)):
        return verdict
    if step.name == "mv":
        for source in sources:
            if not ground.is_inside(step, source) and not ground.is_temporary(step, source):
                return ask("destroys", f"mv would take {source} away from where it is")
            if source.rstrip("/").endswith("/.git") or source == ".git":
                return ask("destroys", "the history of the project would be moved away")
    return WORKS


_WIDE = re.compile(
    r"0?[0-7]?[0-7]{2}[2367]|[ugoa]*o[ugoa]*[+=]\w*w\w*|a?[+=]\w*w\w*|[ugoa]*\+\w*s\w*|[2467][0-7]{3}|0*00?"
)


def chmod(step: Step, ground: Ground) -> Verdict:
    words = operands([arg for arg in step.args if not re.fullmatch(r"-[rwxXst]+", arg)], ("--reference",))
    mode, *targets = words or [""]
    if any(_WIDE.fullmatch(part) for part in mode.split(",")) and not re.fullmatch(r"u\+\w*w\w*|\+w", mode):
        return ask(
            "permissions", f"chmod {mode} opens files to everybody, or to nobody, or lets them run as another user"
        )
    if UNKNOWN in mode:
        return ask("permissions", "nobody can tell whom chmod lets in")
    return ground.writing(step, targets) or WORKS


def tar(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    if any(
        re.match(
            r"--(to-command|checkpoint-action|use-compress-program|rsh-command|info-script|new-volume-script)|-[IF]$",
            arg,
        )
        for arg in args
    ):
        return ask("hidden-code", "tar is told here what to run")
    first = args[0] if args else ""
    modes = first if re.fullmatch(r"-?[A-Za-z]+", first) else ""
    if "P" in modes or has(args, "-P", "--absolute-names", "--remove-files"):
        return ask("outside-effect", "tar would write or remove outside the folder it is in")
    file = value_of(args, "-f", "--file") or (args[1] if "f" in modes and len(args) > 1 else "")
    words = [
        word
        for word in operands(args, ("-C", "--directory", "--exclude", "-T", "-X", "-f", "--file"))
        if word not in (first, file)
    ]
    if "t" in modes or has(args, "--list"):
        return ground.reading(step, [file]) or READS
    if "x" in modes or has(args, "--extract", "--get"):
        return ground.writing(step, [value_of(args, "-C", "--directory") or "."]) or WORKS
    target = [] if file in ("-", "") else [file]
    if re.match(r"[\w.@-]+:", file):
        return ask("sends-data", "tar would write to another machine")
    return ground.reading(step, words) or ground.searching(step, words) or ground.writing(step, target) or WORKS


def zipped(step: Step, ground: Ground) -> Verdict:
    """zip, unzip, gzip and their like."""
    args = list(step.args)
    words = operands(args, ("-d", "-x", "-i", "-o", "-P", "-T"))
    match step.name:
        case "unzip" | "7z" | "unrar" | "unar" if has(args, "-l", "-Z", "-t", "-v", "-p") or words[:1] in (
            ["l"],
            ["t"],
        ):
            return ground.reading(step, words) or READS
        case "unzip" | "unrar" | "unar" | "7z" | "7za":
            return ground.writing(step, [value_of(args, "-d", "-o") or "."]) or WORKS
        case "zip":
            if has(args, "-TT", "--unzip-command") or value_of(args, "-TT"):
                return ask("hidden-code", "zip is told here what to run")
            return (
                ground.reading(step, words)
                or ground.searching(step, words[1:])
                or ground.writing(step, words[:1])
                or WORKS
            )
        case _:
            stays = has(args, "-c", "-l", "-t", "--stdout", "--list", "--test") or not words
            return ground.reading(step, words) or (READS if stays else ground.writing(step, words) or WORKS)


def dd(step: Step, ground: Ground) -> Verdict:
    reads = [arg[3:] for arg in step.args if arg.startswith("if=")]
    writes = [arg[3:] for arg in step.args if arg.startswith("of=")]
    return ground.reading(step, reads) or ground.writing(step, writes) or (WORKS if writes else READS)


def patch(step: Step, ground: Ground) -> Verdict:
    return (
        READS
        if has(step.args, "--dry-run")
        else ground.writing(step, [value_of(step.args, "-d", "--directory") or "."]) or WORKS
    )


def outputs(*options: str) -> Callable[[Step, Ground], Verdict]:
    """A reader that writes only where one of these options says."""

    def judged(step: Step, ground: Ground) -> Verdict:
        target = value_of(step.args, *options)
        if verdict := ground.reading(step, pieces(step.args)):
            return verdict
        return READS if target is None else ground.writing(step, [target]) or WORKS

    return judged


_EDITOR_RUNS = re.compile(r"\+(?!\d*$|/)|-(c|S|s|u|U|e|es|f|l|w|W)$|--(cmd|eval|script|batch|headless|load|remote)")


def editor(step: Step, ground: Ground) -> Verdict:
    """vim, nano, emacs: a file to edit is fine, a command to run is not."""
    if any(_EDITOR_RUNS.match(arg) for arg in step.args):
        return ask("hidden-code", f"{step.name} is told here what to run")
    if step.input.text != "":
        return ask("hidden-code", f"{step.name} is fed what to do")
    return _written(step, ground)


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(("rm", "unlink", "trash", "rmtrash", "grm"), rm),
    "rmdir": makes,
    **dict.fromkeys(("find", "gfind"), find),
    **dict.fromkeys(("touch", "tee", "truncate", "mkfifo", "fallocate"), makes),
    **dict.fromkeys(("cp", "mv", "install", "ln", "gcp", "gmv"), copy),
    "chmod": chmod,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), tar),
    **dict.fromkeys(
        (
            "zip",
            "unzip",
            "gzip",
            "gunzip",
            "bzip2",
            "bunzip2",
            "xz",
            "unxz",
            "zstd",
            "unzstd",
            "lz4",
            "7z",
            "7za",
            "unrar",
            "unar",
        ),
        zipped,
    ),
    "dd": dd,
    "patch": patch,
    "sort": outputs("-o", "--output"),
    "tree": outputs("-o"),
    "uniq": lambda step, ground: ground.writing(step, operands(step.args, ("-f", "-s", "-w"))[1:]) or READS,
    **dict.fromkeys(
        ("split", "csplit"),
        lambda step, ground: ground.writing(step, operands(step.args, ("-l", "-b", "-n", "-a"))[1:] or ["."]) or WORKS,
    ),
    **dict.fromkeys(
        ("vim", "vi", "nvim", "nano", "emacs", "ed", "ex", "view", "code", "micro", "pico", "joe", "hx", "subl"), editor
    ),
    **dict.fromkeys(("dos2unix", "unix2dos", "rename", "prename"), makes),
    "mkdir": lambda step, ground: (
        ground.writing(step, [w for w in operands(step.args, ("-m", "--mode")) if w[:1] != UNKNOWN]) or WORKS
    ),
    "mktemp": lambda step, ground: WORKS,
    "cpio": lambda step, ground: ask("outside-effect", "cpio writes where its input says"),
    "base64": outputs("-o", "--output"),
    "xxd": lambda step, ground: ground.reading(step, step.args[:1]) or READS,
    "sponge": makes,
}
