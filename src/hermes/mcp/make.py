"""From settings to a server: its login, and who answers what it asks, put together in one place."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hermes.config import McpServer, Settings
from hermes.mcp.asking import Asking
from hermes.mcp.exchange import wanting
from hermes.mcp.server import Server
from hermes.protocol.events import Login

if TYPE_CHECKING:
    import httpx2

    from hermes.mcp.oauth.account import Account
    from hermes.mcp.oauth.flow import Ask

TOKENS = "mcp-tokens"


def make_server(
    name: str,
    entry: McpServer,
    settings: Settings,
    *,
    redact: Callable[[str], str] = lambda text: text,
    ask: "Ask | None" = None,
) -> Server:
    """A server that has not started yet; `ask` reaches a person who can consent to more of its scopes, by default whoever
    makes the call that needs them."""
    authority = None
    if entry.url and entry.auth == "oauth":
        from hermes.mcp.oauth.authority import OAuth

        authority = OAuth(
            name,
            entry.url,
            entry.oauth,
            tokens_of(settings),
            lambda: _connect(entry),
            ask=ask or ask_caller(name, entry),
        )
    handlers = Asking(name, entry, redact=redact)
    return Server(name, entry, environ=settings.shell, handlers=handlers, authority=authority, redact=redact)


def ask_caller(name: str, entry: McpServer) -> "Ask":
    """Shows the login page to whoever makes the call that needs more scopes; where nobody can be asked the login fails."""

    async def ask(url: str) -> str:
        from hermes.mcp.oauth.web import LoginFailed

        caller = wanting.get()
        request = Login(
            url, f"{name} wants you to allow more; paste the address that the browser ends at, if it does not come back"
        )
        answer = await caller.ask(request, entry.oauth.timeout) if caller else None
        if answer is None or answer.how != "answered" or answer.choice == "deny":
            raise LoginFailed(f"nobody allowed {name} more", f"hermes mcp login {name}")
        return answer.text

    return ask


def account_of(name: str, entry: McpServer, settings: Settings) -> "Account":
    """A server's login, as it is kept on disk."""
    from hermes.mcp.oauth.account import Account

    return Account(name, entry.url, entry.oauth, tokens_of(settings), lambda: _connect(entry))


def tokens_of(settings: Settings) -> Path:
    return settings.home / TOKENS


def _connect(entry: McpServer) -> "httpx2.AsyncClient":
    """A client for login servers, which trusts whom the MCP server's own connection trusts."""
    import httpx2

    if isinstance(entry.ssl_verify, str):
        return httpx2.AsyncClient(verify=ssl.create_default_context(cafile=entry.ssl_verify), trust_env=False)
    return httpx2.AsyncClient(verify=entry.ssl_verify, trust_env=False)
