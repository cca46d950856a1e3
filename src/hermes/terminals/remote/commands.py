"""What a command becomes elsewhere: a shell that starts where the last one ended, and the scripts that look after it."""

import os

from hermes.terminals import marks
from hermes.terminals.ends import COLUMNS, ROWS
from hermes.terminals.remote.script import quoted
from hermes.terminals.shell import SAVE, State

SCREEN = "xterm-256color"
START = '__hermes=$(cat <&8); eval "$__hermes"; eval "$__hermes_command"; { __hermes_save $?; } 2>/dev/null'

# Descriptor 9 leads home. A command may well use that number itself: bash can move it out of the way.
_PREPARE_BASH = """\
ulimit -SR {limit} 2>/dev/null
{move}
shopt -s expand_aliases
"""

_PREPARE = """\
__hermes=$(cat <&6)
__hermes_command=$(cat <&7)
exec 6<&- 7<&- 8<&-
"""

_TAKE_OVER = """\
eval "$__hermes" >/dev/null 2>&1
unset __hermes
"""

# Any other shell has no functions to write down, and may know no `builtin`.
_SAVE_PLAIN = """\
__hermes_save() {{
set +eux
trap - EXIT
unset {variable} __hermes_command
{{
pwd
printf '\\000%s\\000' "${{OLDPWD-}}"
unset PWD OLDPWD
export -p
printf '\\000'
}} >&9
return "${{1-0}}"
}}
trap '{{ __hermes_save $?; }} 2>/dev/null' EXIT
"""

# A client may tell its size too late.
_ON_SCREEN = f"export TERM={SCREEN}\nstty rows {ROWS} cols {COLUMNS} 2>/dev/null\n"

_SAVE_NOTHING = '__hermes_save() { return "$1"; }\n'

_NEAREST = """\
cd -- {folder} 2>/dev/null || {{
d={folder}
until [ -d "$d" ] && cd -- "$d"; do d=${{d%/*}}; [ -n "$d" ] || d=/; done
printf 'gone\\000%s' "$d" >&9
exit 1
}}
"""


class Shell:
    """The shell of a place: bash, or where it is not there whatever `sh` is."""

    def __init__(self, bash: str) -> None:
        self._bash = bash

    def command(
        self,
        command: str,
        state: State,
        mark: str,
        *,
        saves: bool = True,
        login: bool = False,
        first: bool = False,
        screen: bool = False,
        streams: str = "",
    ) -> str:
        """Text that runs a command from a state; the `first` one begins with the variables that the place has.

        `streams` says where its input and output lead, if not where those of the script do.
        """
        words = f"{quoted(self._bash)} {'-l' if login else '--norc --noprofile'}" if self._bash else "/bin/sh"
        given = {marks.VARIABLE: mark, "PWD": state.folder} | ({"OLDPWD": state.previous} if state.previous else {})
        env = "env " + ("" if first else "-i ") + " ".join(quoted(f"{key}={value}") for key, value in given.items())
        move = "exec 109>&9 9>&-" if saves else ""
        prepare = _PREPARE_BASH.format(limit=marks.limit(mark), move=move) if self._bash else ""
        prepare += _PREPARE + self._save(saves) + _TAKE_OVER + (_ON_SCREEN if screen else "")
        documents = {6: os.fsdecode(state.script), 7: command, 8: prepare}
        end = f"END_{mark}"
        opened = " ".join(f"{fd}<<'{end}'" for fd in documents)
        bodies = "".join(f"{text}\n{end}\n" for text in documents.values())
        return f"{env} {words} -c {quoted(START)} {'bash' if self._bash else 'sh'} {opened} {streams} 2>&1\n{bodies}"

    def _save(self, saves: bool) -> str:
        if not saves:
            return _SAVE_NOTHING
        if self._bash:
            return SAVE.format(left=109, variable=marks.VARIABLE)
        return _SAVE_PLAIN.format(variable=marks.VARIABLE)


def in_folder(folder: str, text: str) -> str:
    """Text to be run in a folder; if that is gone, the nearest one above it is said instead."""
    return _NEAREST.format(folder=quoted(folder)) + text


PROBE = r"""
printf '%s\000' "$(command -v bash)" "$HOME" "$(pwd)" "${TMPDIR:-/tmp}" "$(id -u)" >&9
"""

# By the mark in the environment, and by the one in a resource limit that `env -i` does not take away.
_END = """\
marked() {{
grep -als '{variable}={mark}' /proc/[0-9]*/environ
grep -s '^Max realtime timeout  *[0-9]' /proc/[0-9]*/limits | while read -r a b c v d; do
[ "$((v >> {shift}))" = {limit} ] && echo "$a"
done
}}
living() {{
pids=
for f in $(marked 2>/dev/null); do
p=${{f#/proc/}}; p=${{p%%/*}}
IFS= read -r s </proc/$p/stat || continue
case $s in *') Z '* | *') X '*) ;; *) [ "$p" = $$ ] || pids="$pids $p" ;; esac
done 2>/dev/null
[ -n "$pids" ]
}}
nap() {{ sleep 0.03 2>/dev/null || sleep 1; }}
n=0
while living; do
if [ $n -eq 0 ]; then kill -TERM $pids; kill -CONT $pids
elif [ $n -gt 50 ]; then exit 1
elif [ $n -gt 5 ]; then kill -KILL $pids
fi 2>/dev/null
n=$((n + 1)); nap
done
"""


def end(mark: str) -> str:
    """Text that ends everything that carries a mark, or a mark that begins like it."""
    rest = 4 * (15 - len(mark))
    limit = marks.limit(mark.ljust(15, "0")) >> rest
    return _END.format(variable=marks.VARIABLE, mark=mark, shift=rest, limit=limit)
