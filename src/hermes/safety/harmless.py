"""Whether a command may run without a question.

It may if it is plain, every program in it is on the short list with options known to only read, and every file that it
names may be read or written without a question. What is not known to be harmless is not harmless.
"""

import os
from collections.abc import Callable, Sequence
from itertools import takewhile

from hermes.protocol.actions import Verdict
from hermes.safety import git
from hermes.safety.argv import parse, program, split_options
from hermes.safety.commands import Redirect, Script, Simple, Word
from hermes.safety.names import Names
from hermes.safety.places import ALLOW, ASK, SINKS, Places, holds_credentials, inside
from hermes.safety.programs import (
    DATE_SHOWS,
    FIND_FILES,
    FIND_FLAGS,
    FIND_VALUES,
    PROGRAMS,
    SAY_ANYTHING,
    SED_PRINTS,
    TELL_VERSIONS,
    TEST_OPERATORS,
    Program,
)
from hermes.safety.settled import is_settled

MOST_MATCHES = 1000
MOST_NAMES = 3000
MOST_FOLDERS = 16

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
        background: bool = False,
    ) -> None:
        self.cwds = [cwd]
        self.workspace = workspace
        self.places = places
        self.local = local
        self.read = read
        self.write = write
        self.granted = granted
        self.background = background
        self.settled = not background
        self.names = Names(MOST_NAMES)

    def concern(self, script: Script) -> str:
        """Why a command is not harmless, in words that follow "because"; empty if it is harmless."""
        if not script.plain:
            return "it uses more of the shell than words, quotes and pipes"
        for at, simple in enumerate(script.commands):
            self.settled = not self.background and is_settled(script.commands, at)
            if why := self._at(simple):
                return why
        return ""

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
        if program(argv[0]) == "git" and (why := self._git_trap()):
            return why
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
        if not self.local or "[[:" in text:
            return []
        if not self.settled and text[0] in "*?[":
            # By then there may be a file whose name is an option.
            return []
        found: list[str] = []
        for cwd in self.cwds:
            matching = self.names.matching(text, cwd)
            if matching is None:
                return []
            found += matching
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
        if TELL_VERSIONS.fullmatch(" ".join([name, *args])) or name in SAY_ANYTHING:
            return ""
        special = {
            "cd": self._cd,
            "command": self._command,
            "date": self._date,
            "diff": self._diff,
            "find": self._find,
            "git": self._git,
            "mkdir": self._make_room,
            "sed": self._sed,
            "test": self._test,
            "touch": self._make_room,
            "[": self._test,
        }
        if name in special:
            return special[name](args)
        if name in PROGRAMS:
            return "" if args in (["--help"], ["--version"]) else self._reader(name, PROGRAMS[name], args, piped=piped)
        return f"{name} is not on the list of harmless commands"

    def _reader(self, name: str, row: Program, args: list[str], *, piped: bool = False) -> str:
        parsed = parse(args, row.short, row.long)
        if parsed.unknown:
            return f"{name} {parsed.unknown} is not known to only read"
        if row.never and (refused := next(filter(row.never.search, args), "")):
            return f"{name} {refused} does more than read"
        if row.most is not None and len(parsed.operands) > row.most:
            return f"{name} with {len(parsed.operands)} names does more than read"
        if row.files == "none":
            return ""
        has_pattern = row.files == "rest" and not set(row.pattern) & set(parsed.options)
        files = parsed.operands[1:] if has_pattern else parsed.operands
        if why := self._judge(self.read, [*files, *parsed.values]):
            return why
        if row.deep == ("*",):
            return self._deep(name, files or ["."] * (not piped))
        return self._deep(name, files or ["."]) if set(row.deep) & set(parsed.options) else ""

    def _deep(self, name: str, texts: Sequence[str]) -> str:
        for text in texts:
            for path in self._paths(text):
                if holds_credentials(path, self.places, local=self.local):
                    return f"{name} would look through {path}, where keys are kept"
        return ""

    def _cd(self, args: list[str]) -> str:
        if len(args) > 1 or any(arg.startswith("-") for arg in args):
            return "nobody can tell where cd leads"
        self.cwds = list(dict.fromkeys([*self.cwds, *self._paths(args[0] if args else self.places.user_home)]))
        return "" if len(self.cwds) <= MOST_FOLDERS else "it changes folders too often to follow"

    def _git(self, args: list[str]) -> str:
        before = self.cwds
        while args and args[0] in git.PREFIXES:
            if args[0] == "-C":
                self.cwds = self._paths(args[1]) if len(args) > 1 else ["/"]
            args = args[2:] if args[0] == "-C" else args[1:]
        why = self._git_here(args)
        self.cwds = before
        return why

    def _git_here(self, args: list[str]) -> str:
        # A repository's own settings can name programs that git starts, so a foreign one is not harmless to look at.
        if not all(inside(path, self.workspace) for path in self.cwds):
            return "it is git outside the working folder"
        if why := self._git_trap():
            return why
        verb, rest = (args[0], args[1:]) if args else ("", [])
        if verb in git.READS:
            return self._git_reads(verb, git.READS[verb], rest)
        if verb in git.LISTS and set(rest) <= git.LISTS[verb] and (rest or verb not in git.NEEDS_A_WORD):
            return ""
        return f"git {verb}".rstrip() + " is not on the list of harmless commands"

    def _git_trap(self) -> str:
        if not self.local:
            return "nobody here can see which repository git would find there"
        if any(map(git.is_made_of_plain_files, self.cwds)):
            return "git would take a plain folder for a repository, and start what its settings say"
        if not self.settled and not all(os.path.lexists(os.path.join(cwd, ".git")) for cwd in self.cwds):
            return "nobody can tell which repository git will find by then"
        return ""

    def _git_reads(self, verb: str, row: Program, args: list[str]) -> str:
        if why := self._reader(f"git {verb}", row, args):
            return why
        operands = parse(args, row.short, row.long).operands
        if verb == "diff":
            # Where a name leads out of the repository, or there is none, it compares any two files or folders.
            if not all(inside(path, self.workspace) for text in operands for path in self._paths(text)):
                return "git diff would read outside the working folder"
            if why := self._deep("git diff", operands):
                return why
        return self._judge(self.read, [text.partition(":")[2] for text in operands if ":" in text])

    def _diff(self, args: list[str]) -> str:
        row = PROGRAMS["diff"]
        if why := self._reader("diff", row, args):
            return why
        paths = (path for text in parse(args, row.short, row.long).operands for path in self._paths(text))
        is_of_folders = self.local and any(map(os.path.isdir, paths))
        return "diff of folders reads wherever their links lead" if is_of_folders else ""

    def _find(self, args: list[str]) -> str:
        args = [arg for arg in args if arg not in ("-L", "-H", "-P")]
        files = list(takewhile(lambda arg: arg[:1] not in ("-", "(", ")", "!", ","), args))
        rest = iter(args[len(files) :])
        for word in rest:
            if FIND_FILES.fullmatch(word):
                files.append(next(rest, ""))
            elif FIND_VALUES.fullmatch(word):
                next(rest, "")
            elif not FIND_FLAGS.fullmatch(word):
                return f"find {word} is not known to only find"
        return self._judge(self.read, files)

    def _sed(self, args: list[str]) -> str:
        options, rest = split_options(args)
        prints = "-n" in options and set(options) <= {"-n", "-E", "-r"} and rest and SED_PRINTS.fullmatch(rest[0])
        return self._judge(self.read, rest[1:]) if prints else "this sed does more than print lines"

    def _date(self, args: list[str]) -> str:
        others = [arg for at, arg in enumerate(args) if arg != "-d" and args[max(at - 1, 0) : at] != ["-d"]]
        return "" if all(map(DATE_SHOWS.fullmatch, others)) else "this date does more than show the time"

    def _test(self, args: list[str]) -> str:
        words = [arg for arg in args if not TEST_OPERATORS.fullmatch(arg)]
        if refused := next((word for word in words if word.startswith("-") and not word[1:].isdecimal()), ""):
            return f"test {refused} is not known to only read"
        return self._judge(self.read, words)

    def _command(self, args: list[str]) -> str:
        return "" if args[:1] == ["-v"] else "command starts another program"

    def _make_room(self, args: list[str]) -> str:
        options, paths = split_options(args)
        if not set(options) <= {"-p", "-v", "-a", "-m", "-c", "--parents", "--verbose"}:
            return "its options are not known to be harmless"
        return self._judge(self.write, paths)
