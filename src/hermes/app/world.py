"""The place where a session acts, as its tools reach it: one terminal, its files, and the gate before both."""

import logging
import os
import shlex
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

import msgspec

from hermes.agent.aside import Aside
from hermes.agent.desk import Ask, Equipment, Scope
from hermes.protocol.actions import Origin, RunCommand
from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.events import Answered, Approval, Request
from hermes.protocol.terminals import Files, Terminal
from hermes.safety import smart
from hermes.safety.gate import Gate
from hermes.safety.gated import GatedFiles, GatedTerminal
from hermes.safety.permit import Advise, Permit, ask_the_person
from hermes.safety.typed import is_input_of

if TYPE_CHECKING:
    from hermes.safety.checkpoints import Checkpoints
    from hermes.safety.sandbox.local import LocalSandbox

log = logging.getLogger(__name__)
PRUNE_EVERY = 86_400.0


class LocalWorld:
    """Implements World for this machine, and for places reached from it.

    `context` names the files of the workspace that are part of the system text; `approver` asks the model that may answer for
    the person; with `prunes`, old checkpoints are thrown away when it is closed, once a day.
    """

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
        prunes: bool = True,
        recover: Callable[[], Coroutine[None, None, None]],
        sandbox: "LocalSandbox | None" = None,
        context: tuple[str, ...] = (),
        approver: Callable[[str, str], Awaitable[Aside]] | None = None,
        approver_patience: float = smart.TIMEOUT,
    ) -> None:
        self.workspace = workspace
        self.terminal = terminal
        self.checkpoints = checkpoints
        self.gate = gate
        self._recover = recover
        self._sandbox = sandbox
        self._begun = terminal.kind == "local"
        self._context = context
        self._approver = approver
        self._approver_patience = approver_patience
        self._teller = teller
        self.files = files
        self._patience = patience
        self._prunes = prunes
        self._typed: dict[str, bytes] = {}

    @property
    def cwd(self) -> str:
        return self.terminal.cwd

    def equip(self, scope: Scope) -> Equipment:
        self._teller.tell = scope.tell
        # The context files of the workspace are in the prompt from the start.
        origin = msgspec.structs.replace(scope.origin, local=(*self._context, *scope.origin.local))

        def here() -> Origin:
            return msgspec.structs.replace(origin, workspace=self.workspace)

        permit = Permit(self.gate, here, self._asking(scope.ask), timeout=self._patience, advise=self._smart(scope))
        places = self.gate.policy.places
        before = self._before_change(scope)
        after = self._sandbox.look_after if self._sandbox else lambda: None
        return Equipment(
            files=GatedFiles(self.files, permit, before, places, self.terminal.kind, self._begin),
            terminal=GatedTerminal(self.terminal, permit, before, places, self._typed, self._begin, after),
            permit=permit,
        )

    def _smart(self, scope: Scope) -> Advise:
        """Asks a model, where the mode says so, before the person is asked."""
        approver = self._approver
        if approver is None:
            return ask_the_person

        async def say(system: str, question: str) -> str:
            aside = await approver(system, question)
            scope.used(aside.usage)
            return aside.text

        return smart.SmartApproval(self.gate, say, timeout=self._approver_patience)

    async def _begin(self) -> None:
        """Learn once which folder the terminal begins in: elsewhere that is known only when the place is reached."""
        if self._begun:
            return
        folder = await self.files.resolve(".")
        if folder != self.terminal.cwd:
            # By its real name, as the gate compares it with other places there.
            await self.terminal.run(f"cd -- {shlex.quote(folder)}", timeout=10)
        self.workspace = folder
        self._begun = True

    def _asking(self, ask: Ask) -> Ask:
        """Ask a person, and say what their yes to a command would open."""

        async def asking(request: Request, timeout: float) -> Answered | None:
            if isinstance(request, Approval) and isinstance(request.action, RunCommand) and self._sandbox is not None:
                command = request.action.command
                # What is typed into a process runs within the bounds that the process has.
                is_typed = any(is_input_of(one.info.command, command) for one in self.terminal.processes)
                if opened := "" if is_typed else self._sandbox.opens(command, request.action.cwd):
                    request = msgspec.structs.replace(request, why="; ".join(filter(None, (request.why, opened))))
            return await ask(request, timeout)

        return asking

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
        if self._sandbox is not None:
            self._sandbox.workspace = folder
        ran = await self.terminal.run(f"cd -- {shlex.quote(folder)}", timeout=10)
        self.workspace = self.workspace if ran.code else ran.cwd
        self._begun = True
        if self._sandbox is not None:
            self._sandbox.workspace = self.workspace
        if ran.code:
            raise UserError(f"the folder {folder} is not there", "name one that is")

    async def recover(self) -> None:
        await self._recover()

    async def stop_background(self) -> int:
        running = [one for one in self.terminal.processes if one.info.state == "running"]
        for one in running:
            await one.kill()
        return len(running)

    async def close(self) -> None:
        await self.terminal.close()
        if self.checkpoints is not None and self._prunes:
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
