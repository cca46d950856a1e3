"""Logging in by device code, and a token that many processes renew at once with one request."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from msgspec.structs import replace

from hermes.models.authfile import Auth, AuthFile, Grant
from hermes.models.catalog import Catalog, DeviceFlow, Vendor
from hermes.models.login import LoginKey, Prompt, log_in
from hermes.protocol.errors import AuthFailed, Disconnected, UserError

Form = dict[str, str]
Answer = tuple[int, object]

TOKENS = {"access_token": "access-1", "refresh_token": "refresh-1", "expires_in": 900}
DEVICE = {
    "device_code": "device-1",
    "user_code": "ABCD-EFGH",
    "verification_uri": "https://portal.example/device",
    "verification_uri_complete": "https://portal.example/device?code=ABCD-EFGH",
    "expires_in": 60,
    "interval": 5,
}
PENDING: Answer = (400, {"error": "authorization_pending"})


class Portal:
    """A login server on loopback: each POST is noted as (path, form) and answered by `answer`."""

    def __init__(self, answer: Callable[[str, Form], Answer]) -> None:
        self.posts: list[tuple[str, Form]] = []
        lock = threading.Lock()

        posts = self.posts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
                if "x-refresh" in self.headers:
                    form["x-refresh"] = self.headers["x-refresh"]
                with lock:
                    posts.append((self.path, form))
                    status, said = answer(self.path, form)
                raw = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def vendor(self, refresh_header: str = "x-refresh") -> Vendor:
        flow = DeviceFlow(
            device=f"{self.url}/device",
            token=f"{self.url}/token",
            client="hermes-test",
            scope="use",
            refresh_header=refresh_header,
        )
        return replace(Catalog()["nous"], login=flow)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


Open = Callable[[Callable[[str, Form], Answer]], Portal]


@pytest.fixture
def portal() -> Iterator[Open]:
    opened: list[Portal] = []

    def open_portal(answer: Callable[[str, Form], Answer]) -> Portal:
        opened.append(Portal(answer))
        return opened[-1]

    yield open_portal
    for each in opened:
        each.close()


@pytest.fixture
def auth(tmp_path: Path) -> AuthFile:
    return AuthFile(tmp_path / "auth.json")


class Clock:
    """A time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def answers(*polls: Answer) -> Callable[[str, Form], Answer]:
    """The device code first, then these answers to the polls in order, the last one for ever."""
    rest = list(polls)

    def answer(path: str, form: Form) -> Answer:
        if path == "/device":
            return 200, DEVICE
        return rest.pop(0) if len(rest) > 1 else rest[0]

    return answer


async def logged_in(server: Portal, auth: AuthFile) -> tuple[list[Prompt], Clock]:
    clock, shown = Clock(), list[Prompt]()
    await log_in(server.vendor(), auth, shown.append, sleep=clock.sleep, clock=clock)
    return shown, clock


async def test_a_person_confirms_a_code_and_is_logged_in(portal: Open, auth: AuthFile) -> None:
    server = portal(answers(PENDING, (400, {"error": "slow_down"}), PENDING, (200, TOKENS)))
    shown, clock = await logged_in(server, auth)
    assert shown == [Prompt("https://portal.example/device?code=ABCD-EFGH", "ABCD-EFGH", 60)]
    assert clock.slept == [5, 5, 10, 10]
    assert auth.read() == Auth(logins={"nous": Grant("access-1", "refresh-1", clock.now + 900)})
    poll = {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        "device_code": "device-1",
        "client_id": "hermes-test",
    }
    assert server.posts == [
        ("/device", {"client_id": "hermes-test", "scope": "use"}),
        *[("/token", poll)] * 4,
    ]


@pytest.mark.parametrize(
    ("poll", "message"),
    [
        ((400, {"error": "access_denied"}), "the login at Nous Portal was declined"),
        ((400, {"error": "expired_token"}), "the login code of Nous Portal has expired"),
        (PENDING, "the login code of Nous Portal has expired"),
        ((500, b"<html>"), "Nous Portal did not log you in: HTTP 500"),
        (
            (400, {"error": "bad", "error_description": "Not you."}),
            "Nous Portal did not log you in: Not you.",
        ),
    ],
)
async def test_a_login_that_does_not_come_about_says_why(
    portal: Open, auth: AuthFile, poll: Answer, message: str
) -> None:
    with pytest.raises(UserError) as raised:
        await logged_in(portal(answers(poll)), auth)
    assert str(raised.value) == message
    assert auth.read() == Auth()


async def test_a_login_server_that_is_away_for_a_while_is_asked_less_often(
    portal: Open, auth: AuthFile, free_tcp_port: int
) -> None:
    server = portal(answers((200, TOKENS)))
    gone = DeviceFlow(device=f"{server.url}/device", token=f"http://127.0.0.1:{free_tcp_port}/", client="c")
    vendor, clock = replace(server.vendor(), login=gone), Clock()
    with pytest.raises(UserError, match="has expired"):
        await log_in(vendor, auth, lambda prompt: None, sleep=clock.sleep, clock=clock)
    assert clock.slept == [5, 10, 20]


async def test_a_vendor_without_a_login_says_which_key_it_wants(auth: AuthFile) -> None:
    with pytest.raises(UserError, match="OpenAI has no login, only keys") as raised:
        await log_in(Catalog()["openai"], auth, lambda prompt: None)
    assert raised.value.hint == "hermes config set OPENAI_API_KEY YOUR-KEY"


