"""What a folder holds is known without reading it again, and never out of date."""

import os
import time
from pathlib import Path

from hermes.safety.sandbox.folders import SETTLED, Folders

NAMES = (".ssh", ".config/gh", ".netrc", "a/b")


def found(folders: Folders, folder: Path) -> set[str]:
    return {os.path.relpath(path, folder) for path in folders.look(str(folder)).those(NAMES)}


def later(monkeypatch) -> None:
    """It is a while since the folders were made."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 2 * SETTLED)


def test_what_appears_or_goes_is_seen_at_once(tmp_path):
    folders = Folders()
    assert found(folders, tmp_path) == set()
    (tmp_path / ".ssh").mkdir()
    assert found(folders, tmp_path) == {".ssh"}
    (tmp_path / ".config").mkdir()
    assert found(folders, tmp_path) == {".ssh"}
    (tmp_path / ".config" / "gh").mkdir()
    (tmp_path / ".netrc").symlink_to("nowhere")
    assert found(folders, tmp_path) == {".ssh", ".config/gh", ".netrc"}
    (tmp_path / ".ssh").rmdir()
    assert found(folders, tmp_path) == {".config/gh", ".netrc"}


def test_a_folder_that_has_not_changed_for_a_while_is_not_read_again_and_a_change_in_it_is_seen(tmp_path, monkeypatch):
    folders, reads = Folders(), []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: reads.append(folder) or real(folder))
    (tmp_path / ".config").mkdir()
    later(monkeypatch)
    assert [found(folders, tmp_path) for _ in range(3)] == [set()] * 3
    assert len(reads) == 1
    (tmp_path / ".config" / "gh").mkdir()
    assert found(folders, tmp_path) == {".config/gh"} and len(reads) == 1
    (tmp_path / ".netrc").touch()
    assert found(folders, tmp_path) == {".config/gh", ".netrc"} and len(reads) == 2


def test_setting_back_the_time_of_a_folder_hides_nothing(tmp_path, monkeypatch):
    folders, before = Folders(), os.stat(tmp_path)
    later(monkeypatch)
    assert found(folders, tmp_path) == set()
    (tmp_path / ".netrc").touch()
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(folders, tmp_path) == {".netrc"}


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert found(Folders(), tmp_path / "gone") == set()
    assert Folders().look(str(tmp_path / "gone")).folders == ()


def test_a_link_to_a_folder_is_not_a_folder_in_it(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").touch()
    assert Folders().look(str(tmp_path)).folders == ("real",)


def test_what_was_found_lately_is_found_again_after_a_second_and_at_once_when_told_so(monkeypatch):
    now, there, folders = [100.0], ["a"], Folders()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def lately() -> tuple[str, ...]:
        return folders.lately("paths", lambda: there)

    assert lately() == ("a",)
    there.append("b")
    assert lately() == ("a",)
    now[0] += 1.01
    assert lately() == ("a", "b")
    there.append("c")
    folders.look_again()
    assert lately() == ("a", "b", "c")
