"""What the stories share."""

from collections.abc import Iterator
from pathlib import Path
from random import SystemRandom

import pytest

from tests.stories.stage import Home, end_processes


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process on this machine sleeps for; what still does at the end is ended."""
    if not Path("/proc/self").exists():
        pytest.skip("processes are looked for in /proc")
    number = f"1000.{SystemRandom().randrange(10**9):09}"
    yield number
    end_processes(number)
