"""Commands on another machine, through OpenSSH: one connection, shared by everything that runs there."""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence

from hermes.config import Settings, SshSettings
from hermes.protocol.errors import TerminalError, UserError
from hermes.terminals.remote.client import Client, ask, find_program
from hermes.terminals.remote.commands import SCREEN
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.place import Take
from hermes.terminals.remote.terminal import RemoteTerminal

CONNECT_SECONDS = 15

# What another try would not change, by what ssh says.
_LASTING = {
    "Permission denied": "name a key that it accepts: hermes config set terminal.ssh.key FILE",
    "Host key verification failed": "connect once by hand with ssh, and check the key that it shows",
    "REMOTE HOST IDENTIFICATION HAS CHANGED": "find out why its key has changed before you trust it",
    "Could not resolve hostname": "check terminal.ssh.host",
    "Too many authentication failures": "name the key: hermes config set terminal.ssh.key FILE",
}


class SshPlace:
    """Another machine. `options` are further options of ssh, as for -o."""

    kind = "ssh"
    login = True

    def __init__(self, ssh: SshSettings, env: Mapping[str, str], folder: str = "", options: Sequence[str] = ()) -> None:
        if not ssh.host:
            raise UserError("the ssh terminal needs a host", "hermes config set terminal.ssh.host NAME")
        self.folder = folder
        self._program = find_program(["ssh"], env, "the ssh terminal", "install OpenSSH (Debian: openssh-client)")
        self._env = {**env, "TERM": SCREEN}
        self._target = f"{ssh.user}@{ssh.host}" if ssh.user else ssh.host
        # Short, since the name of a socket may not be longer than about 100 bytes.
        self._sockets = tempfile.TemporaryDirectory(prefix="hermes-ssh-")
        self._socket = os.path.join(self._sockets.name, "s")
        self._options = [f"-oControlPath={self._socket}", "-oLogLevel=ERROR"]
        self._login = ["-oBatchMode=yes", f"-oConnectTimeout={CONNECT_SECONDS}", *(f"-o{one}" for one in options)]
        self._login += ["-oServerAliveInterval=5", "-oServerAliveCountMax=3"]
        self._login += [f"-p{ssh.port}"] if ssh.port else []
        self._login += ["-oIdentitiesOnly=yes", f"-i{os.path.expanduser(ssh.key)}"] if ssh.key else []
        self._up = False

    async def open(self) -> None:
        """Have a master that is connected. It goes to the background by itself once it is."""
        if self._up:
            return
        if not await self.connected():
            if os.path.exists(self._socket):
                os.unlink(self._socket)
            argv = [self._program, "-MNf", *self._options, "-oControlPersist=600", *self._login, "--", self._target]
            done = await ask(argv, self._env, CONNECT_SECONDS * 2)
            if done.code != 0:
                for sign, hint in _LASTING.items():
                    if sign in done.complaint:
                        raise UserError(f"ssh: {done.complaint}", hint)
                raise TerminalError(done.complaint or f"ssh ended with code {done.code}")
        self._up = True

    async def connected(self) -> bool:
        """Whether there is a master that answers."""
        return await self._control("check") == 0

    async def start(self, argv: Sequence[str], output: Take, errors: Take) -> Client:
        return Client([*self._words("-T"), shlex.join(argv)], self._env, output, errors)

    def on_screen(self, argv: Sequence[str]) -> tuple[Sequence[str], dict[str, str]]:
        return [*self._words("-tt"), shlex.join(argv)], self._env

    def doubt(self) -> None:
        self._up = False

    async def rest(self) -> None:
        if self._up:
            self._up = False
            await self._control("exit")

    async def close(self) -> None:
        await self.rest()
        self._sockets.cleanup()

    def _words(self, tty: str) -> list[str]:
        # Beyond the sessions that a server allows on one connection, ssh makes another: hence the login here too.
        return [self._program, tty, *self._options, *self._login, "--", self._target]

    async def _control(self, word: str) -> int:
        argv = [self._program, *self._options, "-O", word, "--", self._target]
        return (await ask(argv, self._env, CONNECT_SECONDS)).code


def ssh_settings(settings: Settings) -> SshSettings:
    """The machine that terminal.ssh names; TERMINAL_SSH_HOST, _USER, _PORT and _KEY count more."""
    there, environ = settings.file.terminal.ssh, settings.environ
    port = environ.get("TERMINAL_SSH_PORT", "")
    if port and not port.isdecimal():
        raise UserError(f"TERMINAL_SSH_PORT is {port!r}", "it must be a number")
    return SshSettings(
        host=environ.get("TERMINAL_SSH_HOST") or there.host,
        user=environ.get("TERMINAL_SSH_USER") or there.user,
        port=int(port) if port else there.port,
        key=environ.get("TERMINAL_SSH_KEY") or there.key,
    )


def open_ssh(settings: Settings, session: str, cwd: str, env: Mapping[str, str]) -> tuple[RemoteTerminal, RemoteFiles]:
    """Another machine; the local working folder means nothing there."""
    folder = settings.file.terminal.cwd
    place = SshPlace(ssh_settings(settings), env, "" if folder in (".", "~") else folder)
    terminal = RemoteTerminal(
        place, name=session, cap=settings.file.tool_output.max_bytes, idle=settings.file.terminal.lifetime_seconds
    )
    return terminal, RemoteFiles(terminal)
