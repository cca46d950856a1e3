"""What a person does who has just met Hermes: an answer and nothing else, or one clear line about what to do."""

import asyncio
import re
import signal
from pathlib import Path
from random import Random

import pytest

from hermes.protocol.events import SessionClosed, SessionOpened
from tests.services.model_server import ModelServer
from tests.services.script import Fault, Reply, error
from tests.stories.disk import mounted
from tests.stories.stage import Home, Ran, ended, events_of, stored

NOWHERE = "http://127.0.0.1:9/v1"
"""Port 9 discards; nobody listens there."""


def is_one_line(ran: Ran, code: int = 2) -> bool:
    """Whether a command failed with one line that a person can read, and printed nothing else."""
    return (ran.code, ran.out, ran.err.count("\n"), ran.err[:8]) == (code, "", 1, "hermes: ") and "Trace" not in ran.err


def says_what_to_do(ran: Ran) -> bool:
    return re.search(r"\(.{5,}\)\n$|: (set|check) \w", ran.err) is not None


# What works


async def test_only_the_answer_is_printed(home: Home):
    async with ModelServer() as server:
        home.use(server.base_url)
        assert await ended(home.start("-z", "hi")) == Ran(0, "hi\n", "")
        assert await asyncio.to_thread(home.ask, "-z", "-", stdin="from a pipe\n") == Ran(0, "from a pipe\n\n", "")
    assert server.violations == []


async def test_every_event_is_printed_as_one_line_of_json(home: Home):
    async with ModelServer() as server:
        home.use(server.base_url)
        ran = await ended(home.start("--json", "-z", "hi"))
    told = [event for event in events_of(ran.out) if event.seq is not None]
    assert (ran.code, ran.err, told) == (0, "", await stored(home))
    assert [type(event.body) for event in (told[0], told[-1])] == [SessionOpened, SessionClosed]


async def test_bytes_that_are_no_text_do_no_harm(home: Home):
    async with ModelServer() as server:
        home.use(server.base_url)
        ran = await ended(home.start("-z", "caf\udce9 au lait"))
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("caf") and ran.out.endswith(" au lait\n")
    assert server.violations == []


# Wrong usage

