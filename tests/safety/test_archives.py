"""Archives that are unpacked beneath a folder, and those that are refused whole."""

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.protocol.errors import ToolError
from hermes.safety.archives import Bounds, extract


def tar(path: Path, *members: tarfile.TarInfo | tuple[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for member in members:
            if isinstance(member, tuple):
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
            else:
                archive.addfile(member)
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def zipped(path: Path, *members: tuple[str, bytes], mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def content(root: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(root)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_is_unpacked_with_its_folders_and_inner_links(tmp_path: Path, root: Path, mode: str):
    script = tarfile.TarInfo("bin/run")
    script.mode = 0o4755
    archive = tar(
        tmp_path / "a",
        special("d", tarfile.DIRTYPE),
        ("d/x.txt", b"x"),
        special("link", tarfile.SYMTYPE, "d/x.txt"),
        script,
        mode=mode,
    )
    assert extract(str(archive), str(root)) == ["d/x.txt", "bin/run", "link"]
    assert content(root) == {"d/x.txt": b"x", "bin/run": b"", "link": "d/x.txt"}
    assert stat.S_IMODE((root / "bin/run").stat().st_mode) & 0o7100 == 0o100


def test_a_zip_is_unpacked(tmp_path: Path, root: Path):
    archive = zipped(tmp_path / "a.zip", ("d/", b""), ("d/x.txt", b"x"), ("a..b", b"y"))
    assert extract(str(archive), str(root)) == ["d/x.txt", "a..b"]
    assert content(root) == {"d/x.txt": b"x", "a..b": b"y"}


BAD_TARS: dict[str, Callable[[], list]] = {
    "a name that leads out": lambda: [("../x", b"")],
    "an absolute name": lambda: [("/tmp/x", b"")],
    "a drive": lambda: [("C:\\x", b"")],
    "backslashes that lead out": lambda: [("..\\..\\x", b"")],
    "a link that leads out": lambda: [special("l", tarfile.SYMTYPE, "../x")],
    "an absolute link": lambda: [special("l", tarfile.SYMTYPE, "/etc/passwd")],
    "a file through a link": lambda: [special("l", tarfile.SYMTYPE, "d"), ("l/x", b"")],
    "a hard link": lambda: [("x", b""), special("h", tarfile.LNKTYPE, "x")],
    "a device": lambda: [special("dev", tarfile.CHRTYPE)],
    "a block device": lambda: [special("dev", tarfile.BLKTYPE)],
    "a pipe": lambda: [special("pipe", tarfile.FIFOTYPE)],
    "a name twice": lambda: [("x", b"1"), ("x", b"2")],
    "a name twice but for case": lambda: [("x", b"1"), ("X", b"2")],
    "a name twice but for its spelling": lambda: [("x", b"1"), ("./x", b"2")],
    "a file beneath a file": lambda: [("x", b"1"), ("x/y", b"2")],
    "a name that is too long": lambda: [("n" * 256, b"")],
    "no name": lambda: [(".", b"")],
}


@pytest.mark.parametrize("what", BAD_TARS)
def test_a_tar_with_one_bad_member_writes_nothing(tmp_path: Path, root: Path, what: str):
    archive = tar(tmp_path / "a.tar.gz", ("good.txt", b"good"), *BAD_TARS[what]())
    with pytest.raises(ToolError, match="the archive has"):
        extract(str(archive), str(root))
    assert content(root) == {}
    assert sorted(os.listdir(tmp_path)) == ["a.tar.gz", "root"]


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "C:/x", "..\\x", "a\0b"])
def test_a_zip_with_a_bad_name_writes_nothing(tmp_path: Path, root: Path, name: str):
    stand_in = "Q" * len(name.encode())
    archive = zipped(tmp_path / "a.zip", ("good.txt", b"good"), (stand_in, b"bad"))
    # zipfile mends some names when it writes; an attacker's program does not.
    archive.write_bytes(archive.read_bytes().replace(stand_in.encode(), name.encode()))
    with pytest.raises(ToolError):
        extract(str(archive), str(root))
    assert content(root) == {}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_a_zip_with_a_link_or_a_device_is_refused(tmp_path: Path, root: Path, kind: int):
    archive = zipped(tmp_path / "a.zip", ("x", b"/etc/passwd"), mode=kind | 0o777)
    with pytest.raises(ToolError, match="neither a file nor a folder"):
        extract(str(archive), str(root))


def test_bombs_are_seen_before_they_are_unpacked(tmp_path: Path, root: Path):
    bounds = Bounds(members=5, size=100_000)
    bombs = [
        tar(tmp_path / "big.tar.gz", ("x", bytes(200_000))),
        tar(tmp_path / "many.tar.gz", *[(f"x{number}", b"") for number in range(6)]),
        zipped(tmp_path / "big.zip", ("x", bytes(200_000))),
        zipped(tmp_path / "many.zip", *[(f"x{number}", b"") for number in range(6)]),
    ]
    for bomb in bombs:
        with pytest.raises(ToolError, match="holds more than"):
            extract(str(bomb), str(root), bounds)
    assert content(root) == {}


def test_a_header_that_claims_gigabytes_is_not_read(tmp_path: Path, root: Path):
    header = tarfile.TarInfo("././@LongLink")
    header.type = tarfile.GNUTYPE_LONGNAME
    header.size = 5_000_000_000
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(10_000)))
    with pytest.raises(ToolError, match="holds more than"):
        extract(str(tmp_path / "a.tar.gz"), str(root))


def test_a_file_that_is_there_is_kept_and_what_was_unpacked_is_taken_back(tmp_path: Path, root: Path):
    (root / "b").write_text("mine")
    archive = tar(tmp_path / "a.tar.gz", ("a", b"1"), ("b", b"2"))
    with pytest.raises(ToolError, match="File exists"):
        extract(str(archive), str(root))
    assert content(root) == {"b": b"mine"}


def test_a_link_in_the_folder_is_not_written_through(tmp_path: Path, root: Path):
    (tmp_path / "elsewhere").mkdir()
    (root / "d").symlink_to(tmp_path / "elsewhere")
    archive = tar(tmp_path / "a.tar.gz", ("d/x", b"1"))
    with pytest.raises(ToolError, match="a link on the way"):
        extract(str(archive), str(root))
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.parametrize(
    "data", [b"", b"not an archive", b"\x1f\x8bxxxxxxxx", b"BZhxxxx", b"\xfd7zXZ\x00xx", b"PK\x05\x06" + bytes(18)[:10]]
)
def test_what_is_no_archive_is_told_in_one_line(tmp_path: Path, root: Path, data: bytes):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ToolError, match="cannot be unpacked"):
        extract(str(tmp_path / "a"), str(root))
