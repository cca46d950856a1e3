"""The rules over one program with its arguments: which verdict it gets, and by which rule."""

import os
import re
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands import clouds, code, databases, files, filters, network, packages, scripts, system
from hermes.safety.commands.argv import listed, value_of
from hermes.safety.commands.building import builds
from hermes.safety.commands.git import git
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.looking import opens, says, searches, shows
from hermes.safety.commands.programs import BUILD, READ_FILES, SAY_ANYTHING, SEARCH
from hermes.safety.commands.rehearsal import only_tells
from hermes.safety.commands.steps import FORK_BOMB, Puzzle, Step, path_from
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.toolchains import TOOLS
from hermes.safety.commands.variables import settings
from hermes.safety.commands.verdicts import READS, WORKS, ask, worst
from hermes.safety.places import ALLOW, inside

_LISTENS = re.compile(r"(.*[=:])?(0\.0\.0\.0|\[?::\]?)(:\d+)*")
_THROWS_AWAY = re.compile(
    r"([\w-]+[:.])*(database|db|schema|migrate|ecto|sql)[:.](drop|reset|purge|fresh|wipe|rollback|nuke)([:.].*)?"
)

Granted = Callable[[Step], bool]
Rule = Callable[[Step, Ground], Verdict]

# Behind these, only reading is free: they run as another user, or on another machine.
_AS_ANOTHER = listed("sudo doas su pkexec runuser ssh chroot nsenter unshare")


def judge_found(found: Iterable[Step | Puzzle], ground: Ground, granted: Granted = lambda step: False) -> Verdict:
    """The strictest verdict about anything that a walk found."""
    verdicts: list[Verdict] = []
    for each in found:
        match each:
            case Puzzle(why):
                verdicts.append(ask("not-understood", why))
            case Step():
                verdict = judge_step(each, ground)
                verdicts.append(verdict if verdict.decision == ALLOW or not granted(each) else WORKS)
    return worst(verdicts)


def judge_step(step: Step, ground: Ground) -> Verdict:
    if step.name.startswith(UNKNOWN) or UNKNOWN in step.name:
        return ask("hidden-code", "nobody can tell which program it would start")
    traced = value_of(step.before, "-o") if {"strace", "ltrace", "time"} & set(step.wraps) else None
    writes = [*step.writes, *([traced] if traced else [])]
    around = settings(step, ground) or ground.writing(step, writes) or ground.reading(step, step.input.files)
    if around:
        return around
    wrote = any(not re.match(r"/dev/|&?\d$", target) for target in step.writes)
    if not step.name:
        return WORKS if wrote else READS
    if why := system.stays_behind(step):
        return ask("stays-behind", why)
    verdict = _program(step, ground)
    if verdict == READS and wrote:
        verdict = WORKS
    if verdict == WORKS and (found := next(filter(_LISTENS.fullmatch, step.args), "")):
        return ask("way-in", f"with {found} it listens to the whole network")
    if verdict == WORKS and step.name != "git" and (found := next(filter(_THROWS_AWAY.fullmatch, step.args), "")):
        return ask("database", f"{found} throws data away by its name")
    if step.fetched and verdict == WORKS and step.name not in files.RULES and step.name != "git":
        return ask("fetched-code", f"{step.name} would run what this command has just fetched")
    if verdict == WORKS and (other := next((wrap for wrap in step.wraps if wrap in _AS_ANOTHER), "")):
        return ask("privileges", f"behind {other} only reading is free")
    if verdict.decision == ALLOW and {"chroot", "nsenter", "systemd-run", "pkexec"} & set(step.wraps):
        return ask("privileges", "it runs with another root, or as another user")
    return verdict


def _program(step: Step, ground: Ground) -> Verdict:
    name, args = step.name, step.args
    if only_tells(name, args):
        return READS
    if rule := _RULES.get(name) or code.interpreter_rule(name):
        return rule(step, ground)
    if name in SAY_ANYTHING:
        return says(step, ground)
    if name in SEARCH:
        return searches(step, ground)
    if name in READ_FILES:
        return shows(step, ground)
    if name in BUILD:
        return builds(step, ground)
    if "/" in name:
        return _own_program(step, ground)
    return ask("unknown-program", f"{name} is not known here")


def _own_program(step: Step, ground: Ground) -> Verdict:
    """A program by its path: one of the working folder is work, one elsewhere asks."""
    base = os.path.basename(step.name)
    known = _RULES.get(base) or code.interpreter_rule(base) or (builds if base in BUILD else None)
    # The interpreter in a virtual environment is a link to the system's own.
    lies_here = all(inside(path_from(cwd, step.name), ground.workspace) for cwd in step.cwds)
    if known and lies_here and re.search(r"(^|/)(bin|\.bin)/|gradlew$|mvnw$", step.name) and not step.script:
        return known(replace(step, name=base), ground)
    return scripts.script_file(step, ground, step.name)


def _ansible(step: Step, ground: Ground) -> Verdict:
    return ask("remote-state", f"{step.name} changes other machines")


_RULES: dict[str, Rule] = {
    **system.RULES,
    **network.RULES,
    **files.RULES,
    **databases.RULES,
    **scripts.RULES,
    **filters.RULES,
    **dict.fromkeys(TOOLS, packages.tool),
    "dpkg": packages.dpkg,
    "rpm": packages.rpm,
    **dict.fromkeys(("pacman", "yay", "paru"), packages.pacman),
    **dict.fromkeys(("yarn", "pnpm", "bun"), packages.yarn),
    **dict.fromkeys(("npx", "bunx", "uvx", "pnpx"), packages.runner),
    **dict.fromkeys(("make", "gmake"), packages.make),
    **dict.fromkeys(clouds.VERBS, clouds.by_verbs),
    **dict.fromkeys(
        ("aws", "gcloud", "az", "gsutil", "bq", "doctl", "linode-cli", "oci", "ibmcloud", "hcloud", "eksctl", "s3api"),
        clouds.cloud,
    ),
    **dict.fromkeys(("ansible", "ansible-playbook", "salt", "puppet", "chef-client", "fab", "cap"), _ansible),
    "git": git,
    **dict.fromkeys(("open", "xdg-open"), opens),
    **dict.fromkeys(("rimraf", "del-cli"), files.rimraf),
    "java": scripts.java,
    "cmake": scripts.cmake,
    FORK_BOMB: lambda step, ground: ask("fork-bomb", "it starts itself again and again"),
}
