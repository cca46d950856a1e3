"""A strict login server and the MCP server that it guards, in one, on loopback: it counts every request.

The resource answers GET and POST of /mcp with its number of uses to whoever has a good token. Everybody consents: the
login page redirects at once. Refresh tokens are single-use, and a used one ends the login, as with the strictest servers.
"""

import asyncio
import base64
import hashlib
import itertools
import json
from collections import Counter
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from msgspec import Struct

Json = dict[str, Any]
PRM = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OIDC = "/.well-known/openid-configuration"


class Rules(Struct, frozen=True, kw_only=True):
    """How the server behaves; the default is what the specification recommends."""

    prm: str = f"{PRM}/mcp"
    """The path of its own description; "" for none."""
    tenant: str = ""
    """The path of the issuer."""
    metadata: str = OAUTH
    """The path of the login server's description; "" for none."""
    challenge: bool = True
    """Whether a 401 says where the description is."""
    challenge_scope: str = ""
    offered: tuple[str, ...] | None = None
    known: tuple[str, ...] | None = None
    needed: tuple[str, ...] = ()
    methods: tuple[str, ...] | None = ("none",)
    registration: bool = True
    documents: bool = False
    iss: bool = False
    pkce: tuple[str, ...] = ("S256",)
    lifetime: float | None = 3600
    """What it says about a token's life; in truth it ends when the test calls `expire`."""
    rotate: bool = True
    secret_lifetime: float = 0
    login: Literal["consent", "deny", "wrong state", "wrong iss", "no iss"] = "consent"
    changes: Json = {}
    """Lies in the login server's description."""
    prm_changes: Json = {}
    clients: dict[str, str] = {}
    """Clients registered by hand, with their secrets."""


class Reply(Struct, frozen=True):
    status: int
    body: Json = {}
    headers: dict[str, str] = {}


class Asked(Struct, frozen=True):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


class Family(Struct):
    """A login: all tokens that came from one consent."""

    client: str
    scope: str
    resource: str
    access: str = ""
    refresh: str = ""
    ended: bool = False


class Code(Struct, frozen=True):
    client: str
    redirect_uri: str
    digest: str
    scope: str
    resource: str


