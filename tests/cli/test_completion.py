"""`hermes completion`: each shell offers the commands, actions, flags and values that there are."""

import subprocess
from pathlib import Path

import pytest

from hermes.cli.completion import places
from hermes.cli.main import COMMANDS
from tests.cli.command import Hermes, Ran

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_hermes; printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { : }
_describe() { local name=$2; for one in ${(P)name}; do print -r -- "${one%%:*}"; done }
compadd() { shift; print -rl -- $@ }
_files() { : }
source "$1"; shift
words=("$@"); CURRENT=$#
_hermes
"""


@pytest.fixture
def script(hermes: Hermes, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "completion"
    path.write_text(hermes("completion", request.param).out)
    return path


def offered(*command: str | Path) -> set[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20, env={"PATH": "/usr/bin:/bin", "HOME": "/"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_every_command_is_a_place_and_every_place_has_help() -> None:
    found = {place.command: {word.text for word in place.words} for place in places()}
    assert {f"hermes {name}" for name in COMMANDS} < found.keys()
    assert {*COMMANDS, "-p", "--oneshot"} < found["hermes"]
    assert all("--help" in words for words in found.values())
    assert {"--level", "agent", "errors"} < found["hermes logs"]


@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_commands_actions_flags_and_values(script: Path) -> None:
    def typed(*words: str) -> set[str]:
        return offered("bash", "--norc", "-c", BASH, "bash", script, *words)

    assert typed("hermes", "doc") == {"doctor"}
    assert typed("hermes", "-p", "work", "config", "e") == {"edit", "env-path"}
    assert typed("hermes", "doctor", "--f") == {"--fix"}
    assert typed("hermes", "logs", "--level", "E") == {"ERROR"}
    assert typed("hermes", "completion", "") >= {"bash", "zsh", "fish"}


@pytest.mark.needs("zsh")
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_completes_the_same(script: Path) -> None:
    def typed(*words: str) -> set[str]:
        return offered("zsh", "-f", "-c", ZSH, "zsh", script, *words)

    assert "doctor" in typed("hermes", "doc")
    assert {"edit", "env-path"} < typed("hermes", "-p", "work", "config", "e")
    assert "ERROR" in typed("hermes", "logs", "--level", "E")


@pytest.mark.needs("fish")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes_the_same(script: Path) -> None:
    def typed(line: str) -> set[str]:
        command = f"source {script}; complete -C '{line}' | cut -f1"
        return offered("fish", "--no-config", "-c", command)

    assert typed("hermes doc") == {"doctor"}
    assert typed("hermes config e") == {"edit", "env-path"}
    assert typed("hermes doctor --f") == {"--fix"}
    assert typed("hermes logs --level E") == {"ERROR"}


def test_another_shell_is_one_line(hermes: Hermes) -> None:
    ran = hermes("completion", "tcsh")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert hermes("completion") == Ran(
        2, "", "hermes: the following arguments are required: SHELL (hermes completion --help shows what there is)\n"
    )
