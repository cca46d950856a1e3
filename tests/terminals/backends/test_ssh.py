"""The contract on a real sshd, and what only a connection can do."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from hermes.config import SshSettings, load
from hermes.protocol.errors import UserError
from hermes.terminals.backends.ssh import SshPlace, ssh_settings
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.terminal import RemoteTerminal
from tests.terminals.conftest import sleepers, until
from tests.terminals.contract import Stage, TerminalContract
from tests.terminals.servers import Sshd, short_folder

pytestmark = pytest.mark.needs("ssh", "sshd")


@pytest.fixture(scope="module")
def sshd() -> Iterator[Sshd]:
    folder = short_folder()
    server = Sshd(folder)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)


def place(sshd: Sshd, folder: str = "") -> SshPlace:
    env = {"PATH": os.environ["PATH"], "HOME": str(sshd.folder)}
    settings = SshSettings(host="127.0.0.1", port=sshd.port, key=str(sshd.key))
    return SshPlace(settings, env, folder, sshd.options)


@pytest.fixture(scope="module")
async def stage(sshd: Sshd, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = str(Path(tmp_path_factory.mktemp("ssh")).resolve())
    places: list[SshPlace] = []

    def make(idle: float = 300.0) -> tuple[RemoteTerminal, RemoteFiles]:
        places.append(place(sshd, folder))
        terminal = RemoteTerminal(places[-1], idle=idle)
        return terminal, RemoteFiles(terminal)

    async def cut() -> None:
        await asyncio.to_thread(sshd.cut)

    async def awake() -> bool:
        return await places[-1].connected()

    one = Stage(make, folder, cut=cut, awake=awake, survives_cuts=True)
    yield one
    await one.terminal.close()


class TestSsh(TerminalContract):
    pass


async def test_a_key_that_is_not_accepted_is_one_line_for_the_person(sshd: Sshd, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    other = SshSettings(host="127.0.0.1", port=sshd.port, key=str(sshd.folder / "host"))
    terminal = RemoteTerminal(SshPlace(other, env, options=sshd.options))
    with pytest.raises(UserError, match="Permission denied") as raised:
        await terminal.run("true", timeout=20)
    assert raised.value.hint == "name a key that it accepts: hermes config set terminal.ssh.key FILE"
    await terminal.close()


async def test_a_machine_whose_key_is_not_known_is_not_trusted(sshd: Sshd, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    settings = SshSettings(host="127.0.0.1", port=sshd.port, key=str(sshd.key))
    terminal = RemoteTerminal(SshPlace(settings, env, options=[f"UserKnownHostsFile={tmp_path}/none"]))
    with pytest.raises(UserError, match="Host key verification failed"):
        await terminal.run("true", timeout=20)
    await terminal.close()


async def test_a_server_that_is_away_for_a_moment_is_tried_again(tmp_path: Path) -> None:
    folder = short_folder()
    server = Sshd(folder)
    terminal = RemoteTerminal(place(server, str(tmp_path)))
    asyncio.get_running_loop().call_later(0.3, server.start)
    try:
        assert (await terminal.run("echo here", timeout=20)).output == "here\n"
    finally:
        await terminal.close()
        server.stop()
        shutil.rmtree(folder)


async def test_more_runs_at_once_than_a_server_allows_on_one_connection(tmp_path: Path) -> None:
    folder = short_folder()
    server = Sshd(folder, sessions=2)
    server.start()
    terminal = RemoteTerminal(place(server, str(tmp_path)))
    try:
        await terminal.run("true", timeout=20)
        ran = await asyncio.gather(*(terminal.run(f"sleep 0.3; echo {number}", timeout=20) for number in range(4)))
        assert [one.output for one in ran] == ["0\n", "1\n", "2\n", "3\n"]
    finally:
        await terminal.close()
        server.stop()
        shutil.rmtree(folder)


async def test_what_a_dead_owner_left_running_is_found_again(sshd: Sshd, tmp_path: Path, nap: str) -> None:
    first = RemoteTerminal(place(sshd, str(tmp_path)), name="a session")
    one = await first.start(f"echo before; read line; echo got $line; sleep {nap}")
    await until(lambda: "before" in one.output(0)[0])
    await first.link.close()

    second = RemoteTerminal(place(sshd, str(tmp_path)), name="a session")
    gone = replace(one.info, id="proc_000000000000")
    again, lost = await second.adopt([one.info, gone])
    assert (await lost.wait(10)).state == "lost"
    await again.write(b"hello\n")
    await until(lambda: again.output(0)[0] == "before\ngot hello\n")
    await until(lambda: len(sleepers(nap)) == 1)
    assert (await again.kill()).state == "killed"
    assert sleepers(nap) == []
    await second.close()


def test_the_environment_counts_more_than_the_settings(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("terminal: {backend: ssh, ssh: {host: one, user: me, port: 2222}}")
    environ = {"HERMES_HOME": str(tmp_path), "TERMINAL_SSH_HOST": "two", "TERMINAL_SSH_PORT": "22"}
    settings = load(environ)
    assert ssh_settings(settings) == SshSettings(host="two", user="me", port=22)
    with pytest.raises(UserError, match="TERMINAL_SSH_PORT is 'x'"):
        ssh_settings(load(environ | {"TERMINAL_SSH_PORT": "x"}))