WRONG = {
    "a flag that is not there": ["--frobnicate", "-z", "hi"],
    "a flag of a command that is not there": ["chat", "--frobnicate"],
    "no prompt": ["-z"],
    "an empty prompt": ["-z", ""],
    "a blank prompt": ["-z", " \n "],
    "nothing on stdin": ["-z", "-"],
    "a prompt without quotes": ["-z", "what", "is", "this"],
    "a number that is none": ["--max-turns", "many", "-z", "hi"],
    "no turns": ["--max-turns", "0", "-z", "hi"],
    "fewer than no turns": ["--max-turns=-1", "-z", "hi"],
    "a command that is not there": ["sesions", "list"],
    "a command nobody ever heard of": ["frobnicate"],
    "a session that is not there": ["--resume", "nobody", "-z", "hi"],
    "a title that is not there": ["--continue", "nobody", "-z", "hi"],
    "no session to go on with": ["-c", "-z", "hi"],
    "a toolset that is not there": ["-t", "nothing", "-z", "hi"],
    "a provider without a key": ["-m", "openai:gpt-5", "-z", "hi"],
    "a provider that is not there": ["--provider", "nobody", "-z", "hi"],
    "a picture that is not there": ["chat", "-Q", "-q", "hi", "--image", "nothing.png"],
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_usage_is_one_line_that_says_what_to_do(home: Home, what):
    home.use(NOWHERE, agent={"api_max_retries": 0})
    ran = home(*WRONG[what])
    assert is_one_line(ran) and says_what_to_do(ran), ran


BROKEN = {
    "not YAML": "model: {provider: [custom\n",
    "a list": "- model\n",
    "a word": "model\n",
    "a wrong type": "agent: {max_turns: lots}\n",
    "a wrong choice": "approvals: {mode: never}\n",
    "a folder that is not there": "terminal: {cwd: /nowhere/at/all}\n",
    "a terminal that is not there": "terminal: {backend: moon}\n",
    "a time zone that is not there": "timezone: Moon/Crater\n",
    "an address that is none": "model: {provider: custom, name: echo, base_url: nonsense}\n",
    "a model without an address": "model: {provider: custom, name: echo}\n",
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_settings_are_one_line_that_says_what_to_do(home: Home, what):
    model = "" if "model" in BROKEN[what] else f"model: {{provider: custom, name: echo, base_url: {NOWHERE}}}\n"
    home.config.write_text(BROKEN[what] + model)
    ran = home("-z", "hi")
    assert is_one_line(ran, ran.code) and says_what_to_do(ran), ran
    assert ran.code in (1, 2)


# A model that cannot be had


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_what_the_model_server_refuses_is_told_with_what_to_do(home: Home, status):
    secret = "sk-a-wrong-key-of-a-person"
    async with ModelServer([error(status)]) as server:
        home.use(server.base_url)
        home.config.write_text(home.config.read_text().replace('"echo"', '"echo","api_key_env":"HOUSE_KEY"'))
        ran = await ended(home.start("-z", "hi", environ={"HOUSE_KEY": secret}))
        assert is_one_line(ran, 1) and says_what_to_do(ran), ran
        assert server.last.headers["authorization"] == f"Bearer {secret}"
        assert secret not in ran.err


def test_a_server_that_is_not_there_is_told_with_its_address(home: Home):
    home.use(NOWHERE, agent={"api_max_retries": 0})
    ran = home.ask("-z", "hi")
    assert is_one_line(ran, 1) and says_what_to_do(ran), ran
    assert "127.0.0.1:9" in ran.err and "refused" in ran.err


def test_a_server_that_is_not_there_is_tried_again_and_each_time_told(home: Home):
    home.use(NOWHERE, agent={"api_max_retries": 1})
    ran = home.ask("-z", "hi")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 2)
    assert all(line.startswith("hermes: ") and "127.0.0.1:9" in line for line in ran.err.splitlines())


# Places and pipes that do not work


@pytest.mark.parametrize("flags", [(), ("--json",)])
@pytest.mark.parametrize("lines", [0, 1])
async def test_a_reader_that_has_seen_enough_is_no_reason_to_complain(home: Home, flags, lines):
    async with ModelServer([Reply("a line of words\n" * (1 + 9000 * lines))]) as server:
        home.use(server.base_url)
        process = home.start(*flags, "-z", "go")
        assert process.stdout is not None
        for _ in range(lines):
            await asyncio.to_thread(process.stdout.readline)
        process.stdout.close()
        _, err = await asyncio.to_thread(process.communicate, timeout=60)
        assert (process.returncode, err) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
async def test_an_answer_that_cannot_be_written_is_one_line(home: Home):
    async with ModelServer() as server:
        home.use(server.base_url)
        with open("/dev/full", "w") as full:
            ran = await ended(home.start("-z", "hi", stdout=full))
        assert is_one_line(ran, 1), ran
        assert "space" in ran.err


@pytest.mark.parametrize("args", [("-z", "-"), ()])
def test_a_closed_stdin_is_an_empty_one(home: Home, args):
    home.use(NOWHERE)
    ran = home.shell('"$@" <&-', *args)
    assert is_one_line(ran) or (ran.code, ran.err) == (0, ""), ran


def test_a_folder_whose_name_is_no_text_is_one_line(home: Home):
    home.use(NOWHERE)
    ran = home.shell("mkdir $'caf\\xe9'; cd $'caf\\xe9'; \"$@\"", "-z", "hi")
    assert is_one_line(ran) and "caf\\udce9' has a name that is not UTF-8" in ran.err and says_what_to_do(ran), ran


def test_a_home_that_is_a_file_is_one_line(home: Home):
    (home.work / "file").write_text("mine")
    ran = home.ask("-z", "hi", HERMES_HOME=str(home.work / "file"))
    assert is_one_line(ran, ran.code) and str(home.work / "file") in ran.err, ran
    assert (home.work / "file").read_text() == "mine"


def test_a_home_that_cannot_be_written_is_one_line(tmp_path: Path):
    with mounted(tmp_path / "home") as disk:
        home = Home(tmp_path)
        home.use(NOWHERE)
        disk.forbid_writing()
        for args in (("-z", "hi"), ("config", "set", "timezone", "UTC"), ("config", "set", "OPENAI_API_KEY", "sk-1")):
            ran = home.ask(*args)
            assert is_one_line(ran, ran.code) and "read-only" in ran.err.lower(), ran
            assert ran.code in (1, 2)
            assert args[0] != "config" or says_what_to_do(ran), ran


@pytest.mark.parametrize("args", [("-z", "hi"), ("skills", "list"), ("chat", "-w", "-q", "hi")])
def test_a_folder_that_is_gone_is_one_line(home: Home, args):
    home.use(NOWHERE)
    ran = home.shell('mkdir gone; cd gone; rmdir "$PWD"; "$@"', *args)
    assert is_one_line(ran, ran.code) and "folder" in ran.err and says_what_to_do(ran), ran


def test_a_damaged_database_is_one_line_and_left_alone(home: Home):
    home.use(NOWHERE)
    home.database.write_bytes(b"not a database at all " * 500)
    before = home.database.read_bytes()
    ran = home.ask("-z", "hi")
    assert is_one_line(ran, 1) and str(home.database) in ran.err, ran
    assert home.database.read_bytes() == before


async def test_ctrl_c_at_any_moment_is_obeyed_and_shows_nothing_of_the_inside(home: Home):
    async with ModelServer(lambda _: Reply(fault=Fault(end="stall"))) as server:
        home.use(server.base_url)
        for seed in range(10):
            process = home.start("-z", "hi")
            await asyncio.sleep(Random(seed).uniform(0.02, 0.5))
            process.send_signal(signal.SIGINT)
            ran = await ended(process, seconds=15)
            # Before our first line it is Python's own affair.
            assert "hermes" not in ran.err.replace("hermes: interrupted", ""), ran
            assert ran.code in (1, 130, -signal.SIGINT), ran
