"""RELIABILITY row 24: a folder and a file that turn into links out of the workspace and back, while tools work with them."""

import ctypes
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes.protocol.actions import Action, ReadPath, WritePath
from hermes.protocol.errors import Denied, HermesError
from hermes.safety.gated import GatedFiles
from hermes.safety.places import Places, inside
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.files import LocalFiles
from tests.tools.context import Context

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names at once")

ROUNDS = 1_500
CANARY = "canary-5d20c7"
INSIDE = "one line that is ours\n"
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


class Scene:
    """A workspace whose `folder` and `file` are swapped, and what lies outside, which nothing permits to reach."""

    def __init__(self, base: Path) -> None:
        self.work, self.outside = base / "work", base / "outside"
        for place, text in ((self.work / "folder", INSIDE), (self.outside, f"one line: {CANARY}\n")):
            place.mkdir(parents=True)
            (place / "file").write_text(text)
        (self.work / "file").write_text(INSIDE)
        self.before = self.seen_outside()

    async def permit(self, action: Action) -> bool:
        assert isinstance(action, ReadPath | WritePath)
        if not inside(action.path, str(self.work)):
            raise Denied("it is outside")
        return False

    async def before_change(self, paths: Sequence[str]) -> None:
        assert all(inside(path, str(self.work)) for path in paths)

    def seen_outside(self) -> dict[str, str]:
        return {str(path): path.read_text() for path in sorted(self.outside.rglob("*"))}

    @contextmanager
    def swapping(self) -> Iterator[None]:
        """At each moment there is either the real thing or the link."""
        stop = threading.Event()
        links = {"folder": self.outside, "file": self.outside / "file"}

        def swap() -> None:
            while not stop.is_set():
                for name, target in links.items():
                    link = self.work / f".link-{name}"
                    if not link.is_symlink() and not (self.work / name).is_symlink():
                        # A write has taken the link's place.
                        link.unlink(missing_ok=True)
                        link.symlink_to(target)
                    exchange(self.work / name, link)

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def exchange(one: Path, other: Path) -> None:
    here = -100
    ctypes.CDLL(None).renameat2(here, os.fsencode(one), here, os.fsencode(other), 2)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())


@pytest.fixture
async def ctx(scene: Scene) -> AsyncIterator[Context]:
    terminal = LocalTerminal(str(scene.work), ENV)
    places = Places(home="/nonexistent/.hermes", user_home="/nonexistent")
    files = LocalFiles(lambda: terminal.cwd, ENV)
    yield Context(terminal, GatedFiles(files, scene.permit, scene.before_change, places))
    await terminal.close()


@pytest.mark.parametrize("path", ["folder/file", "file"])
async def test_row_24_swapped_links_never_lead_a_tool_outside(ctx: Context, scene: Scene, path: str) -> None:
    calls = (
        ("read_file", {"path": path}),
        ("write_file", {"path": path, "content": INSIDE}),
        ("patch", {"path": path, "old_string": "one line", "new_string": "one LINE"}),
        ("patch", {"path": path, "old_string": "one LINE", "new_string": "one line"}),
    )
    ended: Counter[str] = Counter()
    said: list[str] = []
    with scene.swapping():
        for number in range(ROUNDS):
            name, args = calls[number % len(calls)]
            try:
                said.append(str(await ctx.do(name, **args)))
                ended["done"] += 1
            except HermesError as error:
                said.append(str(error))
                ended["refused" if isinstance(error, Denied) else "failed"] += 1
    assert [text for text in said if CANARY in text] == []
    assert scene.seen_outside() == scene.before
    # Otherwise there was no race.
    assert ended["done"] and ended["refused"], ended


async def test_row_24_a_search_gives_no_line_from_outside(ctx: Context, scene: Scene) -> None:
    found: list[str] = []
    with scene.swapping():
        for number in range(60):
            try:
                path = (".", "folder", "file")[number % 3]
                found.append(str(await ctx.do("search_files", pattern="one line", path=path)))
            except HermesError as error:
                found.append(str(error))
    assert [text for text in found if CANARY in text] == []
    assert any("that is ours" in text for text in found)


async def test_a_search_does_not_follow_links_out(ctx: Context, scene: Scene) -> None:
    (scene.work / "way").symlink_to("../outside")
    (scene.work / "name").symlink_to("../outside/file")
    assert CANARY not in str(await ctx.do("search_files", pattern="one line", path="."))
    with pytest.raises(Denied):
        await ctx.do("search_files", pattern="one line", path="way")
