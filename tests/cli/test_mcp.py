"""`hermes mcp`: servers in config.yaml, tried against real ones."""

import asyncio
import json
import re
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.cli.mcp_edit import switched
from hermes.config import McpServer, ToolChoice, load
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.oauth.tokens import Stored, TokenFile, Tokens
from hermes.mcp.reconnects import FOLDER
from hermes.protocol.errors import UserError
from hermes.safety.contracts import Contracts
from tests.cli.command import Hermes, Ran
from tests.cli.terminal import terminal

NOWHERE = "http://127.0.0.1:9/mcp"
STDIO = ("--command", sys.executable, "--args", "-m", "hermes.mcp.chaos", "--stdio")
TOOLS = ["echo", "count", "slow", "fail", "big", "ask", "sample", "roots", "progress", "log", "image", "link"]


@pytest.fixture
async def chaos() -> AsyncIterator[ChaosServer]:
    async with ChaosServer() as server:
        yield server


def servers(hermes: Hermes) -> dict[str, McpServer]:
    return load(hermes.environ).file.mcp_servers


# Adding


async def test_a_server_by_url_is_added_tried_and_counted_in_one_line(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config("# mine\nagent:\n  max_turns: 5  # few\n")
    assert await hermes.beside("mcp", "add", "chaos", "--url", chaos.url) == Ran(0, "added chaos: 12 tools\n")
    assert hermes.config.read_text() == (
        f"# mine\nagent:\n  max_turns: 5  # few\nmcp_servers:\n  chaos:\n    url: {chaos.url}\n"
    )


def test_a_program_is_added_with_all_that_stands_behind_args(hermes: Hermes) -> None:
    assert hermes("mcp", "add", "mine", *STDIO) == Ran(0, "added mine: 12 tools\n")
    assert servers(hermes) == {"mine": McpServer(command=sys.executable, args=("-m", "hermes.mcp.chaos", "--stdio"))}


def test_a_server_that_cannot_be_reached_stays_and_is_said_not_to_work(hermes: Hermes) -> None:
    ran = hermes("mcp", "add", "far", "--url", NOWHERE)
    assert (ran.code, ran.out) == (1, "")
    assert re.fullmatch(r"hermes: far is added, but cannot be used yet: .+ \(hermes mcp test far\)\n", ran.err), ran.err
    assert servers(hermes) == {"far": McpServer(url=NOWHERE)}


async def test_a_server_that_says_nothing_is_waited_for_with_a_word_and_stays_when_the_wait_is_stopped(
    hermes: Hermes, tmp_path: Path
) -> None:
    brief = "import hermes.cli.mcp_edit as m, sys; m.QUIET = 0.1; from hermes.cli.main import run; sys.exit(run(sys.argv[1:]))"
    add = ("mcp", "add", "mute", "--command", "sh", "--args", "-c", "read line; read line")
    async with terminal(("-c", brief, *add), hermes.environ, tmp_path) as screen:
        await screen.until("waiting for mute, 60 s at most …")
        screen.type("\x03")
        await screen.until("hermes: mute is added, and was not tried to the end (hermes mcp remove mute)")
        assert await screen.end() == 130
    assert list(servers(hermes)) == ["mute"]


def test_secrets_go_to_the_private_file_and_the_settings_refer_to_them(hermes: Hermes) -> None:
    hermes(
        *("mcp", "add", "far", "--url", NOWHERE),
        *(
            "--header",
            "Authorization=Bearer top-secret-1",
            "--header",
            "X-Api-Key=top-secret-2",
            "--header",
            "X-Team=red",
        ),
    )
    hermes(
        "mcp",
        "add",
        "near",
        "--command",
        "no-such-program --flag",
        "--env",
        "GITHUB_TOKEN=top-secret-3",
        "--env",
        "LEVEL=5",
    )
    assert "top-secret" not in hermes.config.read_text()
    assert (hermes.home / ".env").read_text().splitlines() == [
        "MCP_FAR_AUTHORIZATION_SECRET=top-secret-1",
        "MCP_FAR_X_API_KEY=top-secret-2",
        "MCP_NEAR_GITHUB_TOKEN=top-secret-3",
    ]
    assert stat.S_IMODE((hermes.home / ".env").stat().st_mode) == 0o600
    assert servers(hermes) == {
        "far": McpServer(
            url=NOWHERE,
            headers={"Authorization": "Bearer top-secret-1", "X-Api-Key": "top-secret-2", "X-Team": "red"},
        ),
        "near": McpServer(
            command="no-such-program", args=("--flag",), env={"GITHUB_TOKEN": "top-secret-3", "LEVEL": "5"}
        ),
    }


def test_a_reference_to_a_variable_is_kept_as_it_is(hermes: Hermes) -> None:
    hermes("mcp", "add", "far", "--url", NOWHERE, "--header", "Authorization=Bearer ${MY_TOKEN}")
    assert "Bearer ${MY_TOKEN}" in hermes.config.read_text()
    assert not (hermes.home / ".env").exists()


def test_a_token_that_is_asked_for_is_not_shown(hermes: Hermes) -> None:
    ran = hermes.terminal(
        *("mcp", "add", "far", "--url", NOWHERE, "--auth", "header"),
        typed=[("token for far (not shown): ", "top-secret\n")],
    )
    assert "top-secret" not in ran.out
    assert servers(hermes)["far"] == McpServer(
        url=NOWHERE, auth="header", headers={"Authorization": "Bearer top-secret"}
    )
    assert "Bearer ${MCP_FAR_TOKEN}" in hermes.config.read_text()


def test_a_preset_knows_how_its_server_is_reached(hermes: Hermes) -> None:
    hermes("mcp", "add", "files", "--preset", "filesystem", "--args", "/data", PATH="")
    assert servers(hermes)["files"] == McpServer(
        command="npx", args=("-y", "@modelcontextprotocol/server-filesystem", ".", "/data")
    )


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["a.b", "--url", NOWHERE], "'a.b' cannot be a server's name (use letters, digits, - and single _, at most 32, a letter or digit first)"),
        (["a__b", "--url", NOWHERE], "'a__b' cannot be a server's name (use letters, digits, - and single _, at most 32, a letter or digit first)"),
        (["my-server", "--url", NOWHERE], "there is a server 'my_server' already (hermes mcp remove my_server, or choose another name)"),
        (["a"], "a server has either a URL or a command (hermes mcp add a --url URL, --command PROGRAM or --preset NAME)"),
        (["a", "--url", NOWHERE, "--command", "x"], "a server has either a URL or a command (hermes mcp add a --url URL, --command PROGRAM or --preset NAME)"),
        (["a", "--url", "ftp://x"], "'ftp://x' is not the URL of a server (for example --url https://example.com/mcp)"),
        (["a", "--url", NOWHERE, "--env", "A=1"], "--env does not go with this server (a URL takes --header and --auth)"),
        (["a", "--command", "x", "--header", "A=1"], "--header does not go with this server (a command takes --args and --env)"),
        (["a", "--command", "x", "--env", "A"], "cannot read --env A (write --env NAME=VALUE)"),
        (["a", "--command", "'x"], "cannot read the command \"'x\": No closing quotation (for example --command npx --args -y some-server)"),
        (["a", "--preset", "none"], "there is no preset 'none' (there is everything, fetch, filesystem, git, github, linear, memory, notion, sentry, sequential-thinking, time)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_line_and_nothing_is_written(
    hermes: Hermes, given: list[str], line: str
) -> None:
    hermes.write_config("mcp_servers: {my_server: {command: x}}\n")
    assert hermes("mcp", "add", *given) == Ran(2, "", f"hermes: {line}\n")
    assert hermes.config.read_text() == "mcp_servers: {my_server: {command: x}}\n"


