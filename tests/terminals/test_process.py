import asyncio
import os
import subprocess
import time

import pytest

from hermes.protocol.errors import TerminalError
from hermes.terminals import process
from hermes.terminals.process import Child, Reader, contents, in_own_thread, scratch, settled, until
from hermes.terminals.table import Process

ENV = {"PATH": os.defpath}


@pytest.mark.parametrize("pidfd", [True, False])
async def test_the_code_of_a_process_is_known_when_it_ends(pidfd: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not pidfd:
        monkeypatch.delattr(process.os, "pidfd_open")
    for script, code in (("exit 3", 3), ("kill -9 $$", 137), ("sleep 0.05", 0)):
        child = Child(["/bin/sh", "-c", script], env=ENV, cwd="/", stdout=subprocess.DEVNULL)
        assert await asyncio.wait_for(child.exited, 20) == code


async def test_a_program_that_is_not_there_is_one_line() -> None:
    with pytest.raises(TerminalError, match=r"^cannot start /no/such in /: No such file or directory$"):
        Child(["/no/such"], env=ENV, cwd="/", stdout=subprocess.DEVNULL)


async def test_a_process_has_its_row_until_it_is_reaped_and_never_that_of_another() -> None:
    child = Child(["/bin/sh", "-c", "exit 0"], env=ENV, cwd="/", stdout=subprocess.DEVNULL)
    pid, row = child.pid, child.row
    assert row == Process(pid, os.getpid(), pid, pid, row.started, row.dead)
    assert row.started > 0
    await asyncio.wait_for(child.exited, 20)
    assert child.row == Process(pid, os.getpid(), pid, pid, 0, True)


async def test_a_wait_ends_with_its_time_or_with_what_is_waited_for() -> None:
    loop = asyncio.get_running_loop()
    never, soon = loop.create_future(), loop.create_future()
    loop.call_later(0.01, soon.set_result, None)
    began = loop.time()
    await until(never, 0.05)
    assert (never.done(), soon.done(), loop.time() - began >= 0.04) == (False, True, True)
    await asyncio.wait_for(until(soon, 1000), 20)
    waiting = asyncio.create_task(until(never, 1000))
    loop.call_later(0.01, never.set_result, None)
    await asyncio.wait_for(waiting, 20)


async def test_who_stops_waiting_ends_nothing() -> None:
    work = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(until(work, 1000))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not work.done()


async def test_a_reader_hands_on_everything_and_sees_the_end() -> None:
    output, stdout = os.pipe()
    got: list[bytes] = []
    reader = Reader(output, got.append)
    child = Child(["/bin/sh", "-c", "echo one; sleep 0.05; echo two"], env=ENV, cwd="/", stdout=stdout)
    os.close(stdout)
    await asyncio.wait_for(reader.ended, 20)
    assert b"".join(got) == b"one\ntwo\n"
    assert await child.exited == 0


async def test_work_in_its_own_thread_is_finished_before_a_cancellation_goes_on() -> None:
    done: list[int] = []

    def work() -> int:
        time.sleep(0.1)
        done.append(1)
        return 7

    assert await settled(in_own_thread(work)) == 7
    waiting = asyncio.create_task(settled(in_own_thread(work)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == [1, 1]


async def test_an_error_in_a_thread_reaches_the_one_who_waits() -> None:
    with pytest.raises(ZeroDivisionError):
        await settled(in_own_thread(lambda: 1 // 0))


@pytest.mark.parametrize("memory", [True, False])
def test_a_nameless_file_holds_what_it_was_given(memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not memory:
        monkeypatch.delattr(process.os, "memfd_create")
    fd = scratch(b"abc" * 100_000)
    assert os.read(fd, 3) == b"abc"
    assert contents(fd) == b"abc" * 100_000
    os.close(fd)
