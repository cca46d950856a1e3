"""The place where a session acts, as its tools reach it: one terminal, its files, and the gate before both."""

import logging
import os
import shlex
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

import msgspec

from hermes.agent.desk import Equipment, Scope
from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.terminals import Files, Terminal
from hermes.safety.gate import Gate
from hermes.safety.gated import GatedFiles, GatedTerminal
from hermes.safety.permit import Permit

if TYPE_CHECKING:
    from hermes.safety.checkpoints import Checkpoints

log = logging.getLogger(__name__)
PRUNE_EVERY = 86_400.0


class LocalWorld:
    """Implements World for this machine, and for places reached from it."""

    def __init__(
        self,
        workspace: str,
        terminal: Terminal,
        files: Files,
        gate: Gate,
        checkpoints: "Checkpoints | None",
        teller: "Teller",
        *,
        patience: float,
        recover: Callable[[], Coroutine[None, None, None]],
        moved: Callable[[str], None] = lambda folder: None,
    ) -> None:
        self.workspace = workspace
        self.terminal = terminal
        self.checkpoints = checkpoints
        self.gate = gate
        self._recover = recover
        self._moved = moved
        self._teller = teller
        self._files = files
        self._patience = patience
        self._typed: dict[str, bytes] = {}

    @property
    def cwd(self) -> str:
        return self.terminal.cwd

    def equip(self, scope: Scope) -> Equipment:
        self._teller.tell = scope.tell
        permit = Permit(self.gate, lambda: scope.origin, scope.ask, timeout=self._patience)
        places = self.gate.policy.places
        before = self._before_change(scope)
        return Equipment(
            files=GatedFiles(self._files, permit, before, places, self.terminal.kind),
            terminal=GatedTerminal(self.terminal, permit, before, places, self._typed),
            permit=permit,
        )

    def _before_change(self, scope: Scope) -> Callable[[Sequence[str]], Awaitable[None]]:
        turn = f"{scope.origin.session}:{scope.origin.turn}"

        async def before(paths: Sequence[str]) -> None:
            if self.checkpoints is not None:
                await self.checkpoints.before_changes(paths, self.workspace, turn)

        return before

    def set_approvals(self, mode: str) -> None:
        if mode in ("manual", "smart", "off"):
            self.gate.policy = msgspec.structs.replace(self.gate.policy, mode=mode, yolo=False)

    async def move(self, folder: str) -> None:
        if self.terminal.kind == "local":
            if not os.path.isdir(folder):
                raise UserError(f"the folder {folder} is not there", "name one that is")
            folder = os.path.realpath(folder)
        ran = await self.terminal.run(f"cd -- {shlex.quote(folder)}", timeout=10)
        if ran.code:
            raise UserError(f"the folder {folder} is not there", "name one that is")
        self.workspace = ran.cwd
        self._moved(ran.cwd)

    async def recover(self) -> None:
        await self._recover()

    async def stop_background(self) -> int:
        running = [one for one in self.terminal.processes if one.info.state == "running"]
        for one in running:
            await one.kill()
        return len(running)

    async def close(self) -> None:
        await self.terminal.close()
        if self.checkpoints is not None:
            try:
                await self.checkpoints.prune(every=PRUNE_EVERY)
            except (HermesError, OSError) as error:
                log.warning("old checkpoints stay for now: %s", error)


class Teller:
    """Passes a line for the person on to whichever tool call is at work."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = lambda text: None

    def __call__(self, text: str) -> None:
        self.tell(text)
