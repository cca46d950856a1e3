"""The catalog: every row can be read, alone and in order, and says nothing that cannot be true."""

import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hermes.models import catalog as module
from hermes.models.catalog import WINDOW, Catalog, Facts, Vendor
from hermes.models.prices import Prices
from hermes.models.quirks import Quirks
from hermes.protocol.errors import UserError

VENDORS = [
    "nous",
    "openrouter",
    "anthropic",
    "openai",
    "gemini",
    "xai",
    "deepseek",
    "kimi",
    "zai",
    "minimax",
    "xiaomi",
    "mistral",
    "groq",
    "together",
    "fireworks",
    "nvidia",
    "huggingface",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
    "custom",
    "local",
]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def test_every_vendor_of_the_design_has_a_row(catalog: Catalog) -> None:
    assert sorted(catalog.names) == sorted(VENDORS)
    assert [vendor.name for vendor in catalog] == list(catalog.names)


def test_a_row_read_alone_is_the_row_of_the_whole_file(catalog: Catalog) -> None:
    text = Path(module.__file__).with_name("catalog.toml").read_text()
    whole = tomllib.loads(text)
    assert {name: tomllib.loads(row)[name] for name, row in catalog._rows.items()} == whole


def test_a_row_has_all_that_its_vendor_needs() -> None:
    row = """
[acme]
title = "Acme"
url = "https://acme.example/v1"
keys = ["ACME_API_KEY"]
quirks = { short_call_ids = true }
[acme.models]
big = { window = 1000, output = 10, price = [1, 2, 0.5], long = [500, 2, 4], quirks = { images = false } }
"""
    acme = Catalog(row)["acme"]
    assert acme == Vendor(
        name="acme",
        title="Acme",
        url="https://acme.example/v1",
        keys=("ACME_API_KEY",),
        quirks=Quirks(short_call_ids=True),
        models={"big": Facts(window=1000, output=10, price=(1, 2, 0.5), long=(500, 2, 4), quirks={"images": False})},
    )
    assert acme.models["big"].prices == Prices(
        input=1, output=2, cache_read=0.5, long_from=500, long=Prices(input=2, output=4)
    )


def test_what_is_not_known_of_a_model_is_left_open() -> None:
    assert (Facts().window, Facts().output, Facts().prices) == (WINDOW, None, None)


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendor_can_be_reached_and_paid_in_the_way_its_row_says(catalog: Catalog, name: str) -> None:
    vendor = catalog[name]
    assert vendor.keyless or vendor.keys
    if name not in ("custom", "local"):
        parts = urlsplit(vendor.url)
        assert parts.scheme == ("http" if parts.hostname == "127.0.0.1" else "https")
        assert not vendor.url.endswith("/")
    for model in filter(None, [vendor.default, vendor.auxiliary]):
        assert not vendor.models or vendor.known(model) == model
    for facts in vendor.models.values():
        assert len(facts.price) in (0, 2, 3, 4)
        assert not facts.long or len(facts.long) == len(facts.price) + 1
        assert facts.output is None or facts.output <= facts.window


def test_no_two_vendors_share_a_name_or_a_key(catalog: Catalog) -> None:
    names = [name for vendor in catalog for name in (vendor.name, *vendor.aliases)]
    keys = [key for vendor in catalog for key in vendor.keys]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)


def test_a_vendor_is_found_by_the_names_that_people_type(catalog: Catalog) -> None:
    assert [catalog.get(name).name for name in ("Moonshot", "hf", "z.ai", " openai ", "claude")] == [
        "kimi",
        "huggingface",
        "zai",
        "openai",
        "anthropic",
    ]


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("opnrouter", "did you mean openrouter?"),
        ("antropic", "did you mean anthropic?"),
        ("qqq", "known providers: nous, openrouter, "),
    ],
)
def test_a_mistyped_vendor_is_told_the_nearest_names(catalog: Catalog, typed: str, hint: str) -> None:
    with pytest.raises(UserError, match=f"there is no provider '{typed}'") as raised:
        catalog.get(typed)
    assert raised.value.hint.startswith(hint)


def test_a_model_is_known_in_any_case_and_by_its_dated_ids(catalog: Catalog) -> None:
    known = {
        "claude-haiku-4-5": "claude-haiku-4-5",
        "Claude-Haiku-4-5": "claude-haiku-4-5",
        "claude-haiku-4-5-20251001": "claude-haiku-4-5",
        "claude-haiku-4-5-latest": "claude-haiku-4-5",
        "claude-haiku-4": None,
        "claude-haiku-4-5-turbo": None,
    }
    assert {model: catalog["anthropic"].known(model) for model in known} == known


def test_importing_what_every_session_needs_loads_neither_a_parser_nor_a_client() -> None:
    modules = "retry choose credentials catalog names authfile login"
    script = "import sys\n" + "".join(f"import hermes.models.{name}\n" for name in modules.split())
    script += "print([m for m in ('httpx2', 'tomllib', 'difflib') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
