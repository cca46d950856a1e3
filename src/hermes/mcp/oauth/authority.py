"""The Authorization header of one MCP server: attached without a lock, refreshed once for all tasks and processes."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from hermes.config import OAuthSettings
from hermes.mcp.contract import Unreachable
from hermes.mcp.oauth.account import Account
from hermes.mcp.oauth.challenge import Scopes, parse, union
from hermes.mcp.oauth.flow import Ask, login
from hermes.mcp.oauth.grants import GrantRefused, trade_refresh
from hermes.mcp.oauth.registration import Client
from hermes.mcp.oauth.tokens import Stored, Tokens
from hermes.mcp.oauth.web import Connect, LoginFailed, Unanswered
from hermes.protocol.errors import UserError

log = logging.getLogger(__name__)

STEPS = 2
"""Logins for the same scopes that a server may ask for."""


class OAuth:
    """Implements Authority for a server with `auth: oauth`; `ask` reaches a person who can consent to more scopes."""

    def __init__(
        self,
        name: str,
        url: str,
        settings: OAuthSettings,
        folder: Path,
        connect: Connect,
        *,
        ask: Ask | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.account = Account(name, url, settings, folder, connect)
        self._ask = ask
        self._clock = clock
        self._renewal: asyncio.Task[str] | None = None
        self._renewing = ""
        self._stepping = asyncio.Lock()
        self._steps: dict[frozenset[str], int] = {}

    async def header(self) -> str:
        """The header to send, "" before the first login. What has expired is sent if it cannot be refreshed."""
        tokens = self.account.stored().tokens
        if tokens is None or not tokens.refresh or not self._expired(tokens):
            return "" if tokens is None else tokens.header
        if trouble := await self._renewed(tokens):
            log.warning("%s: %s", self.account.name, trouble)
        return self._header()

    async def refused(self, header: str, challenge: str) -> bool:
        """True if there is another header to try than the one that got a 401: a peer's, or a refreshed one."""
        tokens = self.account.stored().tokens
        if tokens is None:
            return False
        if tokens.header != header:
            return True
        if not tokens.refresh:
            return False
        trouble = await self._renewed(tokens)
        if self._header() not in ("", header):
            return True
        if trouble:
            raise Unreachable(self.account.name, f"MCP call failed: {trouble}")
        return False

    async def step_up(self, header: str, challenge: str) -> bool:
        """True if there is a header with the scopes that a 403 asked for: a peer's, or after a person has consented."""
        needed = parse(challenge).scopes or ()
        async with self._stepping:
            tokens = self.account.stored().tokens
            if tokens is None:
                return False
            if tokens.header != header and set(needed) <= set(tokens.scopes):
                return True
            if self._ask is None or not self._may_step(union(tokens.scopes, needed)):
                return False
            try:
                fresh = await login(self.account, self._ask, challenge=challenge, held=tokens.scopes, clock=self._clock)
            except LoginFailed as error:
                log.warning("%s: no further scopes: %s", self.account.name, error)
                return False
        return set(needed) <= set(fresh.scopes)

    def _may_step(self, scopes: Scopes) -> bool:
        key = frozenset(scopes)
        self._steps[key] = self._steps.get(key, 0) + 1
        return self._steps[key] <= STEPS

    def _header(self) -> str:
        tokens = self.account.stored().tokens
        return "" if tokens is None else tokens.header

    def _expired(self, tokens: Tokens) -> bool:
        return tokens.expires_at is not None and tokens.expires_at <= self._clock()

    async def _renewed(self, old: Tokens) -> str:
        """Refresh once for all callers; gives "" or why it is not known whether there is a next token.

        It runs in a thread with a loop of its own, which no cancelled caller and no closing loop stops: the old
        refresh token is void from the moment the login server has read it, so the answer must reach the file.
        """
        while self._renewal is not None and not self._renewal.done() and self._renewing != old.access:
            await asyncio.wait((self._renewal,))
        if self._renewal is None or self._renewal.done():
            self._renewal, self._renewing = asyncio.create_task(asyncio.to_thread(self._renew, old)), old.access
        return await asyncio.shield(self._renewal)

    def _renew(self, old: Tokens) -> str:
        try:
            with self.account.file.locked():
                self._renew_alone(old)
        except (Unanswered, UserError) as error:
            return str(error)
        except OSError as error:
            return f"the login in {self.account.file.path} cannot be refreshed: {error.strerror or error}"
        return ""

    def _renew_alone(self, old: Tokens) -> None:
        """Unless a peer has done it meanwhile, or nobody can."""
        stored, file = self.account.stored(), self.account.file
        client = self.account.client(stored, self._clock())
        if client is None or stored.tokens is None or stored.tokens.access != old.access:
            return
        try:
            fresh = replace(stored, tokens=self._trade(stored, client))
        except GrantRefused as error:
            log.warning("%s: %s", self.account.name, error)
            self._end(stored, error.error)
            return
        try:
            file.write(fresh)
        except OSError as error:
            log.error("%s: the refreshed login is not on disk: %s", self.account.name, error.strerror or error)
            file.hold(fresh)

    def _trade(self, stored: Stored, client: Client) -> Tokens:
        assert stored.metadata is not None and stored.tokens is not None
        exchange = trade_refresh(
            self.account.connect,
            stored.metadata,
            client,
            tokens=stored.tokens,
            resource=stored.resource,
            now=self._clock(),
        )
        with asyncio.Runner() as own_loop:
            return own_loop.run(exchange)

    def _end(self, tried: Stored, error: str) -> None:
        """Drop what the login server said it no longer knows, unless the file has changed since it was read."""
        self.account.file.reread()
        if self.account.stored() != tried:
            return
        match error:
            case "invalid_grant":
                self.account.file.write(replace(tried, tokens=None))
            case "invalid_client":
                self.account.file.write(replace(tried, client=None))
            case _:
                return
