"""Servers that many people use, by name, so that nobody has to look up how they are reached."""

from typing import Any

from hermes.protocol.errors import UserError

PRESETS: dict[str, dict[str, Any]] = {
    "everything": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]},
    "fetch": {"command": "uvx", "args": ["mcp-server-fetch"]},
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]},
    "git": {"command": "uvx", "args": ["mcp-server-git"]},
    "github": {"url": "https://api.githubcopilot.com/mcp/", "auth": "header"},
    "linear": {"url": "https://mcp.linear.app/mcp", "auth": "oauth"},
    "notion": {"url": "https://mcp.notion.com/mcp", "auth": "oauth"},
    "sentry": {"url": "https://mcp.sentry.dev/mcp", "auth": "oauth"},
    "time": {"command": "uvx", "args": ["mcp-server-time"]},
}


def preset(name: str) -> dict[str, Any]:
    """The settings of a server by its preset's name."""
    if name not in PRESETS:
        raise UserError(f"there is no preset {name!r}", f"there is {', '.join(PRESETS)}")
    return PRESETS[name]
