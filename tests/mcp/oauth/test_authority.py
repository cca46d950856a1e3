"""The header of a guarded server: refreshed once for everybody, never lost, never sent to a stranger."""

import asyncio
import logging
import os
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from msgspec.structs import replace

from hermes.mcp.contract import Authority, Unreachable
from hermes.mcp.oauth.flow import login
from hermes.mcp.oauth.tokens import Tokens
from hermes.mcp.oauth.web import LoginFailed
from tests.mcp.oauth.stage import account, authority, browse, logged_in, use, wait_for_ever
from tests.services.auth_server import AuthServer, Reply, Rules

CHALLENGE = 'Bearer error="insufficient_scope", scope="write"'


def tokens_of(server: AuthServer, folder: Path) -> Tokens:
    tokens = account(server, folder).stored().tokens
    assert tokens is not None
    return tokens


def change(server: AuthServer, folder: Path, tokens: Tokens) -> None:
    """What another process does."""
    peer = account(server, folder)
    with peer.file.locked():
        peer.file.write(replace(peer.stored(), tokens=tokens))


async def test_before_the_first_login_there_is_no_header_and_only_a_person_can_help(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who: Authority = authority(server, tmp_path)
        assert await who.header() == ""
        assert await who.refused("", "Bearer") is False
        assert await who.step_up("", CHALLENGE) is False


async def test_a_refused_token_is_refreshed_and_the_request_goes_through(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.expire()
        assert await use(server, who) == 200
        assert (server.counts["refreshed"], server.counts["authorized"]) == (1, 1)


async def test_a_token_that_is_known_to_have_expired_is_refreshed_before_it_is_sent(tmp_path: Path) -> None:
    now = [1000.0]
    async with AuthServer(Rules(lifetime=60)) as server:
        await login(account(server, tmp_path), browse, clock=lambda: now[0])
        who = authority(server, tmp_path, clock=lambda: now[0])
        now[0] = 1059.0
        assert await use(server, who) == 200
        assert server.counts["refreshed"] == 0
        now[0] = 1060.0
        assert await use(server, who) == 200
        assert (server.counts["refreshed"], server.counts["POST /mcp"]) == (1, 3)
    assert tokens_of(server, tmp_path).expires_at == 1120.0


async def test_after_a_restart_an_expired_login_is_refreshed_and_nobody_logs_in_again(tmp_path: Path) -> None:
    async with AuthServer(Rules(lifetime=60)) as server:
        await login(account(server, tmp_path), browse, clock=lambda: 1000.0)
        server.expire()
        server.seen.clear()
        assert await use(server, authority(server, tmp_path)) == 200
        assert [asked.path for asked in server.seen] == ["/token", "/mcp"]


async def test_a_token_without_an_expiry_is_used_until_it_is_refused(tmp_path: Path) -> None:
    async with AuthServer(Rules(lifetime=None)) as server:
        who = await logged_in(server, tmp_path)
        assert await use(server, who) == 200
        assert (tokens_of(server, tmp_path).expires_at, server.counts["refreshed"]) == (None, 0)


async def test_a_refresh_token_that_is_not_rotated_is_kept(tmp_path: Path) -> None:
    async with AuthServer(Rules(rotate=False, offered=("read",))) as server:
        who = await logged_in(server, tmp_path)
        for _ in range(3):
            server.expire()
            assert await use(server, who) == 200
    assert (tokens_of(server, tmp_path).refresh, tokens_of(server, tmp_path).scopes) == ("refresh-3", ("read",))


async def test_64_callers_who_are_refused_together_share_one_refresh(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.expire()
        server.delay = 0.02
        assert await asyncio.gather(*(use(server, who) for _ in range(64))) == [200] * 64
        assert server.counts["POST /token"] == 2


async def test_four_calls_of_one_second_take_one_second(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.work = 1.0
        start = time.monotonic()
        assert await asyncio.gather(*(use(server, who) for _ in range(4))) == [200] * 4
        assert time.monotonic() - start <= 1.3


async def test_a_token_that_a_peer_wrote_is_adopted_without_a_refresh(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who, peer = await logged_in(server, tmp_path), authority(server, tmp_path)
        old = await who.header()
        server.expire()
        assert await use(server, peer) == 200
        assert await who.refused(old, "Bearer") is True
        assert await who.header() == await peer.header() != old
        assert server.counts["refreshed"] == 1


async def test_a_caller_who_gives_up_during_a_refresh_loses_nothing(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.expire()
        server.delay = 0.1
        impatient = asyncio.create_task(use(server, who))
        while server.counts["refreshed"] == 0:
            await asyncio.sleep(0.005)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        server.delay = 0.0
        assert await use(server, who) == 200
        assert (server.counts["refreshed"], server.counts["refused"]) == (1, 0)


async def test_a_caller_who_gives_up_during_a_refresh_does_not_disturb_the_others(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.expire()
        server.delay = 0.1
        impatient, patient = (asyncio.create_task(use(server, who)) for _ in range(2))
        while server.counts["refreshed"] == 0:
            await asyncio.sleep(0.005)
        impatient.cancel()
        assert await patient == 200


async def test_a_loop_that_ends_during_a_refresh_loses_nothing(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await logged_in(server, tmp_path)
        server.expire()
        server.delay = 0.1

        async def interrupted() -> None:
            async with asyncio.timeout(0.05):
                who = authority(server, tmp_path)
                await who.refused(await who.header(), "Bearer")

        with pytest.raises(TimeoutError):
            await asyncio.to_thread(asyncio.run, interrupted())
        server.delay = 0.0
        assert await use(server, authority(server, tmp_path)) == 200
        assert (server.counts["refreshed"], server.counts["refused"]) == (1, 0)


async def test_a_login_that_was_ended_is_cleared_and_its_registration_kept(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        before = account(server, tmp_path).stored()
        server.revoke()
        assert await use(server, who) == 401
        assert await who.header() == ""
    assert account(server, tmp_path).stored() == replace(before, tokens=None)


async def test_a_token_that_changed_during_a_refused_refresh_is_not_cleared(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        header = await who.header()
        server.revoke()
        server.delay = 0.1
        refusal = asyncio.create_task(who.refused(header, "Bearer"))
        while server.counts["refused"] == 0:
            await asyncio.sleep(0.005)
        file = tmp_path / "notes.json"
        before = file.stat()
        file.write_bytes(file.read_bytes().replace(b"access-", b"backup-"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert await refusal is True
    assert tokens_of(server, tmp_path).access == header.removeprefix("Bearer ").replace("access", "backup")


@pytest.mark.parametrize("reply", [Reply(500), Reply(429, {"error": "slow_down"}), Reply(200, {"access_token": ""})])
async def test_a_login_server_in_trouble_costs_no_login(reply: Reply, tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.expire()
        server.broken.append(reply)
        header = await who.header()
        with pytest.raises(Unreachable, match=r"^MCP call failed: the login server 127.0.0.1:[0-9]+ "):
            await who.refused(header, "Bearer")
        assert await use(server, who) == 200
        assert server.counts["authorized"] == 1


async def test_an_expired_token_is_sent_while_the_login_server_is_in_trouble(tmp_path: Path) -> None:
    async with AuthServer(Rules(lifetime=60)) as server:
        await login(account(server, tmp_path), browse, clock=lambda: 1000.0)
        server.broken.append(Reply(503))
        assert await use(server, authority(server, tmp_path)) == 200


async def test_a_client_that_the_server_forgot_needs_a_person_and_registers_anew(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        server.expire()
        server.clients.clear()
        assert await use(server, who) == 401
        await login(account(server, tmp_path), browse)
        assert await use(server, who) == 200


async def test_a_token_is_never_sent_to_a_server_at_another_address(tmp_path: Path) -> None:
    async with AuthServer() as old, AuthServer() as new:
        await logged_in(old, tmp_path)
        assert await use(new, authority(new, tmp_path)) == 401
        assert [asked.headers.get("authorization") for asked in new.seen] == [None]
        assert new.counts["POST /token"] == 0


async def test_a_refresh_token_goes_only_to_the_issuer_that_gave_it(tmp_path: Path) -> None:
    async with AuthServer() as old, AuthServer() as new:
        who = await logged_in(old, tmp_path)
        old.rules = replace(old.rules, prm_changes={"authorization_servers": [new.issuer]})
        old.expire()
        assert await use(old, who) == 200
        assert await asyncio.gather(login(account(old, tmp_path), browse)) == [tokens_of(old, tmp_path)]
        stored = account(old, tmp_path).stored()
        assert stored.metadata is not None and stored.client is not None
        assert (stored.metadata.issuer, stored.client.issuer) == (new.issuer, new.issuer)
        assert [asked.form["grant_type"] for asked in new.seen if asked.path == "/token"] == ["authorization_code"]


async def test_a_full_disk_costs_neither_the_new_token_nor_the_next_one(tmp_path: Path) -> None:
    async with AuthServer() as server:
        who = await logged_in(server, tmp_path)
        (tmp_path / "notes.json.new").mkdir()
        for _ in range(2):
            server.expire()
            assert await use(server, who) == 200
        (tmp_path / "notes.json.new").rmdir()
        server.expire()
        assert await use(server, who) == 200
        assert await use(server, authority(server, tmp_path)) == 200
        assert (server.counts["refreshed"], server.counts["refused"]) == (3, 0)


async def test_a_step_up_asks_for_all_scopes_old_and_new(tmp_path: Path) -> None:
    async with AuthServer(Rules(challenge_scope="read")) as server:
        who = await logged_in(server, tmp_path, ask=browse)
        server.rules = replace(server.rules, needed=("write", "admin"))
        assert await use(server, who) == 200
        pages = [asked.query["scope"] for asked in server.seen if asked.path == "/authorize"]
    assert pages == ["read", "read write admin"]
    assert tokens_of(server, tmp_path).scopes == ("read", "write", "admin")


async def test_callers_who_need_the_same_scopes_share_one_step_up(tmp_path: Path) -> None:
    async with AuthServer(Rules(challenge_scope="read")) as server:
        who = await logged_in(server, tmp_path, ask=browse)
        server.rules = replace(server.rules, needed=("write",))
        assert await asyncio.gather(*(use(server, who) for _ in range(8))) == [200] * 8
        assert server.counts["authorized"] == 2


async def test_a_step_up_without_a_person_fails_unless_a_peer_has_the_scopes(tmp_path: Path) -> None:
    async with AuthServer(Rules(challenge_scope="read")) as server:
        who = await logged_in(server, tmp_path)
        header = await who.header()
        assert await who.step_up(header, CHALLENGE) is False
        change(server, tmp_path, Tokens("a-peer's", scopes=("read", "write")))
        assert await who.step_up(header, CHALLENGE) is True
        assert await who.header() == "Bearer a-peer's"


async def test_a_person_is_asked_at_most_twice_for_the_same_scopes(tmp_path: Path) -> None:
    asked: list[str] = []

    async def decline(url: str) -> str:
        asked.append(url)
        raise LoginFailed("not now", "hermes mcp login notes")

    async with AuthServer(Rules(challenge_scope="read")) as server:
        who = await logged_in(server, tmp_path, ask=decline)
        assert [await who.step_up(await who.header(), CHALLENGE) for _ in range(4)] == [False] * 4
    assert len(asked) == 2


async def test_an_interrupted_step_up_lets_the_next_caller_try(tmp_path: Path) -> None:
    async with AuthServer(Rules(challenge_scope="read")) as server:
        who = await logged_in(server, tmp_path, ask=wait_for_ever)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await who.step_up(await who.header(), CHALLENGE)
        change(server, tmp_path, Tokens("a-peer's", scopes=("write",)))
        assert await who.step_up("Bearer other", CHALLENGE) is True


async def test_no_secret_appears_in_logs_errors_or_reprs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    texts: list[str] = []

    async def browse_quietly(url: str) -> str:
        """A browser of another make, which does not log where it goes."""
        await asyncio.to_thread(lambda: urllib.request.urlopen(url).close())
        return ""

    async with AuthServer(Rules(methods=("client_secret_basic",))) as server:
        await login(account(server, tmp_path), browse_quietly)
        who, stored = authority(server, tmp_path), account(server, tmp_path).stored()
        texts += [repr(stored), repr(stored.client), repr(stored.tokens)]
        server.expire()
        assert await use(server, who) == 200
        token = tokens_of(server, tmp_path).refresh
        server.expire()
        server.broken.append(Reply(500, {"error_description": f"{token} broke"}))
        with pytest.raises(Unreachable) as trouble:
            await use(server, who)
        texts.append(str(trouble.value))
        server.revoke()
        assert await use(server, who) == 401
        texts += [record.getMessage() for record in caplog.records]
        assert any("*** broke" in text for text in texts) and any("*** is not known" in text for text in texts)
        assert len(server.secrets) >= 7
        assert [text for text in texts for secret in server.secrets if secret in text] == []


async def start(server: AuthServer, folder: Path, count: int, how: str) -> list[asyncio.subprocess.Process]:
    """Start processes that wait at one line, then let all go at once."""
    go = folder / "go"
    command = ("-m", "tests.mcp.oauth.refresh_child", server.url, str(folder), str(go), how)
    started = [
        await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
        for _ in range(count)
    ]
    for process in started:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    go.touch()
    return started


async def test_20_processes_refresh_a_single_use_token_with_one_request(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await logged_in(server, tmp_path)
        server.expire()
        server.delay = 0.05
        started = await start(server, tmp_path, 20, "once")
        assert [await process.wait() for process in started] == [0] * 20
        assert (server.counts["refreshed"], server.counts["refused"], server.counts["authorized"]) == (1, 0, 1)


async def test_8_processes_live_through_100_expiries_with_100_refreshes_and_no_login(tmp_path: Path) -> None:
    async with AuthServer() as server:
        await logged_in(server, tmp_path)
        server.work = 0.005
        started = await start(server, tmp_path, 8, "often")
        for number in range(100):
            server.expire()
            while server.counts["refreshed"] == number:
                await asyncio.sleep(0.002)
        server.done = True
        assert [await process.wait() for process in started] == [0] * 8
        assert (server.counts["refreshed"], server.counts["refused"], server.counts["authorized"]) == (100, 0, 1)
