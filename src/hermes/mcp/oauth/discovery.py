"""Find out who gives tokens for an MCP server: RFC 9728, then RFC 8414 or OpenID Connect, then the oldest MCP custom."""

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from hermes.mcp.oauth.challenge import Challenge, Scopes
from hermes.mcp.oauth.web import Connect, LoginFailed, Reply, Unanswered, host_of, is_safe, read, request

HEADERS = {"mcp-protocol-version": "2025-11-25"}
LATER = "try again later"
TELL = "tell whoever runs the server"
PORTS = {"https": 443, "http": 80}


class Resource(Struct, frozen=True):
    """What an MCP server says about itself (RFC 9728)."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: Scopes | None = None


class Metadata(Struct, frozen=True, omit_defaults=True):
    """What a login server says about itself (RFC 8414)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str = ""
    scopes_supported: Scopes | None = None
    code_challenge_methods_supported: tuple[str, ...] = ()
    token_endpoint_auth_methods_supported: tuple[str, ...] | None = None
    client_id_metadata_document_supported: bool = False
    authorization_response_iss_parameter_supported: bool = False


class Found(Struct, frozen=True):
    """Where to log in, for which resource, and the scopes that it offers; not `announced` if nobody said so."""

    metadata: Metadata
    resource: str
    scopes: Scopes | None = None
    announced: bool = True


async def discover(connect: Connect, url: str, challenge: Challenge) -> Found:
    """Ask the MCP server at `url`, then its login server."""
    about = await _resource(connect, url, challenge)
    if about is None:
        origin = _origin(url)
        metadata = await _metadata(connect, origin, url)
        return Found(metadata or _customary(origin), canonical(url), announced=metadata is not None)
    if not covers(about.resource, url):
        raise LoginFailed(
            f"{host_of(url)} says that its tokens are for another server, {host_of(about.resource)}", TELL
        )
    if not about.authorization_servers:
        raise LoginFailed(f"{host_of(url)} names no login server", TELL)
    issuer = about.authorization_servers[0]
    metadata = await _metadata(connect, issuer, url)
    if metadata is None:
        raise LoginFailed(f"the login server {host_of(issuer)} does not describe itself", TELL)
    return Found(metadata, about.resource, about.scopes_supported)


def resource_urls(url: str, challenge: Challenge) -> Iterator[str]:
    """Where a server may describe itself, in the order of the specification."""
    if challenge.metadata:
        yield challenge.metadata
    path = urlsplit(url).path
    if path.strip("/"):
        yield f"{_origin(url)}/.well-known/oauth-protected-resource{path}"
    yield f"{_origin(url)}/.well-known/oauth-protected-resource"


def metadata_urls(issuer: str) -> Iterator[str]:
    """Where a login server may describe itself, in the order of the specification."""
    origin, path = _origin(issuer), urlsplit(issuer).path.rstrip("/")
    yield f"{origin}/.well-known/oauth-authorization-server{path}"
    yield f"{origin}/.well-known/openid-configuration{path}"
    if path:
        yield f"{origin}{path}/.well-known/openid-configuration"


def covers(resource: str, url: str) -> bool:
    """Whether tokens for `resource` are for the server at `url`: the same origin, and a path that begins like it."""
    try:
        if _site(resource) != _site(url):
            return False
    except ValueError:
        return False
    return f"{urlsplit(url).path.rstrip('/')}/".startswith(f"{urlsplit(resource).path.rstrip('/')}/")


def canonical(url: str) -> str:
    """The server's address as a resource indicator (RFC 8707): small letters, no fragment."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), fragment=""))


def same_issuer(one: str, other: str) -> bool:
    """Letter by letter (RFC 8414, section 3.3), but a bare origin may end in a slash."""
    return one == other or (one.rstrip("/") == other.rstrip("/") and not urlsplit(one).path.strip("/"))


async def _resource(connect: Connect, url: str, challenge: Challenge) -> Resource | None:
    failed = ""
    for place in resource_urls(url, challenge):
        if not is_safe(place, url):
            raise LoginFailed(f"{host_of(url)} describes itself at an address that is not secure", TELL)
        reply = await _get(connect, place)
        if reply.status == 200:
            try:
                return read(reply.body, Resource)
            except msgspec.MsgspecError:
                continue
        if reply.status >= 500 or reply.status == 429:
            failed = f"{host_of(place)} cannot say now who gives its tokens: HTTP {reply.status}"
    if failed:
        raise LoginFailed(failed, LATER)
    return None


async def _metadata(connect: Connect, issuer: str, url: str) -> Metadata | None:
    if not is_safe(issuer, url):
        raise LoginFailed(f"the login server {host_of(issuer)} is not at a secure address", TELL)
    for place in metadata_urls(issuer):
        reply = await _get(connect, place)
        if reply.status >= 500 or reply.status == 429:
            raise LoginFailed(f"the login server {host_of(issuer)} does not work now: HTTP {reply.status}", LATER)
        if reply.status != 200:
            continue
        try:
            metadata = read(reply.body, Metadata)
        except msgspec.MsgspecError:
            continue
        _check(metadata, issuer, url)
        return metadata
    return None


def _check(metadata: Metadata, issuer: str, url: str) -> None:
    name = host_of(issuer)
    if not same_issuer(metadata.issuer, issuer):
        raise LoginFailed(f"the login server {name} says that it is another one, {host_of(metadata.issuer)}", TELL)
    # The specification forbids to go on where S256 is not announced.
    if "S256" not in metadata.code_challenge_methods_supported:
        raise LoginFailed(f"the login server {name} does not offer PKCE with S256", TELL)
    places = (metadata.authorization_endpoint, metadata.token_endpoint, metadata.registration_endpoint)
    if not all(is_safe(place, url) for place in places if place):
        raise LoginFailed(f"the login server {name} uses an address that is not secure", TELL)


def _customary(origin: str) -> Metadata:
    """The paths that MCP servers of 2025-03 had without saying so."""
    return Metadata(
        issuer=origin,
        authorization_endpoint=f"{origin}/authorize",
        token_endpoint=f"{origin}/token",
        registration_endpoint=f"{origin}/register",
    )


async def _get(connect: Connect, place: str) -> Reply:
    try:
        return await request(connect, "GET", place, headers=HEADERS)
    except Unanswered as error:
        raise LoginFailed(str(error), LATER) from error


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}"


def _site(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme)
