"""Where redirections and here-documents lead: what a command is fed, and which files it writes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes.safety.commands.steps import Input
from hermes.safety.commands.syntax import text_in, text_of
from hermes.safety.commands.words import VALUES, Words
from hermes.safety.patterns import Pattern

if TYPE_CHECKING:
    from tree_sitter import Node


# A here-document whose mark is quoted is text and nothing else.
_QUOTED = Pattern(r"[\\'\"]")


class Redirected(Struct, frozen=True):
    """The input and the written files; `piped` are commands in a pipe behind the mark of a here-document.

    `more` are words behind a redirection that belong to the command in front of it: `rm < x -rf /`.
    """

    input: Input
    writes: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    piped: "tuple[Node, ...]" = ()


def redirected(nodes: "Sequence[Node]", before: Input, words: Words) -> Redirected:
    led = Redirected(before)
    for node in nodes:
        one = _heredoc(node, words) if node.type == "heredoc_redirect" else _file(node, led.input, words)
        led = Redirected(one.input, (*led.writes, *one.writes), (*led.more, *one.more), (*led.piped, *one.piped))
    return led


def _file(node: "Node", before: Input, words: Words) -> Redirected:
    operator = next((child.type for child in node.children if not child.is_named), "")
    places = [child for child in node.named_children if child.type != "file_descriptor"]
    targets = [word for child in places[:1] for word in words.expand(child)]
    more = tuple(word for child in places[1:] for word in words.expand(child))
    if operator == "<<<":
        return Redirected(Input(" ".join(targets)), more=more)
    is_copy = operator in (">&", "<&")
    writes = [target for target in targets if not (is_copy and target.strip("-").isdecimal()) and target != "-"]
    feed = before
    if operator.startswith("<") and not is_copy:
        feed = Input("" if targets == ["/dev/null"] else None, tuple(targets))
    return Redirected(feed, tuple(writes) if ">" in operator else (), more)


def _heredoc(node: "Node", words: Words) -> Redirected:
    body, inner, more, piped = "", list["Node"](), list[str](), list["Node"]()
    for child in node.named_children:
        match child.type:
            case "heredoc_body":
                expands = any(each.type.endswith(("expansion", "substitution")) for each in child.children)
                body = _filled(child, words) if expands else text_of(child)
                if not _QUOTED.search(_mark(node)):
                    words.run_backticks(text_of(child))
            case "file_redirect" | "herestring_redirect" | "heredoc_redirect":
                inner.append(child)
            case "heredoc_start" | "heredoc_end":
                pass
            case "pipeline":
                piped += child.named_children
            case _ if child.type in VALUES:
                more += words.expand(child)
            case _:
                piped.append(child)
    led = redirected(inner, Input(body), words)
    return Redirected(led.input, led.writes, (*more, *led.more), (*led.piped, *piped))


def _mark(node: "Node") -> str:
    return next((text_of(child) for child in node.named_children if child.type == "heredoc_start"), "")


def _filled(body: "Node", words: Words) -> str:
    """A here-document with its variables put in."""
    pieces: list[str] = []
    at, whole = body.start_byte, body.text or b""
    for child in body.named_children:
        if child.type != "heredoc_content":
            pieces.append(text_in(whole[at - body.start_byte : child.start_byte - body.start_byte]))
            pieces += words.single(child)[:1]
            at = child.end_byte
    return "".join(pieces) + text_in(whole[at - body.start_byte :])
