"""Which model does the small work beside a session."""

from pathlib import Path
from typing import Any

import pytest

from hermes.app import App, Wish
from hermes.protocol.errors import UserError
from tests.stories.stage import Home

NOWHERE = "http://127.0.0.1:9/v1"


def app(folder: Path, **settings: Any) -> App:
    home = Home(folder)
    home.use(NOWHERE, **settings)
    return App(home.settings())


@pytest.mark.parametrize("entry", [None, {}, {"provider": "auto"}, {"timeout": 5}])
async def test_without_a_model_of_its_own_a_task_has_the_sessions(tmp_path: Path, entry: Any) -> None:
    async with app(tmp_path, **({"auxiliary": {"approval": entry}} if entry is not None else {})) as opened:
        session_model = opened.model(opened.choice(Wish()))
        assert opened.auxiliary("approval", session_model) is session_model


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"model": "small"}, "custom:small"),
        ({"provider": "auto", "model": "small"}, "custom:small"),
        ({"provider": "ollama", "model": "qwen3:8b"}, "ollama:qwen3:8b"),
        ({"base_url": "http://127.0.0.1:10/v1", "model": "near"}, "custom:near"),
    ],
)
async def test_a_task_has_the_model_that_its_entry_names(tmp_path: Path, entry: dict[str, str], name: str) -> None:
    async with app(tmp_path, auxiliary={"titles": entry}) as opened:
        session_model = opened.model(opened.choice(Wish()))
        assert opened.auxiliary("titles", session_model).name == name
        assert opened.auxiliary("approval", session_model) is session_model


async def test_an_entry_that_names_nobody_is_told_in_one_line(tmp_path: Path) -> None:
    async with app(tmp_path, auxiliary={"titles": {"provider": "nobody", "model": "x"}}) as opened:
        with pytest.raises(UserError, match="nobody"):
            opened.auxiliary("titles", opened.model(opened.choice(Wish())))
