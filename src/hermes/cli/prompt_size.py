"""Count what every request begins with: the parts of the system text, and the tools.

Needs no key and no network. Tokens are exact (o200k_base) if the package bpe_openai is installed, else bytes / 4.
"""

import argparse
import sys
from collections.abc import Callable

import msgspec
from msgspec import Struct

from hermes.agent import prompt
from hermes.cli.open import open_app, wish_of
from hermes.cli.table import Column, print_table
from hermes.models.choose import LOCAL

COLUMNS = (Column("part", shrinks=True), Column("bytes", right=True), Column("tokens", right=True))
BYTES_PER_TOKEN = 4


class Size(Struct, frozen=True):
    name: str
    bytes: int
    tokens: int


class PromptSize(Struct, frozen=True):
    """What the first request of a session to `model` holds before anything is said."""

    model: str
    profile: str
    counted: str
    sections: tuple[Size, ...]
    tools: tuple[Size, ...]
    system: Size
    tool_specs: Size
    total: Size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    later = argparse.SUPPRESS
    parser.add_argument("-m", "--model", metavar="MODEL", default=later, help="as this model would be asked")
    parser.add_argument("-t", "--toolsets", metavar="NAMES", default=later, help="with these toolsets")
    parser.add_argument(
        "--platform", metavar="NAME", dest="source", default=later, help="as on this surface: cli, telegram, …"
    )
    parser.add_argument("--json", action="store_true", default=later, help="as one JSON object")


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        wish = await wish_of(app, args, can_ask=False)
        choice = app.choice(wish)
        profile = "small" if choice.provider == LOCAL else "full"
        await app.skills.shelf.refresh()
        sections = app.sections(wish, profile, app.roster.facts(choice).window)
        specs = tuple(tool.spec for tool in app.tools(wish, profile))
    count, counted = _counter()

    def size(name: str, text: str) -> Size:
        return Size(name, len(text.encode()), count(text))

    system = size("system text", prompt.system_text(sections))
    tools = size("tools", msgspec.json.encode(specs).decode())
    found = PromptSize(
        model=choice.name,
        profile=profile,
        counted=counted,
        sections=tuple(size(section.name, section.text) for section in sections),
        tools=tuple(size(spec.name, msgspec.json.encode(spec).decode()) for spec in specs),
        system=system,
        tool_specs=tools,
        total=Size("total", system.bytes + tools.bytes, system.tokens + tools.tokens),
    )
    if vars(args).get("json"):
        print(msgspec.json.encode(found).decode())
    else:
        _print(found)
    return 0


def _counter() -> tuple[Callable[[str], int], str]:
    """How to count tokens here, and what that is called."""
    try:
        from bpe_openai import get_encoding
    except ImportError:
        return lambda text: -(-len(text.encode()) // BYTES_PER_TOKEN), "bytes / 4"
    encoding = get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text)), "o200k_base"


def _print(found: PromptSize) -> None:
    parts = [*found.sections, found.system, *found.tools, found.tool_specs, found.total]
    if not sys.stdout.isatty():
        return print_table(COLUMNS, [(part.name, str(part.bytes), str(part.tokens)) for part in parts], sys.stdout)
    sums = (found.system, found.tool_specs, found.total)
    names = [part.name if part in sums else f"  {part.name}" for part in parts]
    rows = [(name, f"{part.bytes:,}", f"{part.tokens:,}") for name, part in zip(names, parts, strict=True)]
    print_table(COLUMNS, rows, sys.stdout)
    print(f"for {found.model}; tokens counted by {found.counted}")
