"""Whether a command may run without a question.

It may if it is plain, every program in it is on the short list with options known not to write or start anything, and every
file that it names may be read or written without a question. What is not known to be harmless is not harmless.
"""

import glob
import os
from collections.abc import Callable, Sequence
from itertools import islice, takewhile

from hermes.protocol.actions import Verdict
from hermes.safety.argv import program, split_options
from hermes.safety.commands import Redirect, Script, Simple, Word
from hermes.safety.places import ALLOW, ASK, Places, holds_credentials, inside
from hermes.safety.programs import (
    BUILDS,
    DATE_SHOWS,
    FIND_ACTS,
    GIT_LISTS,
    GIT_NEEDS_A_WORD,
    GIT_NEVER,
    GIT_READS,
    PROGRAMS,
    SED_PRINTS,
    TELL_VERSIONS,
    Program,
)

MOST_MATCHES = 1000
MOST_LEVELS = 3
MOST_FOLDERS = 16
SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})

OnPath = Callable[[str], Verdict]
Granted = Callable[[tuple[str, ...]], bool]


def only_reads(script: Script, cwd: str, user_home: str) -> bool:
    """Whether a command, once permitted, leaves every file as it is."""
    places = Places(home="", user_home=user_home)
    look = Look(
        cwd=cwd,
        workspace=cwd,
        places=places,
        local=True,
        read=lambda path: Verdict(ALLOW, "read"),
        write=lambda path: Verdict(ASK, "write", "it writes"),
        builds=False,
    )
    return not look.concern(script)


