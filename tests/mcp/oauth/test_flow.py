"""Logging in: what a person sees, and what the login server gets."""

import asyncio
import json
import stat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from hermes.config import OAuthSettings
from hermes.mcp.oauth.flow import Ask, login, logout
from hermes.mcp.oauth.tokens import Stored, Tokens
from hermes.mcp.oauth.web import LoginFailed
from tests.mcp.oauth.stage import SETTINGS, account, authority, browse, connect, paste, use, wait_for_ever
from tests.services.auth_server import OAUTH, OIDC, PRM, AuthServer, Reply, Rules


async def fails(server: AuthServer, folder: Path, ask: Ask = browse, settings: OAuthSettings = SETTINGS) -> str:
    with pytest.raises(LoginFailed) as failed:
        await login(account(server, folder, settings), ask)
    assert "\n" not in str(failed.value) and failed.value.hint
    assert not any(secret in f"{failed.value} {failed.value.hint}" for secret in server.secrets)
    return str(failed.value)


async def test_a_login_by_browser_stores_everything_that_later_requests_need(tmp_path: Path) -> None:
    async with AuthServer(Rules(offered=("read", "write"))) as server:
        tokens = await login(account(server, tmp_path / "mcp-tokens"), browse, clock=lambda: 1000.0)
        stored = account(server, tmp_path / "mcp-tokens").stored()
        assert await use(server, authority(server, tmp_path / "mcp-tokens", clock=lambda: 1001.0)) == 200
    assert tokens == Tokens("access-3", "refresh-3", 4600.0, ("read", "write"))
    assert stored.client is not None and stored.metadata is not None
    assert stored == Stored(server.url, server.url, stored.metadata, stored.client, tokens)
    assert (stored.client.id, stored.client.issuer, stored.metadata.issuer) == (
        "client-1",
        server.issuer,
        server.issuer,
    )
    file = tmp_path / "mcp-tokens" / "notes.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_the_address_that_a_person_pastes_logs_in_as_well(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await login(account(server, tmp_path), paste)
        assert await use(server, authority(server, tmp_path)) == 200


async def test_the_browser_wins_over_a_person_who_still_reads(tmp_path: Path) -> None:
    cancelled: list[bool] = []

    async def read_slowly(url: str) -> str:
        try:
            await browse(url)
            return await wait_for_ever(url)
        finally:
            cancelled.append(True)

    async with AuthServer() as server:
        await login(account(server, tmp_path), read_slowly)
    assert cancelled == [True]


async def test_a_redirect_to_another_machine_is_pasted(tmp_path: Path) -> None:
    settings = replace(SETTINGS, redirect_uri="https://example.com/back")
    async with AuthServer() as server:
        await login(account(server, tmp_path, settings), paste)
        assert server.clients["client-1"]["redirect_uris"] == ["https://example.com/back"]


async def test_the_login_page_gets_the_resource_the_scopes_and_consent_for_offline_access(tmp_path: Path) -> None:
    rules = Rules(challenge_scope="read", offered=("read", "write"), known=("read", "offline_access"))
    async with AuthServer(rules) as server:
        await login(account(server, tmp_path), browse)
        [page] = [asked.query for asked in server.seen if asked.path == "/authorize"]
    varying = {name: page.pop(name) for name in ("state", "code_challenge", "redirect_uri")}
    assert all(varying.values())
    assert page == {
        "response_type": "code",
        "client_id": "client-1",
        "code_challenge_method": "S256",
        "resource": server.url,
        "scope": "read offline_access",
        "prompt": "consent",
    }


async def test_no_scope_is_asked_for_where_none_is_named(tmp_path: Path) -> None:
    async with AuthServer(Rules(known=("admin", "offline_access"))) as server:
        await login(account(server, tmp_path), browse)
        [page] = [asked.query for asked in server.seen if asked.path == "/authorize"]
    assert "scope" not in page and "prompt" not in page


@pytest.mark.parametrize(
    "rules",
    [
        Rules(prm=PRM),
        Rules(prm=PRM, challenge=False),
        Rules(prm="/about-me"),
        Rules(challenge=False),
        Rules(metadata=OIDC),
        Rules(tenant="/tenant", metadata=f"{OAUTH}/tenant"),
        Rules(tenant="/tenant", metadata=f"{OIDC}/tenant"),
        Rules(tenant="/tenant", metadata=f"/tenant{OIDC}"),
        Rules(prm=""),
        Rules(prm="", metadata=""),
    ],
)
async def test_the_login_server_is_found_wherever_it_may_describe_itself(rules: Rules, tmp_path: Path) -> None:
    async with AuthServer(rules) as server:
        await login(account(server, tmp_path), browse)
        assert await use(server, authority(server, tmp_path)) == 200


@pytest.mark.parametrize("methods", [("none",), ("client_secret_post",), ("client_secret_basic",), None])
async def test_tokens_are_asked_for_in_the_way_that_the_server_offers(
    methods: tuple[str, ...] | None, tmp_path: Path
) -> None:
    async with AuthServer(Rules(methods=methods)) as server:
        await login(account(server, tmp_path), browse)
        server.expire()
        assert await use(server, authority(server, tmp_path)) == 200


