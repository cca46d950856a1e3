import os
import pwd
from pathlib import Path

from hermes.terminals.paths import absolute, nearest_folder, printable


def test_a_path_is_seen_from_the_folder_and_the_home_it_is_used_in() -> None:
    assert absolute("a/../b", "/work", "/home/me") == "/work/a/../b"
    assert absolute("/etc", "/work", "/home/me") == "/etc"
    assert absolute("~", "/work", "/home/me") == "/home/me"
    assert absolute("~/x y", "/work", "/home/me") == "/home/me/x y"
    assert absolute("~nobody/x", "/work", "/home/me") == os.path.join(pwd.getpwnam("nobody").pw_dir, "x")
    assert absolute("~no such user", "/work", "/home/me") == "/work/~no such user"


def test_a_name_that_is_not_utf_8_can_still_be_shown() -> None:
    assert printable(b"a\xffb") == printable(os.fsdecode(b"a\xffb")) == "a\ufffdb"


def test_of_a_folder_that_is_gone_the_nearest_one_above_it_is_left(tmp_path: Path) -> None:
    assert nearest_folder(str(tmp_path)) == str(tmp_path)
    assert nearest_folder(str(tmp_path / "a" / "b")) == str(tmp_path)
    assert nearest_folder("(unreachable)/a") == "/"
