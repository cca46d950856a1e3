"""Programs as a shell would start them one after the other: through wrappers, and with what each leaves for the next."""

import os
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from hermes.safety.commands.argv import SHELLS, listed, operands, program, value_of
from hermes.safety.commands.handed import (
    find_commands,
    is_python,
    shell_script,
    shell_text,
    shell_words,
    texts_for_a_shell,
    texts_in_python,
)
from hermes.safety.commands.said import files_made, said
from hermes.safety.commands.steps import Context, Input, Puzzle, Step, path_from
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.words import Words
from hermes.safety.commands.wrappers import peel

DEEPEST = 60
MOST_STEPS = 1500
MOST_FOLDERS = 16

_COMPILERS = listed("gcc g++ cc c++ clang clang++ tcc rustc gfortran nasm as ld")
# In words that stand for others: what they will be is not told by the text.
_OPEN = ("*", "?", UNKNOWN)

WalkText = Callable[[str, Context], str | None]
Call = Callable[[list[str], Context], str | None]
Variables = tuple[tuple[str, str], ...]


class Running:
    """The programs found so far, and what they have changed for those after them: folders, files, links, variables.

    `walk` follows a text that a program hands to a shell; `functions` are those that the command has defined.
    """

    def __init__(self, cwd: str, user_home: str, words: Words, walk: WalkText, functions: Mapping[str, Call]) -> None:
        self.found: list[Step | Puzzle] = []
        self.cwds = [cwd]
        self._user_home = user_home
        self._words = words
        self._walk = walk
        self._functions = functions
        self._made: dict[str, str | None] = {}
        self._links: dict[str, str] = {}
        self._fetched = False

    def puzzle(self, why: str) -> None:
        if not self.found or self.found[-1] != Puzzle(why):
            self.found.append(Puzzle(why))

    def is_too_much(self, context: Context) -> bool:
        """Whether there is more than anybody can follow; that is a puzzle then."""
        if context.depth <= DEEPEST and len(self.found) <= MOST_STEPS:
            return False
        self.puzzle("there is too much in it to follow")
        return True

    def wrote(self, targets: Iterable[str], text: str | None) -> None:
        """Keep in mind which files this command has written, and what is in them if that is known."""
        for target in targets:
            self._made[path_from(self.cwds[0], target)] = text

    def start(
        self,
        argv: list[str],
        context: Context,
        *,
        env: Variables = (),
        writes: tuple[str, ...] = (),
        before: tuple[str, ...] = (),
    ) -> str | None:
        """Add one program, and follow what it runs in turn; what it says, if known."""
        if self.is_too_much(context):
            return None
        if argv and (call := self._functions.get(argv[0])):
            return call(argv, context)
        if argv and (peeled := peel(argv)):
            inner = list(peeled.argv)
            if peeled.name == "xargs":
                inner = _with_names(peeled.before, inner, context.input)
            added = tuple((name, value) for name, _, value in (word.partition("=") for word in peeled.env))
            wrapped = replace(context.deeper(), wraps=(*context.wraps, peeled.name), plain=False)
            return self.start(inner, wrapped, env=(*env, *added), writes=writes, before=(*before, *peeled.before))
        name, args = (program(argv[0]), argv[1:]) if argv else ("", [])
        if argv and not name:
            self.puzzle("the name of the program is empty")
        step = Step(
            name=name,
            args=tuple(args),
            wraps=context.wraps,
            before=before,
            env=env,
            input=context.input,
            writes=writes,
            cwds=tuple(self.cwds),
            script=self._script(name, args),
            links=tuple(self._links.items()),
            fetched=self._fetched,
            background=context.background,
            plain=context.plain and not env and context.input == Input() and not _is_open(argv),
        )
        self.found.append(step)
        self._follow(step, context)
        self._leave(step)
        return said(name, args, context.input.text, self.cwds[0])

    def _script(self, name: str, args: list[str]) -> str:
        """The text of the file that a program runs, if this command wrote it; UNKNOWN if what it wrote is not known."""
        file = name if "/" in name else shell_script(args) if name in SHELLS else next(iter(operands(args)), "")
        path = path_from(self.cwds[0], file) if file else ""
        if path not in self._made:
            return ""
        text = self._made[path]
        return UNKNOWN if text is None else text

    def _follow(self, step: Step, context: Context) -> None:
        """Walk the commands that a program is handed."""
        name, args, script = step.name, list(step.args), "" if step.script == UNKNOWN else step.script
        inside = context.inside()
        with self._words.positions(shell_words(args) if name in SHELLS else None):
            for text in texts_for_a_shell(name, args):
                self._walk(text, context.inside("ssh") if name == "ssh" else inside)
            if script and (name in SHELLS or name in (".", "source") or "/" in name):
                self._walk(script, inside)
            if step.input.text and name in SHELLS and shell_text(args) is None and not shell_script(args):
                self._walk(step.input.text, inside)
        if is_python(name) and "-c" not in args:
            for text in texts_in_python(script or step.input.text or ""):
                self._walk(text, inside)
        if name == "find":
            for argv in find_commands(args):
                self.start(argv, context.inside("find"))

    def _leave(self, step: Step) -> None:
        """Note what a program changes for those after it."""
        name, args = step.name, list(step.args)
        match name:
            case "ln" if len(words := operands(args)) > 1:
                link = path_from(self.cwds[0], words[-1])
                self._links[link] = path_from(os.path.dirname(link), words[0])
            case "cd" | "pushd":
                self._go(next(iter(operands(args)), self._user_home))
            case "read" | "mapfile" | "readarray" | "getopts":
                for arg in args:
                    self._words.set(arg, [UNKNOWN if step.input.text is None else step.input.text.strip()])
            case "set" if "--" in args:
                self._words.set_positions(args[args.index("--") + 1 :])
            case "git" if "clone" in args[:3]:
                self._fetched = True
            case "tar" | "unzip" if self._made:
                self._fetched = True
            case _:
                pass
        self.wrote(files_made(name, args), step.input.text if name == "tee" else None)
        if name in _COMPILERS and (
            ("-" in args and step.input.text != "") or any(self._is_made(word) for word in operands(args, ("-o",)))
        ):
            self.wrote([value_of(args, "-o") or "a.out"], None)

    def _is_made(self, word: str) -> bool:
        return path_from(self.cwds[0], word) in self._made

    def _go(self, target: str) -> None:
        if UNKNOWN in target:
            target = UNKNOWN
        elif target == "-":
            target = "."
        starts = self.cwds if len(self.cwds) < MOST_FOLDERS else ["/"] * target.startswith("/")
        led = [path_from(start, target) for start in starts]
        self.cwds = list(dict.fromkeys([*led, *self.cwds]))[:MOST_FOLDERS]
        self._words.set("PWD", self.cwds[:1], only=True)


def _is_open(argv: list[str]) -> bool:
    return any(sign in word for word in argv for sign in _OPEN)


def _with_names(options: tuple[str, ...], argv: list[str], feed: Input) -> list[str]:
    """The command that xargs runs: with the names it is fed, or UNKNOWN for them."""
    names = feed.text.split() if feed.text and UNKNOWN not in feed.text else [UNKNOWN]
    mark = next((options[at + 1] for at, word in enumerate(options[:-1]) if word in ("-I", "-i")), "{}")
    if any(mark in word for word in argv):
        return [text for word in argv for text in ([word.replace(mark, n) for n in names] if mark in word else [word])]
    return [*argv, *names]
