"""Package managers and build tools: building and testing is work, installing a package runs code from elsewhere."""

import os
import re
from collections.abc import Callable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.declared import declared
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.removal import rimraf
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.targets import named_target
from hermes.safety.commands.toolchains import INSTALLS, LOCAL_TOOLS, RULE, SYSTEM, TOOLS
from hermes.safety.commands.verbs import judge_verbs
from hermes.safety.commands.verdicts import READS, WORKS, ask

# The verbs of yarn, pnpm and bun that are not scripts of the project.
_FETCH = listed(
    "install i ci add dlx create global update up upgrade x link import self-update setup env login publish config set plugin c deploy patch-commit approve-builds rebuild fetch store cache unlink policies npm tag owner team"
)
_LOOK = listed("list ls why outdated audit info view root bin licenses help")


def tool(step: Step, ground: Ground) -> Verdict:
    """npm, cargo, pip, apt and their like, by what their verbs say."""
    if declared(step, ground):
        return WORKS
    name, args = step.name, list(step.args)
    words = operands(args, TOOLS[name].valued.split())
    if name in ("npm",) and words[:1] in (["run"], ["run-script"], ["start"], ["test"], ["t"]):
        return named_target(name, words[1:2])
    if name == "npm" and words[:1] in (["exec"], ["x"]):
        return runner(step, ground)
    if name == "npm" and words[:1] == ["init"] and len(words) > 1:
        return ask(RULE, INSTALLS.format("npm init"))
    if name == "go" and words[:1] in (["run"], ["env"], ["install"], ["get"]):
        return _go(words, args)
    if name in ("pip", "pip3") and words[:1] == ["download"]:
        return ask(RULE, "pip download may run a package's own code to learn what it needs")
    if name == "npm" and words[:2] == ["audit", "fix"]:
        return ask(RULE, INSTALLS.format("npm audit fix"))
    if words[:1] == ["config"] and has(args, "--list", "-l", "--show"):
        return READS
    if words[:1] == ["config"] and len(words) > 2 and words[1] not in ("get", "list", "ls"):
        return ask(RULE, f"{name} config changes whom it fetches code from, or what it runs")
    if name == "deno" and words[:1] in (["run"], ["serve"]):
        return script_target(step, ground, words[1:2])
    return judge_verbs(name, TOOLS[name], args)


def script_target(step: Step, ground: Ground, words: list[str]) -> Verdict:
    """A script that a runtime is told to run: one of the working folder is work."""
    if words and ground.is_inside(step, words[0]):
        return named_target(step.name, [re.sub(r"\.\w+$", "", words[0])])
    return ask(RULE, INSTALLS.format(step.name))


def _go(words: list[str], args: list[str]) -> Verdict:
    if words[0] == "env" and not has(args, "-w", "-u"):
        return READS
    if words[0] == "run" and not any("@" in word or re.match(r"[\w-]+\.[\w.-]+/", word) for word in words[1:2]):
        return WORKS
    return ask(RULE, INSTALLS.format(" ".join(["go", *words[:2]])))


def dpkg(step: Step, ground: Ground) -> Verdict:
    if has(
        step.args, "-l", "-L", "-s", "-S", "-p", "-I", "-c", "--list", "--listfiles", "--status", "--search", "--audit"
    ):
        return READS
    return ask("system", SYSTEM.format("dpkg"))


def rpm(step: Step, ground: Ground) -> Verdict:
    reads = any(re.match(r"-[qV]|--query|--verify", arg) for arg in step.args)
    return READS if reads else ask("system", SYSTEM.format("rpm"))


def pacman(step: Step, ground: Ground) -> Verdict:
    if any(re.match(r"-(Q|T|F|Si|Ss|Sl|Sg|D?k)|--query", arg) for arg in step.args) or has(step.args, "--print"):
        return READS
    return ask("system", SYSTEM.format(step.name))


