"""`hermes config migrate`: move secrets that stand in config.yaml into .env, where they belong."""

import re
from collections.abc import Iterator

from hermes import config
from hermes.cli import keys
from hermes.config import Settings
from hermes.protocol.errors import UserError


def migrate(settings: Settings) -> list[str]:
    """What was moved, as lines; each value is in .env before ${NAME} replaces it. Blocks."""
    path, env = settings.config_path, settings.home / ".env"
    moved: list[str] = []
    for key, value in list(_secrets(config.read_yaml(path))):
        name = _name(key)
        known = config.read_env(env).get(name)
        if known not in (None, value):
            raise UserError(f"{key} and {name} of .env differ", f"hermes config unset one of them: {key} or {name}")
        config.set_secret(env, name, value)
        config.set_value(path, key, f"${{{name}}}")
        moved.append(f"{key} is ${{{name}}} now, and its value in {env}")
    return moved


def _secrets(data: dict[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in keys.flat(data):
        # A name with a dot in it cannot be told from a group, and stays where it is.
        if isinstance(value, str) and keys.masked(key, value) != value and keys.look_up(data, key) == value:
            yield key, value


def _name(key: str) -> str:
    """The variable of a setting: mcp_servers.a.env.API_KEY is MCP_SERVERS_A_ENV_API_KEY."""
    name = re.sub(r"[^A-Z0-9]+", "_", key.upper()).strip("_")
    return name if config.SECRET_NAME.match(name) else f"{name}_SECRET"
