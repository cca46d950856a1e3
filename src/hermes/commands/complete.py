"""What can follow what is typed: slash commands with their arguments, and @-references with paths of the workspace."""

import asyncio
import re
from collections.abc import Iterable

from msgspec.structs import replace

from hermes.commands.fit import ranked
from hermes.commands.references import MOST_COMMITS, local_root
from hermes.commands.registry import Command, Completion, Context
from hermes.commands.workspace import Workspace
from hermes.protocol.errors import HermesError

MOST = 50
KINDS = (
    ("@file:", "a file, or some lines of it: @file:path:10-20"),
    ("@folder:", "what a folder holds"),
    ("@diff", "what is changed and not staged"),
    ("@staged", "what is staged"),
    ("@git:", "the last commits with their changes"),
    ("@url:", "a web page as text"),
)
_name = re.compile(r"/([\w-]*)")
_argument = re.compile(r"/([A-Za-z][\w-]*) +([^\n]*)")
_reference = re.compile(r"""(?<![\w.+@/-])@(?:(file|folder|git|url):)?("[^"\n]*|[^\s"'`]*)$""")


class Completer:
    """Answers what can follow, for whichever session the surface is in."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._workspace = Workspace(ctx.app.repository)

    async def __call__(self, text: str, cursor: int) -> list[Completion]:
        """The ways to go on from the cursor, the best first; what is already there in full is none."""
        before = text[:cursor]
        if found := _name.fullmatch(before):
            offers = self._commands(found[1])
        elif found := _argument.fullmatch(before):
            offers = await self._arguments(found[1], found[2], found.start(2))
        elif found := _reference.search(before[before.rfind("\n") + 1 :]):
            offers = await self._references(found[1] or "", found[2], cursor - len(found[0]))
        else:
            return []
        return [offer for offer in offers if offer.text.rstrip() != before[offer.start :]]

    def _commands(self, typed: str) -> list[Completion]:
        there = [(name, command) for command in self._ctx.registry.on(self._ctx.surface) for name in _names(command)]
        if not typed:
            there = [(name, command) for name, command in there if name == command.name]
        chosen: dict[str, Completion] = {}
        for name, command in ranked(typed, there, lambda pair: pair[0], MOST):
            text = f"/{name} " if command.usage else f"/{name}"
            label = f"/{name} {command.usage}".rstrip()
            chosen.setdefault(command.name, Completion(text=text, label=label, help=command.help))
        return list(chosen.values())

    async def _arguments(self, name: str, argument: str, start: int) -> list[Completion]:
        try:
            command = self._ctx.registry.find(name, self._ctx.surface)
            offers = await command.complete(self._ctx, argument)
        except HermesError:  # there is no such command, or it cannot tell now: then there is nothing to offer
            return []
        groups: dict[int, list[Completion]] = {}
        for offer in offers:
            groups.setdefault(offer.start, []).append(offer)
        return [
            replace(offer, start=start + begins)
            for begins, group in sorted(groups.items())
            for offer in ranked(argument[begins:], group, lambda offer: offer.text, MOST)
        ]

    async def _references(self, kind: str, typed: str, start: int) -> list[Completion]:
        match kind:
            case "url":
                return []
            case "git":
                counts = [str(count) for count in range(1, MOST_COMMITS + 1) if str(count).startswith(typed)]
                return [Completion(text=f"@git:{count} ", start=start, label=f"@git:{count}") for count in counts]
            case "":
                first = [
                    Completion(text=text, start=start, help=told)
                    for text, told in KINDS
                    if text.startswith(f"@{typed}")
                ]
                return first if not typed else [*first, *await self._paths("file", typed, start)]
            case _:
                return await self._paths(kind, typed.removeprefix('"'), start)

    async def _paths(self, kind: str, typed: str, start: int) -> list[Completion]:
        root = local_root(self._ctx.session)
        if root is None:
            return []
        names = await self._workspace.names(root)
        there = names.files if kind == "file" else names.folders
        # Thousands of names take some milliseconds, which the screen should not wait for.
        chosen = await asyncio.to_thread(ranked, typed.removeprefix("./"), _nearest(there), str, MOST)
        return [Completion(text=f"@{kind}:{_quoted(path)} ", start=start, label=path) for path in chosen]


def _names(command: Command) -> tuple[str, ...]:
    return (command.name, *command.aliases)


def _nearest(paths: Iterable[str]) -> list[str]:
    """Paths with those first that lie least deep."""
    return sorted(paths, key=lambda path: path.count("/"))


def _quoted(path: str) -> str:
    """A path as it must be written to be read as a whole."""
    return f'"{path}"' if re.search(r"[\s'`]", path) else path
