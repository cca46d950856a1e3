"""@-references in a message: @file: @folder: @diff @staged @git: @url: become the text that they name, quoted behind it."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct

from hermes.agent.session import Session
from hermes.app import App
from hermes.app.repository import Repository
from hermes.app.world import LocalWorld
from hermes.commands import quoting
from hermes.commands.transcript import fenced
from hermes.protocol.errors import UserError
from hermes.protocol.items import Part, Text
from hermes.safety.places import Places, places_of

Kind = Literal["file", "folder", "git", "url", "diff", "staged"]
MOST_COMMITS = 10
BYTES_PER_TOKEN = 4
WARNED, REFUSED = 0.25, 0.5
"""Shares of the model's window that references may take up: quietly, and at all."""
UNKNOWN_WINDOW = 32_000
Fetch = Callable[[str], Awaitable[tuple[str, str]]]

# Not within a word, so that addresses of people stay text; what follows a colon ends at a space, unless it is quoted.
_reference = re.compile(
    r"""(?<![\w.+@/-])@(?:
        (?P<kind>file|folder|git|url):(?P<value>"[^"\n]+"|'[^'\n]+'|`[^`\n]+`|[^\s"'`]\S*)
        | (?P<bare>diff|staged)(?![\w@-]|[.:/]\w)
    )""",
    re.VERBOSE,
)
_lines = re.compile(r"(?P<path>.+?):(?P<first>[1-9]\d*)(?:-(?P<last>[1-9]\d*))?")
_behind = ".,;:!?)]}>'\"…"


class Reference(Struct, frozen=True):
    """A reference as it was written, and what it means."""

    written: str
    kind: Kind
    value: str = ""


class Expanded(Struct, frozen=True):
    """A message with what it refers to: `blocks` are quoted behind it, `warnings` are lines for the person.

    `quoted` names where blocks came from that nobody vouches for; the op that says this must carry it.
    """

    typed: str
    blocks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    quoted: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join((self.typed, *self.blocks))

    @property
    def parts(self) -> tuple[Part, ...]:
        """What was typed, and apart from it what is quoted."""
        return (Text(self.typed), *([Text("\n\n".join(self.blocks))] if self.blocks else []))


def find(text: str) -> list[Reference]:
    """The references in a text, each once, in their order."""
    found: dict[str, Reference] = {}
    for match in _reference.finditer(text):
        kind, value = cast(Kind, match["bare"] or match["kind"]), match["value"] or ""
        if value[:1] in ("'", '"', "`"):
            written, value = match[0], value[1:-1]
        else:
            value = _without_sentence(value)
            written = f"@{kind}:{value}" if value else f"@{kind}"
        if value or match["bare"]:
            found.setdefault(written, Reference(written, kind, value))
    return list(found.values())


def _without_sentence(value: str) -> str:
    """A value without the full stop or bracket that belongs to the sentence round it."""
    while value.strip(".") and value[-1] in _behind and not (value[-1] == ")" and "(" in value):
        value = value[:-1]
    return value


async def expand(
    text: str,
    *,
    root: Path | None,
    home: Path,
    user_home: Path,
    window: int,
    repository: Repository | None,
    fetch: Fetch,
    mask: Callable[[str], str],
) -> Expanded:
    """A message with everything that it refers to; what cannot be quoted is told in a line and left out.

    Files are those below `root`; None where the session works on another machine. More than half of the model's window
    is a UserError, so that nothing is sent.
    """
    references = find(text)
    if not references:
        return Expanded(text)
    places = places_of(home, user_home)
    desk = _Desk(root, places, repository, fetch, most=int(window * REFUSED * BYTES_PER_TOKEN))
    blocks: list[str] = []
    warnings: list[str] = []
    for reference in references:
        try:
            content = mask(await desk.read(reference))
        except UserError as error:
            reason = f"{reference.written} is not quoted: {error}"
            warnings.append(f"{reason} ({error.hint})" if error.hint else reason)
            blocks.append(mask(f"[{reason}]"))
        else:
            blocks.append(f"{reference.written}:\n{fenced(content, _language(reference))}")
    tokens = sum(len(block.encode()) for block in blocks) // BYTES_PER_TOKEN
    if tokens > window * REFUSED:
        hint = "quote less, some lines for example: @file:path:1-200"
        raise UserError(f"the references hold about {tokens:,} tokens, over half of the model's {window:,}", hint)
    if tokens > window * WARNED:
        warnings.append(f"the references fill about {tokens / window:.0%} of the model's window")
    return Expanded(text, tuple(blocks), tuple(warnings), ", ".join(desk.fetched))


async def expand_in(app: App, session: Session, text: str) -> Expanded:
    """The same for a message to a session."""
    if "@" not in text:
        return Expanded(text)
    root = local_root(session)
    return await expand(
        text,
        root=root,
        home=app.settings.home,
        user_home=Path(app.settings.environ.get("HOME") or Path.home()),
        window=session.model.window or UNKNOWN_WINDOW,
        repository=app.repository(root) if root else None,
        fetch=app.fetch,
        mask=app.mask,
    )


def local_root(session: Session) -> Path | None:
    """The folder that a session works in; None if that is on another machine, or in a container."""
    world = session.world
    return Path(world.workspace) if isinstance(world, LocalWorld) and world.terminal.kind == "local" else None


class _Desk:
    """Reads what references name, and keeps in mind what came from outside."""

    def __init__(
        self, root: Path | None, places: Places, repository: Repository | None, fetch: Fetch, *, most: int
    ) -> None:
        self._root, self._places, self._repository, self._fetch, self._most = root, places, repository, fetch, most
        self.fetched: list[str] = []

    async def read(self, reference: Reference) -> str:
        match reference.kind:
            case "file":
                return await self._file(reference.value)
            case "folder":
                path = quoting.find(reference.value, self._top(), self._places)
                return await asyncio.to_thread(quoting.listing, path)
            case "diff":
                return await self._git().diff() or "(nothing is changed)"
            case "staged":
                return await self._git().diff(staged=True) or "(nothing is staged)"
            case "git":
                count = int(reference.value) if reference.value.isdecimal() else 0
                if not 1 <= count <= MOST_COMMITS:
                    raise UserError(f"{reference.value} is no number from 1 to {MOST_COMMITS}", "for example @git:3")
                return await self._git().commits(count)
            case "url":
                if not re.match("https?://", reference.value, re.IGNORECASE):
                    raise UserError("only http:// and https:// are fetched", "for a file write @file:path")
                text, found_at = await self._fetch(reference.value)
                self.fetched.append(found_at)
                return text

    async def _file(self, value: str) -> str:
        ranged = _lines.fullmatch(value)
        lines = None
        if ranged and not (self._top() / value).exists():
            value, first = ranged["path"], int(ranged["first"])
            lines = quoting.Lines(first, int(ranged["last"] or first))
            if lines.last < first:
                raise UserError(f"line {lines.last} stands before line {first}", "for example @file:path:10-20")
        path = quoting.find(value, self._top(), self._places)
        return await asyncio.to_thread(quoting.read, path, lines, self._most)

    def _top(self) -> Path:
        if self._root is None:
            raise UserError("the session works on another machine", "let the model read it with its tools")
        return self._root

    def _git(self) -> Repository:
        self._top()
        assert self._repository is not None
        return self._repository


def _language(reference: Reference) -> str:
    match reference.kind:
        case "file":
            ranged = _lines.fullmatch(reference.value)
            return Path(ranged["path"] if ranged else reference.value).suffix.removeprefix(".")
        case "diff" | "staged" | "git":
            return "diff"
        case _:
            return "text"
