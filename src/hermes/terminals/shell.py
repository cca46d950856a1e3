"""A bash that starts where the last one ended: its folder, exported variables, functions and aliases.

Every command runs in a fresh, non-interactive bash that reads no start-up file. What it needs comes to it through a
nameless file, three records each ended by a NUL: what to prepare, the state to take over, and the command. (Not as an
argument: there `pkill -f something` would find the very shell that runs it, and a long command would not fit.) What it
leaves goes into a second nameless file when it exits: folder, previous folder, and a script that recreates the rest.
"""

import fcntl
import os
from collections.abc import Mapping

from msgspec import Struct

from hermes.protocol.errors import TerminalError
from hermes.terminals import marks
from hermes.terminals.process import contents, fill, scratch

# On one line, so that bash counts the lines of the command from 1.
_START = (
    'IFS= read -rd "" -u {script} __hermes; eval "$__hermes"; builtin eval "$__hermes_command"; '
    "{{ __hermes_save $?; }} 2>/dev/null"
)

_PREPARE = """\
ulimit -SR {limit} 2>/dev/null
IFS= read -rd "" -u {script} __hermes
IFS= read -rd "" -u {script} __hermes_command
exec {script}<&-
shopt -s expand_aliases
"""

_TAKE_OVER = """\
eval "$__hermes" >/dev/null 2>&1
builtin unset __hermes
"""

# The trap is for a command that exits. Options that the command has set and functions that it has defined must not
# disturb the saving: hence `set` first, and `builtin`.
SAVE = """\
__hermes_save() {{
builtin set +eux
builtin unset -f __hermes_save
builtin export -n PWD OLDPWD {variable}
{{
builtin pwd
builtin printf '\\0%s\\0' "${{OLDPWD-}}"
builtin export -p
builtin declare -f
builtin export -fp
builtin alias -p
builtin printf '\\0'
}} >&{left}
builtin return "${{1-0}}"
}}
trap '{{ __hermes_save; }} 2>/dev/null' EXIT
"""

_SAVE_NOTHING = '__hermes_save() { return "$1"; }\n'

# Out of the way of the numbers that scripts choose for themselves.
_LOWEST_FD = 100


class State(Struct, frozen=True):
    """What carries over from command to command; `script` recreates variables, functions and aliases."""

    folder: str
    previous: str = ""
    script: bytes = b""


class Shell:
    """One bash about to be started, with the descriptors it must `keep`; someone has to close it afterwards.

    With `saves` it leaves its state when it ends; with `tty` it makes that its controlling terminal.
    """

    def __init__(
        self,
        bash: str,
        command: str,
        state: State,
        env: Mapping[str, str],
        mark: str,
        saves: bool = True,
        tty: str = "",
    ) -> None:
        body = _bytes(command)
        self.env = {**env, marks.VARIABLE: mark, "PWD": state.folder}
        if state.previous:
            self.env["OLDPWD"] = state.previous
        script, left = _high(scratch()), _high(scratch())
        self.keep = (script, left)
        self.argv = (bash, "--norc", "--noprofile", "-c", _START.format(script=script), "bash")
        prepare = _PREPARE.format(script=script, limit=marks.limit(mark))
        prepare += SAVE.format(left=left, variable=marks.VARIABLE) if saves else _SAVE_NOTHING
        # The leader of a session gets the first terminal that it opens as its controlling one.
        # (In a sandbox it has no such name, and is the controlling one already.)
        prepare += f"{{ : <>{tty}; }} 2>/dev/null\n" if tty else ""
        prepare += _TAKE_OVER
        fill(script, b"\0".join((prepare.encode(), state.script, body, b"")))

    def left(self) -> State | None:
        """The state that it left; None if it had no time to, or was replaced by another program (exec)."""
        return left_state(contents(self.keep[1]))

    def close(self) -> None:
        for fd in self.keep:
            os.close(fd)


def left_state(record: bytes) -> State | None:
    """What SAVE wrote, if it is whole."""
    folder, *more = record.split(b"\0")
    if len(more) != 3:
        return None
    return State(os.fsdecode(folder[:-1]), os.fsdecode(more[0]), more[1])


def _bytes(command: str) -> bytes:
    if "\0" in command:
        raise TerminalError("a command cannot hold a NUL character: put it into a file and use that")
    try:
        return command.encode()
    except UnicodeEncodeError as error:
        raise TerminalError(f"the command is not valid text at character {error.start + 1}") from error


def _high(fd: int) -> int:
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LOWEST_FD)
    finally:
        os.close(fd)
