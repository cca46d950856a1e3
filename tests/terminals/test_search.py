"""One set of answers, from ripgrep and from our own."""

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import Match, Search
from hermes.terminals import search as module
from hermes.terminals.search import Records, find
from tests.terminals.conftest import children_of_ours

RG = pytest.param(os.environ["PATH"], id="rg", marks=pytest.mark.needs("rg"))
OWN = pytest.param("/nowhere", id="own")

TREE: dict[str, bytes] = {
    "a.py": b"import os\n\ndef first():\n    return os\n\n\ndef second():\n    pass\n",
    "b.txt": b"def in text\nNothing\n",
    "sub/c.py": b"def third(): pass",
    "sub/deep/d.py": "def fünfte():\r\n    x = 'ä'\r\n".encode(),
    "sub.py": b"def between(): pass\n",
    "build/out.py": b"def built(): pass\n",
    "notes.log": b"def logged\n",
    "keep.log": b"def kept\n",
    "sub/.gitignore": b"local.py\n/anchored.py\n",
    "sub/local.py": b"def local(): pass\n",
    "sub/anchored.py": b"def a1\n",
    "sub/deep/anchored.py": b"def a2\n",
    "sub/deep/local.py": b"def local2\n",
    ".gitignore": b"# comment\n*.log\n!keep.log\nbuild/\ndata/*.bin\n**/temp/\n[xy]1.py\nsp\\ ace.py  \n{one,two}.py\n[z-a].py\n{broken\n",
    ".ignore": b"from_ignore.py\n",
    "from_ignore.py": b"def ignored\n",
    ".git/info/exclude": b"excluded.py\n",
    ".git/config": b"def config\n",
    "excluded.py": b"def excluded\n",
    "data/x.bin": b"def bin\n",
    "data/sub/y.bin": b"def bin\n",
    "a/temp/t.py": b"def temp\n",
    "x1.py": b"def x1\n",
    "z1.py": b"def z1\n",
    "sp ace.py": b"def space\n",
    "one.py": b"def one\n",
    "three.py": b"def three\n",
    ".hidden.py": b"def hidden\n",
    ".hidden/h.py": b"def hidden\n",
    "binary.py": b"def binary\n\0\n",
    "latin.py": b"def caf\xe9\n",
    "bom.py": b"\xef\xbb\xbfdef bom\n",
    "wide.py": "def wide\n".encode("utf-16"),
    "empty.py": b"",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, data in TREE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (1000, 1000))
    (tmp_path / "link.py").symlink_to("a.py")
    return tmp_path


def lines(tree: Path, found: tuple[Match, ...]) -> list[str]:
    return [
        f"{os.path.relpath(match.path, tree)}{':' if match.hit else '-'}{match.line}{':' if match.hit else '-'}{match.text}"
        for match in found
    ]


def names(tree: Path, found: tuple[Match, ...]) -> list[str]:
    return [os.path.relpath(match.path, tree) for match in found]


@pytest.mark.parametrize("path", [RG, OWN])
async def test_lines_are_found_in_the_order_of_their_files(tree: Path, path: str) -> None:
    found = await find(Search(pattern=r"^def \w+", path="."), str(tree), 100, path)
    assert lines(tree, found) == [
        "a.py:3:def first():",
        "a.py:7:def second():",
        "b.txt:1:def in text",
        "bom.py:1:def bom",
        "data/sub/y.bin:1:def bin",
        "keep.log:1:def kept",
        "latin.py:1:def caf\ufffd",
        "sub/c.py:1:def third(): pass",
        "sub/deep/anchored.py:1:def a2",
        "sub/deep/d.py:1:def fünfte():",
        "sub.py:1:def between(): pass",
        "three.py:1:def three",
        "wide.py:1:def wide",
        "z1.py:1:def z1",
    ]


