"""What is set and what there is, as short lines: for `hermes status` and `hermes dump`."""

import os
import platform
import sys
from collections.abc import Mapping

import hermes
from hermes import config
from hermes.app import App, Wish
from hermes.cli import keys
from hermes.cli.words import many
from hermes.config import Settings
from hermes.models.listing import ProviderState, providers
from hermes.protocol.errors import UserError
from hermes.tools.toolsets import tool_names

Facts = Mapping[str, str]


def program_facts() -> Facts:
    """Hermes itself and what it runs on."""
    system = os.uname()
    return {
        "hermes": f"{hermes.__version__} in {os.path.dirname(hermes.__file__)}",
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{system.sysname} {system.release} {system.machine}",
    }


def home_facts(settings: Settings) -> Facts:
    database = settings.database
    return {
        "home": str(settings.home),
        "profile": config.find_profile() or "default",
        "config": "not there" if not settings.config_path.exists() else str(settings.config_path),
        "database": f"{database.stat().st_size / 1e6:,.1f} MB" if database.exists() else "none yet",
    }


def model_facts(app: App) -> Facts:
    """The model that would answer and whether it can be called, without calling it."""
    try:
        choice = app.choice(Wish())
        app.roster.candidate(choice)
    except UserError as error:
        return {"model": f"{error} ({error.hint})"}
    labels = [key.label for key in app.chooser.keys(choice)]
    labels += ["login"] if app.chooser.has_login(choice) else []
    fallbacks = ", ".join(f"{one.provider}:{one.name}".strip(":") for one in app.settings.fallbacks)
    return {"model": choice.name, "key": ", ".join(labels) or "needs none", "fallbacks": fallbacks or "none"}


def part_facts(settings: Settings) -> Facts:
    file = settings.file
    servers = [f"{name}{'' if one.enabled else ' (disabled)'}" for name, one in file.mcp_servers.items()]
    return {
        "terminal": f"{file.terminal.backend}, sandbox {file.terminal.sandbox}",
        "toolsets": f"{', '.join(file.toolsets)} ({_tools(file.toolsets)})",
        "approvals": "off (yolo)" if settings.yolo else file.approvals.mode,
        "mcp servers": ", ".join(servers) or "none",
    }


def _tools(toolsets: tuple[str, ...]) -> str:
    try:
        return many(len(tool_names(name for name in toolsets if not name.startswith("mcp-"))), "tool")
    except UserError as error:
        return str(error)


def provider_facts(app: App) -> Facts:
    """Every provider that can be called."""
    found = [state for state in providers(app.chooser) if state.access in ("key", "login")]
    return {state.name: _access(state) for state in found}


def _access(state: ProviderState) -> str:
    return "logged in" if state.access == "login" else ", ".join(state.labels)


def changed_settings(settings: Settings) -> Facts:
    """What config.yaml sets, secrets masked."""
    data = config.read_yaml(settings.config_path)
    return {key: keys.written(keys.masked(key, value)) for key, value in keys.flat(data)}


def print_facts(facts: Facts) -> None:
    for name, fact in facts.items():
        print(f"{name:<14} {' '.join(fact.split())}")
