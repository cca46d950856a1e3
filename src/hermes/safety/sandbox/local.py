"""The sandbox of a session's commands on this machine: bubblewrap where it works, else Landlock, else none, and said so."""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hermes.protocol.errors import UserError
from hermes.protocol.safety import NO_GRANTS, Grants
from hermes.safety.places import TEMPORARY, Places, inside

if TYPE_CHECKING:
    from hermes.safety.sandbox.bounds import Bounds
    from hermes.safety.sandbox.planted import Planted
    from hermes.safety.sandbox.prepared import Prepared
    from hermes.safety.sandbox.sockets import Scoped

log = logging.getLogger(__name__)

NONE = "none"
BUBBLEWRAP = "bubblewrap"
LANDLOCK = "landlock"


class Wanted(Struct, frozen=True):
    """What the settings say: `paths` are open to every command, to read and to write."""

    kind: Literal["auto", "bubblewrap", "landlock", "off"] = "auto"
    network: bool = True
    paths: tuple[str, ...] = ()


class LocalSandbox:
    """Bounds round the commands of one session.

    Nothing is tried, made or even loaded before the first command. `tell` gets the notice, once, if there is one. `env` is what
    commands start with: it says where `bwrap` and the caches are.
    """

    def __init__(
        self,
        session: str,
        workspace: str,
        places: Places,
        env: Mapping[str, str],
        *,
        wanted: Wanted,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.workspace = workspace
        self._session = session
        self._places = places
        self._env = env
        self._wanted = wanted
        self._tell = tell
        self._told = False
        self._let_out = False

    @property
    def kind(self) -> str:
        return self._found[0]

    @property
    def notice(self) -> str:
        return self._found[1]

    def wrap(
        self,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str,
        grants: Grants,
        *,
        tty: bool = False,
        lasting: bool = False,
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        if self.notice and not self._told:
            self._told = True
            self._tell(self.notice)
        if self._let_out and "_prepared" in self.__dict__:
            self._bounds.folders.look_again()
        self._let_out = grants != NO_GRANTS
        if grants.everything or self.kind == NONE:
            return argv, dict(env)
        from hermes.safety.sandbox.bounds import look

        bounds, variables = self._bounds, self._prepared.variables
        seen = look(bounds, cwd, grants)
        self._planted.before(seen.steering)
        if self.kind == LANDLOCK:
            from hermes.safety.sandbox import landlock

            return landlock.arguments(seen, argv, variables, network=bounds.network), {**env, **variables}
        from hermes.safety.sandbox import bubblewrap

        wrapped = bubblewrap.arguments(self._program, bounds, seen, argv, cwd, tty=tty, lasting=lasting)
        return wrapped, {**variables, **env, **{name: "/tmp" for name in ("TMPDIR", "TMP", "TEMP") if name in env}}

    def popen(self, *args: Any, **options: Any) -> "subprocess.Popen[bytes]":
        """Start what was wrapped, out of reach of the sockets of other programs that have no file."""
        return self._start(*args, **options)

    def look_after(self) -> None:
        """Look at what a command has left in the workspace, and tell if other programs would start it."""
        if "_prepared" in self.__dict__:
            self._planted.after(self._bounds)

    def outside(self, path: str) -> str:
        """Where something lies that commands call by this path: their /tmp is a folder of the session's own."""
        # Most files are here, and to know that needs no look at what holds commands.
        if inside(path, self.workspace) or self.kind != BUBBLEWRAP:
            return path
        from hermes.safety.sandbox.bounds import shown

        return shown(self._bounds, path)

    def hides_keys(self) -> bool:
        """Whether ssh finds no keys here: what holds commands hides them, and the settings have not opened them."""
        keys = os.path.join(self._places.user_home, ".ssh")
        return self.kind != NONE and os.path.isdir(keys) and not any(inside(keys, path) for path in self._opened)

    def is_private(self, path: str) -> bool:
        """Whether a path lies in the temporary folder that only commands and file tools of this session see."""
        if not any(inside(path, place) for place in TEMPORARY) or self.kind == NONE:
            return False
        return self.outside(path) != path or inside(path, self._prepared.bounds.own)

    def named(self, path: str) -> str:
        """What commands call something that really lies here."""
        if "_prepared" not in self.__dict__ or self.kind != BUBBLEWRAP:
            return path
        from hermes.safety.sandbox.bounds import named

        return named(self._bounds, path)

    def opens(self, command: str, cwd: str) -> str:
        """What a person's yes to a command would open, in words; nothing if it stays within its bounds."""
        if self.kind == NONE:
            return ""
        from hermes.safety.commands.read import read
        from hermes.safety.sandbox.approved import beyond, grants_of, notice

        grants = beyond(grants_of(read(command, cwd, self._places), cwd, self._places.user_home), self.workspace)
        return notice(replace(grants, paths=tuple(path for path in grants.paths if self.outside(path) == path)))

    def close(self) -> None:
        """Remove the temporary files of this session's commands."""
        self.look_after()
        if "_prepared" in self.__dict__:
            shutil.rmtree(self._prepared.bounds.own, ignore_errors=True)
            del self.__dict__["_prepared"]
        if scoped := self.__dict__.pop("_scoped", None):
            scoped.close()

    @property
    def _start(self) -> "Callable[..., subprocess.Popen[bytes]]":
        return self._scoped.popen if self._scoped else subprocess.Popen

    @cached_property
    def _scoped(self) -> "Scoped | None":
        from hermes.safety.sandbox.sockets import Scoped, can_scope

        return Scoped() if self.kind == BUBBLEWRAP and can_scope(self._program) else None

    @cached_property
    def _program(self) -> str:
        return shutil.which("bwrap", path=self._env.get("PATH", os.defpath)) or ""

    @cached_property
    def _found(self) -> tuple[str, str]:
        """What holds commands here, and what people should know about it."""
        kind, network = self._wanted.kind, self._wanted.network
        if kind == "off":
            return NONE, ""
        if sys.platform != "linux":
            return (
                NONE,
                f"there is no sandbox for commands on {sys.platform}: whatever you approve can reach everything",
            )
        problem = self._bubblewrap_fault() if kind != LANDLOCK else ""
        if kind != LANDLOCK and not problem:
            return BUBBLEWRAP, ""
        if kind == BUBBLEWRAP:
            raise UserError(f"bubblewrap does not work here: {problem}", "hermes config set terminal.sandbox auto")
        from hermes.safety.sandbox import landlock, landlocked

        if (abi := landlocked.version()) > 0:
            return LANDLOCK, landlock.notice(network, abi)
        if kind == LANDLOCK:
            raise UserError("this kernel has no Landlock", "hermes config set terminal.sandbox auto")
        log.warning("no sandbox: %s, and no Landlock", problem)
        return NONE, f"commands run without a sandbox ({problem}, and this kernel has no Landlock): install bubblewrap"

    def _bubblewrap_fault(self) -> str:
        from hermes.safety.sandbox.probe import fault

        if not self._program:
            return "bubblewrap is not installed"
        memory = Path(self._places.home) / "sandbox" / "bubblewrap.json"
        return fault(self._program, memory, network=self._wanted.network)

    @cached_property
    def _planted(self) -> "Planted":
        from hermes.safety.sandbox.planted import Planted

        return Planted(self._tell)

    @property
    def _opened(self) -> tuple[str, ...]:
        from hermes.safety.sandbox.prepared import opened

        return opened(self._wanted.paths, self._places)

    @cached_property
    def _prepared(self) -> "Prepared":
        from hermes.safety.sandbox.prepared import prepare

        paths, network = self._wanted.paths, self._wanted.network
        return prepare(
            self._session, self._places, self._env, paths=paths, network=network, covers=self.kind == BUBBLEWRAP
        )

    @property
    def _bounds(self) -> "Bounds":
        return replace(self._prepared.bounds, workspace=self.workspace)
