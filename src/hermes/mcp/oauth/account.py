"""One MCP server's login: where the server is, how it is configured, and where its tokens are kept."""

from pathlib import Path

from hermes.config import OAuthSettings
from hermes.mcp.oauth.registration import Client, known_client
from hermes.mcp.oauth.tokens import Stored, TokenFile
from hermes.mcp.oauth.web import Connect


class Account:
    """What a login and the refreshing of its tokens have in common."""

    def __init__(self, name: str, url: str, settings: OAuthSettings, folder: Path, connect: Connect) -> None:
        self.name = name
        self.url = url
        self.settings = settings
        self.file = TokenFile(folder, name)
        self.connect = connect

    def stored(self) -> Stored:
        """The login as it is on disk now; nothing if it was made for a server at another address."""
        stored = self.file.read()
        return stored if stored.url == self.url else Stored()

    def client(self, stored: Stored, now: float) -> Client | None:
        """The client that stored tokens belong to."""
        if stored.metadata is None:
            return None
        return known_client(self.settings, stored.metadata, stored.client, now)

    @property
    def command(self) -> str:
        """What a person types to log in."""
        return f"hermes mcp login {self.name}"