class AuthServer:
    """`counts` has "METHOD /path" and what happened: used, authorized, refreshed, refused. `seen` has every request."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.counts: Counter[str] = Counter()
        self.seen: list[Asked] = []
        self.clients: dict[str, Json] = {}
        self.broken: list[Reply] = []
        """Answers that the token endpoint gives first."""
        self.delay = 0.0
        """Seconds that the token endpoint takes, after it has done its work."""
        self.work = 0.0
        """Seconds that a use of the resource takes."""
        self.done = False
        """The resource answers 410, which tells test children to stop."""
        self._families: list[Family] = []
        self._given: set[str] = set()
        self._codes: dict[str, Code] = {}
        self._numbers = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.url = f"{self.origin}/mcp"
        self.issuer = f"{self.origin}{self.rules.tenant}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await self._server.wait_closed()

    def expire(self) -> None:
        """Make every access token void; refresh tokens stay good."""
        for family in self._families:
            family.access = ""

    def revoke(self) -> None:
        """End every login."""
        for family in self._families:
            family.ended = True

    @property
    def secrets(self) -> set[str]:
        """All secrets that were ever given out or sent here."""
        found = {made["client_secret"] for made in self.clients.values() if made.get("client_secret")}
        for asked in self.seen:
            form = {**asked.query, **(asked.form if asked.path.endswith("/token") else {})}
            found |= {form[key] for key in ("code", "code_verifier", "refresh_token", "client_secret") if key in form}
        return found | self._given

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (asked := await _read(reader)) is not None:
                self.seen.append(asked)
                self.counts[f"{asked.method} {asked.path}"] += 1
                reply = await self._answer(asked)
                writer.write(_bytes(reply))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.counts["hung up"] += 1
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, asked: Asked) -> Reply:
        rules = self.rules
        match asked.method, asked.path:
            case _, "/mcp":
                reply = self._use(asked)
                await asyncio.sleep(self.work if reply.status == 200 else 0)
                return reply
            case "GET", path if path == rules.prm:
                return Reply(200, self._about_resource())
            case "GET", path if path == rules.metadata:
                return Reply(200, self._about_issuer())
            case "POST", path if path == f"{rules.tenant}/register" and rules.registration:
                return self._register(json.loads(asked.body))
            case "GET", path if path == f"{rules.tenant}/authorize":
                return self._authorize(asked.query)
            case "POST", path if path == f"{rules.tenant}/token":
                reply = self.broken.pop(0) if self.broken else self._token(asked)
                await asyncio.sleep(self.delay)
                return reply
        return Reply(404)

    def _use(self, asked: Asked) -> Reply:
        if self.done:
            return Reply(410)
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        family = next((f for f in self._families if token and f.access == token), None)
        about = f'resource_metadata="{self.origin}{self.rules.prm}"' if self.rules.challenge and self.rules.prm else ""
        if family is None or family.ended:
            scope = f'scope="{self.rules.challenge_scope}"' if self.rules.challenge_scope else ""
            said = ", ".join(part for part in ('error="invalid_token"', about, scope) if part)
            return Reply(401, headers={"www-authenticate": f"Bearer {said}"})
        if not set(self.rules.needed) <= set(family.scope.split()):
            said = f'Bearer error="insufficient_scope", scope="{" ".join(self.rules.needed)}", {about}'
            return Reply(403, headers={"www-authenticate": said})
        self.counts["used"] += 1
        return Reply(200, {"used": self.counts["used"]})

    def _about_resource(self) -> Json:
        about: Json = {"resource": self.url, "authorization_servers": [self.issuer]}
        if self.rules.offered is not None:
            about["scopes_supported"] = self.rules.offered
        return {**about, **self.rules.prm_changes}

    def _about_issuer(self) -> Json:
        rules = self.rules
        about: Json = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register" if rules.registration else None,
            "scopes_supported": rules.known,
            "code_challenge_methods_supported": rules.pkce or None,
            "token_endpoint_auth_methods_supported": rules.methods,
            "client_id_metadata_document_supported": rules.documents,
            "authorization_response_iss_parameter_supported": rules.iss,
        }
        return {**about, **rules.changes}

    def _register(self, wish: Json) -> Reply:
        method = wish["token_endpoint_auth_method"]
        if self.rules.methods is not None and method not in self.rules.methods:
            return Reply(400, {"error": "invalid_client_metadata", "error_description": f"{method} is not offered"})
        number = next(self._numbers)
        client = {**wish, "client_id": f"client-{number}"}
        if method != "none":
            client |= {"client_secret": f"secret/{number}", "client_secret_expires_at": self.rules.secret_lifetime}
        self.clients[client["client_id"]] = client
        return Reply(201, client)

    def _authorize(self, query: dict[str, str]) -> Reply:
        client = query["client_id"]
        known = self.clients.get(client)
        by_document = self.rules.documents and client.startswith("https://")
        if known is None and client not in self.rules.clients and not by_document:
            return Reply(400, {"error": "unknown client"})
        if known is not None and query["redirect_uri"] not in known["redirect_uris"]:
            return Reply(400, {"error": "unknown redirect_uri"})
        if query["code_challenge_method"] != "S256" or query["response_type"] != "code":
            return Reply(400, {"error": "not S256"})
        answer = {"state": query["state"]}
        match self.rules.login:
            case "deny":
                answer |= {"error": "access_denied"}
            case "wrong state":
                answer |= {"code": "c", "state": "another"}
            case _:
                self.counts["authorized"] += 1
                code = f"code-{next(self._numbers)}"
                self._codes[code] = Code(
                    client, query["redirect_uri"], query["code_challenge"], query.get("scope", ""), query["resource"]
                )
                answer |= {"code": code}
        if self.rules.login == "wrong iss":
            answer |= {"iss": "https://elsewhere.example"}
        elif self.rules.iss and self.rules.login != "no iss":
            answer |= {"iss": self.issuer}
        return Reply(302, headers={"location": f"{query['redirect_uri']}?{urlencode(answer)}"})

    def _token(self, asked: Asked) -> Reply:
        form = asked.form
        client = self._client(asked, form)
        if client is None:
            return Reply(401, {"error": "invalid_client"})
        match form["grant_type"]:
            case "authorization_code":
                return self._trade_code(client, form)
            case "refresh_token":
                return self._trade_refresh(client, form)
        return Reply(400, {"error": "unsupported_grant_type"})

    def _client(self, asked: Asked, form: dict[str, str]) -> str | None:
        """Who asks, if it is shown in a way that this server offers."""
        method, name, secret = "none", form.get("client_id", ""), form.get("client_secret", "")
        if asked.headers.get("authorization", "").startswith("Basic "):
            pair = base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")).decode()
            method, (name, secret) = "client_secret_basic", (unquote(part) for part in pair.split(":", 1))
        elif secret:
            method = "client_secret_post"
        if method not in (self.rules.methods or ("client_secret_basic", "none")):
            return None
        if self.rules.documents and name.startswith("https://"):
            return name
        secrets = self.rules.clients | {known: made.get("client_secret", "") for known, made in self.clients.items()}
        return name if secrets.get(name) == secret else None

    def _trade_code(self, client: str, form: dict[str, str]) -> Reply:
        code = self._codes.pop(form["code"], None)
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        shown = (client, form["redirect_uri"], digest, form["resource"])
        if code is None or shown != (code.client, code.redirect_uri, code.digest, code.resource):
            return Reply(400, {"error": "invalid_grant", "error_description": f"no such code: {form['code']}"})
        family = Family(client, code.scope, code.resource)
        self._families.append(family)
        return self._give(family)

    def _trade_refresh(self, client: str, form: dict[str, str]) -> Reply:
        family = next((f for f in self._families if f.refresh == form["refresh_token"]), None)
        if family is None or family.ended or (family.client, family.resource) != (client, form["resource"]):
            self.counts["refused"] += 1
            # A token that was used before, or by somebody else, ends its login.
            for each in self._families:
                each.ended = each.ended or each.client == client
            said = f"{form['refresh_token']} is\nnot known"
            return Reply(400, {"error": "invalid_grant", "error_description": said})
        self.counts["refreshed"] += 1
        return self._give(family)

    def _give(self, family: Family) -> Reply:
        number = next(self._numbers)
        family.access = f"access-{number}"
        body: Json = {"access_token": family.access, "token_type": "bearer", "expires_in": self.rules.lifetime}
        if self.rules.rotate or not family.refresh:
            family.refresh = f"refresh-{number}"
            body["refresh_token"] = family.refresh
        self._given |= {family.access, family.refresh}
        return Reply(200, body, {"cache-control": "no-store"})


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Asked(method, parts.path, dict(parse_qsl(parts.query)), headers, body)


def _bytes(reply: Reply) -> bytes:
    body = json.dumps(reply.body).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} -\r\n{lines}\r\n".encode("latin-1") + body
