"""Servers that many people use, by name, so that nobody has to look up how they are reached."""

from typing import Any

from msgspec import Struct

from hermes.protocol.errors import UserError


class Preset(Struct, frozen=True):
    """A known server: what it is for, its settings, and what else it needs."""

    about: str
    settings: dict[str, Any]
    needs: str = ""


def _npm(package: str, *args: str) -> dict[str, Any]:
    return {"command": "npx", "args": ["-y", f"@modelcontextprotocol/{package}", *args]}


def _python(package: str, *args: str) -> dict[str, Any]:
    return {"command": "uvx", "args": [package, *args]}


def _login(url: str) -> dict[str, Any]:
    return {"url": url, "auth": "oauth"}


NODE, UV, BROWSER = "Node.js (npx)", "uv (uvx)", "a login in a browser"
PRESETS: dict[str, Preset] = {
    "everything": Preset("every feature of the protocol, to try it out", _npm("server-everything"), NODE),
    "fetch": Preset("web pages as Markdown", _python("mcp-server-fetch"), UV),
    "filesystem": Preset("files below the current folder", _npm("server-filesystem", "."), NODE),
    "git": Preset("git repositories: log, diff, commit", _python("mcp-server-git"), UV),
    "github": Preset(
        "GitHub: repositories, issues, pull requests",
        {"url": "https://api.githubcopilot.com/mcp/", "auth": "header"},
        "a GitHub token",
    ),
    "linear": Preset("Linear: issues and projects", _login("https://mcp.linear.app/mcp"), BROWSER),
    "memory": Preset("a knowledge graph in a file", _npm("server-memory"), NODE),
    "notion": Preset("Notion: pages and databases", _login("https://mcp.notion.com/mcp"), BROWSER),
    "sentry": Preset("Sentry: errors and projects", _login("https://mcp.sentry.dev/mcp"), BROWSER),
    "sequential-thinking": Preset("steps of thought, written down", _npm("server-sequential-thinking"), NODE),
    "time": Preset("time and time zones", _python("mcp-server-time"), UV),
}


def preset(name: str) -> dict[str, Any]:
    """The settings of a server by its preset's name."""
    return known(name).settings


def known(name: str) -> Preset:
    if name not in PRESETS:
        raise UserError(f"there is no preset {name!r}", f"there is {', '.join(PRESETS)}")
    return PRESETS[name]
