"""Shells and scripts: a file of the working folder is work, what comes through a pipe or from elsewhere asks."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import SHELLS, has, listed, value_of
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.handed import shell_script, shell_text
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.targets import named_target
from hermes.safety.commands.verdicts import READS, WORKS, ask

HIDDEN = "hidden-code"
FETCHERS = listed("curl wget wget2 http https xh nc ncat aria2c fetch lynx scp ssh gh")
_DECODERS = listed("base64 base32 xxd openssl tr rev gunzip zcat uudecode od gpg printf hexdump sed awk")


def shell(step: Step, ground: Ground) -> Verdict:
    """sh, bash: the text behind -c was walked already; a file of the working folder is work; a pipe is not."""
    args = list(step.args)
    text = shell_text(args)
    if text is not None:
        return (
            ask(HIDDEN, f"nobody can tell what {step.name} -c would run")
            if not text.strip() or (UNKNOWN in text and _starts_unknown(text))
            else READS
        )
    if any(re.match(r"--(rcfile|init-file)", arg) for arg in args) or (has(args, "-i") and not has(args, "-c")):
        return ask("way-in", f"{step.name} -i is a shell for somebody to type into")
    script = shell_script(args)
    if script is None:
        return fed(step)
    if has(args, "-n") and step.script == "":
        return ground.reading(step, [script]) or READS
    return script_file(step, ground, script)


def _starts_unknown(text: str) -> bool:
    return bool(re.search(rf"(^|[;&|({{]\s*){UNKNOWN}", text.strip()))


def fed(step: Step) -> Verdict:
    """What comes through a pipe or a redirection to be run."""
    if has(step.args, "--version", "--help", "-V"):
        return READS
    if FETCHERS & set(step.input.programs):
        return ask("fetched-code", f"{step.name} would run what was fetched from elsewhere")
    if step.input.text is None or UNKNOWN in step.input.text:
        hidden = next((name for name in step.input.programs if name in _DECODERS), "")
        return ask(HIDDEN, f"{step.name} would run what {hidden or 'nobody can see before it'} produces")
    if not step.input.text and not step.input.programs:
        return ask(HIDDEN, f"{step.name} would run whatever is typed into it")
    return READS


def script_file(step: Step, ground: Ground, file: str) -> Verdict:
    """A script that lies in the working folder is work, unless this very command put something unknown there."""
    if step.script == UNKNOWN:
        return ask("fetched-code", f"{file} was made by this very command, and nobody can see what is in it")
    if UNKNOWN in file or file.startswith("/dev/"):
        return ask(HIDDEN, f"nobody can tell which file {step.name} would run")
    if not ground.is_inside(step, file) and not (step.script and ground.is_temporary(step, file)):
        return ask("outside-code", f"{file} is code outside the working folder")
    return named_target(step.name if step.name != file else "", [re.sub(r"\.\w+$", "", file)])


def source(step: Step, ground: Ground) -> Verdict:
    file = step.args[0] if step.args else ""
    home = ground.places.user_home
    known = re.fullmatch(
        rf"({re.escape(home)}/\.(bashrc|zshrc|profile|bash_profile|zprofile|nvm/nvm\.sh|cargo/env|asdf/asdf\.sh)|/etc/profile|/etc/bash_completion)",
        file,
    )
    return READS if known else script_file(step, ground, file)


def evaluates(step: Step, ground: Ground) -> Verdict:
    return ask(HIDDEN, "eval runs what only running it will tell") if UNKNOWN in " ".join(step.args) else READS


def java(step: Step, ground: Ground) -> Verdict:
    """java runs a jar or classes of the working folder."""
    if any(arg.startswith(("-javaagent", "-agentpath", "-agentlib")) for arg in step.args):
        return ask(HIDDEN, "java is told to load other code")
    path = value_of(step.args, "-cp", "-classpath", "--class-path") or ""
    places = [*([jar] if (jar := value_of(step.args, "-jar")) else []), *(part for part in path.split(":") if part)]
    strange = next((place for place in places if not ground.is_inside(step, place)), "")
    return ask("outside-code", f"{strange} is code outside the working folder") if strange else WORKS


def cmake(step: Step, ground: Ground) -> Verdict:
    """cmake builds; with -P it runs a script, with -E a small command of its own, with --install it installs."""
    if script := value_of(step.args, "-P"):
        return script_file(step, ground, script)
    if step.args[:1] == ("-E",):
        reads = step.args[1:2] in (
            ("echo",),
            ("cat",),
            ("capabilities",),
            ("environment",),
            ("compare_files",),
            ("sha256sum",),
        )
        return READS if reads else ask(HIDDEN, "cmake -E changes files or starts programs")
    return ask("system", "it installs on this machine") if has(step.args, "--install") else WORKS


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(SHELLS, shell),
    **dict.fromkeys((".", "source"), source),
    "eval": evaluates,
    "java": java,
    "cmake": cmake,
}
