"""The token file, which many processes share."""

import json
import logging
import os
import stat
import threading
from pathlib import Path

import pytest

from hermes.mcp.oauth.registration import Client
from hermes.mcp.oauth.tokens import Stored, TokenFile, Tokens
from hermes.protocol.errors import UserError

STORED = Stored(
    "https://h/mcp", "https://h", None, Client("c", "s", "client_secret_post"), Tokens("a", "r", 5.0, ("x",))
)


def write(file: TokenFile, stored: Stored) -> None:
    with file.locked():
        file.write(stored)


def test_what_is_written_is_read_by_another_process(tmp_path: Path) -> None:
    write(TokenFile(tmp_path / "mcp-tokens", "notes"), STORED)
    assert TokenFile(tmp_path / "mcp-tokens", "notes").read() == STORED


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert TokenFile(tmp_path / "none", "notes").read() == Stored()


def test_only_the_owner_can_read_file_and_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    file = TokenFile(tmp_path, "notes")
    write(file, STORED)
    write(file, STORED)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path, file.path)}
    assert modes == {tmp_path.name: 0o700, "notes.json": 0o600}


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "..", "Ünïcode name"])
def test_no_name_of_a_server_leaves_the_folder(name: str, tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "mcp-tokens", name)
    write(file, STORED)
    assert file.path.resolve().parent == (tmp_path / "mcp-tokens").resolve()


def test_a_change_by_another_process_is_seen_at_the_next_look(tmp_path: Path) -> None:
    ours, theirs = TokenFile(tmp_path, "notes"), TokenFile(tmp_path, "notes")
    write(theirs, STORED)
    assert ours.read() == STORED
    write(theirs, Stored())
    assert ours.read() == Stored()


def test_an_unchanged_file_is_not_opened_again(tmp_path: Path) -> None:
    file = TokenFile(tmp_path, "notes")
    write(file, STORED)
    assert file.read() is file.read()


def test_under_the_lock_a_change_that_left_no_trace_is_seen_too(tmp_path: Path) -> None:
    file = TokenFile(tmp_path, "notes")
    write(file, STORED)
    file.read()
    before = file.path.stat()
    file.path.write_bytes(file.path.read_bytes().replace(b'"a"', b'"b"'))
    os.utime(file.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.read() == STORED
    with file.locked():
        tokens = file.read().tokens
    assert tokens is not None and tokens.access == "b"


def test_unknown_keys_stay_and_known_ones_go(tmp_path: Path) -> None:
    file = TokenFile(tmp_path, "notes")
    file.path.write_text('{"later": {"version": 2}, "tokens": {"access": "old"}}')
    write(file, Stored("https://h"))
    assert json.loads(file.path.read_text()) == {"later": {"version": 2}, "url": "https://h"}


@pytest.mark.parametrize("content", ["{", '{"tokens": 5}', "[]"])
def test_a_spoilt_file_counts_as_no_login_and_can_be_written(
    content: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = TokenFile(tmp_path, "notes")
    file.path.write_text(content)
    with caplog.at_level(logging.WARNING):
        assert file.read() == Stored()
    assert "counts as no login" in caplog.text
    write(file, STORED)
    assert file.read() == STORED


def test_a_lock_that_another_keeps_is_given_up_with_a_clear_line(tmp_path: Path) -> None:
    file = TokenFile(tmp_path, "notes", patience=0.05)
    with TokenFile(tmp_path, "notes").locked():
        with pytest.raises(UserError, match=r"another process has kept .*notes.json locked"), file.locked():
            pass


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.set()
        with TokenFile(tmp_path, "notes").locked():
            order.append("second")

    with TokenFile(tmp_path, "notes").locked():
        thread = threading.Thread(target=second)
        thread.start()
        inside.wait()
        threading.Event().wait(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
