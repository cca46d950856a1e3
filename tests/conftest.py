"""What every test shares: one event loop backend, and programs that must be there in CI."""

import os
import shutil
import signal

import pytest


def pytest_configure() -> None:
    """A shell has what it starts in the background ignore Ctrl+C, and that would be handed on to every process of a test."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; in CI, where set-up installs it, that is a failure."""
    wanted = [program for marker in item.iter_markers("needs") for program in marker.args]
    missing = [program for program in wanted if shutil.which(program) is None]
    if missing:
        reason = f"{', '.join(missing)} not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
