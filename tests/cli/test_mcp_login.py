"""`hermes mcp login` and `reauth`: a person and a browser, with a real login server."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator

import httpx2
import pytest

from hermes.config import load
from hermes.mcp.oauth.tokens import TokenFile
from hermes.mcp.reconnects import FOLDER
from tests.cli.command import Hermes, Ran
from tests.services.auth_server import AuthServer, Rules


@pytest.fixture
async def guarded() -> AsyncIterator[AuthServer]:
    async with AuthServer() as server:
        yield server


async def with_browser(hermes: Hermes, *args: str) -> Ran:
    """Run a command, and open every page that it names as a browser does."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes", *args),
        env=hermes.environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout and process.stderr
    out = ""
    async with httpx2.AsyncClient(follow_redirects=True, verify=False, trust_env=False) as browser:
        while line := (await process.stdout.readline()).decode():
            out += re.sub(r"http\S+", "URL", line)
            if page := re.match(r"Open (\S+)", line):
                await browser.get(page[1])
    err = (await process.stderr.read()).decode()
    return Ran(await process.wait(), out, err)


def token_of(hermes: Hermes, name: str) -> str:
    tokens = TokenFile(hermes.home / "mcp-tokens", name).read().tokens
    return tokens.access if tokens else ""


async def test_a_login_is_kept_and_running_processes_are_told(hermes: Hermes, guarded: AuthServer) -> None:
    hermes.write_config(f"mcp_servers: {{mine: {{url: {guarded.url}}}}}\n")
    ran = await with_browser(hermes, "mcp", "login", "mine")
    assert ran == Ran(0, "Open URL\nlogged in to mine\n", "waiting for the browser to come back …\n")
    assert token_of(hermes, "mine")
    assert load(hermes.environ).file.mcp_servers["mine"].auth == "oauth"
    assert (hermes.home / FOLDER / "server-mine").exists()


async def test_a_server_that_wants_a_login_is_said_to_when_it_is_added_or_tested(
    hermes: Hermes, guarded: AuthServer
) -> None:
    added = await hermes.beside("mcp", "add", "mine", "--url", guarded.url)
    assert added == Ran(1, "", "hermes: mine is added, and wants a login (hermes mcp login mine)\n")
    tested = await hermes.beside("mcp", "test", "mine")
    assert (tested.code, tested.out.endswith("; log in: hermes mcp login mine\n")) == (1, True)


async def test_a_server_added_with_a_login_is_logged_in_to_at_once(hermes: Hermes, guarded: AuthServer) -> None:
    ran = await with_browser(hermes, "mcp", "add", "mine", "--url", guarded.url, "--auth", "oauth")
    assert ran.out == "Open URL\nlogged in to mine\n"
    assert (guarded.counts["used"] > 0, token_of(hermes, "mine") != "") == (True, True)
    async with AuthServer(Rules(login="deny")) as strict:
        ran = await with_browser(hermes, "mcp", "add", "strict", "--url", strict.url, "--auth", "oauth")
    assert (ran.code, ran.out) == (1, "Open URL\n")
    assert "hermes: strict is added, but you are not logged in: " in ran.err
    assert ran.err.endswith("(hermes mcp login strict)\n")
    assert list(load(hermes.environ).file.mcp_servers) == ["mine", "strict"]


async def test_reauth_forgets_the_old_login_first(hermes: Hermes, guarded: AuthServer) -> None:
    hermes.write_config(f"mcp_servers: {{mine: {{url: {guarded.url}, auth: oauth}}}}\n")
    await with_browser(hermes, "mcp", "login", "mine")
    before = token_of(hermes, "mine")
    assert (await with_browser(hermes, "mcp", "reauth", "mine")).code == 0
    assert token_of(hermes, "mine") not in ("", before)
    assert guarded.counts["POST /register"] == 2


async def test_reauth_of_all_goes_on_behind_one_that_fails(hermes: Hermes, guarded: AuthServer) -> None:
    async with AuthServer(Rules(login="deny")) as strict:
        hermes.write_config(
            f"mcp_servers:\n  strict: {{url: {strict.url}, auth: oauth}}\n  mine: {{url: {guarded.url}, auth: oauth}}\n"
            "  plain: {command: x}\n"
        )
        ran = await with_browser(hermes, "mcp", "reauth", "--all")
    assert (ran.code, ran.out) == (1, "Open URL\nOpen URL\nlogged in to mine\n")
    assert "strict" in ran.err
    assert token_of(hermes, "mine")


async def test_what_a_browser_elsewhere_ended_at_can_be_pasted(hermes: Hermes, guarded: AuthServer) -> None:
    hermes.write_config(f"mcp_servers: {{mine: {{url: {guarded.url}, auth: oauth}}}}\n")
    ran = await asyncio.to_thread(hermes.terminal, "mcp", "login", "mine", typed=[("it ends at: ", "http://x/no\n")])
    assert ran.code == 2
    assert "what was pasted is not the address after a login" in ran.out
    assert token_of(hermes, "mine") == ""


def test_a_server_without_a_login_says_so(hermes: Hermes) -> None:
    hermes.write_config(
        "mcp_servers:\n  tool: {command: x}\n  keyed: {url: 'http://127.0.0.1:9/', headers: {authorization: Bearer x}}\n"
    )
    assert hermes("mcp", "login", "tool") == Ran(
        2, "", "hermes: tool is a program, which needs no login here (hermes mcp test tool)\n"
    )
    assert hermes("mcp", "login", "keyed") == Ran(
        2, "", "hermes: keyed is used with a token of its own (hermes config unset mcp_servers.keyed.headers)\n"
    )
    assert hermes("mcp", "reauth") == Ran(2, "", "hermes: which server? (hermes mcp reauth NAME, or --all)\n")
    assert hermes("mcp", "reauth", "--all") == Ran(
        2, "", "hermes: no MCP server has auth: oauth (hermes mcp list shows what there is)\n"
    )