# Looking


async def test_the_list_has_every_server_with_its_state(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(
        f"mcp_servers:\n  good: {{url: {chaos.url}}}\n  far: {{url: {NOWHERE}}}\n  off: {{command: x, enabled: false}}\n"
    )
    ran = await hermes.beside("mcp", "list")
    good, far, off = (line.split("\t") for line in ran.out.splitlines())
    assert good[:6] == ["good", "http", "ready", "12", "closed", "0"]
    assert re.fullmatch(r"\d+ ms", good[6])
    assert (far[:2], far[3]) == (["far", "http"], "0")
    assert (far[2] in ("backoff", "connecting"), bool(far[7])) == (True, True)
    assert off == ["off", "stdio", "disabled", "0", "closed", "0", "", ""]


async def test_the_list_counts_the_tools_that_are_used(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers: {{good: {{url: {chaos.url}, tools: {{include: [echo]}}}}}}\n")
    assert (await hermes.beside("mcp", "list")).out.split("\t")[3] == "1 of 12"


async def test_the_list_as_json_has_the_same_and_more(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers: {{good: {{url: {chaos.url}}}}}\n")
    [good] = json.loads((await hermes.beside("mcp", "list", "--json")).out)
    assert {key: good[key] for key in ("name", "state", "tools", "calls", "last_error")} == {
        "name": "good",
        "state": "ready",
        "tools": 12,
        "calls": 1,
        "last_error": "",
    }


def test_without_servers_the_list_says_how_to_add_one_and_loads_no_sdk(hermes: Hermes) -> None:
    hint = "hermes mcp add NAME --url URL, or --command PROGRAM"
    assert hermes("mcp") == Ran(0, "", f"hermes: there are no MCP servers ({hint})\n")
    look = "import sys; from hermes.cli.main import run; run(['mcp']); print({'mcp', 'httpx2', 'pydantic'} & set(sys.modules))"
    assert _python(hermes, look) == "set()\n"


def _python(hermes: Hermes, code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], env=hermes.environ, capture_output=True, text=True).stdout


async def test_a_test_shows_each_step_with_its_time(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers: {{good: {{url: {chaos.url}, tools: {{exclude: [s*]}}}}}}\n")
    ran = await hermes.beside("mcp", "test", "good")
    used = ", ".join(name for name in TOOLS if not name.startswith("s"))
    assert ran.code == 0
    assert re.fullmatch(
        rf"settings +http, {re.escape(chaos.url)}\n"
        r"connect +\d+ ms  protocol [\d-]+, server version \S+\n"
        rf"tools +10, 2 left out by the settings: {used}\n"
        r"resources +\d+ ms  \d+ resources?\n"
        r"prompts +\d+ ms  \d+ prompts?\n",
        ran.out,
    ), ran.out


def test_a_test_fails_at_the_step_that_fails(hermes: Hermes) -> None:
    hermes.write_config("mcp_servers: {gone: {command: no-such-program}}\n")
    ran = hermes("mcp", "test", "gone")
    assert ran.code == 1
    assert re.fullmatch(r"settings +stdio, no-such-program\nconnect +\d+ ms  .*no-such-program.*\n", ran.out), ran.out


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("{command: no-such-program, url: 'http://127.0.0.1:9/mcp'}", "http, http://127.0.0.1:9/mcp, its command is not used"),
        ("{command: no-such-program, enabled: false}", "stdio, no-such-program, disabled"),
        ("{command: no-such-program, args: ['${WHAT}'], env: {A: '${env:WHAT}'}}", "stdio, no-such-program ${WHAT}, WHAT is not set"),
        ("{command: no-such-program, args: ['--with', '${ODD_API_KEY}']}", "stdio, no-such-program --with ball…[masked]"),
    ],
)  # fmt: skip
def test_a_test_tells_what_is_odd_about_the_settings_and_no_secret(hermes: Hermes, entry: str, line: str) -> None:
    hermes.write_config(f"mcp_servers: {{odd: {entry}}}\n")
    ran = hermes("mcp", "test", "odd", ODD_API_KEY="balloons-over-the-harbour")
    assert re.fullmatch(r"settings +(.*)", ran.out.splitlines()[0])[1] == line  # pyright: ignore[reportOptionalSubscript]


def test_a_server_without_command_and_url_is_said_to_have_neither(hermes: Hermes) -> None:
    hermes.write_config("mcp_servers: {odd: {comand: cat}}\n")
    hint = "hermes config set mcp_servers.odd.command PROGRAM"
    assert hermes("mcp", "test", "odd") == Ran(2, "", f"hermes: odd has neither a command nor a URL ({hint})\n")


def test_a_name_that_is_not_there_is_answered_with_those_that_are(hermes: Hermes) -> None:
    hermes.write_config("mcp_servers: {one: {command: x}, two: {command: y}}\n")
    for action in ("test", "remove", "configure", "login", "reconnect", "reauth"):
        assert hermes("mcp", action, "three") == Ran(
            2, "", "hermes: there is no MCP server 'three' (there is one, two)\n"
        )


async def test_reconnect_leaves_a_mark_for_running_processes_and_tries_here(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers: {{good: {{url: {chaos.url}}}}}\n")
    ran = await hermes.beside("mcp", "reconnect", "good")
    assert (ran.code, (hermes.home / FOLDER / "server-good").exists()) == (0, True)


def test_chaos_is_one_of_the_actions(hermes: Hermes) -> None:
    assert hermes("mcp", "chaos", "--only", "no such case") == Ran(
        2, "", "hermes: no case holds 'no such case' (hermes mcp chaos shows all of them)\n"
    )


# Changing


def test_a_server_is_removed_with_its_login_and_its_own_secrets(hermes: Hermes) -> None:
    hermes("mcp", "add", "far", "--url", NOWHERE, "--header", "Authorization=Bearer top-secret-1")
    hermes("mcp", "add", "other", "--url", NOWHERE, "--header", "X-Api-Key=top-secret-2")
    tokens = TokenFile(hermes.home / "mcp-tokens", "far")
    with tokens.locked():
        tokens.write(Stored(url=NOWHERE, tokens=Tokens("abc")))
    assert hermes("mcp", "remove", "far") == Ran(0, "removed far\n")
    assert list(servers(hermes)) == ["other"]
    assert (hermes.home / ".env").read_text() == "MCP_OTHER_X_API_KEY=top-secret-2\n"
    assert tokens.reread() == Stored()


def test_a_removed_server_that_never_ran_leaves_nothing_behind(hermes: Hermes) -> None:
    hermes.write_config("mcp_servers: {far: {command: x}}\n")
    hermes("mcp", "remove", "far")
    assert list(hermes.home.glob("*contracts*")) + list(hermes.home.glob(".*contracts*")) == []


def test_a_removed_server_leaves_no_approval_for_the_next_of_its_name(hermes: Hermes) -> None:
    hermes.write_config("mcp_servers: {far: {command: x}, other: {command: x}}\n")
    contracts = Contracts(hermes.home / "mcp-contracts.json")
    contracts.approve("far", "tool", "old")
    contracts.approve("other", "tool", "old")
    hermes("mcp", "remove", "far")
    again = Contracts(hermes.home / "mcp-contracts.json")
    assert [again.is_changed(server, "tool", "new") for server in ("far", "other")] == [False, True]


async def test_tools_are_chosen_from_a_list_by_their_numbers(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers:\n  good:\n    url: {chaos.url}  # keep\n    tools: {{exclude: [echo]}}\n")
    ran = await hermes.beside("mcp", "configure", "good", stdin="none\n1 3-4\n4\nx\n\n")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "good: 2 of 12 tools"
    assert "  1 [ ] echo" in ran.out.splitlines()[0]
    assert "'x' is no number in the list (from 1 to 12)" in ran.err
    assert servers(hermes)["good"].tools == ToolChoice(include=("echo", "slow"))
    assert "# keep" in hermes.config.read_text()
    await hermes.beside("mcp", "configure", "good", stdin="all\n\n")
    assert servers(hermes)["good"].tools == ToolChoice()
    await hermes.beside("mcp", "configure", "good", stdin="none\n\n")
    assert servers(hermes)["good"].tools == ToolChoice(exclude=("*",))


async def test_the_list_comes_before_the_question_also_in_a_pipe(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers: {{good: {{url: {chaos.url}}}}}\n")
    command = [sys.executable, "-m", "hermes", "mcp", "configure", "good"]
    process = await asyncio.create_subprocess_exec(
        *command, env=hermes.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said, _ = await process.communicate()
    assert said.index(b"[x] link") < said.index(b"numbers to switch") < said.index(b"nothing was changed")


async def test_leaving_the_choice_changes_nothing(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(f"mcp_servers: {{good: {{url: {chaos.url}}}}}\n")
    before = hermes.config.read_text()
    for typed in ("none\nq\n", "none\n"):
        assert (await hermes.beside("mcp", "configure", "good", stdin=typed)).out.endswith("nothing was changed\n")
    assert hermes.config.read_text() == before


def test_numbers_and_ranges_switch_what_they_name() -> None:
    names = ["a", "b", "c", "d"]
    assert switched("1,3-4", names, {"a"}) == {"c", "d"}
    for wrong in ("0", "5", "3-2", "1-9", "-1", "b"):
        with pytest.raises(UserError):
            switched(wrong, names, set())
