"""Functions that a command defines: what is in them is followed where they are called, and else at the end."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hermes.safety.commands.running import DEEPEST, Call
from hermes.safety.commands.steps import Context
from hermes.safety.commands.syntax import text_of
from hermes.safety.commands.words import Words

if TYPE_CHECKING:
    from tree_sitter import Node


class Functions:
    """Those defined so far; `calls` walks the body of each by its name, and `walk` the statements in a node."""

    def __init__(self, words: Words, walk: "Callable[[Node, Context], str | None]") -> None:
        self.calls: dict[str, Call] = {}
        self._words = words
        self._walk = walk
        self._bodies: dict[str, Node] = {}
        self._called: set[str] = set()
        self._active: set[str] = set()

    def define(self, node: "Node") -> str:
        """Keep a function; its name if it is one that starts itself again until nothing is left."""
        name = next((text_of(child) for child in node.named_children if child.type == "word"), "")
        body = next((child for child in node.named_children if child.type != "word"), None)
        if body is None:
            return ""
        self._bodies[name] = body
        self.calls[name] = self._call
        return name if _forks(body, name) else ""

    def not_called(self) -> "list[Node]":
        return [self._bodies[name] for name in sorted(self._bodies.keys() - self._called)]

    def _call(self, argv: list[str], context: Context) -> str | None:
        """Walk the body of a function with the words that it is called with; not again inside of itself."""
        name = argv[0]
        self._called.add(name)
        if name in self._active:
            return None
        self._words.set_positions(argv[1:])
        self._active.add(name)
        text = self._walk(self._bodies[name], replace(context.deeper(), plain=False))
        self._active.discard(name)
        return text


def _forks(node: "Node", name: str) -> bool:
    """Whether a function starts itself again, at its own side: that doubles until nothing is left."""
    calls = [child for child in _commands(node) if text_of(child).split() == [name]]
    return bool(calls) and ("|" in text_of(node) or "&" in text_of(node))


def _commands(node: "Node", depth: int = 0) -> "list[Node]":
    if depth > DEEPEST:
        return []
    inner = [found for child in node.named_children for found in _commands(child, depth + 1)]
    return [node, *inner] if node.type == "command" else inner
