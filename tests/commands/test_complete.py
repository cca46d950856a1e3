"""Completion of commands, their arguments and @-references."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.commands import workspace
from hermes.commands.complete import Completer
from hermes.commands.fit import fit, ranked
from hermes.commands.registry import Command, Completion, Context, Outcome, Registry
from hermes.protocol.errors import UserError
from tests.commands.surface import Person, person


async def nothing(ctx: Context, argument: str) -> Outcome:
    return Outcome()


async def colours(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=colour, help=f"all {colour}") for colour in ("red", "green", "dark-green")]


async def pairs(ctx: Context, argument: str) -> list[Completion]:
    """A second word, once there is a first."""
    first, gap, _ = argument.partition(" ")
    words = ("on", "off") if gap else ("thoughts", "tools")
    return [Completion(text=word, start=len(first) + 1 if gap else 0) for word in words]


async def fails(ctx: Context, argument: str) -> list[Completion]:
    raise UserError("the server does not answer")


COMMANDS = (
    Command(name="new", aliases=("reset",), usage="[TITLE]", help="start anew", run=nothing),
    Command(name="retry", help="ask again", run=nothing),
    Command(name="skin", usage="[NAME]", help="change colours", run=nothing, complete=colours),
    Command(name="details", usage="PART STATE", help="show more", run=nothing, complete=pairs),
    Command(name="model", usage="[NAME]", help="change the model", run=nothing, complete=fails),
    Command(name="sethome", help="for chats", run=nothing, surfaces=("chat",)),
)


class Typist:
    """Asks for completions at the end of a text, or at a | in it."""

    def __init__(self, one: Person) -> None:
        one.registry = Registry(COMMANDS)
        self.root = Path(one.session.world.workspace)
        self._complete = Completer(one)

    async def offers(self, text: str) -> list[Completion]:
        before, _, behind = text.partition("|")
        return await self._complete(before + behind, len(before))

    async def texts(self, text: str) -> list[str]:
        return [offer.text for offer in await self.offers(text)]


@pytest.fixture
async def typist(tmp_path: Path) -> AsyncIterator[Typist]:
    async with person(tmp_path) as one:
        yield Typist(one)


@pytest.mark.parametrize(
    ("typed", "order"),
    [
        ("mod", ["model", "my-model", "amoda", "m-o-d"]),
        ("MOD", ["model", "my-model", "amoda", "m-o-d"]),
        ("xyz", []),
        ("", ["amoda", "m-o-d", "my-model", "model", "other"]),
    ],
)
def test_a_beginning_fits_better_than_a_word_a_part_and_letters(typed: str, order: list[str]):
    assert ranked(typed, ["amoda", "m-o-d", "my-model", "model", "other"], str, 9) == order


def test_letters_fit_only_in_their_order():
    assert (fit("ab", "xaxxb"), fit("ba", "xaxxb")) == ((3, 4, "xaxxb"), None)


async def test_a_slash_offers_every_command_of_the_surface_once(typist: Typist):
    assert await typist.offers("/") == [
        Completion(text="/new ", label="/new [TITLE]", help="start anew"),
        Completion(text="/retry", label="/retry", help="ask again"),
        Completion(text="/skin ", label="/skin [NAME]", help="change colours"),
        Completion(text="/details ", label="/details PART STATE", help="show more"),
        Completion(text="/model ", label="/model [NAME]", help="change the model"),
    ]


async def test_the_beginning_of_a_name_or_another_name_finds_a_command(typist: Typist):
    assert await typist.texts("/re") == ["/reset ", "/retry"]
    assert await typist.texts("/ry") == ["/retry"]
    assert await typist.texts("/mdl") == ["/model "]


async def test_a_command_that_is_there_in_full_is_not_offered(typist: Typist):
    assert await typist.texts("/retry") == []


async def test_a_slash_in_the_text_is_no_command(typist: Typist):
    assert [await typist.texts(text) for text in ("see /re", "/etc/ho", " /re")] == [[], [], []]


async def test_what_stands_behind_the_cursor_does_not_count(typist: Typist):
    assert await typist.texts("/mod| and more") == ["/model "]


async def test_a_command_offers_its_arguments_in_their_place(typist: Typist):
    assert await typist.offers("/skin gr") == [
        Completion(text="green", start=6, help="all green"),
        Completion(text="dark-green", start=6, help="all dark-green"),
    ]
    assert await typist.texts("/sk ") == ["red", "green", "dark-green"]


async def test_a_second_word_has_a_place_of_its_own(typist: Typist):
    assert await typist.offers("/details tools o") == [
        Completion(text="on", start=15), Completion(text="off", start=15),
    ]  # fmt: skip


async def test_a_command_that_cannot_tell_offers_nothing(typist: Typist):
    assert [await typist.texts(text) for text in ("/model g", "/unknown g", "/retry g")] == [[], [], []]


async def test_an_at_sign_offers_the_kinds_of_references(typist: Typist):
    assert await typist.texts("see @") == ["@file:", "@folder:", "@diff", "@staged", "@git:", "@url:"]
    assert await typist.texts("see\n@st") == ["@staged"]
    assert (await typist.offers("see @st"))[0].start == 4


async def test_an_address_or_a_mention_offers_nothing(typist: Typist):
    assert [await typist.texts(text) for text in ("ann@ex", "@file:a b", "@url:http://a")] == [[], [], []]


async def test_one_to_ten_commits_are_offered(typist: Typist):
    assert await typist.texts("@git:1") == ["@git:10 "]
    assert len(await typist.texts("@git:")) == 10


async def test_files_of_the_workspace_are_offered_nearest_first(typist: Typist):
    fill(typist.root, "src/app/main.py", "main.md", "my notes.md", "node_modules/main.js", ".hidden/main.c")
    assert await typist.offers("@file:") == [
        Completion(text="@file:main.md ", label="main.md"),
        Completion(text='@file:"my notes.md" ', label="my notes.md"),
        Completion(text="@file:src/app/main.py ", label="src/app/main.py"),
    ]
    assert await typist.texts("@file:src/a") == ["@file:src/app/main.py "]
    assert await typist.texts("@file:./mai") == ["@file:main.md ", "@file:src/app/main.py "]
    assert await typist.texts('look @file:"my n') == ['@file:"my notes.md" ']
    assert await typist.texts("@main.p") == ["@file:src/app/main.py "]


async def test_folders_of_the_workspace_are_offered(typist: Typist):
    fill(typist.root, "src/app/main.py", "docs/a.md")
    assert await typist.texts("@folder:") == ["@folder:docs/ ", "@folder:src/ ", "@folder:src/app/ "]


async def test_what_git_ignores_is_not_offered(typist: Typist):
    fill(typist.root, "a.py", "build/b.py", ".github/c.yml")
    (typist.root / ".gitignore").write_text("build/\n")
    subprocess.run(["git", "init", "-q"], cwd=typist.root, check=True)
    assert await typist.texts("@file:") == ["@file:.gitignore ", "@file:a.py ", "@file:.github/c.yml "]


async def test_names_are_kept_for_a_while(typist: Typist, monkeypatch: pytest.MonkeyPatch):
    fill(typist.root, "a.py")
    assert await typist.texts("@file:") == ["@file:a.py "]
    fill(typist.root, "b.py")
    assert await typist.texts("@file:") == ["@file:a.py "]
    now = workspace.time.monotonic()
    monkeypatch.setattr(workspace.time, "monotonic", lambda: now + workspace.FRESH + 1)
    assert await typist.texts("@file:") == ["@file:a.py ", "@file:b.py "]


def fill(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
