"""What a command changes for this session only, or with --global for every new one."""

import asyncio
from typing import Any

from hermes import config
from hermes.app import App

GLOBAL = ("--global", "-g")
SESSION = ("--session",)


def without_flags(argument: str) -> tuple[str, bool]:
    """An argument without its flags, and whether it is meant for every new session."""
    words = argument.split()
    kept = [word for word in words if word not in (*GLOBAL, *SESSION)]
    return (argument if kept == words else " ".join(kept)), any(word in GLOBAL for word in words)


async def keep(app: App, key: str, value: Any) -> str:
    """Keep a setting in config.yaml, and let this process know; returns a sentence that says so."""
    await asyncio.to_thread(config.set_value, app.settings.config_path, key, value)
    await app.reload()
    return f"Kept as `{key}` for every new session."


def how_to_keep(command: str) -> str:
    return f"`{command} --global` keeps it for every new session."
