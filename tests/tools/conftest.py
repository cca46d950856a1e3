from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.context import Context, context


@pytest.fixture
async def ctx(tmp_path: Path) -> AsyncIterator[Context]:
    """A session whose folder is tmp_path."""
    async with context(tmp_path) as opened:
        yield opened
