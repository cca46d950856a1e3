"""`hermes auth`: keys and logins in auth.json."""

import json
import stat
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from msgspec.structs import replace

from hermes.cli.auth import add_login
from hermes.models.authfile import Auth, AuthFile, Grant, StoredKey
from hermes.models.catalog import Catalog, DeviceFlow, Vendor
from hermes.models.pool import Pool
from hermes.models.resets import reset_mark
from hermes.protocol.errors import UserError
from tests.cli.command import Hermes, Ran

SECRET = "sk-or-v1-0123456789abcdef"


@pytest.fixture
def auth(hermes: Hermes) -> AuthFile:
    return AuthFile(hermes.home / "auth.json")


# Keys


def test_keys_are_kept_by_label_in_a_file_for_their_owner_only(hermes: Hermes, auth: AuthFile) -> None:
    assert hermes("auth", "add", "openrouter", SECRET) == Ran(0, "OpenRouter has the key 'key-1' now\n")
    assert hermes("auth", "add", "OpenRouter", "-", "--label", "work", stdin="second\n").code == 0
    assert hermes.process("auth", "add", "openrouter", stdin="third\n").code == 0
    assert auth.read() == Auth(
        keys={"openrouter": (StoredKey("key-1", SECRET), StoredKey("work", "second"), StoredKey("key-2", "third"))}
    )
    assert stat.S_IMODE(auth.path.stat().st_mode) == 0o600


def test_a_key_typed_at_a_terminal_is_not_shown(hermes: Hermes, auth: AuthFile) -> None:
    ran = hermes.terminal("auth", "add", "xai", typed=[("key for xAI (not shown): ", f"{SECRET}\n")])
    assert (ran.code, SECRET in ran.out) == (0, False)
    assert auth.read().keys == {"xai": (StoredKey("key-1", SECRET),)}


def test_the_list_has_labels_and_places_but_no_secrets(hermes: Hermes, auth: AuthFile) -> None:
    assert hermes("auth") == Ran(
        0, "", "hermes: there is no key and no login (hermes auth add PROVIDER; hermes model lists the providers)\n"
    )
    hermes("auth", "add", "xai", SECRET)
    auth.change(lambda stored: stored.with_login("nous", Grant("access-token", "refresh-token", time.time() + 601)))
    auth.change(lambda stored: stored.with_login("openai", Grant("access-token", "refresh-token", 0.0)))
    assert hermes("auth", "list", XAI_API_KEY="from-outside").out.splitlines() == [
        "nous\tlogin\tlogin\tauth.json\tvalid for 10m",
        "openai\tlogin\tlogin\tauth.json\tis renewed at its next use",
        "xai\tXAI_API_KEY\tkey\tenvironment\t",
        "xai\tkey-1\tkey\tauth.json\t",
    ]


def test_status_says_how_the_current_model_can_be_called(hermes: Hermes, auth: AuthFile) -> None:
    assert hermes("auth", "status") == Ran(0, "local:qwen2.5-coder-1.5b: no key is needed\n")
    assert hermes("auth", "status", HERMES_MODEL="xai:grok-4.7") == Ran(
        2, "", "hermes: there is no key for xAI: XAI_API_KEY is not set (hermes config set XAI_API_KEY YOUR-KEY)\n"
    )
    hermes("auth", "add", "nous", SECRET)
    auth.change(lambda stored: stored.with_login("nous", Grant("a", "r", time.time() + 3700)))
    assert hermes("auth", "status", HERMES_MODEL="nous:some/model") == Ran(
        0, "nous:some/model: 1 key (key-1) and a login (valid for 1h)\n"
    )


def test_a_key_is_removed_by_its_label(hermes: Hermes, auth: AuthFile) -> None:
    hermes("auth", "add", "xai", SECRET, "--label", "work")
    assert hermes("auth", "remove", "xai", "home").err == (
        "hermes: xAI has no key 'home' in auth.json (there is work)\n"
    )
    assert hermes("auth", "remove", "xai", "XAI_API_KEY", XAI_API_KEY="k").err == (
        "hermes: XAI_API_KEY is a variable (hermes config unset XAI_API_KEY)\n"
    )
    assert hermes("auth", "remove", "xai", "work") == Ran(0, "the key 'work' of xAI is forgotten\n")
    assert auth.read() == Auth()


