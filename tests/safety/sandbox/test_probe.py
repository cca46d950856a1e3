"""Whether bubblewrap works is found out once."""

import os
from pathlib import Path

import pytest

from hermes.safety.sandbox.probe import fault


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A bubblewrap that counts how often it is started."""
    path = tmp_path / "bwrap"
    path.write_text(f"#!/bin/sh\necho x >> {tmp_path}/count\n")
    path.chmod(0o755)
    return path


def test_one_that_works_is_tried_once(program: Path, tmp_path: Path) -> None:
    memory = tmp_path / "home/sandbox/bubblewrap.json"
    assert [fault(str(program), memory, network=True) for _ in range(3)] == ["", "", ""]
    assert (tmp_path / "count").read_text() == "x\n"


def test_one_that_changed_is_tried_again(program: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.json"
    fault(str(program), memory, network=True)
    os.utime(program, (1, 1))
    fault(str(program), memory, network=True)
    fault(str(program), memory, network=False)
    assert (tmp_path / "count").read_text() == "x\nx\nx\n"


def test_one_that_fails_says_why(program: Path, tmp_path: Path) -> None:
    program.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    assert fault(str(program), tmp_path / "memory.json", network=True) == "No permissions to create a new namespace"


def test_a_damaged_memory_is_written_anew(program: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.json"
    memory.write_text("{")
    assert fault(str(program), memory, network=True) == ""
    assert (tmp_path / "count").read_text() == "x\n"


@pytest.mark.needs("bwrap")
def test_the_real_one_works_here(tmp_path: Path) -> None:
    assert fault("/usr/bin/bwrap", tmp_path / "memory.json", network=False) == ""
