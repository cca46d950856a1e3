"""Trade a code or a refresh token for tokens at a login server's token endpoint."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from hermes.mcp.oauth.challenge import Scopes
from hermes.mcp.oauth.discovery import Metadata
from hermes.mcp.oauth.registration import Client
from hermes.mcp.oauth.tokens import Tokens
from hermes.mcp.oauth.web import Connect, Unanswered, error_code, host_of, read, request, said
from hermes.protocol.errors import HermesError


class GrantRefused(HermesError):
    """The login server said no; `error` is its OAuth error code."""

    def __init__(self, message: str, error: str) -> None:
        super().__init__(message)
        self.error = error


class _Answer(Struct, frozen=True):
    access_token: str
    token_type: str = "Bearer"
    expires_in: float | None = None
    refresh_token: str = ""
    scope: str | None = None


async def trade_code(
    connect: Connect,
    metadata: Metadata,
    client: Client,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
    resource: str,
    scopes: Scopes,
    now: float,
) -> Tokens:
    """The first tokens of a login. Scopes that the server does not name are those that were asked for."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
        "resource": resource,
    }
    answer = await _post(connect, metadata, client, form, (code, verifier))
    return _tokens(answer, now, Tokens("", scopes=scopes))


async def trade_refresh(
    connect: Connect, metadata: Metadata, client: Client, *, tokens: Tokens, resource: str, now: float
) -> Tokens:
    """The next tokens. What the server does not name anew stays (RFC 6749, section 6)."""
    form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh, "resource": resource}
    answer = await _post(connect, metadata, client, form, (tokens.refresh, tokens.access))
    return _tokens(answer, now, tokens)


async def _post(
    connect: Connect, metadata: Metadata, client: Client, form: dict[str, str], secrets: Iterable[str]
) -> _Answer:
    signed, headers = client.sign(form)
    reply = await request(connect, "POST", metadata.token_endpoint, form=signed, headers=headers)
    host = host_of(metadata.issuer)
    what = f"the login server {host} gave no token: {said(reply, (*secrets, client.secret))}"
    if reply.status in (400, 401, 403) and (error := error_code(reply)):
        raise GrantRefused(what, error)
    if reply.status not in (200, 201):
        raise Unanswered(what)
    # The decoder's error is not shown and not chained: it may quote the token.
    try:
        answer = read(reply.body, _Answer)
    except msgspec.MsgspecError:
        answer = _Answer("")
    if not answer.access_token or answer.token_type.lower() != "bearer":
        raise Unanswered(f"the login server {host} answered without a bearer token")
    return answer


def _tokens(answer: _Answer, now: float, before: Tokens) -> Tokens:
    return Tokens(
        access=answer.access_token,
        refresh=answer.refresh_token or before.refresh,
        expires_at=None if answer.expires_in is None else now + answer.expires_in,
        scopes=before.scopes if answer.scope is None else tuple(answer.scope.split()),
    )
