"""Log a person in to an MCP server with a browser: discovery, registration, consent, tokens; and log out."""

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from hermes.mcp.oauth.account import Account
from hermes.mcp.oauth.callback import Callback, Returned
from hermes.mcp.oauth.callback import parse as parse_returned
from hermes.mcp.oauth.challenge import OFFLINE, Scopes, wanted
from hermes.mcp.oauth.challenge import parse as parse_challenge
from hermes.mcp.oauth.discovery import LATER, Found, discover
from hermes.mcp.oauth.grants import GrantRefused, trade_code
from hermes.mcp.oauth.registration import Client, known_client, register
from hermes.mcp.oauth.tokens import Stored, Tokens
from hermes.mcp.oauth.web import LoginFailed, Unanswered, host_of, plain, request

Ask = Callable[[str], Awaitable[str]]
"""Shows a person the address to open and gives what they pasted in return, the address that the browser ended at.

"" means that they have nothing to paste: the login goes on until the browser returns by itself. It is cancelled when
that happens first. A person who gives up is a LoginFailed.
"""

PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PROBE_HEADERS = {"accept": "application/json, text/event-stream"}


class _Attempt(Struct, frozen=True):
    """One visit to the login page."""

    found: Found
    client: Client
    redirect_uri: str
    scopes: Scopes
    state: str
    verifier: str

    def __repr__(self) -> str:
        return f"_Attempt({self.redirect_uri!r})"

    @property
    def url(self) -> str:
        """The address of the login page."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.client.id,
            "redirect_uri": self.redirect_uri,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "resource": self.found.resource,
        }
        if self.scopes:
            query["scope"] = " ".join(self.scopes)
        if OFFLINE in self.scopes:
            # OpenID Connect Core, section 11: offline access is given only with a consent that is asked for.
            query["prompt"] = "consent"
        page = self.found.metadata.authorization_endpoint
        return f"{page}{'&' if urlsplit(page).query else '?'}{urlencode(query)}"


async def login(
    account: Account, ask: Ask, *, challenge: str = "", held: Scopes = (), clock: Callable[[], float] = time.time
) -> Tokens:
    """Log in and store the tokens. `challenge` is the server's refusal, if there was one; `held` are scopes to keep.

    A LoginFailed says in one line what went wrong, and stored tokens are then as they were.
    """
    challenge, demanded = (challenge, True) if challenge else await _probe(account)
    found = await discover(account.connect, account.url, parse_challenge(challenge))
    if not found.announced and not demanded:
        raise LoginFailed(f"{account.name} asks for no login", f"hermes mcp test {account.name}")
    scopes = wanted(
        tuple(account.settings.scope.split()),
        parse_challenge(challenge),
        found.scopes,
        found.metadata.scopes_supported,
        held,
    )
    async with Callback(account.settings, _port(account.file.read())) as callback:
        client = await _client(account, found, callback.redirect_uri, scopes, clock())
        attempt = _Attempt(
            found, client, callback.redirect_uri, scopes, secrets.token_urlsafe(32), secrets.token_urlsafe(64)
        )
        returned = await _returned(account, callback, ask, attempt.url)
    code = _check(account, attempt, returned)
    tokens = await _trade(account, attempt, code, clock())
    await asyncio.to_thread(_save, account, attempt, tokens)
    return tokens


def logout(account: Account) -> bool:
    """Forget tokens and registration; False if there were none. Blocks while another process refreshes."""
    with account.file.locked():
        return account.file.remove()


async def _probe(account: Account) -> tuple[str, bool]:
    """The server's challenge, and whether it wants a login at all: asked with a request that does nothing."""
    try:
        reply = await request(account.connect, "POST", account.url, headers=PROBE_HEADERS, json=PROBE)
    except Unanswered as error:
        raise LoginFailed(str(error), f"hermes mcp test {account.name}") from error
    demanded = reply.status in (401, 403)
    return (reply.challenge if demanded else ""), demanded


