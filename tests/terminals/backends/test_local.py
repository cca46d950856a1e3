"""Commands on this machine: their output, their limits, and their end."""

import asyncio
import os
import random
import resource
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import Terminal
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.files import LocalFiles
from hermes.terminals.table import from_proc
from tests.terminals.conftest import children_of_ours, sleepers, until
from tests.terminals.contract import Stage, TerminalContract

ESCAPES = {
    "a child": "sleep {0}",
    "a setsid child that ignores SIGTERM": "trap '' TERM; setsid sleep {0} & sleep {0}",
    "a setsid child without environment": "env -i setsid sleep {0} & sleep {0}",
    "an orphan without environment in its own session": "(env -i setsid sleep {0} &) ; sleep {0}",
    "an orphan that ignores everything and holds no pipe": (
        "(trap '' TERM HUP INT; env -i setsid sleep {0} </dev/null >/dev/null 2>&1 &) ; sleep {0}"
    ),
    "a tree": 'bash -c \'bash -c "setsid bash -c \\"sleep {0} & sleep {0}\\" & sleep {0}" & wait\'',
    "a stopped process": "sleep {0} & sleep 0.1; kill -STOP $!; wait",
}


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("local").resolve()
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}

    def make() -> tuple[LocalTerminal, LocalFiles]:
        terminal = LocalTerminal(str(folder), env)
        return terminal, LocalFiles(lambda: terminal.cwd, env)

    one = Stage(make, str(folder))
    yield one
    await one.terminal.close()


class TestLocal(TerminalContract):
    pass


async def test_it_is_a_terminal(terminal: LocalTerminal) -> None:
    one: Terminal = terminal
    assert one.kind == "local"


async def test_output_that_is_not_text_is_replaced_and_colours_are_left_out(terminal: LocalTerminal) -> None:
    told: list[str] = []
    ran = await terminal.run("printf '\\xff\\xfe\\033[31mred\\033[0m\\r\\n\\xc3'", timeout=20, on_output=told.append)
    assert ran.output == "\ufffd\ufffdred\n\ufffd"
    assert "".join(told) == "\ufffd\ufffd\x1b[31mred\x1b[0m\r\n\ufffd"


async def test_a_hundred_megabytes_of_output_cost_no_memory_and_do_not_block_the_loop(
    terminal: LocalTerminal,
) -> None:
    await terminal.run("true", timeout=20)
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    watching = asyncio.create_task(watch())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = await terminal.run("echo first; yes | head -c 100000000; echo last", timeout=60)
    watching.cancel()
    assert ran.omitted == 100_000_011 - 50_000
    assert ran.output.startswith("first\ny\n")
    assert ran.output.endswith("y\nlast\n")
    assert len(ran.output) < 50_100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    assert longest < 0.5


async def test_the_cap_is_a_parameter(tmp_path: Path, env: dict[str, str]) -> None:
    terminal = LocalTerminal(str(tmp_path), env, cap=10)
    ran = await terminal.run("printf abcdefghijklmnop", timeout=20)
    assert (ran.output, ran.omitted) == ("abcd\n[... 6 bytes left out ...]\nklmnop", 6)


async def test_a_timeout_gives_124_and_what_there_was(terminal: LocalTerminal, nap: str) -> None:
    began = time.monotonic()
    ran = await terminal.run(f"cd /usr; echo begun; setsid sleep {nap} & sleep {nap}", timeout=0.3)
    assert time.monotonic() - began < 1.3
    assert (ran.output, ran.code, ran.timed_out) == ("begun\n", 124, True)
    assert sleepers(nap) == []
    assert (await terminal.run("echo still here", timeout=20)).output == "still here\n"


@pytest.mark.parametrize("command", ESCAPES.values(), ids=ESCAPES.keys())
async def test_cancelling_leaves_nothing_within_a_second(terminal: LocalTerminal, nap: str, command: str) -> None:
    running = asyncio.create_task(terminal.run(command.format(nap), timeout=60))
    await until(lambda: len(sleepers(nap)) >= command.count("{0}"))
    began = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < 1.0
    assert sleepers(nap) == []
    assert children_of_ours() == []


async def test_cancelling_twice_still_leaves_nothing(terminal: LocalTerminal, nap: str) -> None:
    running = asyncio.create_task(terminal.run(f"trap '' TERM; setsid sleep {nap} & sleep {nap}", timeout=60))
    await until(lambda: len(sleepers(nap)) == 2)
    running.cancel()
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sleepers(nap) == []


async def test_cancelling_one_command_spares_the_others(tmp_path: Path, env: dict[str, str], nap: str) -> None:
    first, second = LocalTerminal(str(tmp_path), env), LocalTerminal(str(tmp_path), env)
    command = "(env -i setsid sleep {0} &); setsid sleep {0} & sleep {0}"
    victim = asyncio.create_task(first.run(command.format(nap), timeout=60))
    beside = asyncio.create_task(first.run(command.format(nap + "1"), timeout=60))
    other = asyncio.create_task(second.run(command.format(nap + "2"), timeout=60))
    kept = await first.start(f"sleep {nap}3")
    ours = await asyncio.create_subprocess_exec("sleep", nap + "4", start_new_session=True)
    await until(lambda: [len(sleepers(nap + end)) for end in ("", "1", "2", "3", "4")] == [3, 3, 3, 1, 1])
    victim.cancel()
    await asyncio.wait([victim])
    assert [len(sleepers(nap + end)) for end in ("", "1", "2", "3", "4")] == [0, 3, 3, 1, 1]
    assert kept.info.state == "running"
    await first.close()
    assert [len(sleepers(nap + end)) for end in ("", "1", "2", "3", "4")] == [0, 0, 3, 0, 1]
    other.cancel()
    await asyncio.wait([beside, other])
    assert len(sleepers(nap + "4")) == 1
    ours.kill()
    assert await ours.wait() == -9


