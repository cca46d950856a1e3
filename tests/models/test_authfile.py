"""auth.json: several processes change it, nothing is lost, nobody else can read it."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.models.authfile import Auth, AuthFile, Grant, StoredKey
from hermes.protocol.errors import UserError

ADD_KEYS = """
import sys
from pathlib import Path
from hermes.models.authfile import AuthFile, StoredKey
file, name = AuthFile(Path(sys.argv[1])), sys.argv[2]
for number in range(10):
    file.change(lambda auth: auth.with_key("openai", StoredKey(f"{name}-{number}", "k")))
"""


@pytest.fixture
def file(tmp_path: Path) -> AuthFile:
    return AuthFile(tmp_path / "home" / "auth.json")


def test_no_file_holds_nothing(file: AuthFile) -> None:
    assert file.read() == Auth()
    assert not file.path.exists()


def test_what_was_written_is_read_by_its_owner_only(file: AuthFile) -> None:
    auth = file.change(lambda auth: auth.with_key("xai", StoredKey("a", "k1")))
    auth = file.change(lambda auth: auth.with_login("nous", Grant("access", "refresh", 123.5)))
    assert auth == file.read() == Auth({"xai": (StoredKey("a", "k1"),)}, {"nous": Grant("access", "refresh", 123.5)})
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert sorted(entry.name for entry in file.path.parent.iterdir()) == [".auth.json.lock", "auth.json"]


def test_a_file_that_everybody_could_read_is_closed_by_the_next_change(file: AuthFile) -> None:
    file.path.parent.mkdir()
    file.path.write_text("{}")
    file.path.chmod(0o644)
    file.change(lambda auth: auth)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_a_key_with_the_same_label_is_replaced_and_can_be_removed() -> None:
    auth = Auth().with_key("xai", StoredKey("a", "1")).with_key("xai", StoredKey("b", "2"))
    auth = auth.with_key("xai", StoredKey("a", "3"))
    assert auth.keys == {"xai": (StoredKey("b", "2"), StoredKey("a", "3"))}
    auth = auth.without_key("xai", "b").without_key("xai", "a").without_key("openai", "a")
    assert auth == Auth()
    assert Auth(logins={"nous": Grant("a", "r", 0)}).with_login("nous", None) == Auth()


def test_what_another_version_keeps_in_the_file_stays(file: AuthFile) -> None:
    file.path.parent.mkdir()
    file.path.write_text('{"version": 7, "later": {"x": [1, 2]}}')
    file.change(lambda auth: auth.with_key("xai", StoredKey("a", "k")))
    assert json.loads(file.path.read_text()) == {
        "version": 7,
        "later": {"x": [1, 2]},
        "keys": {"xai": [{"label": "a", "key": "k"}]},
        "logins": {},
    }


@pytest.mark.parametrize("text", ["{", '{"keys": 3}', "[]"])
def test_a_broken_file_is_one_line_and_is_left_alone(file: AuthFile, text: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(text)
    with pytest.raises(UserError, match=r"cannot read .*auth\.json"):
        file.change(lambda auth: auth)
    assert file.path.read_text() == text


def test_a_lock_that_is_never_freed_is_not_waited_for_for_ever(file: AuthFile) -> None:
    with file.locked(), pytest.raises(UserError, match="locked"):
        AuthFile(file.path, patience=0.1).change(lambda auth: auth)


def test_four_processes_that_add_keys_lose_none(file: AuthFile) -> None:
    names = ["p0", "p1", "p2", "p3"]
    command = [sys.executable, "-c", ADD_KEYS, str(file.path)]
    processes = [subprocess.Popen([*command, name]) for name in names]
    assert [process.wait(30) for process in processes] == [0, 0, 0, 0]
    labels = {key.label for key in file.read().keys["openai"]}
    assert labels == {f"{name}-{number}" for name in names for number in range(10)}
