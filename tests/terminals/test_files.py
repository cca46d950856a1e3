import asyncio
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import Files, Search, Stat
from hermes.terminals.files import LocalFiles


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def files(here: Path, env: dict[str, str]) -> Files:
    return LocalFiles(lambda: str(here), env)


async def test_a_path_is_resolved_from_the_folder_of_the_terminal_through_home_and_links(
    files: Files, here: Path, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (here / "link").symlink_to("../real")
    assert await files.resolve("a/b.txt") == f"{here}/a/b.txt"
    assert await files.resolve("~/x") == f"{tmp_path}/x"
    assert await files.resolve("link/new/../file") == f"{tmp_path}/real/file"
    assert await files.resolve("link/..") == str(tmp_path)
    assert await files.resolve("/etc/../etc/passwd") == "/etc/passwd"
    (here / "dangling").symlink_to("/nowhere/at all")
    assert await files.resolve("dangling") == "/nowhere/at all"


async def test_stat_tells_files_folders_links_and_what_is_not_there(files: Files, here: Path) -> None:
    file = here / "file"
    file.write_bytes(b"12345")
    file.chmod(0o640)
    os.utime(file, (1, 1000.5))
    (here / "link").symlink_to("file")
    os.mkfifo(here / "pipe")
    assert await files.stat("file") == Stat(kind="file", size=5, modified=1000.5, mode=0o640)
    kinds = [one.kind for name in (".", "link", "pipe") if (one := await files.stat(name))]
    assert kinds == ["folder", "link", "other"]
    assert await files.stat("missing") is None
    assert await files.stat("file/inside") is None


async def test_a_file_is_read_up_to_a_limit(files: Files, here: Path) -> None:
    (here / "file").write_bytes(b"\x00\xff" * 100)
    assert await files.read("file", 1000) == b"\x00\xff" * 100
    assert await files.read("file", 3) == b"\x00\xff\x00"
    assert (await files.read("/proc/version", 5)) == b"Linux"


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        (".", "is a folder, not a file"),
        ("/", "is a folder, not a file"),
        ("pipe", "is a pipe, not a file"),
        ("socket", "is a socket, not a file"),
        ("/dev/zero", "is a device, not a file"),
        ("/dev/stdin", "not a file"),
        ("missing", "missing: No such file or directory"),
        ("/proc/self/environ", "is not a file to read"),
        ("/proc/thread-self/mem", "is not a file to read"),
        ("/proc/kcore", "is not a file to read"),
        ("/proc/kmsg", "is not a file to read"),
        ("loop", "is a link, not a file"),
        ("a\0b", "'a\\\\x00b' is not a path: embedded null byte"),
    ],
)
async def test_what_is_not_a_file_is_refused_in_one_line(files: Files, here: Path, path: str, complaint: str) -> None:
    os.mkfifo(here / "pipe")
    (here / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(here / "socket"))
        with pytest.raises(TerminalError, match=complaint) as raised:
            await asyncio.wait_for(files.read(await files.resolve(path), 10), 5)
    assert "\n" not in str(raised.value)


async def test_a_write_makes_the_folders_and_the_whole_file(files: Files, here: Path) -> None:
    await files.write("a/b/c.txt", b"one")
    assert (here / "a/b/c.txt").read_bytes() == b"one"
    await files.write("a/b/c.txt", b"")
    assert (here / "a/b/c.txt").read_bytes() == b""
    assert os.listdir(here / "a/b") == ["c.txt"]


async def test_a_write_keeps_the_mode_and_the_owner(files: Files, here: Path) -> None:
    file = here / "script"
    file.write_bytes(b"old")
    file.chmod(0o751)
    owner = (12345, 23456) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(file, *owner)
    await files.write("script", b"new")
    now = file.stat()
    assert (file.read_bytes(), stat.S_IMODE(now.st_mode), (now.st_uid, now.st_gid)) == (b"new", 0o751, owner)


async def test_a_new_file_gets_the_mode_that_any_new_file_gets(files: Files, here: Path) -> None:
    (here / "ordinary").write_bytes(b"")
    await files.write("new", b"x")
    assert (here / "new").stat().st_mode == (here / "ordinary").stat().st_mode


async def test_a_write_through_a_link_changes_what_it_points_to(files: Files, here: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (here / "link").symlink_to("../target")
    (here / "dangling").symlink_to("made")
    await files.write(await files.resolve("link"), b"new")
    await files.write(await files.resolve("dangling"), b"new")
    assert (here / "link").is_symlink()
    assert (here / "dangling").is_symlink()
    assert (tmp_path / "target").read_bytes() == (here / "made").read_bytes() == b"new"


async def test_readers_see_the_old_or_the_new_file_and_never_a_part(files: Files, here: Path) -> None:
    contents = [bytes([letter]) * 200_000 for letter in b"ab"]
    await files.write("file", contents[0])
    seen: set[bytes] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.add((here / "file").read_bytes())

    looking = threading.Thread(target=look)
    looking.start()
    for number in range(20):
        await files.write("file", contents[number % 2])
    stop.set()
    looking.join()
    assert seen <= set(contents)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [(".", "is a folder"), ("pipe", "is a pipe"), ("/dev/null", "is a device"), ("file/x", "Not a directory|exists")],
)
async def test_what_is_not_a_file_cannot_be_written(files: Files, here: Path, path: str, complaint: str) -> None:
    os.mkfifo(here / "pipe")
    (here / "file").write_bytes(b"")
    with pytest.raises(TerminalError, match=complaint):
        await files.write(path, b"x")
    assert sorted(os.listdir(here)) == ["file", "pipe"]


