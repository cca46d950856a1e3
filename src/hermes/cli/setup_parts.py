"""`hermes setup terminal`, `tools` and `agent`: the settings that most people look at once."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from importlib.util import find_spec

from hermes import config
from hermes.cli.main import print_error
from hermes.cli.setup_talk import Talk
from hermes.cli.terminal import test
from hermes.config import Settings
from hermes.protocol.errors import UserError
from hermes.terminals.choose import TERMINALS
from hermes.tools.toolsets import TOOLSETS, tool_names

PROGRAMS = {"local": "bash"} | {name: name for name in ("ssh", "docker", "podman", "singularity", "apptainer")}
MODES = {
    "manual": "ask before what is dangerous",
    "smart": "let a model judge what is dangerous, and ask when in doubt",
    "off": "never ask",
}


async def choose_terminal(talk: Talk, settings: Settings) -> bool:
    """Where commands run, proved by the terminal's own test; False if it fails."""
    current = settings.file.terminal.backend
    names = list(TERMINALS)
    lines = [f"{name}{'' if _is_there(name, settings) else '  (not installed here)'}" for name in names]
    at = names.index(current) if current in names else 0
    name = names[await talk.pick("where should commands run?", lines, at)]
    changes = {"terminal.backend": name}
    if name == "ssh":
        known = settings.file.terminal.ssh
        changes["terminal.ssh.host"] = await talk.text("host", known.host)
        changes["terminal.ssh.user"] = await talk.text("user (empty: as in ~/.ssh/config)", known.user)
    elif name not in ("local", "ssh") and talk.asks:
        changes["terminal.image"] = await talk.text("image", settings.file.terminal.image)
    await asyncio.to_thread(_keep, settings, {key: value for key, value in changes.items() if value})
    talk.say(f"terminal: {name}")
    return await test(config.load()) == 0


def _is_there(name: str, settings: Settings) -> bool:
    """Whether a terminal's program is installed, or its package where it has no program."""
    if name not in PROGRAMS:
        return find_spec(name) is not None
    return shutil.which(PROGRAMS[name], path=settings.environ.get("PATH", os.defpath)) is not None


async def choose_tools(talk: Talk, settings: Settings) -> bool:
    """What the model can do in a terminal; other surfaces have `hermes tools --platform`."""
    current = ", ".join(settings.file.toolsets)
    for name, tools in TOOLSETS.items() if talk.asks else ():
        talk.say(f"  {name:<12} {', '.join(tools)}")
    while True:
        typed = await talk.text("toolsets, with commas between", current)
        chosen = [name.strip() for name in typed.split(",") if name.strip()]
        try:
            tools = tool_names(chosen)
            break
        except UserError as error:
            print_error(error, error.hint)
    if tuple(chosen) != settings.file.toolsets:
        await asyncio.to_thread(_keep, settings, {"toolsets": chosen})
    talk.say(f"tools: {', '.join(tools)}")
    return True


async def choose_agent(talk: Talk, settings: Settings) -> bool:
    """How far a turn may go, and what is asked before."""
    file = settings.file
    while not (turns := await talk.text("model calls in one turn at most", str(file.agent.max_turns))).isdecimal():
        print_error(f"{turns!r} is not a number")
    modes = list(MODES)
    mode = modes[
        await talk.pick(
            "approvals?", [f"{name}: {text}" for name, text in MODES.items()], modes.index(file.approvals.mode)
        )
    ]
    changes: dict[str, object] = {}
    if int(turns) != file.agent.max_turns:
        changes["agent.max_turns"] = int(turns)
    if mode != file.approvals.mode:
        changes["approvals.mode"] = mode
    await asyncio.to_thread(_keep, settings, changes)
    talk.say(f"agent: {turns} model calls a turn, approvals {mode}")
    return True


def _keep(settings: Settings, changes: Mapping[str, object]) -> None:
    for key, value in changes.items():
        config.set_value(settings.config_path, key, value)