@pytest.mark.parametrize("methods", [("client_secret_post",), ("client_secret_basic",), None])
async def test_a_client_from_the_config_is_never_registered(methods: tuple[str, ...] | None, tmp_path: Path) -> None:
    settings = replace(SETTINGS, client_id="mine", client_secret="p:ss word")
    async with AuthServer(Rules(methods=methods, clients={"mine": "p:ss word"})) as server:
        await login(account(server, tmp_path, settings), browse)
        server.expire()
        assert await use(server, authority(server, tmp_path, settings=settings)) == 200
        assert server.clients == {}
    assert "p:ss word" not in (tmp_path / "notes.json").read_text()


@pytest.mark.parametrize(("documents", "expected"), [(True, "https://hermes.example/client"), (False, "client-1")])
async def test_a_client_document_is_used_where_the_server_reads_them(
    documents: bool, expected: str, tmp_path: Path
) -> None:
    settings = replace(SETTINGS, client_id="https://hermes.example/client")
    async with AuthServer(Rules(documents=documents)) as server:
        await login(account(server, tmp_path, settings), browse)
        [page] = [asked.query for asked in server.seen if asked.path == "/authorize"]
    assert page["client_id"] == expected


async def test_a_second_login_reuses_the_registration_and_its_port(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await login(account(server, tmp_path), browse)
        await login(account(server, tmp_path), browse)
        assert (server.counts["POST /register"], server.counts["authorized"]) == (1, 2)


async def test_a_registration_outlives_a_login_that_was_given_up(tmp_path: Path) -> None:
    async with AuthServer(Rules(login="deny")) as server:
        await fails(server, tmp_path)
        await fails(server, tmp_path)
        assert server.counts["POST /register"] == 1


async def taken_port(server: AuthServer, folder: Path) -> asyncio.Server:
    """Something that listens where the stored registration would have the browser return."""
    client = account(server, folder).stored().client
    assert client is not None
    port = urlsplit(client.redirect_uri).port
    return await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)


