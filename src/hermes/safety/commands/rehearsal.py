"""Help pages, dry runs and lists: a program that only says what it can do, would do, or has."""

import re

from hermes.safety.commands.argv import SHELLS, has, listed
from hermes.safety.commands.programs import DRY_RUNS
from hermes.safety.patterns import Pattern

_HELP = frozenset({"--help", "-help", "help", "--version", "-version", "--usage", "-V"})
_DRY = listed("--dry-run --dryrun --simulate --just-print --noop --whatif --recon --no-act --dry_run")
# With these -h is help, wherever it stands.
_SHORT_HELP = listed(
    "kubectl helm gh git cargo npm pnpm yarn uv poetry terraform tofu pulumi gcloud az flyctl hermes hatch"
)
# With these a word in front of --help is another program, which then runs.
_RUN_OTHERS = SHELLS | listed("npx uvx bunx pnpx pipx python python3 node ruby perl php lua source . eval ssh nc")


def only_tells(name: str, args: tuple[str, ...]) -> bool:
    """Whether a program is only asked for help, for its version, or for what it would do."""
    return _asks_for_help(name, args) or (name in DRY_RUNS and _is_dry(name, args))


def _asks_for_help(name: str, args: tuple[str, ...]) -> bool:
    if not args or "/" in name:
        return False
    if all(arg in _HELP for arg in args):
        return True
    *words, last = args
    if last not in ("--help", "-help", "--usage") and not (last == "-h" and name in _SHORT_HELP):
        return args[0] == "help" and len(args) < 4
    most = 0 if name in _RUN_OTHERS else 1 if words[:1] in (["run"], ["exec"]) else 3
    return len(words) <= most and all(re.fullmatch(r"-{0,2}\w[\w:.-]*", word) for word in words)


def _is_dry(name: str, args: tuple[str, ...]) -> bool:
    if any(arg in _DRY or re.fullmatch(r"--dry-run=(client|server|all|true|unchanged)", arg) for arg in args):
        return True
    match name:
        case "make" | "gmake":
            return has(args, "-n") and not any("=" in arg for arg in args)
        case "apt" | "apt-get" | "aptitude":
            return has(args, "-s")
        case "ansible-playbook" | "ansible":
            return (
                has(args, "-C", "--check")
                or "--syntax-check" in args
                or "--list-hosts" in args
                or "--list-tasks" in args
            )
        case "stow":
            return has(args, "-n")
        case _:
            return False


_LOOKS = listed(
    "list ls status version info doctor whoami history lint validate check-health healthcheck ping help "
    "ps images inspect describe search query outdated tree"
)
_PLAIN = Pattern(r"-{0,2}[a-z][a-z0-9:-]*|--[a-z-]+=[\w.-]+|\d+", re.I)
_CHANGES = Pattern(
    r"-*(add|create|new|delete|remove|rm|set|put|update|write|send|push|publish|upload|deploy|run|exec|start|stop|restart|kill|"
    r"reset|drop|purge|clear|clean|install|uninstall|import|export|apply|enable|disable|grant|revoke|login|get|show|dump|x|e)",
    re.I,
)


def only_looks(args: tuple[str, ...]) -> bool:
    """Whether a program that nobody knows is asked for its help, or a word says that it lists and none says more."""
    if args == ("-h",):
        return True
    words = [arg.rpartition(":")[2] for arg in args if not arg.startswith("-")]
    return (
        bool(_LOOKS & set(words[:2]))
        and len(args) <= 4
        and all(_PLAIN.fullmatch(arg) and not _CHANGES.fullmatch(arg) for arg in args)
    )
