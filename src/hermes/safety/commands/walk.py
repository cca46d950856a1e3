"""Follow a command as a shell would, as far as its text tells, down to each program that it starts.

Pipes, lists, loops, functions, substitutions, here-documents, variables set in the same command, wrappers and shells in
shells are followed. What cannot be followed is a Puzzle. No `cd` is known to succeed, so every folder is kept in mind.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hermes.safety.commands.functions import Functions
from hermes.safety.commands.redirects import redirected
from hermes.safety.commands.running import Running, Variables
from hermes.safety.commands.steps import FORK_BOMB, Context, Input, Puzzle, Step
from hermes.safety.commands.syntax import READABLE_START, UNKNOWN, is_readable, plain_words, text_of, tree
from hermes.safety.commands.words import VALUES, Words
from hermes.safety.patterns import Pattern

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST_SHELL = 8


# In arithmetic the shell runs even quoted substitutions, if they are the index of an array.
_COUNTS = Pattern(r"'[^']*(\$\(|`)[^']*'\s+-(eq|ne|lt|le|gt|ge)\b|-(eq|ne|lt|le|gt|ge|v)\s+'[^']*(\$\(|`)")
DECLARES = frozenset({"export", "declare", "typeset", "readonly", "local"})


class Walk:
    """One walk through one command; `found` holds the programs and puzzles met so far, in order."""

    def __init__(self, cwd: str, user_home: str, home: str = "") -> None:
        known = {
            "HOME": user_home,
            "PWD": cwd,
            "HERMES_HOME": home or UNKNOWN,
            "USER": os.path.basename(user_home),
            "TMPDIR": "/tmp",
            "PATH": "/usr/bin",
            "SHELL": "/bin/bash",
            "IFS": " ",
            "!": "%1",
            "?": "0",
            "RANDOM": "1",
        }
        self._words = Words(user_home, known, self._substitution, lambda why: self._running.puzzle(why))
        self._functions = Functions(self._words, self._children)
        self._running = Running(cwd, user_home, self._words, self._text, self._functions.calls)
        self._here = Context()

    def through(self, text: str) -> list[Step | Puzzle]:
        readable = text if is_readable(text) else text[:READABLE_START]
        self._text(readable, Context())
        if readable != text:
            self._running.puzzle("it is too long to read")
        for body in self._functions.not_called():
            self._children(body, Context(plain=False, depth=1))
        return self._running.found

    def _text(self, text: str, context: Context) -> str | None:
        if context.shells > DEEPEST_SHELL or not is_readable(text):
            self._running.puzzle("there are too many shells in shells")
            return None
        if words := plain_words(text):
            # Most commands are no more than that, and need no grammar.
            return self._running.start(words, context.deeper().deeper())
        root = tree(text)
        if root.has_error:
            self._running.puzzle("it is not a shell text that can be understood")
        return self._children(root, context.deeper())

    # Statements

    def _children(self, node: "Node", context: Context) -> str | None:
        """Walk the statements in a node; what they say, one after the other, if all of it is known."""
        whole: list[str | None] = []
        for child in node.children:
            following = child.next_sibling
            behind = following is not None and following.type == "&"
            if child.is_named or child.type == "ERROR":
                whole.append(self._statement(child, replace(context, background=context.background or behind)))
        return None if None in whole else "".join(text or "" for text in whole)

    def _statement(self, node: "Node", context: Context) -> str | None:
        if self._running.is_too_much(context):
            return None
        context = context.deeper()
        before, self._here = self._here, context
        try:
            return self._kind(node, context)
        finally:
            self._here = before

    def _kind(self, node: "Node", context: Context) -> str | None:
        match node.type:
            case "ERROR":
                self._running.puzzle("it is not a shell text that can be understood")
                self._loose(node, context)
                return None
            case "comment" | "heredoc_end" | "heredoc_start" | "file_descriptor":
                return ""
            case "command":
                return self._command(node, context)
            case "redirected_statement":
                return self._redirected(node, context)
            case "pipeline":
                return self._pipeline(node.named_children, context)
            case "variable_assignment" | "variable_assignments":
                self._assign(node)
                self._running.start([], context, env=self._env(node))
                return ""
            case "declaration_command" | "unset_command":
                return self._declaration(node, context)
            case "for_statement":
                return self._for(node, context)
            case "function_definition":
                if bomb := self._functions.define(node):
                    self._running.found.append(Step(name=FORK_BOMB, args=(bomb,), cwds=tuple(self._running.cwds)))
                return ""
            case "test_command" if _COUNTS.search(text_of(node)):
                self._running.puzzle("the shell would run what stands in a number")
                return self._loose(node, context)
            case "test_command" | "c_style_for_statement" | "case_statement":
                return self._loose(node, context)
            case "subshell":
                cwds = self._running.cwds
                text = self._children(node, context)
                self._running.cwds = cwds
                return text
            case "list":
                return self._list(node, context)
            case "program" | "compound_statement" | "do_group" | "negated_command":
                return self._children(node, context)
            case "if_statement" | "while_statement" | "elif_clause" | "else_clause" | "case_item":
                self._children(node, replace(context, plain=False))
                return None
            case _ if node.type in VALUES:
                self._words.expand(node)
                return None
            case other:
                self._words.run_inside(node)
                self._running.puzzle(f"it uses {other.replace('_', ' ')}, which is not understood")
                return None

    def _list(self, node: "Node", context: Context) -> str | None:
        left, *rest = node.named_children
        before = self._running.cwds
        text = self._statement(left, context)
        last = self._running.found[-1] if self._running.found else None
        if isinstance(last, Step) and last.name == "cd" and any(child.type == "&&" for child in node.children):
            self._running.cwds = [cwd for cwd in self._running.cwds if cwd not in before] or self._running.cwds
        others = [self._statement(child, context) for child in rest]
        return None if None in (text, *others) else "".join([text or "", *(other or "" for other in others)])

    def _loose(self, node: "Node", context: Context) -> None:
        """Walk the commands that lie somewhere in a construct, and the substitutions in the rest of it."""
        for child in node.named_children:
            match child.type:
                case "do_group" | "case_item" | "command" | "list" | "pipeline" | "redirected_statement" | "ERROR":
                    self._statement(child, replace(context, plain=False))
                case "command_substitution" | "process_substitution":
                    self._substitution(child)
                case "variable_assignment":
                    self._assign(child)
                case _:
                    self._words.run_inside(child)

    def _pipeline(self, nodes: "Sequence[Node]", context: Context) -> str | None:
        text: str | None = ""
        feed = context.input
        for node in nodes:
            begun = len(self._running.found)
            text = self._statement(node, replace(context, input=feed))
            feed = Input(text, (), (*feed.programs, *self._names_since(begun)))
        return text

    def _names_since(self, begun: int) -> tuple[str, ...]:
        return tuple(step.name for step in self._running.found[begun:] if isinstance(step, Step) and step.name)

    def _for(self, node: "Node", context: Context) -> None:
        name = ""
        values: list[str] = []
        for child in node.named_children:
            if child.type == "variable_name":
                name = text_of(child)
            elif child.type == "do_group":
                self._words.set(name, values or [UNKNOWN], only=True)
                self._statement(child, replace(context, plain=False))
            else:
                values += self._words.expand(child)

    def _declaration(self, node: "Node", context: Context) -> str:
        self._assign(node)
        words = [text_of(node.children[0])]
        for child in node.named_children:
            if child.type != "variable_assignment":
                words += self._words.expand(child)
        self._running.start(words, context, env=self._env(node))
        return ""

    def _redirected(self, node: "Node", context: Context) -> str | None:
        bodies = [child for child in node.named_children if not child.type.endswith("_redirect")]
        redirects = [child for child in node.named_children if child.type.endswith("_redirect")]
        led = redirected(redirects, context.input, self._words)
        inner = replace(context, input=led.input)
        begun = len(self._running.found)
        if len(bodies) == 1 and bodies[0].type == "command":
            text = self._command(bodies[0], inner, led.writes, led.more)
        else:
            if led.more:
                self._running.puzzle("there are words behind a redirection")
            texts = [self._statement(body, inner) for body in bodies]
            text = None if None in texts else "".join(each or "" for each in texts)
            if led.writes or not bodies:
                self._running.start([], replace(context, plain=not bodies), writes=led.writes)
        self._running.wrote(led.writes, text)
        if led.piped:
            feed = Input(text, (), self._names_since(begun))
            return self._pipeline(led.piped, replace(context, input=feed))
        return None if led.writes else text

    # Commands

    def _command(
        self, node: "Node", context: Context, writes: tuple[str, ...] = (), more: tuple[str, ...] = ()
    ) -> str | None:
        words: list[str] = []
        redirects: list[Node] = []
        end = 0
        for child in node.named_children:
            if child.type.endswith("_redirect"):
                redirects.append(child)
            elif child.type == "ERROR":
                self._running.puzzle("it is not a shell text that can be understood")
            elif child.type != "variable_assignment":
                expanded = self._words.expand(child)
                # The grammar takes `$9` behind another variable for a dollar and a word.
                glued = words and expanded and child.start_byte == end
                if glued and words[-1].endswith("$") and expanded[0][:1].isdigit():
                    words[-1] = words[-1][:-1] + expanded.pop(0)[1:]
                words += expanded
            end = child.end_byte
        if words and words[0] in DECLARES:
            # The grammar knows these words, but not behind a `!`.
            self._running.puzzle(f"{words[0]} stands where it is not understood")
        led = redirected(redirects, context.input, self._words)
        env = self._env(node)
        words += [*led.more, *more]
        text = self._running.start(words, replace(context, input=led.input), env=env, writes=(*writes, *led.writes))
        if env and not words:
            self._assign(node)
        self._running.wrote(led.writes, text)
        return None if led.writes else text

    def _env(self, node: "Node") -> Variables:
        found = [node] if node.type == "variable_assignment" else node.named_children
        return tuple(
            (name, value)
            for child in found
            if child.type == "variable_assignment"
            for name, values in [self._value(child)]
            for value in values
        )

    def _value(self, node: "Node") -> tuple[str, list[str]]:
        name, *rest = node.named_children
        self._words.run_inside(name)
        if not rest:
            return text_of(name), [""]
        if rest[-1].type == "array":
            return text_of(name), [word for child in rest[-1].named_children for word in self._words.expand(child)]
        return text_of(name), self._words.single(rest[-1])

    def _assign(self, node: "Node") -> None:
        for child in [node] if node.type == "variable_assignment" else node.named_children:
            if child.type == "variable_assignment":
                self._words.set(*self._value(child))

    def _substitution(self, node: "Node") -> str | None:
        here = replace(self._here, input=Input(), wraps=(), plain=False)
        if self._running.is_too_much(here):
            return None
        cwds = self._running.cwds
        text = self._children(node, here.deeper())
        self._running.cwds = cwds
        return text