async def _client(account: Account, found: Found, redirect_uri: str, scopes: Scopes, now: float) -> Client:
    client = known_client(account.settings, found.metadata, account.file.read().client, now)
    if client is not None and client.redirect_uri in ("", redirect_uri):
        return client
    client = await register(account.connect, account.name, account.settings, found.metadata, redirect_uri, scopes)
    await asyncio.to_thread(_remember, account, client)
    return client


def _remember(account: Account, client: Client) -> None:
    """Keep a registration even if the login is given up, unless tokens still need the one before."""
    with account.file.locked():
        stored = account.file.read()
        if stored.tokens is None:
            account.file.write(replace(stored, client=client))


async def _returned(account: Account, callback: Callback, ask: Ask, url: str) -> Returned:
    """What the browser brings back or the person pastes, whichever comes first."""
    asking = asyncio.ensure_future(ask(url))
    listening = asyncio.ensure_future(callback.returned())
    try:
        async with asyncio.timeout(account.settings.timeout):
            await asyncio.wait((asking, listening), return_when=asyncio.FIRST_COMPLETED)
            if listening.done() or not (pasted := asking.result().strip()):
                return await listening
    except TimeoutError as error:
        waited = f"{account.settings.timeout:g} s"
        raise LoginFailed(f"nobody logged in to {account.name} within {waited}", account.command) from error
    finally:
        asking.cancel()
        listening.cancel()
        await asyncio.gather(asking, listening, return_exceptions=True)
    returned = parse_returned(pasted)
    if returned is None:
        hint = f"{account.command}, and paste the whole address that the browser ends at"
        raise LoginFailed("what was pasted is not the address after a login", hint)
    return returned


def _check(account: Account, attempt: _Attempt, returned: Returned) -> str:
    """The code, if the answer is to our question (state) and from whom we asked (RFC 9207)."""
    metadata = attempt.found.metadata
    host = host_of(metadata.issuer)
    if not secrets.compare_digest(returned.state.encode(), attempt.state.encode()):
        raise LoginFailed(f"the answer belongs to another login than this one at {host}", account.command)
    if returned.issuer is None and metadata.authorization_response_iss_parameter_supported:
        raise LoginFailed(f"the answer does not say that it comes from {host}", account.command)
    if returned.issuer is not None and returned.issuer != metadata.issuer:
        other = host_of(returned.issuer)
        # Letter by letter (RFC 9207, section 2.4): the same host with another path, or a slash more, is not the same.
        told = (other, host) if other != host else (plain(returned.issuer), metadata.issuer)
        raise LoginFailed(f"the answer comes from {told[0]}, not from {told[1]}", account.command)
    if returned.error == "access_denied":
        raise LoginFailed(f"the login at {host} was declined", account.command)
    if returned.error or not returned.code:
        why = plain(returned.description or returned.error or "it sent no code", (attempt.state, attempt.verifier))
        raise LoginFailed(f"{host} did not log you in: {why}", account.command)
    return returned.code


async def _trade(account: Account, attempt: _Attempt, code: str, now: float) -> Tokens:
    try:
        return await trade_code(
            account.connect,
            attempt.found.metadata,
            attempt.client,
            code=code,
            verifier=attempt.verifier,
            redirect_uri=attempt.redirect_uri,
            resource=attempt.found.resource,
            scopes=attempt.scopes,
            now=now,
        )
    except GrantRefused as error:
        if error.error == "invalid_client":
            await asyncio.to_thread(_forget_client, account, attempt.client)
        raise LoginFailed(str(error), account.command) from error
    except Unanswered as error:
        raise LoginFailed(str(error), LATER) from error


def _forget_client(account: Account, client: Client) -> None:
    """Register anew at the next login, because the login server no longer knows this client. Blocks."""
    with account.file.locked():
        stored = account.file.read()
        if stored.client == client:
            account.file.write(replace(stored, client=None))


def _save(account: Account, attempt: _Attempt, tokens: Tokens) -> None:
    registered = attempt.client if attempt.client.issuer else None
    with account.file.locked():
        account.file.write(Stored(account.url, attempt.found.resource, attempt.found.metadata, registered, tokens))


def _port(stored: Stored) -> int:
    """The port that the stored registration names."""
    return (urlsplit(stored.client.redirect_uri).port or 0) if stored.client else 0
