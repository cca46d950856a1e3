"""What the tests of logins share: a client, a person with a browser, and a request to the resource as the core makes it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2

from hermes.config import OAuthSettings
from hermes.mcp.contract import Authority
from hermes.mcp.oauth.account import Account
from hermes.mcp.oauth.authority import OAuth
from hermes.mcp.oauth.flow import Ask, login
from tests.services.auth_server import AuthServer

SETTINGS = OAuthSettings(timeout=5)


def connect() -> httpx2.AsyncClient:
    """Without TLS certificates, whose loading would cost more than the test."""
    return httpx2.AsyncClient(verify=False, trust_env=False, timeout=5)


def account(server: AuthServer, folder: Path, settings: OAuthSettings = SETTINGS, name: str = "notes") -> Account:
    return Account(name, server.url, settings, folder, connect)


def authority(
    server: AuthServer,
    folder: Path,
    *,
    settings: OAuthSettings = SETTINGS,
    ask: Ask | None = None,
    clock: Callable[[], float] | None = None,
) -> OAuth:
    more = {} if clock is None else {"clock": clock}
    return OAuth("notes", server.url, settings, folder, connect, ask=ask, **more)


async def logged_in(server: AuthServer, folder: Path, *, ask: Ask | None = None) -> OAuth:
    """An authority after a person has logged in."""
    await login(account(server, folder), browse)
    return authority(server, folder, ask=ask)


async def browse(url: str) -> str:
    """A person whose browser follows the login page to the loopback page, and who pastes nothing."""
    async with connect() as browser:
        (await browser.get(url, follow_redirects=True)).raise_for_status()
    return ""


async def paste(url: str) -> str:
    """A person on another machine, who pastes the address at which the browser failed."""
    async with connect() as browser:
        return (await browser.get(url)).headers["location"]


async def wait_for_ever(url: str) -> str:
    await asyncio.Event().wait()
    return url


async def use(server: AuthServer, who: Authority, retries: int = 1) -> int:
    """Use the resource as the core does: attach, and on a refusal ask the authority, then once more."""
    header = await who.header()
    async with connect() as client:
        response = await client.post(server.url, headers={"authorization": header} if header else {}, json={})
    challenge = response.headers.get("www-authenticate", "")
    again: Callable[[str, str], Awaitable[bool]] | None
    again = {401: who.refused, 403: who.step_up}.get(response.status_code)
    if again and retries and await again(header, challenge):
        return await use(server, who, retries - 1)
    return response.status_code
