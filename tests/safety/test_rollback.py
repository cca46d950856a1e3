"""A file that is not what it was a moment ago is left alone."""

import hashlib
import os
from pathlib import Path

import pytest

from hermes.safety.rollback import Left, Wanted, put_back
from hermes.safety.shadow import LINK, Change
from tests.safety.folders import state_of

FILE = 0o100644
NOTHING = "0" * 40


def name_of(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def wanted(name: str, old: bytes | None, new: bytes | None, mode: int = FILE, old_mode: int = FILE) -> Wanted:
    change = Change(
        name.encode(),
        0 if old is None else old_mode,
        NOTHING if old is None else name_of(old),
        0 if new is None else mode,
        NOTHING if new is None else name_of(new),
    )
    return Wanted(change, new or b"")


def left_alone(root: Path, want: Wanted) -> str:
    before = state_of(root)
    with pytest.raises(Left) as left:
        put_back(os.fsencode(root), want)
    assert state_of(root) == before
    return str(left.value)


def test_a_file_becomes_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("now")
    put_back(os.fsencode(tmp_path), wanted("a", b"now", b"then"))
    put_back(os.fsencode(tmp_path), wanted("new/deep/b", None, b"then"))
    put_back(os.fsencode(tmp_path), wanted("link", None, b"a", LINK))
    assert state_of(tmp_path) == {
        b"a": ("file", 0o644, b"then"),
        b"new/deep/b": ("file", 0o644, b"then"),
        b"link": ("link", 0, b"a"),
    }


def test_a_file_that_was_not_there_goes_with_its_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/a").write_text("now")
    put_back(os.fsencode(tmp_path), wanted("deep/er/a", b"now", None))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("new", [b"then", None])
def test_what_somebody_changed_just_now_stays(tmp_path: Path, new: bytes | None) -> None:
    (tmp_path / "a").write_text("changed")
    assert left_alone(tmp_path, wanted("a", b"now", new)) == "somebody changed it just now"


@pytest.mark.parametrize("new", [b"then", None])
def test_what_somebody_removed_just_now_stays_removed(tmp_path: Path, new: bytes | None) -> None:
    assert left_alone(tmp_path, wanted("a", b"now", new)) == "somebody removed it just now"


def test_what_somebody_made_just_now_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("made")
    assert left_alone(tmp_path, wanted("a", None, b"then")) == "it is not in the snapshot taken before the rollback"


def test_a_link_of_the_same_bytes_is_not_the_file(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("now")
    assert left_alone(tmp_path, wanted("a", b"now", b"then")) == "somebody changed it just now"
    (tmp_path / "b").write_text("target")
    assert left_alone(tmp_path, wanted("b", b"target", b"then", old_mode=LINK)) == "somebody changed it just now"


def test_a_folder_in_the_way_stays_unless_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/ignored").write_text("x")
    assert left_alone(tmp_path, wanted("a", None, b"then")) == "Directory not empty"
    assert left_alone(tmp_path, wanted("a", b"now", b"then")) == "somebody put a folder there just now"
    (tmp_path / "a/ignored").unlink()
    put_back(os.fsencode(tmp_path), wanted("a", None, b"then"))
    assert (tmp_path / "a").read_text() == "then"


def test_a_file_where_a_folder_is_needed_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert left_alone(tmp_path, wanted("a/b", None, b"then")) == "Not a directory"


@pytest.mark.parametrize("new", [b"then", None])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, new: bytes | None) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "b").write_text("now")
    (root / "a").symlink_to(outside)
    left_alone(root, wanted("a/b", b"now", new))
    assert state_of(outside) == {b"b": ("file", 0o644, b"now")}


def test_something_that_is_no_file_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with pytest.raises(Left, match="it is no longer a file"):
        put_back(os.fsencode(tmp_path), wanted("a", b"now", b"then"))
