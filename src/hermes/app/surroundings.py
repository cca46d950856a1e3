"""Where a session acts, as the settings want it: its terminal and files, what holds its commands, and the gate before them."""

import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from hermes import config
from hermes.agent import rules
from hermes.agent.aside import Aside
from hermes.app.world import LocalWorld, Teller
from hermes.config import Auxiliary, Settings
from hermes.protocol.errors import UserError
from hermes.protocol.store import Store
from hermes.protocol.terminals import Files, Terminal
from hermes.safety import smart
from hermes.safety.commands.grants import Grant, from_text, to_text
from hermes.safety.contracts import Contracts
from hermes.safety.environment import scrubbed
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import Places, places_of

if TYPE_CHECKING:
    from hermes.safety.sandbox.local import LocalSandbox

log = logging.getLogger(__name__)


def make_world(
    settings: Settings,
    store: Store,
    session: str,
    cwd: str,
    *,
    yolo: bool,
    use_rules: bool,
    approvals: dict[str, Literal["allow", "ask"]],
    described: Callable[[], Sequence[tuple[str, str]]],
    approver: Callable[[str, str], Awaitable[Aside]],
) -> LocalWorld:
    """The world of one session. `approvals` are those of MCP servers and `described` their tools' descriptions, both as they
    are when they are asked for; `approver` is the model that smart approvals ask."""
    from hermes.safety.checkpoints import Checkpoints
    from hermes.safety.snapshots import limits_of
    from hermes.terminals.remembered import RememberedTerminal

    file = settings.file
    places = places_of(settings.home, settings.environ.get("HOME") or Path.home())
    teller = Teller()
    inner, files, sandbox = terminal_of(settings, session, cwd, places, teller)
    local = inner.kind == "local"
    terminal = RememberedTerminal(inner, lambda info: store.save(session, info))
    kept = file.checkpoints
    search_path = settings.environ.get("PATH", os.defpath)
    checkpoints = None
    if kept.enabled and local:
        checkpoints = Checkpoints(places.own, places.user_home, search_path, notice=teller, limits=limits_of(kept))
    policy = Policy(
        places=places,
        mode=file.approvals.mode,
        yolo=yolo or settings.yolo,
        deny=file.approvals.deny,
        allow=tuple(from_text(entry) if isinstance(entry, str) else entry for entry in file.command_allowlist),
        servers=approvals,
    )
    gate = Gate(
        policy,
        always=lambda grant: _keep_grant(settings.config_path, grant),
        not_undoable=checkpoints.not_undoable if checkpoints else lambda path: "",
        contracts=Contracts(settings.home / "mcp-contracts.json"),
        described=described,
        is_private=sandbox.is_private if sandbox else lambda path: False,
        hides_keys=sandbox.hides_keys if sandbox else lambda: False,
    )
    return LocalWorld(
        cwd if local else inner.cwd,
        terminal,
        files,
        gate,
        checkpoints,
        teller,
        patience=file.approvals.timeout,
        prunes=kept.auto_prune,
        recover=lambda: _end_survivors(store, session) if local else _adopt(store, session, inner),
        sandbox=sandbox,
        context=(found,) if use_rules and (found := rules.find_rules(Path(cwd))[0]) else (),
        approver=approver,
        approver_patience=file.auxiliary.get("approval", Auxiliary()).timeout or smart.TIMEOUT,
    )


def terminal_of(
    settings: Settings, session: str, cwd: str, places: Places, tell: Callable[[str], None]
) -> tuple[Terminal, Files, "LocalSandbox | None"]:
    """The terminal that the settings name, its files, and what holds its commands."""
    from hermes.terminals.choose import open_terminal

    file = settings.file
    keys = {entry.api_key_env for entry in (settings.model, *settings.fallbacks, *file.custom_providers.values())}
    passed = {name: settings.environ[name] for name in file.terminal.env_passthrough if name in settings.environ}
    env = scrubbed({k: v for k, v in settings.shell.items() if k not in keys}) | passed
    if file.terminal.backend != "local" or file.terminal.sandbox == "off":
        return *open_terminal(settings, session, cwd, env), None
    from hermes.safety.sandbox.local import LocalSandbox, Wanted
    from hermes.terminals.backends.local import LocalTerminal
    from hermes.terminals.files import LocalFiles

    wanted = Wanted(file.terminal.sandbox, file.terminal.network == "on", file.terminal.sandbox_paths)
    box = LocalSandbox(session, cwd, places, env, wanted=wanted, tell=tell)
    terminal = LocalTerminal(cwd, env, name=session, cap=file.tool_output.max_bytes, sandbox=box, popen=box.popen)
    return terminal, LocalFiles(lambda: terminal.cwd, env, box.outside, box.named), box


async def _adopt(store: Store, session: str, terminal: Terminal) -> None:
    """Look after what a crashed owner of this session left running somewhere else."""
    from hermes.terminals.remote.terminal import RemoteTerminal

    if isinstance(terminal, RemoteTerminal) and (left := await store.of(session)):
        await terminal.adopt(left)


async def _end_survivors(store: Store, session: str) -> None:
    """What a crash of this session's last owner left running is ended before the session goes on."""
    from hermes.terminals.survivors import end, end_all_of, survivors

    for info in await survivors(await store.of(session)):
        await end(info)
        await store.save(session, msgspec.structs.replace(info, state="killed"))
    await end_all_of(session)


def _keep_grant(path: Path, grant: Grant) -> None:
    """Keep an "always" answer in config.yaml, as words and not as shell text."""
    known = config.read_yaml(path).get("command_allowlist") or []
    try:
        if to_text(grant) not in known:
            config.set_value(path, "command_allowlist", [*known, to_text(grant)])
    except UserError as error:
        log.warning("an answer is good for this session only: %s", error)
