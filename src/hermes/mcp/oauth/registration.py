"""Under which name Hermes is known to a login server: from the config, by a document on the web, or registered (RFC 7591)."""

import base64
from typing import Literal
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from hermes.config import OAuthSettings
from hermes.mcp.oauth.challenge import Scopes
from hermes.mcp.oauth.discovery import LATER, Metadata, same_issuer
from hermes.mcp.oauth.web import Connect, LoginFailed, Unanswered, host_of, plain, read, request, said

Method = Literal["none", "client_secret_post", "client_secret_basic"]
METHODS: tuple[Method, ...] = ("none", "client_secret_post", "client_secret_basic")


class Client(Struct, frozen=True, omit_defaults=True):
    """What a login server knows Hermes as. A registration belongs to one `issuer` and one `redirect_uri`."""

    id: str
    secret: str = ""
    method: Method = "none"
    issuer: str = ""
    redirect_uri: str = ""
    secret_expires_at: float = 0.0
    """Seconds since 1970; 0 if never."""

    def __repr__(self) -> str:
        return f"Client({self.id!r}, method={self.method!r}, issuer={self.issuer!r})"

    def sign(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """The form and the headers with which this client asks for tokens (RFC 6749, section 2.3.1)."""
        match self.method:
            case "client_secret_basic":
                pair = f"{quote(self.id, safe='')}:{quote(self.secret, safe='')}"
                return form, {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
            case "client_secret_post":
                return {**form, "client_id": self.id, "client_secret": self.secret}, {}
            case "none":
                return {**form, "client_id": self.id}, {}


class _Registered(Struct, frozen=True):
    client_id: str
    client_secret: str = ""
    client_secret_expires_at: float = 0.0
    token_endpoint_auth_method: str = ""


def known_client(settings: OAuthSettings, metadata: Metadata, registered: Client | None, now: float) -> Client | None:
    """The client to be at this login server, if that needs no registration."""
    if settings.client_id and (metadata.client_id_metadata_document_supported or not _is_document(settings.client_id)):
        return Client(settings.client_id, settings.client_secret, _method(metadata, bool(settings.client_secret)))
    if registered is None or not same_issuer(registered.issuer, metadata.issuer):
        return None
    return None if 0 < registered.secret_expires_at <= now else registered


async def register(
    connect: Connect, name: str, settings: OAuthSettings, metadata: Metadata, redirect_uri: str, scopes: Scopes
) -> Client:
    """Introduce Hermes to the login server of the MCP server called `name`."""
    host = host_of(metadata.issuer)
    by_hand = f"register Hermes there by hand and set mcp_servers.{name}.oauth.client_id"
    if not metadata.registration_endpoint:
        raise LoginFailed(f"the login server {host} registers no new clients", by_hand)
    wish = {
        "client_name": settings.client_name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": _wish(metadata),
        "application_type": "native",
    }
    if scopes:
        wish["scope"] = " ".join(scopes)
    try:
        reply = await request(connect, "POST", metadata.registration_endpoint, json=wish)
    except Unanswered as error:
        raise LoginFailed(str(error), LATER) from error
    if reply.status not in (200, 201):
        raise LoginFailed(f"the login server {host} did not register Hermes: {said(reply)}", by_hand)
    try:
        return _client(read(reply.body, _Registered), metadata, redirect_uri)
    except msgspec.MsgspecError as error:
        raise LoginFailed(f"the login server {host} answered a registration without a client_id", by_hand) from error
    except ValueError as error:
        raise LoginFailed(f"the login server {host} wants what Hermes cannot do: {error}", by_hand) from error


def _client(answer: _Registered, metadata: Metadata, redirect_uri: str) -> Client:
    """A server may change what was wished for (RFC 7591, section 3.2.1)."""
    named = answer.token_endpoint_auth_method or _method(metadata, bool(answer.client_secret))
    method = _usable(named)
    if method is None:
        raise ValueError(plain(named))
    if method != "none" and not answer.client_secret:
        raise ValueError(f"{method} without a secret")
    return Client(
        id=answer.client_id,
        secret=answer.client_secret,
        method=method,
        issuer=metadata.issuer,
        redirect_uri=redirect_uri,
        secret_expires_at=answer.client_secret_expires_at,
    )


def _wish(metadata: Metadata) -> Method:
    """A program on a person's machine keeps no secret, so "none" if the server lets it."""
    offered = metadata.token_endpoint_auth_methods_supported
    for method in METHODS:
        if offered is None or any(name == method for name in offered):
            return method
    return "none"


def _usable(name: str) -> Method | None:
    match name:
        case "none" | "client_secret_post" | "client_secret_basic":
            return name
        case _:
            return None


def _method(metadata: Metadata, has_secret: bool) -> Method:
    """How to show a secret where nobody said how; without a list, RFC 8414 means basic."""
    if not has_secret:
        return "none"
    offered = metadata.token_endpoint_auth_methods_supported or ("client_secret_basic",)
    return "client_secret_post" if "client_secret_basic" not in offered else "client_secret_basic"


def _is_document(client_id: str) -> bool:
    parts = urlsplit(client_id)
    return parts.scheme == "https" and parts.path not in ("", "/")