async def test_cancelling_at_random_moments_leaves_nothing(terminal: LocalTerminal, nap: str) -> None:
    command = f"setsid sleep {nap} & (env -i setsid sleep {nap} &); sleep {nap}"
    await terminal.run("true", timeout=20)
    for _ in range(20):
        running = asyncio.create_task(terminal.run(command, timeout=60))
        await asyncio.sleep(random.random() * 0.02)
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()
    assert sleepers(nap) == []
    assert children_of_ours() == []


async def test_cancelling_before_anything_has_run_is_harmless(tmp_path: Path, env: dict[str, str]) -> None:
    terminal = LocalTerminal(str(tmp_path), env)
    running = asyncio.create_task(terminal.run("true", timeout=60))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert (await terminal.run("echo fine", timeout=20)).output == "fine\n"


async def test_a_process_left_behind_does_not_hold_the_call_and_lives_on(terminal: LocalTerminal, nap: str) -> None:
    began = time.monotonic()
    ran = await terminal.run(f"echo one; sleep {nap} & (sleep 0.9; echo late; sleep {nap}) &", timeout=20)
    assert time.monotonic() - began < 0.85
    assert (ran.output, ran.code) == ("one\n", 0)
    # Nobody reads what it prints any more, but printing does not end it.
    await until(lambda: len(sleepers(nap)) == 2)
    await terminal.close()
    assert sleepers(nap) == []


async def test_orphans_that_end_by_themselves_are_reaped(terminal: LocalTerminal) -> None:
    somebody_elses = subprocess.Popen(["true"], start_new_session=True)
    os.waitid(os.P_PID, somebody_elses.pid, os.WEXITED | os.WNOWAIT)  # it stands in front of all others
    await terminal.run("(sleep 0.05 &); (env -i setsid sleep 0.05 &)", timeout=20)
    assert len(children_of_ours()) == 3
    await until(lambda: all(row.dead for row in from_proc() if row.pid in children_of_ours()))
    assert len(children_of_ours()) == 3
    await terminal.run("true", timeout=20)
    assert children_of_ours() == [somebody_elses.pid]
    assert somebody_elses.wait() == 0


async def test_children_of_another_part_of_the_program_are_not_reaped(terminal: LocalTerminal) -> None:
    process = await asyncio.create_subprocess_exec("sh", "-c", "exit 5", start_new_session=True)
    await terminal.run("sleep 0.05", timeout=20)
    assert await process.wait() == 5


async def test_a_folder_for_one_call_is_for_that_call_only(terminal: LocalTerminal, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    ran = await terminal.run("pwd", timeout=20, cwd="a/../a")
    assert (ran.output, ran.cwd, terminal.cwd) == (f"{tmp_path}/a\n", f"{tmp_path}/a", str(tmp_path))
    assert (await terminal.run("pwd", timeout=20, cwd="~/a/b/")).output == f"{tmp_path}/a/b\n"
    assert (await terminal.run("cd b", timeout=20, cwd="a")).cwd == terminal.cwd == f"{tmp_path}/a/b"
    with pytest.raises(TerminalError, match=r"there is no folder .*/nowhere"):
        await terminal.run("pwd", timeout=20, cwd="nowhere")


async def test_a_command_that_removes_its_own_folder_says_where_it_is_now(
    terminal: LocalTerminal, tmp_path: Path
) -> None:
    ran = await terminal.run("mkdir -p a/b; cd a/b; rm -r ../../a", timeout=20)
    assert (ran.code, ran.cwd) == (0, str(tmp_path))
    assert ran.output == f"\n[the folder {tmp_path}/a/b is gone; the terminal is now in {tmp_path}]\n"
    assert (await terminal.run("pwd", timeout=20)).output == f"{tmp_path}\n"
    await terminal.run("mkdir a; cd a", timeout=20)
    assert (await terminal.run("exec rmdir ../a", timeout=20)).cwd == terminal.cwd == str(tmp_path)


async def test_a_folder_name_that_is_not_text_can_be_worked_in(terminal: LocalTerminal, tmp_path: Path) -> None:
    ran = await terminal.run("mkdir $'\\xff'; cd $'\\xff'", timeout=20)
    assert ran.cwd == f"{tmp_path}/\ufffd"
    assert (await terminal.run("touch x; cd ..; ls $'\\xff'", timeout=20)).output == "x\n"


async def test_a_machine_without_bash_says_so(tmp_path: Path) -> None:
    with pytest.raises(TerminalError, match="bash is not installed"):
        await LocalTerminal(str(tmp_path), {"PATH": "/nowhere"}).run("true", timeout=20)


async def test_no_descriptor_and_no_thread_is_left(terminal: LocalTerminal) -> None:
    await terminal.run("true", timeout=20)
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await terminal.run("cat", timeout=20, stdin=b"x")
        await terminal.run("sleep 5", timeout=0.01)
        running = asyncio.create_task(terminal.run("sleep 5", timeout=20))
        await asyncio.sleep(0.02)
        running.cancel()
        await asyncio.wait([running])
        with pytest.raises(TerminalError):
            await terminal.run("\0", timeout=20)
    assert sorted(os.listdir("/proc/self/fd")) == before
