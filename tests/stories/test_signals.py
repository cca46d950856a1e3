"""Signals to the command: a polite one ends what it does and all that it started; after kill -9 the next one cleans up."""

import asyncio
import os
import signal

import pytest

from hermes.protocol.events import SessionClosed, TurnEnded
from tests.services.model_server import ModelServer
from tests.services.script import Fault, Reply, call
from tests.stories.stage import STUBBORN, Home, ended, eventually, processes_with, stored

FINE = Reply("fine")


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGINT, "done"), (signal.SIGTERM, "stopped"), (signal.SIGHUP, "stopped")]
)
async def test_the_command_obeys_a_signal_while_the_model_is_silent(home: Home, number, reason):
    async with ModelServer([Reply(fault=Fault(end="stall")), FINE]) as server:
        home.use(server.base_url)
        process = home.start("-z", "go")
        await server.received(1)
        process.send_signal(number)
        ran = await ended(process)
        assert (ran.code, ran.out, ran.err) == (130, "", "hermes: interrupted\n")
        assert [event.body for event in await stored(home)][-2:] == [TurnEnded("interrupted"), SessionClosed(reason)]
        assert (await ended(home.start("-c", "-z", "go on"))).out == "fine\n"
    assert server.violations == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_the_command_obeys_a_signal_while_a_stubborn_tool_runs(home: Home, number, mark):
    async with ModelServer([call("terminal", command=f"{STUBBORN} {mark}"), FINE]) as server:
        home.use(server.base_url)
        process = home.start("--yolo", "-z", "go")
        await eventually(lambda: len(processes_with(mark)) >= 2)
        process.send_signal(number)
        ran = await ended(process)
        assert (ran.code, ran.out, ran.err) == (130, "", "hermes: interrupted\n")
        assert processes_with(mark) == []
        assert (await ended(home.start("-c", "-z", "go on"))).out == "fine\n"
    assert server.violations == []


async def test_ctrl_c_before_the_question_is_asked_is_not_forgotten(home: Home):
    """The picture comes through a pipe, so that the command waits for it as long as the story wants."""
    pipe = home.work / "picture.png"
    os.mkfifo(pipe)

    def reader_is_there() -> int:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return 0

    async with ModelServer(lambda _: Reply(fault=Fault(end="stall"))) as server:
        home.use(server.base_url)
        process = home.start("chat", "-Q", "-q", "what is this?", "--image", pipe.name)
        while not (writer := reader_is_there()):
            await asyncio.sleep(0.01)
        process.send_signal(signal.SIGINT)
        await asyncio.sleep(0.2)
        os.write(writer, b"\x89PNG\r\n")
        os.close(writer)
        ran = await ended(process, seconds=20)
        assert (ran.code, ran.out) == (130, "")


async def test_what_a_killed_hermes_left_running_is_ended_before_its_session_goes_on(home: Home, mark):
    script = [
        call("terminal", command=f"sleep {mark}", background=True),
        call("terminal", command=f"{STUBBORN} {mark}"),
        FINE,
    ]
    async with ModelServer(script) as server:
        home.use(server.base_url)
        process = home.start("--yolo", "-z", "go")
        await eventually(lambda: len(processes_with(mark)) >= 3)
        process.kill()
        await ended(process)
        # In the sandbox a foreground command dies with whoever started it; the background one lives on.
        assert processes_with(mark) != []
        [session] = home.ask("sessions", "list").out.splitlines()
        ran = await ended(home.start("--resume", session.split("\t")[0], "-z", "next"))
        assert (ran.code, ran.out) == (0, "fine\n"), ran
        assert processes_with(mark) == []
        assert "Outcome unknown" in "".join(server.last.results.values())
    assert server.violations == []
