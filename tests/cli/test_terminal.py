"""`hermes terminal`: which one is chosen, and whether it works."""

import argparse
from pathlib import Path

import pytest

from hermes.cli import terminal
from hermes.protocol.errors import UserError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for name in ("HOST", "USER", "PORT", "KEY"):
        monkeypatch.delenv(f"TERMINAL_SSH_{name}", raising=False)
    return tmp_path


async def run(*words: str) -> int:
    return await terminal.run(argparse.Namespace(words=list(words)))


async def test_the_chosen_terminal_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.yaml").write_text("terminal: {backend: podman}")
    assert await run() == 0
    there = "local, ssh, docker, podman, singularity, apptainer, modal, daytona"
    assert capsys.readouterr().out == f"podman  (there are {there})\n"


async def test_a_terminal_that_works_is_measured(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("test") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows] == [
        ["sandbox", "ok"],
        ["first command", "ok"],
        ["commands", "ok"],
        ["folder and exports", "ok"],
        ["timeout", "ok"],
        ["background", "ok"],
        ["files", "ok"],
        ["search", "ok"],
    ]
    assert rows[0][2].split(":")[0] in ("bubblewrap", "landlock")
    assert " ms each" in rows[-6][2]
    assert "MB/s" in rows[-2][2]


async def test_a_sandbox_that_is_off_is_said_to_be(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.yaml").write_text("terminal: {sandbox: 'off'}")
    assert await run("test") == 0
    assert capsys.readouterr().out.startswith("sandbox\tok\toff: hermes config set terminal.sandbox auto\n")


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("ssh", "the ssh terminal needs a host", "hermes config set terminal.ssh.host NAME"),
        ("docker", "needs docker or podman, which is not installed", "install Docker or Podman"),
        ("podman", "needs podman, which is not installed", "install Docker or Podman"),
        ("singularity", "needs apptainer or singularity, which is not installed", "install Apptainer"),
        ("mainframe", "there is no terminal 'mainframe'", "choose one: local, ssh"),
    ],
)
async def test_what_is_missing_is_one_line_that_says_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str, hint: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=message) as raised:
        await run("test", name)
    assert raised.value.hint.startswith(hint)


async def test_a_machine_that_does_not_answer_is_a_row_that_failed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.yaml").write_text("terminal: {backend: ssh, ssh: {host: 127.0.0.1, port: 1}}")
    assert await run("test") == 1
    assert "first command\tfailed\tssh: ssh: connect to host 127.0.0.1 port 1" in capsys.readouterr().out