@pytest.mark.parametrize("path", [RG, OWN])
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Search(pattern="nothing", path=".", ignore_case=True), ["b.txt:2:Nothing"]),
        (Search(pattern="nothing", path="."), []),
        (Search(pattern="third", path=".", glob="*.py"), ["sub/c.py:1:def third(): pass"]),
        (
            Search(pattern="def", path=".", glob="*.{txt,log}"),
            ["b.txt:1:def in text", "keep.log:1:def kept", "notes.log:1:def logged"],
        ),
        (
            Search(pattern="def", path=".", glob="/sub/*.py"),
            ["sub/anchored.py:1:def a1", "sub/c.py:1:def third(): pass", "sub/local.py:1:def local(): pass"],
        ),
        (Search(pattern="def", path=".", glob="sub/**/d.py"), ["sub/deep/d.py:1:def fünfte():"]),
        (Search(pattern="hidden", path=".", glob=".hidden.py"), [".hidden.py:1:def hidden"]),
        (
            Search(pattern="return|pass", path=".", glob="a.py", context=1),
            ["a.py-3-def first():", "a.py:4:    return os", "a.py-5-", "a.py-7-def second():", "a.py:8:    pass"],
        ),
        (
            Search(pattern="()$", path=".", glob="d.py"),
            ["sub/deep/d.py:1:def fünfte():", "sub/deep/d.py:2:    x = 'ä'"],
        ),
        (Search(pattern="-x|--", path="."), []),
        (Search(pattern=r"(?<=def )third", path="."), ["sub/c.py:1:def third(): pass"]),
    ],
)
async def test_a_search_can_be_narrowed(tree: Path, path: str, wanted: Search, expected: list[str]) -> None:
    assert lines(tree, await find(wanted, str(tree), 100, path)) == expected


@pytest.mark.parametrize("path", [RG, OWN])
async def test_everything_but_some_can_be_searched(tree: Path, path: str) -> None:
    found = await find(Search(pattern="def", path=".", glob="!*.py"), str(tree), 100, path)
    assert names(tree, found) == ["b.txt", "data/sub/y.bin", "keep.log"]


@pytest.mark.parametrize("path", [RG, OWN])
async def test_one_file_is_searched_whatever_ignores_it(tree: Path, path: str) -> None:
    for name, expected in (("notes.log", ["notes.log:1:def logged"]), ("binary.py", []), ("empty.py", [])):
        assert lines(tree, await find(Search(pattern="def", path="."), str(tree / name), 100, path)) == expected


@pytest.mark.parametrize("path", [RG, OWN])
async def test_a_folder_below_obeys_the_files_above_it(tree: Path, path: str) -> None:
    found = await find(Search(pattern="def", path="."), str(tree / "sub"), 100, path)
    assert names(tree, found) == ["sub/c.py", "sub/deep/anchored.py", "sub/deep/d.py"]
    assert names(tree, await find(Search(pattern="def", path="."), str(tree / "build"), 100, path)) == ["build/out.py"]


@pytest.mark.parametrize("path", [RG, OWN])
async def test_outside_a_repository_only_ignore_files_count(tree: Path, path: str) -> None:
    shutil.rmtree(tree / ".git")
    found = await find(Search(pattern="def", path="."), str(tree), 100, path)
    assert {"notes.log", "build/out.py", "excluded.py"} <= set(names(tree, found))
    assert "from_ignore.py" not in names(tree, found)


@pytest.mark.parametrize("path", [RG, OWN])
async def test_the_first_matches_are_given_with_their_context(tmp_path: Path, path: str) -> None:
    (tmp_path / "a").write_text("".join(f"{number} {'hit' if number % 3 == 0 else 'no'}\n" for number in range(1, 20)))
    (tmp_path / "b").write_text("hit\n" * 10)
    wanted = Search(pattern="hit", path=".", context=1)
    assert lines(tmp_path, await find(wanted, str(tmp_path), 2, path)) == [
        "a-2-2 no",
        "a:3:3 hit",
        "a-4-4 no",
        "a-5-5 no",
        "a:6:6 hit",
        "a-7-7 no",
    ]
    found = await find(Search(pattern="hit", path="."), str(tmp_path), 8, path)
    assert lines(tmp_path, found)[-3:] == ["a:18:18 hit", "b:1:hit", "b:2:hit"]


@pytest.mark.parametrize("path", [RG, OWN])
async def test_files_are_found_by_name_the_newest_first(tree: Path, path: str) -> None:
    os.utime(tree / "z1.py", (3000, 3000))
    os.utime(tree / "sub/deep/d.py", (2000, 2000))
    wanted = Search(pattern="*.py", path=".", target="files")
    found = await find(wanted, str(tree), 6, path)
    assert names(tree, found) == ["z1.py", "sub/deep/d.py", ".hidden.py", "a.py", "binary.py", "bom.py"]
    assert found[0] == Match(path=str(tree / "z1.py"), line=0, text="")