WRITE = """
import asyncio, sys
from hermes.protocol.errors import TerminalError
from hermes.terminals.files import LocalFiles
try:
    asyncio.run(LocalFiles(lambda: sys.argv[1], {}).write("file", b"new"))
except TerminalError as error:
    print(error)
"""
# Root may write to any file, unless it gives up that right.
AS_ANYBODY = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override") if os.geteuid() == 0 else ()


def test_a_read_only_file_is_not_replaced(here: Path) -> None:
    (here / "file").write_bytes(b"old")
    (here / "file").chmod(0o444)
    done = subprocess.run([*AS_ANYBODY, sys.executable, "-c", WRITE, here], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{here}/file: Permission denied\n", "")
    assert (here / "file").read_bytes() == b"old"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


async def test_a_full_disk_leaves_the_old_file_whole_and_nothing_else(files: Files, small_disk: Path) -> None:
    path = str(small_disk / "file")
    await files.write(path, b"old" * 1000)
    with pytest.raises(TerminalError, match="No space left on device"):
        await files.write(path, b"x" * 2_000_000)
    assert os.listdir(small_disk) == ["file"]
    assert await files.read(path, 10_000) == b"old" * 1000
    await files.write(path, b"new")
    assert await files.read(path, 10_000) == b"new"


async def test_removing_a_link_spares_what_it_points_to(files: Files, here: Path) -> None:
    (here / "file").write_bytes(b"x")
    (here / "link").symlink_to("file")
    await files.remove("link")
    assert os.listdir(here) == ["file"]
    await files.remove("file")
    assert os.listdir(here) == []
    with pytest.raises(TerminalError, match="No such file"):
        await files.remove("file")
    with pytest.raises(TerminalError, match="Is a directory"):
        await files.remove(str(here))


async def test_names_are_sorted_and_folders_end_in_a_slash(files: Files, here: Path) -> None:
    for name in ("b", ".hidden", "a.txt"):
        (here / name).touch()
    (here / "folder").mkdir()
    (here / "link").symlink_to("folder")
    os.close(os.open(os.fsencode(here) + b"/\xff", os.O_CREAT))
    assert await files.names(".") == (".hidden", "a.txt", "b", "folder/", "link/", "\ufffd")
    with pytest.raises(TerminalError, match="missing: No such file"):
        await files.names("missing")


async def test_a_cancelled_write_is_finished_before_the_cancellation_goes_on(files: Files, here: Path) -> None:
    writing = asyncio.create_task(files.write("file", b"x" * 1_000_000))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert {name: (here / name).stat().st_size for name in os.listdir(here)} == {"file": 1_000_000}


async def test_a_link_that_nobody_has_followed_leads_nowhere(files: Files, here: Path, tmp_path: Path) -> None:
    """Who judged a path has followed its links; one that is there now was put there since."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_bytes(b"as it was")
    (here / "folder").symlink_to("../elsewhere")
    (here / "link").symlink_to("../elsewhere/file")
    attempts = {
        "a file in it is read": lambda: files.read("folder/file", 10),
        "a file in it is written": lambda: files.write("folder/file", b"x"),
        "a file is made in it": lambda: files.write("folder/new/file", b"x"),
        "a file in it is removed": lambda: files.remove("folder/file"),
        "its names are listed": lambda: files.names("folder"),
        "it is searched": lambda: files.search(Search(pattern="as", path="folder"), 10),
        "something in it is searched": lambda: files.search(Search(pattern="as", path="folder/file"), 10),
        "a link to a file is read": lambda: files.read("link", 10),
        "a link to a file is written": lambda: files.write("link", b"x"),
    }
    for what, attempt in attempts.items():
        with pytest.raises(TerminalError):
            print(what, await attempt())
    assert (os.listdir(tmp_path / "elsewhere"), (tmp_path / "elsewhere/file").read_bytes()) == (["file"], b"as it was")
    assert await files.search(Search(pattern="as", path="."), 10) == ()


async def test_a_folder_that_may_not_be_listed_can_be_gone_through(files: Files, here: Path) -> None:
    (here / "closed").mkdir()
    (here / "closed/file").write_bytes(b"x")
    (here / "closed").chmod(0o311)
    assert await files.read("closed/file", 10) == b"x"


async def test_a_search_sees_what_the_terminal_sees(files: Files, here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub/file").write_text("needle\n")
    found = await files.search(Search(pattern="need", path="sub"), 10)
    assert [(match.path, match.line, match.text) for match in found] == [(f"{here}/sub/file", 1, "needle")]
