"""Log in to a provider with a code typed into a browser (OAuth device flow, RFC 8628), and keep the login fresh."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from hermes.models.authfile import AuthFile, Grant
from hermes.models.catalog import DeviceFlow, Vendor
from hermes.models.exchange import Fault, Request
from hermes.models.pool import Pool
from hermes.protocol.errors import AuthFailed, Disconnected, UserError

T = TypeVar("T")

MARGIN = 120.0
"""A token that expires within these seconds is renewed before it is used."""
TIMEOUT = 20.0
SLOWER = 5.0
"""RFC 8628, section 3.5: slow_down adds five seconds to the interval, for good."""
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
ENDED = {"invalid_grant", "invalid_token"}
"""Errors that end a login; anything else, such as the page of a proxy, may pass."""


class Prompt(Struct, frozen=True):
    """What a person must do: open `url` and confirm `code` before `expires_in` seconds have passed."""

    url: str
    code: str
    expires_in: float


class _Device(Struct, frozen=True):
    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str = ""
    expires_in: float = 600.0
    interval: float = 5.0


class _Tokens(Struct, frozen=True):
    access_token: str
    refresh_token: str = ""
    expires_in: float = 3600.0


class _Problem(Struct, frozen=True):
    error: str = ""
    error_description: str = ""


async def log_in(
    vendor: Vendor,
    auth: AuthFile,
    show: Callable[[Prompt], None],
    *,
    connect: Callable[[], Pool] = Pool,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.time,
) -> None:
    """Get a code, `show` it, wait until the person has confirmed it, and store the login in auth.json."""
    server = _Server(vendor, connect)
    flow, title = server.flow, vendor.title
    form = {"client_id": flow.client, "scope": flow.scope}
    status, body = await server.post(flow.device, form)
    if status != 200:
        raise UserError(f"{title} gave no login code: {_said(status, body)}", "try again later")
    device = server.read(body, _Device)
    url = device.verification_uri_complete or device.verification_uri
    show(Prompt(url, device.user_code, device.expires_in))
    form = {"grant_type": DEVICE_GRANT, "device_code": device.device_code, "client_id": flow.client}
    interval, deadline = device.interval, clock() + device.expires_in
    while clock() + interval < deadline:
        await sleep(interval)
        try:
            status, body = await server.post(flow.token, form)
        except Disconnected:
            interval *= 2
            continue
        if status == 200:
            grant = _grant(server.read(body, _Tokens), clock())
            await asyncio.to_thread(_store, auth, vendor.name, grant)
            return
        match _problem(body).error:
            case "authorization_pending":
                pass
            case "slow_down":
                interval += SLOWER
            case "access_denied":
                raise UserError(f"the login at {title} was declined", f"hermes auth add {vendor.name}")
            case "expired_token":
                break
            case _:
                raise UserError(f"{title} did not log you in: {_said(status, body)}", "try again later")
    raise UserError(f"the login code of {title} has expired", f"hermes auth add {vendor.name}")


class LoginKey:
    """A login as a key. Of all processes that find the token stale, one renews it and the others read the result."""

    label = "login"
    renews = True

    def __init__(
        self,
        vendor: Vendor,
        auth: AuthFile,
        *,
        connect: Callable[[], Pool] = Pool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._vendor = vendor
        self._auth = auth
        self._server = _Server(vendor, connect)
        self._clock = clock
        self._grant: Grant | None = None

    async def secret(self, rejected: str = "") -> str:
        """The access token; renewed first if it is about to expire or was `rejected`.

        The renewal runs in a thread with a loop of its own, which a cancelled call does not stop: the old refresh
        token is void from the moment the provider has read it, so the answer must reach the file.
        """
        if self._grant is None or not self._good(self._grant, rejected):
            self._grant = await asyncio.to_thread(self._renew, rejected)
        return self._grant.access

    def _good(self, grant: Grant, rejected: str) -> bool:
        return grant.access != rejected and grant.expires_at - self._clock() > MARGIN

    def _renew(self, rejected: str) -> Grant:
        stored = self._stored()
        if self._good(stored, rejected):
            return stored
        with self._auth.locked():
            stored = self._stored()
            if self._good(stored, rejected):
                return stored
            grant = self._exchange(stored)
            self._auth.write(self._auth.read().with_login(self._vendor.name, grant))
        if grant is None:
            raise self._ended()
        return grant

    def _stored(self) -> Grant:
        grant = self._auth.read().logins.get(self._vendor.name)
        if grant is None:
            raise self._ended()
        return grant

    def _exchange(self, stored: Grant) -> Grant | None:
        """One refresh token for the next pair; None if the provider no longer knows it."""
        flow = self._server.flow
        form = {"grant_type": "refresh_token", "client_id": flow.client}
        headers: dict[str, str] = {}
        if flow.refresh_header:
            headers[flow.refresh_header] = stored.refresh
        else:
            form["refresh_token"] = stored.refresh
        with asyncio.Runner() as own_loop:
            status, body = own_loop.run(self._server.post(flow.token, form, headers))
        if status == 200:
            return _grant(self._server.read(body, _Tokens), self._clock(), stored.refresh)
        if _problem(body).error in ENDED:
            return None
        what = f"{self._vendor.title} did not renew the login: {_said(status, body)}"
        raise Disconnected(what, status=status)

    def _ended(self) -> AuthFailed:
        again = f"run `hermes auth add {self._vendor.name}`"
        return AuthFailed(f"the login at {self._vendor.title} has ended: {again}")


class _Server:
    """Where a vendor's logins are made."""

    def __init__(self, vendor: Vendor, connect: Callable[[], Pool]) -> None:
        if vendor.login is None:
            hint = f"hermes config set {vendor.keys[0]} YOUR-KEY" if vendor.keys else "it needs none"
            raise UserError(f"{vendor.title} has no login, only keys", hint)
        self.flow: DeviceFlow = vendor.login
        self._title = vendor.title
        self._connect = connect

    async def post(
        self, url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        kinds = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
        asked = Request(url=url, headers={**kinds, **(headers or {})}, body=urlencode(form).encode())
        try:
            async with self._connect() as pool:
                answer = await pool.fetch(asked, TIMEOUT)
        except Fault as fault:
            raise Disconnected(f"cannot reach the login server of {self._title}: {fault.why}") from fault
        return answer.status, answer.body

    def read(self, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise Disconnected(f"the login server of {self._title} sent no login: {error}") from error


def _store(auth: AuthFile, provider: str, grant: Grant) -> None:
    auth.change(lambda stored: stored.with_login(provider, grant))


def _grant(tokens: _Tokens, now: float, refresh: str = "") -> Grant:
    return Grant(tokens.access_token, tokens.refresh_token or refresh, now + tokens.expires_in)


def _problem(body: bytes) -> _Problem:
    try:
        return msgspec.json.decode(body, type=_Problem)
    except msgspec.DecodeError:
        return _Problem()


def _said(status: int, body: bytes) -> str:
    problem = _problem(body)
    return problem.error_description or problem.error or f"HTTP {status}"
