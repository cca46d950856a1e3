"""The rules over one program with its arguments: which verdict it gets, and by which rule."""

import os
import re
from collections.abc import Callable, Iterable
from itertools import pairwise

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import listed, value_of
from hermes.safety.commands.filling import fills
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.looking import says, searches, shows
from hermes.safety.commands.options import goes_on, turned
from hermes.safety.commands.owners import OWNERS, rule_for
from hermes.safety.commands.programs import BUILD, READ_FILES, SAY_ANYTHING, SEARCH
from hermes.safety.commands.rehearsal import only_looks, only_tells
from hermes.safety.commands.steps import Puzzle, Step, path_from
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask, worst
from hermes.safety.patterns import Pattern
from hermes.safety.places import ALLOW, inside

_LISTENS = Pattern(r"(.*[=:/])?(0\.0\.0\.0|\[::\])(:\d+)*|--?\w[\w-]*=::")
_THROWS_AWAY = Pattern(
    r"([\w-]+[:.])*(database|db|schema|migrate|migration|ecto|sql)[:.](drop|reset|purge|fresh|wipe|rollback|nuke|undo|revert)([:.].*)?"
)

# gcc-12, x86_64-linux-gnu-gcc: the same tool for another version or machine.
_VERSIONED = Pattern(
    r"(?:(?:(?:[a-z0-9_]+-){2,4}|(?:avr|arm|riscv\d*|xtensa|mips|msp430|m68k)-)(?=gcc|g\+\+|ld|as|ar|nm|obj|readelf|size|strings|strip))?([a-zA-Z+][a-zA-Z+_-]*?)(?:-\d[\d.]*)?"
)

Granted = Callable[[Step], bool]

# Behind these, a name that nobody knows is a script or a program of the project.
_OF_THE_PROJECT = listed("hatch pdm rye pixi poetry pipenv")
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
    if "strace" in step.wraps and any(re.search(r"(inject|fault)[=:]", word) for word in step.before):
        return ask("process-memory", "strace would change what the program is told by the system")
    traced = value_of(step.before, "-o") if {"strace", "ltrace", "time", "perf"} & set(step.wraps) else None
    writes = [*step.writes, *([traced] if traced else [])]
    around = _settings(step, ground) or ground.writing(step, writes) or ground.reading(step, step.input.files)
    if around:
        return around
    if step.writes and (emptied := _emptied(step)):
        return emptied
    if filled := fills(step):
        return filled
    wrote = any(not re.match(r"/dev/|&?\d$", target) for target in step.writes)
    if not step.name:
        return WORKS if wrote else READS
    if why := _stays_behind(step):
        return ask("stays-behind", why)
    verdict = _program(step, ground)
    if verdict.decision == ALLOW and (orders := _orders(step)):
        return orders
    if verdict == READS and wrote:
        verdict = WORKS
    if verdict.decision == ALLOW and (host := _host_by_ssh(step)) and ground.hides_keys():
        return ask("ssh-keys", f"it speaks to {host} through ssh, with keys that commands cannot see")
    if verdict == WORKS and (further := goes_on(step)):
        return further
    if verdict == WORKS and step.name not in ("curl", "wget") and (found := _listens(step.args)):
        return ask("way-in", f"with {found} it listens to the whole network")
    if verdict == WORKS and step.name != "git" and (found := next(filter(_THROWS_AWAY.fullmatch, step.args), "")):
        return ask("database", f"{found} throws data away by its name")
    if (
        verdict == WORKS
        and _runs_the_project(step.name)
        and not all(ground.is_inside(step, cwd) for cwd in _folders(step))
    ):
        return ask("outside-code", f"{step.name} would run code outside the working folder")
    if step.fetched and verdict == WORKS and OWNERS.get(step.name) != "files" and step.name != "git":
        return ask("fetched-code", f"{step.name} would run what this command has just fetched")
    if verdict == WORKS and (other := next((wrap for wrap in step.wraps if wrap in _AS_ANOTHER), "")):
        return ask("privileges", f"behind {other} only reading is free")
    if verdict.decision == ALLOW and {"chroot", "nsenter", "systemd-run", "pkexec"} & set(step.wraps):
        return ask("privileges", "it runs with another root, or as another user")
    return verdict


