"""Find the command that was meant and run it. Each command is a module, loaded only when it is asked for.

Exit codes: 0 done, 1 failed or refused, 2 wrong usage or settings, 3 a limit was reached, 130 interrupted.
"""

import argparse
import asyncio
import difflib
import errno
import io
import logging
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from hermes.cli.logfiles import log_to_stderr, logging_to_files
from hermes.protocol.errors import HermesError, UserError

COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("hermes.cli.chat", "talk in this terminal, or ask one question with -q"),
    "sessions": ("hermes.cli.sessions", "list, browse, show, export, rename, delete or prune stored sessions"),
    "memory": ("hermes.cli.memory", "show what is remembered, why, undo it, decide about what waits"),
    "honcho": ("hermes.cli.honcho", "show whether the Honcho user model is used and reached"),
    "insights": ("hermes.cli.insights", "show what was used: tokens, cost, models, tools, hours"),
    "learn": ("hermes.cli.learn", "show what was learned, from which message, and what it saved"),
    "replay": ("hermes.cli.replay", "show a stored session's events again"),
    "model": ("hermes.cli.model", "list providers and models, check one, switch"),
    "auth": ("hermes.cli.auth", "log in to a provider, keep several keys"),
    "login": ("hermes.cli.login", "log in to a provider: short for hermes auth add"),
    "logout": ("hermes.cli.logout", "forget a login: short for hermes auth logout"),
    "curator": ("hermes.cli.curator", "look after the skills that Hermes wrote: try, pin, archive, restore"),
    "mcp": ("hermes.cli.mcp", "add, list, test, choose and log in to MCP servers"),
    "skills": ("hermes.cli.skills", "list, search, install, check, update and remove skills"),
    "config": ("hermes.cli.config", "show, get, set, unset or edit settings"),
    "policy": ("hermes.cli.policy", "say what the gate would do with a command, an address or a path, and why"),
    "security": ("hermes.cli.security", "look for what a careful person would change"),
    "checkpoints": ("hermes.cli.checkpoints", "list, measure, prune or clear what folders looked like before changes"),
    "terminal": ("hermes.cli.terminal", "show the terminal, or prove that it works"),
    "prompt-size": ("hermes.cli.prompt_size", "count what every request begins with"),
    "setup": ("hermes.cli.setup", "choose model, terminal and tools, step by step"),
    "doctor": ("hermes.cli.doctor", "find what is wrong, and mend what is safe to mend"),
    "status": ("hermes.cli.status", "what is set and what works, on one screen"),
    "tools": ("hermes.cli.tools", "list, enable or disable what the model can do"),
    "logs": ("hermes.cli.logs", "show what was logged"),
    "profile": ("hermes.cli.profile", "homes beside each other: list, use, create, copy, delete"),
    "backup": ("hermes.cli.backup", "the whole home in one file"),
    "import": ("hermes.cli.restore", "bring back a backup"),
    "update": ("hermes.cli.update", "bring Hermes up to date"),
    "uninstall": ("hermes.cli.uninstall", "remove Hermes; what you own stays unless you say so"),
    "completion": ("hermes.cli.completion", "let a shell complete what you type"),
    "dump": ("hermes.cli.dump", "one block of text for a bug report"),
    "debug": ("hermes.cli.debug", "pack what a bug report needs into one file, or remove such files"),
    "version": ("hermes.cli.version", "print the version"),
}

UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
MOST = 1_000_000_000
"""Of anything that a person can count; SQLite and msgspec take no number beyond 64 bits."""


class Parser(argparse.ArgumentParser):
    """argparse whose errors are one line that says what to do."""

    def error(self, message: str) -> NoReturn:
        raise UserError(message, f"{self.prog} --help shows what there is")


def global_flags() -> Parser:
    """Flags that every command that opens a session knows."""
    flags = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    flags.add_argument("-m", "--model", metavar="MODEL", help="provider:model, or a model of the set provider")
    flags.add_argument("--provider", metavar="NAME", help="the provider of the model")
    flags.add_argument("--base-url", metavar="URL", help="address of an OpenAI-style server")
    flags.add_argument("-t", "--toolsets", metavar="NAMES", help="toolsets or tools, with commas between")
    flags.add_argument("-s", "--skills", metavar="NAMES", help="skills to begin with, with commas between")
    flags.add_argument("-r", "--resume", metavar="SESSION", help="go on with a session, by id or title")
    flags.add_argument(
        "-c", "--continue", metavar="TITLE", nargs="?", const="", dest="continued", help="go on with the latest session"
    )
    flags.add_argument("--yolo", action="store_true", help="run what would ask, without asking")
    flags.add_argument("--ignore-rules", action="store_true", help="do not read the project's context file")
    flags.add_argument("--ignore-user-config", action="store_true", help="do not read config.yaml")
    flags.add_argument("--max-turns", metavar="N", type=count, help="model calls in one turn at most")
    flags.add_argument("--source", metavar="TAG", help="where the session comes from, for lists")
    flags.add_argument("--tui", dest="screen", action="store_const", const="full", help="talk on the full screen")
    flags.add_argument("--cli", dest="screen", action="store_const", const="lines", help="talk in plain lines")
    flags.add_argument("--json", action="store_true", help="every event as one line of JSON on stdout")
    flags.add_argument(
        "--dump-requests", metavar="FOLDER", type=Path, help="keep every request and response there, for bug reports"
    )
    flags.add_argument(
        "--usage-file", metavar="FILE", type=Path, help="write what a single question used there, as JSON"
    )
    flags.add_argument("-w", "--worktree", action="store_true", help="work in a git worktree of its own")
    flags.add_argument("--no-restore-cwd", action="store_true", help="resume here, not in the session's folder")
    flags.add_argument("--pass-session-id", action="store_true", help="tell the model the id of its session")
    flags.add_argument("-p", "--profile", metavar="NAME", help="use the home of this profile")
    flags.add_argument(
        "-v", "--verbose", action="store_true", help="log to stderr; on the full screen, more to the log file"
    )
    return flags


