"""The small model that the suite runs, fetched once into HERMES_TEST_CACHE or .cache in the project's folder."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.models.engine import Engine
from hermes.models.local import WINDOW
from hermes.models.weights import SMOLLM2, fetch
from hermes.protocol.errors import UserError

CACHE = Path(os.environ.get("HERMES_TEST_CACHE") or Path(__file__).parents[2] / ".cache")


@pytest.fixture(scope="session")
async def smollm2() -> Path:
    """The path of SmolLM2-135M. It says nothing sensible, in the right form."""
    try:
        return await fetch(CACHE / "models", lambda *report: None, env=os.environ, weights=SMOLLM2)
    except UserError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
async def engine(smollm2: Path) -> AsyncIterator[Engine]:
    loaded = await Engine.load(smollm2, window=WINDOW, threads=1)
    yield loaded
    await loaded.close()
