"""Files beneath a folder, with openat2 and with the walk that stands in for it."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.protocol.errors import TerminalError
from hermes.safety.roots import Root, has_openat2

WAYS = [pytest.param(True, id="walk")]
if has_openat2():
    WAYS.append(pytest.param(False, id="openat2"))
every_way = pytest.mark.parametrize("walk", WAYS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "file").write_text("inside")
    (root / "out").symlink_to("../outside")
    (root / "in").symlink_to(root / "sub")
    return root


@every_way
def test_what_lies_beneath_is_read_also_through_links_that_stay(folder: Path, walk: bool):
    with Root(str(folder), walk=walk) as root:
        assert [root.read(path, 100) for path in ("sub/file", "in/file", f"{folder}/sub/file")] == [b"inside"] * 3
        assert root.read("sub/file", 2) == b"in"


@every_way
@pytest.mark.parametrize("path", ["../outside/secret", "out/secret", "/etc/passwd", "sub/../../outside/secret", "a\0b"])
def test_what_lies_outside_is_not_opened(folder: Path, walk: bool, path: str):
    with Root(str(folder), walk=walk) as root, pytest.raises(TerminalError, match="is outside"):
        root.read(path, 100)


@every_way
def test_a_link_put_there_after_the_judgement_is_not_followed(folder: Path, walk: bool):
    with Root(str(folder), walk=walk) as root:
        real = root.resolve("sub/file")
        os.rename(folder / "sub", folder / "moved")
        (folder / "sub").symlink_to("../outside")
        (folder.parent / "outside" / "file").write_text("secret")
        with pytest.raises(OSError):
            root.open(real, os.O_RDONLY)
        with pytest.raises(OSError), root.folder_of(real):
            pass
        with pytest.raises(OSError), root.folder_of(real, make=True):
            pass


@every_way
def test_the_file_itself_swapped_for_a_link_is_not_followed(folder: Path, walk: bool):
    with Root(str(folder), walk=walk) as root:
        real = root.resolve("sub/file")
        (folder / "sub" / "file").unlink()
        (folder / "sub" / "file").symlink_to("../../outside/secret")
        for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_TRUNC):
            with pytest.raises(OSError):
                root.open(real, flags)
    assert (folder.parent / "outside" / "secret").read_text() == "secret"


@every_way
def test_a_folder_swapped_in_a_loop_never_gives_what_lies_outside(folder: Path, walk: bool):
    (folder.parent / "outside" / "file").write_text("secret")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(folder / "sub", folder / "held")
            os.symlink("../outside", folder / "sub")
            os.unlink(folder / "sub")
            os.rename(folder / "held", folder / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    read: set[bytes] = set()
    refused = 0
    try:
        with Root(str(folder), walk=walk) as root:
            for number in range(1500):
                try:
                    read.add(root.read("sub/file", 100))
                    with root.folder_of(root.resolve(f"sub/new{number}")) as (fd, name):
                        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=fd))
                except (TerminalError, OSError):
                    refused += 1
    finally:
        stop.set()
        thread.join()
    assert read <= {b"inside"}
    assert refused > 0
    assert sorted(os.listdir(folder.parent / "outside")) == ["file", "secret"]


@every_way
def test_a_new_file_gets_its_folders_and_never_replaces(folder: Path, walk: bool):
    with Root(str(folder), walk=walk) as root:
        os.close(root.create("new/deep/file"))
        with pytest.raises(FileExistsError):
            root.create("new/deep/file")
        with pytest.raises(OSError):
            root.create("sub/file/beneath-a-file")
    assert (folder / "new" / "deep" / "file").read_bytes() == b""


@every_way
def test_a_pipe_is_no_file_and_is_not_waited_for(folder: Path, walk: bool):
    os.mkfifo(folder / "pipe")
    with Root(str(folder), walk=walk) as root, pytest.raises(TerminalError, match="not a file"):
        root.read("pipe", 10)


@every_way
def test_no_descriptor_is_left_open(folder: Path, walk: bool):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with Root(str(folder), walk=walk) as root:
        root.read("sub/file", 10)
        for path in ("sub/none", "none/none"):
            with pytest.raises(OSError):
                root.open(root.resolve(path), os.O_RDONLY)
        os.close(root.create("x/y"))
        with pytest.raises(TerminalError, match="not resolved"):
            root.open(f"{folder}/sub/../sub/file", os.O_RDONLY)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


NAMES = st.sampled_from(["a", "b", "c", "..", ".", "outside", "secret"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@every_way
@settings(max_examples=25, deadline=None)
@given(links=st.dictionaries(st.sampled_from(["a", "b", "c", "a/c", "b/c"]), PATHS, max_size=4), path=PATHS)
def test_whatever_the_links_nothing_outside_is_ever_read(
    tmp_path_factory: pytest.TempPathFactory, walk: bool, links: dict[str, str], path: str
):
    above = tmp_path_factory.mktemp("tree")
    (above / "outside").mkdir()
    (above / "outside" / "secret").write_text("secret")
    inner = above / "root"
    inner.mkdir()
    for name, target in sorted(links.items()):
        place = inner / name
        if place.parent.is_dir() and not place.is_symlink() and not place.exists() and inner in place.resolve().parents:
            place.symlink_to(target)
    for name in ("a", "b"):
        if not (inner / name).is_symlink():
            (inner / name).mkdir(exist_ok=True)
            (inner / name / "secret").write_text("inside")
    with Root(str(inner), walk=walk) as root:
        with suppress(TerminalError, OSError):
            assert root.read(path, 100) == b"inside"