def count(text: str) -> int:
    """A number of things as a person types it."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST:,}")
    return int(text)


def top_parser() -> Parser:
    lines = "\n".join(f"  {name:<12} {text}" for name, (_, text) in COMMANDS.items())
    parser = Parser(
        prog="hermes",
        description="An AI agent that acts through tools. Without a command: a chat in this terminal.",
        epilog=f"commands:\n{lines}\n\nhermes COMMAND --help tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[global_flags()],
    )
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    parser.add_argument(
        "-z",
        "--oneshot",
        metavar="PROMPT",
        help="answer once, with what is piped in; only the answer goes to stdout (- reads stdin)",
    )
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def command_parser(name: str) -> tuple[Parser, ModuleType]:
    """The parser of one command and the module that runs it."""
    module = import_module(COMMANDS[name][0])
    parents = [global_flags()] if getattr(module, "OPENS_SESSION", False) else []
    parser = Parser(
        prog=f"hermes {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=parents,
    )
    module.add_arguments(parser)
    return parser, module


def parse(argv: list[str]) -> tuple[ModuleType, argparse.Namespace]:
    given = top_parser().parse_args(argv)
    rest: list[str] = given.rest
    if given.command == "help":
        return parse([*rest[:1], "--help"])
    if given.version:
        name = "version"
    elif given.oneshot is not None:
        if given.command:
            raise UserError(f"what does {given.command!r} mean behind -z?", 'quote the prompt: hermes -z "one two"')
        name, rest = "chat", ["--query", given.oneshot, "--quiet"]
    else:
        name = given.command or "chat"
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean hermes {near[0]}?" if near else f'to ask something: hermes -z "{name} …"'
        raise UserError(f"there is no command {name!r}", hint)
    parser, module = command_parser(name)
    own = {"command", "rest", "version", "oneshot"}
    flags = argparse.Namespace(**{k: v for k, v in vars(given).items() if k not in own})
    return module, parser.parse_args(rest, flags)


def run(argv: list[str]) -> int:
    """Run a command line; every error is one line on stderr."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        with logging_to_files():
            code = _run(argv)
        sys.stdout.flush()
    except OSError as error:
        # Whoever read our output may have gone, or its disk be full; Python would complain again as it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            print_error(*_told(error))
        code = 1
    return code


def _told(error: OSError) -> tuple[str, str]:
    """What the system refused, and what to do about it."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return "the working folder is not there any more", "go to another one"
    hint = "Hermes must be able to write there; HERMES_HOME names another home" if error.errno in UNWRITABLE else ""
    return f"{error.filename or 'cannot write'}: {error.strerror or error}", hint


def _open_closed_streams() -> None:
    """Let a stream that was closed lead nowhere: else the next file, perhaps the database, would get its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _run(argv: list[str]) -> int:
    try:
        module, args = parse(argv)
        if getattr(args, "verbose", False):
            log_to_stderr()
        if profile := getattr(args, "profile", ""):
            from hermes import config

            config.choose_profile(profile)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return asyncio.run(module.run(args))
    except UserError as error:
        print_error(error, error.hint)
        return 2
    except HermesError as error:
        print_error(error)
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError:
        raise
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and (word := _no_text(argv)):
            print_error(f"{word} is not text", "write it in UTF-8")
            return 2
        logging.getLogger(__name__).exception("unforeseen")
        print_error(
            f"internal error: {type(error).__name__}: {error}", "hermes logs errors shows where; please report it"
        )
        return 1


def _no_text(argv: list[str]) -> str:
    """The first argument with bytes that are no UTF-8, which Python hands on as surrogates; "" if there is none."""
    return next((ascii(word) for word in argv if word.encode(errors="replace").decode() != word), "")


def print_error(error: Exception | str, hint: str = "") -> None:
    print(f"hermes: {error}" + (f" ({hint})" if hint else ""), file=sys.stderr)