def test_logging_out_forgets_the_login_and_keeps_the_keys(hermes: Hermes, auth: AuthFile) -> None:
    hermes("auth", "add", "nous", SECRET)
    auth.change(lambda stored: stored.with_login("nous", Grant("a", "r", 0.0)))
    assert hermes("auth", "logout", "portal") == Ran(0, "logged out of Nous Portal\n")
    assert auth.read() == Auth(keys={"nous": (StoredKey("key-1", SECRET),)})
    assert hermes("auth", "logout", "nous").err == (
        "hermes: you are not logged in to Nous Portal (hermes auth list shows what there is)\n"
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["opnai", "k"], "there is no provider 'opnai' (did you mean openai?)"),
        (["local", "k"], "Embedded model needs no key (hermes model set local)"),
        (["lab", "k"], "lab is your own endpoint: its key is a variable (hermes config set LAB_KEY)"),
        (["xai", ""], "a key is one word without spaces (hermes auth add xai)"),
        (["xai", "--type", "oauth"], "xAI has no login, only keys (hermes config set XAI_API_KEY YOUR-KEY)"),
        (["nous", "k", "--type", "oauth"], "a login takes no key (hermes auth add nous)"),
    ],
)
def test_what_cannot_be_added_is_one_line(hermes: Hermes, auth: AuthFile, words: list[str], line: str) -> None:
    hermes.write_config("custom_providers:\n  lab: {base_url: http://127.0.0.1:9/v1, api_key_env: LAB_KEY}\n")
    assert hermes("auth", "add", *words) == Ran(2, "", f"hermes: {line}\n")
    assert not auth.path.exists()


# Logins


class Portal:
    """A login server that says "not yet" twice, then yes or no."""

    def __init__(self, last: dict[str, object]) -> None:
        device = {"device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": "https://portal.example/device"}
        answers = iter(
            [
                (200, device | {"expires_in": 60, "interval": 1}),
                (400, {"error": "authorization_pending"}),
                (400, {"error": "authorization_pending"}),
                (200 if "access_token" in last else 400, last),
            ]
        )

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                status, said = next(answers)
                raw = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def vendor(self) -> Vendor:
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return replace(Catalog()["nous"], login=DeviceFlow(device=f"{url}/device", token=f"{url}/token", client="test"))

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def portal(request: pytest.FixtureRequest) -> Iterator[Portal]:
    portal = Portal(request.param)
    yield portal
    portal.close()


async def no_time(seconds: float) -> None:
    assert seconds == 1


@pytest.mark.parametrize("portal", [{"access_token": "a", "refresh_token": "r", "expires_in": 900}], indirect=True)
async def test_a_login_shows_address_and_code_and_waits(
    portal: Portal, auth: AuthFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await add_login(portal.vendor, auth, Pool, sleep=no_time) == 0
    shown = capsys.readouterr()
    assert shown.out == (
        "Open https://portal.example/device and confirm the code ABCD-EFGH\nlogged in to Nous Portal\n"
    )
    assert shown.err == "waiting for you, at most 1m …\n"
    assert auth.read().logins["nous"].refresh == "r"


@pytest.mark.parametrize("portal", [{"error": "access_denied"}], indirect=True)
async def test_a_login_that_is_declined_leaves_nothing(
    portal: Portal, auth: AuthFile, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="the login at Nous Portal was declined"):
        await add_login(portal.vendor, auth, Pool, sleep=no_time)
    assert not auth.path.exists()
    assert "logged in" not in capsys.readouterr().out


def test_a_login_server_that_cannot_be_reached_through_the_proxy_is_one_line(hermes: Hermes) -> None:
    ran = hermes("auth", "add", "nous", HTTPS_PROXY="http://127.0.0.1:9")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith("hermes: cannot reach the login server of Nous Portal: ")


# Trying again, and the short commands


def test_reset_leaves_a_mark_that_running_sessions_see(hermes: Hermes) -> None:
    before = reset_mark(hermes.home, "xai")
    assert hermes("auth", "reset", "xAI") == Ran(
        0, "the keys of xai are tried again, in sessions that are running too\n"
    )
    assert reset_mark(hermes.home, "xai") != before == reset_mark(hermes.home, "openai")
    assert hermes("auth", "reset").out.startswith("the keys of every provider are tried again")
    assert reset_mark(hermes.home, "openai") != before
    assert hermes("auth", "reset", "nobody").code == 2


def test_login_and_logout_name_the_command_that_they_are_short_for(hermes: Hermes, auth: AuthFile) -> None:
    assert hermes("login", "mistral", stdin="a-key\n") == Ran(
        0, "Mistral has the key 'key-1' now\n", "hermes: this is short for: hermes auth add mistral\n"
    )
    assert hermes("logout").err.startswith("hermes: you are not logged in anywhere (")
    auth.change(lambda stored: stored.with_login("nous", Grant("a", "r", time.time() + 60)))
    assert hermes("logout") == Ran(
        0, "logged out of Nous Portal\n", "hermes: this is short for: hermes auth logout nous\n"
    )
    for name in ("nous", "openai"):
        auth.change(lambda stored, name=name: stored.with_login(name, Grant("a", "r", time.time() + 60)))
    assert hermes("logout").err == ("hermes: you are logged in to several providers (hermes logout nous | openai)\n")
    assert hermes("login", HTTPS_PROXY="http://127.0.0.1:9").err.startswith(
        "hermes: this is short for: hermes auth add nous\n"
    )
