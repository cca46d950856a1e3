"""`hermes model search`: models by a part of their name, of every provider that can be called and of the catalog."""

import asyncio
from collections.abc import Iterable, Sequence

from hermes.app import App
from hermes.cli.main import print_error
from hermes.cli.table import one_line
from hermes.cli.words import many
from hermes.models.choose import CUSTOM, LOCAL, Choice
from hermes.models.listing import models_of
from hermes.protocol.errors import HermesError

PATIENCE = 10.0


async def search(app: App, words: Sequence[str]) -> int:
    """Print provider:model, as -m takes it; 1 if nothing has all the words in its name."""
    choices = list(_callable(app))
    listed = await asyncio.gather(*(_models(app, choice) for choice in choices))
    names = {f"{_prefix(choice)}:{model}" for choice, models in zip(choices, listed, strict=True) for model in models}
    names |= {f"{vendor.name}:{model}" for vendor in app.chooser.catalog for model in vendor.models}
    found = sorted(name for name in names if all(word.lower() in name.lower() for word in words))
    for name in found:
        print(one_line(name))
    if not found:
        print_error(f"no model has {' '.join(words)!r} in its name", "hermes model lists the providers")
    return 0 if found else 1


async def refresh(app: App) -> int:
    """Ask whoever can be called for the models there are now; 1 if one of them does not answer."""
    choices = list(_callable(app))
    if not choices:
        print_error("there is nobody to ask", "hermes auth add PROVIDER, or hermes config set NAME_API_KEY")
        return 1
    listed = await asyncio.gather(*(_models(app, choice) for choice in choices))
    for choice, models in zip(choices, listed, strict=True):
        if models:
            print(f"{_prefix(choice)}\t{many(len(models), 'model')}")
    return 0 if all(listed) else 1


def _callable(app: App) -> Iterable[Choice]:
    """Whom to ask: vendors with a key or a login, and one's own endpoints."""
    for vendor in app.chooser.catalog:
        if vendor.name not in (CUSTOM, LOCAL) and app.chooser.has_key(vendor):
            yield Choice(vendor.name, "")
    for name, own in app.chooser.customs.items():
        yield Choice(CUSTOM, "", name, own.base_url, own.api_key_env)


def _prefix(choice: Choice) -> str:
    return f"{CUSTOM}:{choice.custom}" if choice.custom else choice.provider


async def _models(app: App, choice: Choice) -> list[str]:
    try:
        async with asyncio.timeout(PATIENCE):
            return await models_of(app.roster, choice)
    except (HermesError, TimeoutError) as error:
        print_error(f"{_prefix(choice)} was not asked: {error or 'it does not answer'}")
        return []
