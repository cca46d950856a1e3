"""Patterns for names are looked up as the shell does, and never for long."""

import subprocess
from pathlib import Path

import pytest

from hermes.safety.commands.names import Names


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        ".*",
        "?",
        "a*",
        "*/*",
        "*/*.py",
        "[ab]*",
        "[!a]*",
        "[^a]*",
        "sub/.h*",
        "*/",
        "./*",
        "sub/../*",
        "nothing*",
        "**",
    ],
)
def test_they_are_what_bash_finds(tmp_path: Path, pattern: str) -> None:
    for name in ("a", "b", "A", ".hidden", "sub/c.py", "sub/.h.py", "other/d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    bash = subprocess.run(
        ["bash", "-c", f"shopt -s nullglob; printf '%s\\n' {pattern}"], cwd=tmp_path, capture_output=True, text=True
    )
    found = Names(200).matching(pattern, str(tmp_path))
    assert found is not None
    assert set(bash.stdout.split()) - {".", ".."} == set(found) - {".", ".."}


def test_a_pattern_may_begin_at_the_root(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert Names(1000).matching(f"{tmp_path}/*", "/") == [f"{tmp_path}/x"]


def test_the_look_ends_after_so_many_names(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / str(number)).touch()
    names = Names(45)
    assert len(names.matching("*", str(tmp_path)) or ()) == 10
    assert len(names.matching("*", str(tmp_path)) or ()) == 10
    assert names.matching("*", str(tmp_path)) is None