def yarn(step: Step, ground: Ground) -> Verdict:
    """yarn, pnpm and bun run a script of the project by its bare name."""
    if declared(step, ground):
        return WORKS
    words = operands(step.args, ("--cwd", "-C", "--filter", "-F", "--dir"))
    match words:
        case []:
            return ask(RULE, INSTALLS.format(step.name)) if step.name != "bun" else READS
        case ["workspace", _, *more]:
            return yarn(replace(step, args=tuple(more)), ground)
        case ["workspaces", "foreach", *more] if more:
            return yarn(replace(step, args=tuple(more)), ground)
        case ["npm", verb, *_]:
            looks = verb in ("info", "audit", "whoami")
            return READS if looks else ask("sends-data", f"yarn npm {verb} changes what others install")
        case [verb, *_] if verb in _FETCH:
            reads = words[:2] in (["config", "list"], ["config", "get"], ["env", "list"], ["global", "list"])
            return READS if reads else ask(RULE, INSTALLS.format(f"{step.name} {verb}"))
        case [verb, *_] if verb in _LOOK:
            return READS
        case ["exec", tool_name, *_]:
            return _local_tool(step, ground, tool_name)
        case ["run" | "run-script", *more]:
            return named_target(step.name, more[:1])
        case _:
            return named_target(step.name, words[:1])


def runner(step: Step, ground: Ground) -> Verdict:
    """npx, uvx, bunx: they run a tool of the project, or else fetch one."""
    words = operands(step.args)
    if step.name in ("npm",):
        words = words[1:]
    options = step.args[: step.args.index(words[0])] if words else ()
    if not words or has(options, "-p", "--package", "-c", "--call", "--with", "--from"):
        return ask(RULE, INSTALLS.format(step.name))
    if words[0] in ("rimraf", "del-cli"):
        return rimraf(replace(step, args=step.args[len(options) + 1 :]), ground)
    if has(step.args, "--no-install", "--no"):
        return WORKS
    return _local_tool(step, ground, words[0])


def _local_tool(step: Step, ground: Ground, name: str) -> Verdict:
    here = ground.local and any(os.path.exists(f"{cwd}/node_modules/.bin/{name}") for cwd in step.cwds)
    if step.name not in ("uvx", "pipx") and UNKNOWN not in name and (here or name in LOCAL_TOOLS):
        return named_target(f"{step.name} {name}", operands(step.args[step.args.index(name) + 1 :]))
    return ask(RULE, INSTALLS.format(f"{step.name} {name}"))


def make(step: Step, ground: Ground) -> Verdict:
    """make, just, task, rake, ninja, gradle, mvn: their targets are the project's own, but some reach out by custom."""
    args = list(step.args)
    if any(re.match(r"(SHELL|\.SHELLFLAGS|MAKEFLAGS|PREFIX|prefix)=", arg) for arg in args) or has(args, "--eval"):
        return ask("hidden-code", f"{step.name} is told here what to run")
    files = [file for file in (value_of(args, "-f", "--file", "--makefile", "-C", "--directory", "-p") or "",) if file]
    if not all(ground.is_inside(step, file) for file in files if "/" in file or file == ".."):
        return ask("outside-code", f"{step.name} would run what a file outside the working folder says")
    if not all(ground.is_inside(step, cwd) for cwd in step.cwds):
        return ask("outside-code", f"{step.name} would run what is outside the working folder")
    if "-" in files:
        return ask("hidden-code", f"{step.name} is fed what to do")
    words = operands(args, ("-f", "--file", "-C", "--directory", "-j", "-o", "-W", "-I"))
    # To install is the last step of a build with Maven: it goes to the folder of packages that builds of this machine read.
    usual = ("install",) if step.name in ("mvn", "mvnw") else ()
    return named_target(step.name, [word for word in words if "=" not in word and word not in usual])


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(TOOLS, tool),
    "dpkg": dpkg,
    "rpm": rpm,
    **dict.fromkeys(("pacman", "yay", "paru"), pacman),
    **dict.fromkeys(("yarn", "pnpm"), yarn),
    **dict.fromkeys(("npx", "bunx", "uvx", "pnpx"), runner),
    **dict.fromkeys(("make", "gmake"), make),
}
