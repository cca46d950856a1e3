import asyncio
import re
import time
from pathlib import Path

import pytest

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import BackgroundProcess, ProcessInfo
from hermes.terminals import background
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.table import process
from tests.terminals.conftest import sleepers, until


async def test_a_process_runs_on_in_the_folder_and_environment_of_the_terminal(
    terminal: LocalTerminal, tmp_path: Path
) -> None:
    await terminal.run("mkdir sub; cd sub; export NAME=value", timeout=20)
    began = time.time()
    one: BackgroundProcess = await terminal.start("pwd; echo $NAME; cd /; read line; echo got $line; exit 3")
    row = process(one.info.pid)
    assert row is not None
    assert one.info == ProcessInfo(
        id=one.info.id,
        command="pwd; echo $NAME; cd /; read line; echo got $line; exit 3",
        cwd=f"{tmp_path}/sub",
        pid=one.info.pid,
        started=one.info.started,
        start_ticks=row.started,
        state="running",
    )
    assert re.fullmatch("proc_[0-9a-f]{12}", one.info.id)
    assert began <= one.info.started <= time.time()
    assert list(terminal.processes) == [one]
    assert (await one.wait(0.05)).state == "running"
    await one.write(b"this\n")
    ended = await one.wait(20)
    assert (ended.state, ended.code) == ("exited", 3)
    assert one.output(0) == (f"{tmp_path}/sub\nvalue\ngot this\n", len(f"{tmp_path}") + 20)
    assert terminal.cwd == f"{tmp_path}/sub"


async def test_output_is_told_as_it_comes_and_the_end_once(terminal: LocalTerminal) -> None:
    told: list[str] = []
    ends: list[ProcessInfo] = []
    one = await terminal.start("echo one; read line; echo two", on_output=told.append, on_exit=ends.append)
    await until(lambda: told == ["one\n"])
    assert ends == []
    await one.write(b"\n")
    await one.wait(20)
    assert told == ["one\n", "two\n"]
    assert ends == [one.info]


async def test_output_is_new_since_the_last_look_or_from_an_offset(terminal: LocalTerminal) -> None:
    one = await terminal.start("echo one; read line; printf 'tw\\xc3'; read line; printf '\\xb6\\n'")
    await until(lambda: one.output(0) == ("one\n", 4))
    assert one.output() == ("one\n", 4)
    assert one.output() == ("", 4)
    await one.write(b"\n")
    await until(lambda: one.output(4) == ("tw", 6))
    await one.write(b"\n")
    await one.wait(20)
    assert one.output() == ("twö\n", 9)
    assert one.output(4, 2) == ("tw", 6)


async def test_closing_the_input_ends_what_reads_it(terminal: LocalTerminal) -> None:
    one = await terminal.start("cat; echo end")
    await one.write(b"line\n")
    await one.close_input()
    assert (await one.wait(20)).code == 0
    assert one.output()[0] == "line\nend\n"
    with pytest.raises(TerminalError, match="takes no more input: its input is closed"):
        await one.write(b"more")


async def test_a_write_waits_for_a_slow_reader_and_can_be_given_up(terminal: LocalTerminal) -> None:
    one = await terminal.start("sleep 0.2; wc -c")
    writing = asyncio.create_task(one.write(b"x" * 1_000_000))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(writing), 0.05)
    await writing
    await one.close_input()
    await one.wait(20)
    assert one.output()[0] == "1000000\n"

    stuck = await terminal.start("sleep 60")
    writing = asyncio.create_task(stuck.write(b"x" * 1_000_000))
    await asyncio.sleep(0.05)
    await stuck.kill()
    with pytest.raises(TerminalError, match="takes no more input"):
        await writing


async def test_killing_ends_the_whole_tree(terminal: LocalTerminal, nap: str) -> None:
    one = await terminal.start(f"trap '' TERM; (env -i setsid sleep {nap} &); setsid sleep {nap} & sleep {nap}")
    await until(lambda: len(sleepers(nap)) == 3)
    began = time.monotonic()
    info = await one.kill()
    assert time.monotonic() - began < 1
    assert (info.state, info.code) == ("killed", 137)
    assert sleepers(nap) == []
    assert await one.kill() == info


async def test_killing_ends_what_a_process_left_behind(terminal: LocalTerminal, nap: str) -> None:
    one = await terminal.start(f"(setsid sleep {nap} &); echo done")
    assert (await one.wait(20)).state == "exited"
    await until(lambda: len(sleepers(nap)) == 1)
    assert (await one.kill()).state == "exited"
    assert sleepers(nap) == []


async def test_closing_the_terminal_ends_every_process(terminal: LocalTerminal, nap: str) -> None:
    ends: list[ProcessInfo] = []
    many = [await terminal.start(f"setsid sleep {nap} & sleep {nap}", on_exit=ends.append) for _ in range(5)]
    await until(lambda: len(sleepers(nap)) == 10)
    began = time.monotonic()
    await terminal.close()
    assert time.monotonic() - began < 1
    assert sleepers(nap) == []
    assert [one.info.state for one in many] == ["killed"] * 5
    assert sorted(info.id for info in ends) == sorted(one.info.id for one in many)


async def test_a_pseudo_terminal_is_a_terminal(terminal: LocalTerminal) -> None:
    script = "test -t 0 -a -t 1 -a -t 2 && tty </dev/tty >&2; stty size; echo $TERM; read line; echo got $line; cat"
    one = await terminal.start(script, pty=True)
    await until(lambda: "xterm-256color" in one.output(0)[0])
    lines = one.output()[0].splitlines()
    assert lines[0].startswith("/dev/")
    assert lines[1:] == ["30 120", "xterm-256color"]
    await one.write(b"hello\n")
    await until(lambda: "got hello" in one.output(0)[0])
    await one.close_input()
    assert (await one.wait(20)).code == 0
    assert one.output()[0] == "hello\ngot hello\n"
    assert one.info.pty


async def test_sixty_four_are_tracked_and_the_one_that_ended_first_is_forgotten(
    terminal: LocalTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "TRACKED", 3)
    first = await terminal.start("sleep 60")
    second = await terminal.start("true")
    await second.wait(20)
    third = await terminal.start("true")
    await third.wait(20)
    fourth = await terminal.start("sleep 60")
    assert list(terminal.processes) == [first, third, fourth]
    fifth = await terminal.start("sleep 60")
    assert list(terminal.processes) == [first, fourth, fifth]
    with pytest.raises(TerminalError, match="3 background processes are running; end one"):
        await terminal.start("sleep 60")


async def test_one_that_ended_is_forgotten_after_half_an_hour(
    terminal: LocalTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await terminal.start("sleep 60")
    ended = await terminal.start("true")
    await ended.wait(20)
    now = time.monotonic()
    monkeypatch.setattr(background.time, "monotonic", lambda: now + 29 * 60)
    assert list(terminal.processes) == [running, ended]
    monkeypatch.setattr(background.time, "monotonic", lambda: now + 31 * 60)
    assert list(terminal.processes) == [running]
    monkeypatch.undo()


async def test_a_process_that_cannot_start_leaves_nothing(terminal: LocalTerminal) -> None:
    with pytest.raises(TerminalError, match="there is no folder"):
        await terminal.start("true", cwd="nowhere")
    with pytest.raises(TerminalError, match="NUL"):
        await terminal.start("\0", pty=True)
    assert list(terminal.processes) == []
