"""Which terminal a session gets: a name in the settings, "module:object" behind it, imported only when it is chosen.

The object is a function of the settings, the session's name, the local working folder and the environment for children. A name
that is not in the table may be an entry point of the group hermes.terminals.
"""

from collections.abc import Mapping

from hermes import plugins
from hermes.config import Settings
from hermes.protocol.errors import UserError
from hermes.protocol.terminals import Files, Terminal

TERMINALS: dict[str, str] = {
    "local": "hermes.terminals.backends.local:open_local",
    "ssh": "hermes.terminals.backends.ssh:open_ssh",
    "docker": "hermes.terminals.backends.docker:open_docker",
    "podman": "hermes.terminals.backends.docker:open_podman",
    "singularity": "hermes.terminals.backends.singularity:open_singularity",
    "apptainer": "hermes.terminals.backends.singularity:open_singularity",
    "modal": "hermes.terminals.backends.modal:open_modal",
    "daytona": "hermes.terminals.backends.daytona:open_daytona",
}


def open_terminal(settings: Settings, session: str, cwd: str, env: Mapping[str, str]) -> tuple[Terminal, Files]:
    """The terminal that `terminal.backend` names, and its files. Nothing is connected before the first command."""
    name = settings.file.terminal.backend
    notation = plugins.find("terminals", name, TERMINALS)
    if notation is None:
        raise UserError(f"there is no terminal {name!r}", f"choose one: {', '.join(TERMINALS)}")
    return plugins.load(notation)(settings, session, cwd, env)
