"""The model of the settings: written as it is found there, as one string or as parts."""

from typing import Any

from hermes import config
from hermes.config import Settings
from hermes.models.choose import CUSTOM, Choice

FIELDS = ("provider", "name", "base_url", "api_key_env")


def keep_model(settings: Settings, choice: Choice) -> None:
    """Make a choice the model of every new session. Blocks."""
    path = settings.config_path
    found: Any = config.read_yaml(path).get("model")
    parts = _parts(choice)
    if not isinstance(found, dict):
        # A string has no room for an address.
        return config.set_value(path, "model", parts if "base_url" in parts else choice.name)
    for field in FIELDS:
        if parts.get(field) is None and field in found:
            config.unset_value(path, f"model.{field}")
        elif parts.get(field) != found.get(field):
            config.set_value(path, f"model.{field}", parts[field])


def _parts(choice: Choice) -> dict[str, str]:
    """A choice as the fields of `model:`. One's own endpoints have their address under custom_providers."""
    if choice.custom:
        return {"provider": CUSTOM, "name": f"{choice.custom}:{choice.model}"}
    every = {
        "provider": choice.provider,
        "name": choice.model,
        "base_url": choice.base_url,
        "api_key_env": choice.api_key_env,
    }
    return {field: value for field, value in every.items() if value}
