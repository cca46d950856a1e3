"""The page of settings has every setting, with the default that it really has."""

import re
from pathlib import Path
from typing import Any

import msgspec

from hermes.cli.keys import flat
from hermes.config import File

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def written(value: Any) -> str:
    return value if isinstance(value, str) and value else msgspec.json.encode(value).decode()


def test_every_setting_is_on_its_page_with_its_default():
    rows = dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE))
    assert rows == {key: written(value) for key, value in flat(msgspec.to_builtins(File()))}
