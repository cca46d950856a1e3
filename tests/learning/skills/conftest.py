from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.store.sqlite import SqliteStore
from tests.learning.skills.room import Room


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with SqliteStore(tmp_path / "state.db") as store:
        yield Room(tmp_path, store)
