"""Help pages and dry runs: a program that only says what it can do, or what it would do."""

import re

from hermes.safety.commands.argv import SHELLS, has, listed
from hermes.safety.commands.programs import DRY_RUNS

_HELP = frozenset({"--help", "-help", "help", "--version", "-version", "--usage", "-V"})
_DRY = listed("--dry-run --dryrun --simulate --just-print --noop --whatif --recon --no-act --dry_run")
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
    if last not in ("--help", "-help", "--usage"):
        return args[0] == "help" and len(args) < 4
    most = 0 if name in _RUN_OTHERS else 1 if words[:1] in (["run"], ["exec"]) else 2
    return len(words) <= most and all(re.fullmatch(r"\w[\w:.-]*", word) for word in words)


def _is_dry(name: str, args: tuple[str, ...]) -> bool:
    if any(arg in _DRY or re.fullmatch(r"--dry-run=(client|server|all|true|unchanged)", arg) for arg in args):
        return True
    match name:
        case "make" | "gmake":
            return has(args, "-n") and not any("=" in arg for arg in args)
        case "apt" | "apt-get" | "aptitude":
            return has(args, "-s")
        case "ansible-playbook" | "ansible":
            return "--check" in args or "--syntax-check" in args or "--list-hosts" in args or "--list-tasks" in args
        case "stow":
            return has(args, "-n")
        case _:
            return False
