"""Nobody waits in these tests until a dialog takes keys."""

import pytest

from hermes.tui import dialog


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialog, "EARLY", 0.0)
