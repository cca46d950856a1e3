"""What is on this machine already: keys, model servers that listen here, and the home of another agent."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hermes.app import App
from hermes.models.choose import Choice
from hermes.models.listing import ProviderState, models_of, providers
from hermes.protocol.errors import HermesError, UserError

LOCAL_SERVERS = ("ollama", "lmstudio", "llamacpp", "vllm")
PATIENCE = 1.0
"""Seconds that a server on this machine has to list its models."""
CLAWS = (".openclaw", ".clawdbot", ".moltbot")


class FoundServer(Struct, frozen=True):
    """A model server that answered; `base_url` is empty where it is at its usual address."""

    provider: str
    title: str
    models: tuple[str, ...]
    base_url: str = ""


def callable_providers(app: App) -> list[ProviderState]:
    """Vendors that have a key or a login."""
    return [state for state in providers(app.chooser) if state.access in ("key", "login")]


async def find_servers(app: App) -> list[FoundServer]:
    """The model servers of this machine, asked all at once."""
    named = addresses(app.settings.environ)
    asked = [_ask(app, name, named.get(name, "")) for name in dict.fromkeys((*LOCAL_SERVERS, *named))]
    return [found for found in await asyncio.gather(*asked) if found]


def addresses(environ: Mapping[str, str]) -> dict[str, str]:
    """HERMES_LOCAL_SERVERS, where a server is not at its usual address: ollama=http://127.0.0.1:9999/v1, with commas."""
    pairs = [entry.partition("=") for entry in environ.get("HERMES_LOCAL_SERVERS", "").split(",") if entry.strip()]
    for name, _, url in pairs:
        if not url.startswith(("http://", "https://")):
            raise UserError(f"HERMES_LOCAL_SERVERS: {name!r} has no address", "write it as ollama=http://HOST:PORT/v1")
    return {name.strip(): url.strip() for name, _, url in pairs}


async def _ask(app: App, provider: str, base_url: str) -> FoundServer | None:
    vendor = app.chooser.catalog.get(provider)
    try:
        async with asyncio.timeout(PATIENCE):
            models = await models_of(app.roster, Choice(vendor.name, "", base_url=base_url))
    except (HermesError, TimeoutError):
        return None  # nobody listens there, or it is no model server
    return FoundServer(vendor.name, vendor.title, tuple(models), base_url) if models else None


def find_claw(environ: Mapping[str, str]) -> Path | None:
    """The home of an OpenClaw, under any of its names."""
    home = Path(environ.get("HOME") or "~").expanduser()
    return next((home / name for name in CLAWS if (home / name).is_dir()), None)
