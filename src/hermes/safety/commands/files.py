"""Programs that move, copy, pack or change files: work inside the working folder, a question elsewhere."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands import editors
from hermes.safety.commands.argv import has, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.removal import empties, find, rm
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern
from hermes.safety.places import SINKS


def _written(step: Step, ground: Ground, *, valued: tuple[str, ...] = ()) -> Verdict:
    return ground.writing(step, operands(step.args, valued)) or WORKS


def makes(step: Step, ground: Ground) -> Verdict:
    if step.name == "truncate" and value_of(step.args, "-s", "--size") == "0" and (found := empties(step.args)):
        return found
    return _written(step, ground, valued=("-m", "--mode", "-d", "-t", "-r", "-s", "--size", "--reference", "--date"))


_PROGRAMS = Pattern(r"(/usr|/usr/local|/opt/[\w.-]+)?/s?bin/[^/]+")


def _links(step: Step, ground: Ground, sources: list[str], targets: list[str]) -> Verdict | None:
    """A link is a second name: of files that may not be written it asks, and of programs."""
    for source in sources:
        for path in ground.paths(step, source):
            if (verdict := ground.write(path)).rule in ("own-files", "credentials", "starts-by-itself"):
                return verdict
        if _PROGRAMS.fullmatch(source) and "venv" not in "".join(targets):
            return ask("hidden-code", f"it gives {source} another name")
    return None


def copy(step: Step, ground: Ground) -> Verdict:
    """cp, mv, install, ln: what is read, what is written, and for mv what is gone afterwards."""
    args = list(step.args)
    folder = value_of(args, "-t", "--target-directory")
    words = operands(args, ("-t", "--target-directory", "-m", "--mode", "-o", "-g", "-S", "--suffix"))
    sources, targets = (words, [folder]) if folder else (words[:-1], words[-1:])
    if not targets:
        return READS
    if step.name == "mv" and targets[0] in SINKS:
        return ask("destroys", f"mv to {targets[0]} throws it away")
    if "/dev/null" in sources and (verdict := empties(targets)):
        return verdict
    if step.name == "ln" and (verdict := _links(step, ground, sources or words, targets)):
        return verdict
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


_WIDE = Pattern(
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


_PACKER = Pattern(r"(zstd|zstdmt|pigz|lz4|xz|gzip|bzip2|lbzip2|pbzip2|pixz|brotli|lzip|plzip)( -[\w=-]+)*")


def tar(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    packer = value_of(args, "-I", "--use-compress-program")
    if (packer is not None and not _PACKER.fullmatch(packer)) or any(
        re.match(r"--(to-command|checkpoint-action|rsh-command|info-script|new-volume-script)|-F", arg) for arg in args
    ):
        return ask("hidden-code", "tar is told here what to run")
    first = args[0] if args else ""
    modes = first if re.fullmatch(r"-?[A-Za-z]+", first) else ""
    if "P" in modes or has(args, "-P", "--absolute-names", "--remove-files"):
        return ask("outside-effect", "tar would write or remove outside the folder it is in")
    file = value_of(args, "-f", "--file") or (args[1] if "f" in modes and len(args) > 1 else "")
    words = [
        word
        for word in operands(args, ("-C", "--directory", "--exclude", "-T", "-X", "-f", "--file", "-I"))
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


_XXD = ("-c", "-g", "-l", "-s", "-o", "-n", "-cols", "-len", "-seek")

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
    **dict.fromkeys(editors.NAMES, editors.editor),
    **dict.fromkeys(("dos2unix", "unix2dos", "rename", "prename"), makes),
    "mkdir": lambda step, ground: (
        ground.writing(step, [w for w in operands(step.args, ("-m", "--mode")) if w[:1] != UNKNOWN]) or WORKS
    ),
    "script": lambda step, ground: (
        ground.writing(step, operands(step.args, ("-c", "--command"))[:1] or ["typescript"]) or WORKS
        if has(step.args, "-c", "--command")
        else ask("hidden-code", "script opens a shell for somebody to type into")
    ),
    "mktemp": lambda step, ground: WORKS,
    "cpio": lambda step, ground: ask("outside-effect", "cpio writes where its input says"),
    "base64": outputs("-o", "--output"),
    "xxd": lambda step, ground: (
        ground.reading(step, operands(step.args, _XXD)[:1])
        or ground.writing(step, operands(step.args, _XXD)[1:])
        or (WORKS if operands(step.args, _XXD)[1:] else READS)
    ),
    "sponge": makes,
    "say": outputs("-o", "--output-file"),
}