@pytest.mark.parametrize("path", [RG, OWN])
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Search(pattern="D.PY", path=".", target="files", ignore_case=True), ["sub/deep/d.py"]),
        (Search(pattern="D.PY", path=".", target="files"), []),
        (Search(pattern="sub/*.py", path=".", target="files"), ["sub/anchored.py", "sub/c.py", "sub/local.py"]),
        (Search(pattern="?1.py", path=".", target="files"), ["x1.py", "z1.py"]),
        (Search(pattern="[!x]1.py", path=".", target="files"), ["z1.py"]),
        (Search(pattern="*.log", path=".", target="files"), ["keep.log", "notes.log"]),
        (Search(pattern="sub", path=".", target="files"), []),
    ],
)
async def test_names_are_globs(tree: Path, path: str, wanted: Search, expected: list[str]) -> None:
    assert names(tree, await find(wanted, str(tree), 100, path)) == expected


@pytest.mark.parametrize("path", [RG, OWN])
async def test_a_pattern_that_is_none_and_a_folder_that_is_not_there_are_one_line(tmp_path: Path, path: str) -> None:
    with pytest.raises(TerminalError, match=r"^cannot search: error: .*(unclosed|unterminated)[^\n]*$"):
        await find(Search(pattern="(", path="."), str(tmp_path), 10, path)
    with pytest.raises(TerminalError, match=r"missing: there is nothing to search$"):
        await find(Search(pattern="x", path="."), str(tmp_path / "missing"), 10, path)
    with pytest.raises(TerminalError, match="there is nothing to search"):
        await find(Search(pattern="x", path="."), "/proc/self", 10, path)


@pytest.mark.parametrize("path", [RG, OWN])
async def test_very_long_lines_are_cut(tmp_path: Path, path: str) -> None:
    (tmp_path / "long").write_text("y" * 1_000_000 + "x\nshort x\n" + "y" * 12_000_000 + "x\n")
    found = await find(Search(pattern="x", path="."), str(tmp_path), 10, path)
    assert [(match.line, len(match.text)) for match in found] == [(1, 2000), (2, 7)]


@pytest.mark.parametrize("path", [RG, OWN])
async def test_a_search_is_cancelled_at_once_and_leaves_no_process(tmp_path: Path, path: str) -> None:
    # Ours goes back and back in such a text; rg is too quick for any, but waits for whoever writes to a pipe.
    (tmp_path / "evil").write_text(("a" * 40 + "b\n") * 2000)
    os.mkfifo(tmp_path / "pipe")
    wanted = Search(pattern=r"^(?=(a+)+$)c", path=".")
    place = tmp_path if path == "/nowhere" else tmp_path / "pipe"
    searching = asyncio.create_task(find(wanted, str(place), 10, path))
    await asyncio.sleep(0.2)
    assert not searching.done()
    began = time.monotonic()
    searching.cancel()
    await asyncio.wait([searching])
    assert searching.cancelled()
    assert time.monotonic() - began < 1
    assert children_of_ours() == []


async def test_a_search_that_takes_too_long_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.2)
    (tmp_path / "evil").write_text("a" * 40 + "b\n")
    with pytest.raises(TerminalError, match="took more than 0 s; name a smaller folder"):
        await find(Search(pattern=r"^(a+)+$", path="."), str(tmp_path), 10, "/nowhere")


@pytest.mark.needs("rg")
async def test_settings_of_the_person_do_not_change_the_answers(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path_factory.mktemp("config") / "rg"
    config.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    found = await find(Search(pattern="third", path="."), str(tree), 10, os.environ["PATH"])
    assert names(tree, found) == ["sub/c.py"]


@given(st.lists(st.binary(max_size=6)), st.integers(1, 9))
@settings(max_examples=50)
def test_records_do_not_depend_on_how_they_came(pieces: list[bytes], size: int) -> None:
    whole = b"".join(pieces)
    records = Records(b"\n")
    got = [record for at in range(0, len(whole), size) for record in records.take(whole[at : at + size])]
    assert got == [record for record in whole.split(b"\n")[:-1] if record]