def _stays_behind(step: Step) -> str:
    """Why a program would outlive the command, or nothing."""
    if "nohup" in step.wraps and step.background:
        return "nohup and & leave it running"
    if found := next((wrap for wrap in step.wraps if wrap in ("setsid", "systemd-run", "daemonize")), ""):
        return f"{found} leaves it running"
    return ""


def _folders(step: Step) -> list[str]:
    """Where a tool looks for the project that it is to build or run."""
    options = ("--prefix", "--cwd", "--dir", "--directory", "--project", "--manifest-path", "-C")
    return [*step.cwds, *([folder] if (folder := value_of(step.args, *options)) else [])]


def _listens(args: tuple[str, ...]) -> str:
    """The argument by which a program listens to everybody, or nothing."""
    bare = next((word for before, word in pairwise(args) if word == "::" and before.startswith("-")), "")
    return bare or next(filter(_LISTENS.fullmatch, args), "")


def _program(step: Step, ground: Ground) -> Verdict:
    name, args = step.name, step.args
    if only_tells(name, args):
        return READS
    if further := turned(step):
        return further
    if rule := rule_for(name):
        return rule(step, ground)
    if name in SAY_ANYTHING:
        return says(step, ground)
    if name in SEARCH:
        return searches(step, ground)
    if name in READ_FILES:
        return shows(step, ground)
    if name in BUILD:
        return _builds(step, ground)
    if "/" in name:
        return _own_program(step, ground)
    if (plain := _VERSIONED.fullmatch(name)) and (plain[1] in BUILD or plain[1] in READ_FILES):
        return _program(replace(step, name=plain[1]), ground)
    if _OF_THE_PROJECT & set(step.wraps):
        from hermes.safety.commands.targets import named_target

        return named_target(step.wraps[-1], [name])
    return READS if only_looks(args) else ask("unknown-program", f"{name} is not known here")


def _own_program(step: Step, ground: Ground) -> Verdict:
    """A program by its path: one of the working folder is work, one elsewhere asks."""
    base = os.path.basename(step.name)
    known = base in BUILD or rule_for(base)
    # The interpreter in a virtual environment is a link to the system's own.
    lies_here = all(inside(path_from(cwd, step.name), ground.workspace) for cwd in step.cwds)
    if known and lies_here and re.search(r"(^|/)(bin|\.bin)/|gradlew$|mvnw$", step.name) and not step.script:
        return _program(replace(step, name=base), ground)
    from hermes.safety.commands.code import managed
    from hermes.safety.commands.scripts import script_file

    return worst([script_file(step, ground, step.name), managed([base, *step.args])])


# Few steps need these, and what is not needed is not loaded.


def _settings(step: Step, ground: Ground) -> Verdict | None:
    if not step.env:
        return None
    from hermes.safety.commands.variables import settings

    return settings(step, ground)


def _emptied(step: Step) -> Verdict | None:
    from hermes.safety.commands.removal import empties, says_nothing

    return empties(step.writes) if says_nothing(step) else None


def _orders(step: Step) -> Verdict | None:
    if step.input.text == "":
        return None
    from hermes.safety.commands.orders import takes_orders

    return takes_orders(step)


def _host_by_ssh(step: Step) -> str:
    if step.name != "git":
        return ""
    from hermes.safety.commands.git_ssh import host_by_ssh

    return host_by_ssh(step)


def _builds(step: Step, ground: Ground) -> Verdict:
    from hermes.safety.commands.building import builds

    return builds(step, ground)


def _runs_the_project(name: str) -> bool:
    if name in BUILD or name in ("yarn", "pnpm", "bun", "npx"):
        return True
    if OWNERS.get(name) != "packages":
        return False
    from hermes.safety.commands.toolchains import TOOLS

    return name in TOOLS