async def test_a_registration_is_renewed_when_its_port_is_taken(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await login(account(server, tmp_path), browse)
        async with await taken_port(server, tmp_path):
            await login(account(server, tmp_path), browse)
        assert server.counts["POST /register"] == 2
        server.expire()
        assert await use(server, authority(server, tmp_path)) == 200


async def test_tokens_keep_their_registration_when_a_login_with_another_is_given_up(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await login(account(server, tmp_path), browse)
        server.rules = replace(server.rules, login="deny")
        async with await taken_port(server, tmp_path):
            await fails(server, tmp_path)
        assert server.counts["POST /register"] == 2
        server.expire()
        assert await use(server, authority(server, tmp_path)) == 200


async def test_a_registration_is_renewed_at_another_login_server(tmp_path: Path) -> None:
    async with AuthServer() as old, AuthServer() as new:
        await login(account(old, tmp_path), browse)
        await login(account(new, tmp_path), browse)
        assert new.counts["POST /register"] == 1
        assert await use(new, authority(new, tmp_path)) == 200


async def test_a_registration_whose_secret_has_expired_is_renewed(tmp_path: Path) -> None:
    async with AuthServer(Rules(methods=("client_secret_post",), secret_lifetime=2000)) as server:
        await login(account(server, tmp_path), browse, clock=lambda: 1999.0)
        await login(account(server, tmp_path), browse, clock=lambda: 2000.0)
        assert server.counts["POST /register"] == 2


async def test_a_registration_that_the_server_forgot_is_made_anew_at_the_next_login(tmp_path: Path) -> None:
    async with AuthServer() as server:
        server.broken.append(Reply(401, {"error": "invalid_client"}))
        assert await fails(server, tmp_path) == f"the login server {server.origin[7:]} gave no token: invalid_client"
        await login(account(server, tmp_path), browse)
        assert server.counts["POST /register"] == 2


async def test_a_login_that_fails_leaves_the_tokens_before_it(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await login(account(server, tmp_path), browse)
        before = (tmp_path / "notes.json").read_text()
        server.rules = replace(server.rules, login="deny")
        await fails(server, tmp_path)
        assert (tmp_path / "notes.json").read_text() == before


ELSEWHERE = "https://elsewhere.example"
FAILURES = [
    (Rules(login="deny"), "the login at HOST was declined"),
    (Rules(login="wrong state"), "the answer belongs to another login than this one at HOST"),
    (Rules(login="wrong iss"), "the answer comes from elsewhere.example, not from HOST"),
    (Rules(iss=True, login="no iss"), "the answer does not say that it comes from HOST"),
    (Rules(registration=False), "the login server HOST registers no new clients"),
    (Rules(pkce=()), "the login server HOST does not offer PKCE with S256"),
    (Rules(pkce=("plain",)), "the login server HOST does not offer PKCE with S256"),
    (Rules(metadata=""), "the login server HOST does not describe itself"),
    (Rules(changes={"issuer": ELSEWHERE}), "the login server HOST says that it is another one, elsewhere.example"),
    (Rules(changes={"token_endpoint": "http://elsewhere.example/t"}), "the login server HOST uses an address that is not secure"),
    (Rules(changes={"authorization_endpoint": "file:///etc/passwd"}), "the login server HOST uses an address that is not secure"),
    (Rules(prm_changes={"resource": ELSEWHERE}), "HOST says that its tokens are for another server, elsewhere.example"),
    (Rules(prm_changes={"authorization_servers": ["http://elsewhere.example"]}), "the login server elsewhere.example is not at a secure address"),
    (Rules(prm_changes={"authorization_servers": []}), "HOST names no login server"),
    (Rules(methods=("private_key_jwt",)), "the login server HOST did not register Hermes: none is not offered"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "line"), FAILURES)
async def test_each_failure_is_one_line(rules: Rules, line: str, tmp_path: Path) -> None:
    async with AuthServer(rules) as server:
        assert await fails(server, tmp_path) == line.replace("HOST", server.origin.removeprefix("http://"))


async def test_an_issuer_that_says_who_it_is_is_believed(tmp_path: Path) -> None:
    async with AuthServer(Rules(iss=True)) as server:
        await login(account(server, tmp_path), browse)
        assert await use(server, authority(server, tmp_path)) == 200


async def test_nobody_who_logs_in_is_a_timeout(tmp_path: Path) -> None:
    async with AuthServer() as server:
        line = await fails(server, tmp_path, wait_for_ever, replace(SETTINGS, timeout=0.05))
    assert line == "nobody logged in to notes within 0.05 s"


async def test_something_else_pasted_is_said_to_be_so(tmp_path: Path) -> None:
    async def paste_nonsense(url: str) -> str:
        return "http://[nonsense"

    async with AuthServer() as server:
        assert await fails(server, tmp_path, paste_nonsense) == "what was pasted is not the address after a login"


async def test_a_code_that_is_refused_is_not_repeated_in_the_error(tmp_path: Path) -> None:
    async def paste_another_code(url: str) -> str:
        address = await paste(url)
        return address.replace("code=", "code=stolen-")

    async with AuthServer() as server:
        line = await fails(server, tmp_path, paste_another_code)
    assert line == f"the login server {server.origin[7:]} gave no token: no such code: ***"


async def test_a_fixed_port_that_is_taken_is_said_to_be_so(tmp_path: Path) -> None:
    async with AuthServer() as server:
        port = int(server.origin.rsplit(":", 1)[1])
        line = await fails(server, tmp_path, settings=replace(SETTINGS, redirect_port=port))
    assert line.startswith(f"cannot wait for the browser at 127.0.0.1:{port}: ")


async def test_a_server_that_is_down_is_said_to_be_so(tmp_path: Path) -> None:
    async with AuthServer() as server:
        pass
    assert (await fails(server, tmp_path)).startswith(f"cannot reach {server.origin[7:]}: ")


async def test_a_server_without_a_login_is_said_to_have_none(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[0]
        status = b"200 OK" if method == b"POST" else b"404 Not Found"
        writer.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as open_server:
        server = AuthServer()
        server.url = f"http://127.0.0.1:{open_server.sockets[0].getsockname()[1]}/mcp"
        assert await fails(server, tmp_path) == "notes asks for no login"


async def test_logging_out_forgets_tokens_and_registration(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await login(account(server, tmp_path), browse)
        assert await asyncio.to_thread(logout, account(server, tmp_path)) is True
        assert await asyncio.to_thread(logout, account(server, tmp_path)) is False
        assert await use(server, authority(server, tmp_path)) == 401
    assert not (tmp_path / "notes.json").exists()


async def test_a_login_keeps_what_another_version_wrote(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"from_the_future": [1, 2]}')
    async with AuthServer() as server:
        await login(account(server, tmp_path), browse)
    assert json.loads((tmp_path / "notes.json").read_text())["from_the_future"] == [1, 2]


async def test_the_loopback_page_answers_only_the_browser_that_returns(tmp_path: Path) -> None:
    answers: list[int] = []

    async def knock_first(url: str) -> str:
        async with connect() as browser:
            back = (await browser.get(url)).headers["location"]
            origin = back.split("/callback")[0]
            for wrong in (f"{origin}/favicon.ico", f"{origin}/callback", f"{origin}/else?code=c&state=s"):
                answers.append((await browser.get(wrong)).status_code)
            answers.append((await browser.post(back)).status_code)
            answers.append((await browser.get(back)).status_code)
        return ""

    async with AuthServer() as server:
        await login(account(server, tmp_path), knock_first)
    assert answers == [404, 404, 404, 404, 200]


async def test_a_browser_that_connects_in_advance_does_not_hold_up_the_end(tmp_path: Path) -> None:
    opened: list[asyncio.StreamReader] = []
    writers: list[asyncio.StreamWriter] = []

    async def connect_in_advance(url: str) -> str:
        back = urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0])
        reader, writer = await asyncio.open_connection(back.hostname, back.port)
        opened.append(reader)
        writers.append(writer)
        return await browse(url)

    async with AuthServer() as server:
        await login(account(server, tmp_path), connect_in_advance)
    async with asyncio.timeout(2):
        assert await opened[0].read() == b""
    writers[0].close()
