"""A Hermes that was killed while its commands ran, and the next one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from hermes.protocol.terminals import ProcessInfo
from hermes.terminals.survivors import end, end_all_of, survivors
from tests.terminals.conftest import sleepers, until

OWNER = """
import asyncio, os, sys
import msgspec
from hermes.terminals.backends.local import LocalTerminal

async def main(folder, name, nap):
    terminal = LocalTerminal(folder, {"PATH": os.environ["PATH"]}, name=name)
    for command in (f"(env -i setsid sleep {nap} &); setsid sleep {nap} & sleep {nap}", f"sleep {nap}"):
        one = await terminal.start(command)
        print(msgspec.json.encode(one.info).decode(), flush=True)
    await terminal.run(f"trap '' TERM; setsid sleep {nap}1 & sleep {nap}1", timeout=600)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
async def left(tmp_path: Path, nap: str) -> list[ProcessInfo]:
    """What a Hermes had written down of its background processes when it was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), "a session", nap], stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout
        infos = [msgspec.json.decode(owner.stdout.readline(), type=ProcessInfo) for _ in range(2)]
        await until(lambda: (len(sleepers(nap)), len(sleepers(nap + "1"))) == (4, 2), 20)
        owner.send_signal(signal.SIGKILL)
    return infos


async def test_background_processes_outlive_a_killed_owner_and_can_be_ended(left: list[ProcessInfo], nap: str) -> None:
    gone = replace(left[0], pid=os.getpid())
    exited = replace(left[0], state="exited")
    assert await survivors([*left, gone, exited]) == left
    assert await end(left[0])
    assert len(sleepers(nap)) == 1
    assert await survivors(left) == [left[1]]
    assert await end(left[1])
    assert await end(left[1])
    assert sleepers(nap) == []
    assert len(sleepers(nap + "1")) == 2
    assert await end_all_of("a session")
    assert sleepers(nap + "1") == []


async def test_a_process_that_has_got_the_number_since_is_not_ended(nap: str) -> None:
    with subprocess.Popen(["sleep", nap], start_new_session=True) as other:
        info = ProcessInfo(id="proc_0", command="", cwd="/", pid=other.pid, started=0.0, start_ticks=1, state="running")
        assert await survivors([info]) == []
        assert await end(info)
        assert other.poll() is None
        other.kill()
