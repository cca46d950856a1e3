"""The sandbox of a session's commands on this machine: bubblewrap where it works, else Landlock, else none, and said so."""

import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hermes.protocol.errors import UserError
from hermes.protocol.safety import Grants
from hermes.safety.places import Places
from hermes.safety.sandbox import bubblewrap, caches
from hermes.safety.sandbox.bounds import TEMPORARY, Bounds, shown

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

    Nothing is tried or made before the first command. `tell` gets the notice, once, if there is one. `env` is what
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
        if grants.everything or self.kind == NONE:
            return argv, dict(env)
        bounds, variables = self._bounds
        bounds = replace(bounds, workspace=self.workspace)
        if self.kind == LANDLOCK:
            from hermes.safety.sandbox import landlock

            return tuple(landlock.arguments(bounds, argv, cwd, grants, variables)), {**env, **variables}
        inside = bubblewrap.arguments(self._program, bounds, argv, cwd, grants, tty=tty, lasting=lasting)
        return inside, {**variables, **env, **{name: TEMPORARY[0] for name in ("TMPDIR", "TMP", "TEMP") if name in env}}

    def outside(self, path: str) -> str:
        """Where something lies that commands call by this path: their /tmp is a folder of the session's own."""
        if self.kind != BUBBLEWRAP:
            return path
        bounds, _ = self._bounds
        return shown(replace(bounds, workspace=self.workspace), path)

    def close(self) -> None:
        """Remove the temporary files of this session's commands."""
        if "_bounds" in self.__dict__:
            shutil.rmtree(self._bounds[0].own, ignore_errors=True)
            del self.__dict__["_bounds"]

    @property
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
    def _bounds(self) -> tuple[Bounds, dict[str, str]]:
        """The bounds with their folders made, and the variables that lead there."""
        own = _private_folder(self._session)
        for name in ("tmp", "var-tmp"):
            os.makedirs(os.path.join(own, name), mode=0o700, exist_ok=True)
        kept = os.path.join(self._places.home, "sandbox", "caches")
        user_home = self._places.user_home
        paths = [path.replace("~", user_home, 1) if path.startswith("~/") else path for path in self._wanted.paths]
        bounds = Bounds(
            workspace=self.workspace,
            places=self._places,
            own=own,
            network=self._wanted.network,
            paths=tuple(os.path.realpath(path) for path in paths),
        )
        if self.kind == LANDLOCK:
            return bounds, {**caches.moved(kept), "TMPDIR": os.path.join(own, "tmp")}
        rules, variables = caches.covered(user_home, self._env, kept)
        return replace(bounds, caches=rules), variables


def _private_folder(session: str) -> str:
    """A folder that only this person can look into; the same one when a session is resumed after a crash."""
    name = f"hermes-{os.getuid()}-{hashlib.sha256(session.encode()).hexdigest()[:12]}"
    path = os.path.join(TEMPORARY[0], name)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        seen = os.lstat(path)
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o077:
            return tempfile.mkdtemp(prefix="hermes-", dir=TEMPORARY[0])
    return path