def refreshing(path: str, form: Form) -> Answer:
    """A new pair of tokens, numbered one above the refresh token that was sent."""
    used = form.get("x-refresh") or form.get("refresh_token", "")
    number = int(used.removeprefix("refresh-")) + 1
    return 200, {"access_token": f"access-{number}", "refresh_token": f"refresh-{number}", "expires_in": 900}


def stored(auth: AuthFile, expires_at: float) -> None:
    auth.change(lambda found: found.with_login("nous", Grant("access-1", "refresh-1", expires_at)))


async def test_a_token_that_is_still_good_is_used_without_a_request(portal: Open, auth: AuthFile) -> None:
    server, clock = portal(refreshing), Clock()
    stored(auth, clock.now + 500)
    assert await LoginKey(server.vendor(), auth, clock=clock).secret() == "access-1"
    assert server.posts == []


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("x-refresh", {"x-refresh": "refresh-1"}),
        ("", {"refresh_token": "refresh-1"}),
    ],
)
async def test_a_token_about_to_expire_is_renewed_and_the_new_pair_is_kept(
    portal: Open, auth: AuthFile, header: str, sent: Form
) -> None:
    server, clock = portal(refreshing), Clock()
    stored(auth, clock.now + 100)
    key = LoginKey(server.vendor(header), auth, clock=clock)
    assert [await key.secret(), await key.secret()] == ["access-2", "access-2"]
    form = {"grant_type": "refresh_token", "client_id": "hermes-test", **sent}
    assert server.posts == [("/token", form)]
    assert auth.read().logins["nous"] == Grant("access-2", "refresh-2", clock.now + 900)


async def test_a_rejected_token_is_renewed_once_however_many_calls_were_rejected(portal: Open, auth: AuthFile) -> None:
    server, clock = portal(refreshing), Clock()
    stored(auth, clock.now + 500)
    one, other = (LoginKey(server.vendor(), auth, clock=clock) for _ in range(2))
    calls = [key.secret("access-1") for key in (one, other, one, other)]
    assert await asyncio.gather(*calls) == ["access-2"] * 4
    assert len(server.posts) == 1


async def test_a_login_that_the_provider_ended_is_forgotten_and_never_sent_again(portal: Open, auth: AuthFile) -> None:
    server, clock = portal(lambda path, form: (400, {"error": "invalid_grant"})), Clock()
    stored(auth, 0)
    key = LoginKey(server.vendor(), auth, clock=clock)
    for _ in range(2):
        with pytest.raises(AuthFailed, match="run `hermes auth add nous`"):
            await key.secret()
    assert len(server.posts) == 1
    assert auth.read() == Auth()


@pytest.mark.parametrize("answer", [(503, b"busy"), (403, b"<html>are you human?</html>"), (200, b"[]")])
async def test_a_renewal_that_went_wrong_keeps_the_login(portal: Open, auth: AuthFile, answer: Answer) -> None:
    server, clock = portal(lambda path, form: answer), Clock()
    stored(auth, 0)
    with pytest.raises(Disconnected):
        await LoginKey(server.vendor(), auth, clock=clock).secret()
    assert auth.read().logins["nous"].refresh == "refresh-1"


async def test_a_call_that_is_cancelled_does_not_lose_the_new_refresh_token(portal: Open, auth: AuthFile) -> None:
    asked, go = threading.Event(), threading.Event()

    def slow(path: str, form: Form) -> Answer:
        asked.set()
        go.wait(10)
        return refreshing(path, form)

    server, clock = portal(slow), Clock()
    stored(auth, 0)
    task = asyncio.ensure_future(LoginKey(server.vendor(), auth, clock=clock).secret())
    await asyncio.to_thread(asked.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    assert await LoginKey(server.vendor(), auth, clock=clock).secret() == "access-2"
    assert len(server.posts) == 1


RENEW = """
import asyncio, sys
from pathlib import Path
from msgspec.structs import replace
from hermes.models.authfile import AuthFile
from hermes.models.catalog import Catalog, DeviceFlow
from hermes.models.login import LoginKey
path, url = sys.argv[1:]
flow = DeviceFlow(device="", token=url + "/token", client="hermes-test", refresh_header="x-refresh")
key = LoginKey(replace(Catalog()["nous"], login=flow), AuthFile(Path(path)))
print("ready", flush=True)
sys.stdin.read()
print(asyncio.run(key.secret()))
"""


def test_of_many_processes_one_renews_a_token_that_can_be_renewed_once(portal: Open, auth: AuthFile) -> None:
    def slow(path: str, form: Form) -> Answer:
        time.sleep(0.3)
        return refreshing(path, form)

    server = portal(slow)
    stored(auth, 0)
    command = [sys.executable, "-c", RENEW, str(auth.path), server.url]
    with ExitStack() as stack:
        pipe = subprocess.PIPE
        started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(8)]
        processes = [stack.enter_context(process) for process in started]
        pipes = [(process.stdin, process.stdout) for process in processes]
        assert [out and out.readline() for _, out in pipes] == ["ready\n"] * 8
        for go, _ in pipes:
            assert go
            go.close()
        assert [out and out.read() for _, out in pipes] == ["access-2\n"] * 8
    assert [form["x-refresh"] for _, form in server.posts] == ["refresh-1"]