class Look:
    """One look at one command, which follows its `cd`."""

    def __init__(
        self,
        *,
        cwd: str,
        workspace: str,
        places: Places,
        local: bool,
        read: OnPath,
        write: OnPath,
        granted: Granted = lambda argv: False,
        builds: bool = True,
    ) -> None:
        self.cwds = [cwd]
        self.workspace = workspace
        self.places = places
        self.local = local
        self.read = read
        self.write = write
        self.granted = granted
        self.builds = builds

    def concern(self, script: Script) -> str:
        """Why a command is not harmless, in words that follow "because"; empty if it is harmless."""
        if not script.plain:
            return "it uses more of the shell than words, quotes and pipes"
        return next((why for simple in script.commands if (why := self._at(simple))), "")

    def _at(self, simple: Simple) -> str:
        if simple.assignments:
            return f"it sets {simple.assignments[0].text.partition('=')[0]}"
        for redirect in simple.redirects:
            if why := self._redirect(redirect):
                return why
        if not simple.words:
            return ""
        argv: list[str] = []
        for word in simple.words:
            texts = self._expanded(word)
            if not texts:
                return f"nobody can tell what {word.text} stands for"
            argv += texts
        piped = simple.flow == "pipe"
        # What is fed to a program may be what it runs, and a grant says nothing about that.
        fed = piped or any(redirect.operator.startswith("<") for redirect in simple.redirects)
        if argv[0] != "cd" and not fed and self.granted(tuple(argv)):
            return ""
        return self._program(argv, piped=piped)

    # Words and the files they name

    def _expanded(self, word: Word) -> list[str]:
        """What the shell will make of a word; nothing if that cannot be told."""
        text = word.text
        if word.tilde:
            if text != "~" and not text.startswith("~/"):
                return []
            text = self.places.user_home + text[1:]
        if not word.globs or text == "[":
            return [text]
        levels = sum(glob.has_magic(name) for name in text.split("/"))
        if not self.local or "[[:" in text or levels > MOST_LEVELS:
            return []
        pattern = text.replace("[^", "[!")
        found: list[str] = []
        for cwd in self.cwds:
            found += islice(glob.iglob(pattern, root_dir=cwd), MOST_MATCHES + 1)
        if len(found) > MOST_MATCHES or any(name.startswith("-") for name in found):
            return []
        return found or [text]

    def _paths(self, text: str) -> list[str]:
        real = os.path.realpath if self.local else os.path.normpath
        return [real(os.path.join(cwd, text)) for cwd in self.cwds]

    def _judge(self, on_path: OnPath, texts: Sequence[str]) -> str:
        verdicts = (on_path(path) for text in texts for path in self._paths(text))
        return next((verdict.why for verdict in verdicts if verdict.decision != ALLOW), "")

    def _redirect(self, redirect: Redirect) -> str:
        operator, target = redirect.operator, redirect.target
        if operator == "<<<" or (operator in (">&", "<&") and (target.text.isdecimal() or target.text == "-")):
            return ""
        texts = self._expanded(target)
        if len(texts) != 1 or target.globs or operator == "<>":
            return f"nobody can tell where {operator} {target.text} leads"
        if operator == "<":
            return self._judge(self.read, texts)
        return "" if texts[0] in SINKS else self._judge(self.write, texts)

    # Programs

    def _program(self, argv: list[str], *, piped: bool) -> str:
        name, args = program(argv[0]), argv[1:]
        if name in TELL_VERSIONS and args in (["--version"], ["-V"], ["version"]):
            return ""
        special = {
            "cd": self._cd,
            "git": self._git,
            "find": self._find,
            "sed": self._sed,
            "date": self._date,
            "mkdir": self._make_room,
            "touch": self._make_room,
            "command": self._command,
        }
        if name in special:
            return special[name](args)
        if name in PROGRAMS:
            return self._reader(name, PROGRAMS[name], args, piped=piped)
        if self.builds and (options := _build_options(name, args)) is not None:
            return self._build(name, args, options)
        return f"{name} is not on the list of harmless commands"

    def _reader(self, name: str, row: Program, args: list[str], *, piped: bool = False) -> str:
        options, files = split_options(args)
        if refused := next((option for option in options if _is_refused(option, row.never)), ""):
            return f"{name} {refused} does more than read"
        if row.most is not None and len(files) > row.most:
            return f"{name} with {len(files)} names does more than read"
        if row.files == "none":
            return ""
        if row.files == "rest" and not any(_brings_pattern(option) for option in options):
            files = files[1:]
        if why := self._judge(self.read, [*files, *filter(None, map(_value, options))]):
            return why
        reads_here = not files and (not piped or any("r" in option.lower() for option in options))
        return self._deep(name, files or ["."]) if row.deep and (files or reads_here) else ""

    def _deep(self, name: str, texts: Sequence[str]) -> str:
        for text in texts:
            for path in self._paths(text):
                if holds_credentials(path, self.places):
                    return f"{name} would look through {path}, where keys are kept"
        return ""

    def _cd(self, args: list[str]) -> str:
        if len(args) > 1 or args[:1] in (["-"], ["--"]):
            return "nobody can tell where cd leads"
        self.cwds = list(dict.fromkeys([*self.cwds, *self._paths(args[0] if args else self.places.user_home)]))
        return "" if len(self.cwds) <= MOST_FOLDERS else "it changes folders too often to follow"

    def _git(self, args: list[str]) -> str:
        # A repository's own settings can name programs that git starts, so a foreign one is not harmless to look at.
        where = list(self.cwds)
        while args and args[0] in ("--no-pager", "-P", "-C"):
            if args[0] == "-C":
                where = self._paths(args[1]) if len(args) > 1 else ["/"]
            args = args[2:] if args[0] == "-C" else args[1:]
        if not all(inside(path, self.workspace) for path in where):
            return "it is git outside the working folder"
        verb, rest = (args[0], args[1:]) if args else ("", [])
        if verb in GIT_READS:
            return self._reader(f"git {verb}", Program(never=GIT_NEVER), rest)
        if verb in GIT_LISTS and set(rest) <= GIT_LISTS[verb] and (rest or verb not in GIT_NEEDS_A_WORD):
            return ""
        return f"git {verb}".rstrip() + " is not on the list of harmless commands"

    def _find(self, args: list[str]) -> str:
        if acts := next((arg for arg in args if arg.startswith(FIND_ACTS)), ""):
            return f"find {acts} does more than find"
        args = [arg for arg in args if arg not in ("-L", "-H", "-P")]
        roots = takewhile(lambda arg: not arg.startswith(("-", "(", "!")), args)
        return self._judge(self.read, list(roots))

    def _sed(self, args: list[str]) -> str:
        options, rest = split_options(args)
        prints = "-n" in options and set(options) <= {"-n", "-E", "-r"} and rest and SED_PRINTS.fullmatch(rest[0])
        return self._judge(self.read, rest[1:]) if prints else "this sed does more than print lines"

    def _date(self, args: list[str]) -> str:
        others = [arg for at, arg in enumerate(args) if arg != "-d" and args[max(at - 1, 0) : at] != ["-d"]]
        return "" if all(map(DATE_SHOWS.fullmatch, others)) else "this date does more than show the time"

    def _command(self, args: list[str]) -> str:
        return "" if args[:1] == ["-v"] else "command starts another program"

    def _make_room(self, args: list[str]) -> str:
        options, paths = split_options(args)
        if not set(options) <= {"-p", "-v", "-a", "-m", "-c", "--parents", "--verbose"}:
            return "its options are not known to be harmless"
        return self._judge(self.write, paths)

    def _build(self, name: str, args: list[str], options: frozenset[str]) -> str:
        for arg in args:
            if arg.startswith("-") and arg.partition("=")[0] not in options:
                return f"{name} {arg} is not on the list of harmless commands"
            if not all(inside(path, self.workspace) for path in self._paths(arg)):
                return f"{name} would run outside the working folder"
        outside = not all(inside(cwd, self.workspace) for cwd in self.cwds)
        return f"{name} would run outside the working folder" if outside else ""


def _build_options(name: str, args: list[str]) -> frozenset[str] | None:
    """The options that a build or test may have, and the words that name it; None if it is not one."""
    for prefix, options in BUILDS.items():
        if (name, *args[: len(prefix) - 1]) == prefix and (options or len(args) == len(prefix) - 1):
            return options | frozenset(prefix)
    return None


def _is_refused(option: str, never: tuple[str, ...]) -> bool:
    """Whether an option is one of these; GNU programs take any unambiguous beginning of a long one."""
    if "*" in never:
        return True
    if option.startswith("--"):
        return any(long.startswith(option.partition("=")[0]) for long in never if long.startswith("--"))
    return any(short[1] in option[1:] for short in never if short[1] != "-")


def _brings_pattern(option: str) -> bool:
    """Whether an option of grep, rg or jq stands for the pattern, so that every other argument is a file."""
    if option.startswith("--"):
        return option.startswith(("--re", "--fi", "--fr"))
    return "e" in option or "f" in option


def _value(option: str) -> str:
    """The value that is written in one word with its option."""
    return option.partition("=")[2] if option.startswith("--") else option[2:]
