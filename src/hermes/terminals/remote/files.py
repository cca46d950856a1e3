"""Files elsewhere, by plain shell commands: nothing has to be installed there.

`resolve` follows links; the rest opens exactly what it is told, and meets a link with an error.
"""

import os
import posixpath
import re
import stat
from typing import Literal

from hermes.protocol.errors import TerminalError
from hermes.protocol.ids import new_id
from hermes.protocol.terminals import Match, Search, Stat
from hermes.terminals.paths import printable
from hermes.terminals.remote.client import last_line
from hermes.terminals.remote.script import quoted
from hermes.terminals.remote.search import find
from hermes.terminals.remote.terminal import RemoteTerminal

SECONDS = 120.0
PER_MEGABYTE = 2.0

_KINDS: dict[int, Literal["file", "folder", "link"]] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
}

# A path without links, also for what is not there yet: the last part that exists is resolved, the rest is kept.
RESOLVE = """\
rest=; n=0
while :; do
if [ -L "$p" ]; then
n=$((n + 1)); [ "$n" -lt 40 ] || break
t=$(readlink "$p")
case $t in /*) p=$t ;; *) p=${p%/*}/$t ;; esac
elif [ -d "$p" ]; then p=$(cd -P -- "$p" && pwd -P) || exit; break
elif [ -e "$p" ]; then t=$(cd -P -- "${p%/*}/" && pwd -P) || exit; p=${t%/}/${p##*/}; break
else rest=/${p##*/}$rest; p=${p%/*}; [ -n "$p" ] || p=/
fi
done
[ -z "$rest" ] || p=${p%/}$rest
"""

# Into the folder of a path, which must be the very one that was named: then it is held, whatever is swapped for a link.
_INTO = """\
d=${p%/*}; f=./${p##*/}
cd -P -- "${d:-/}" || exit 1
h=$(pwd -P); [ "${h%/}" = "$d" ] || { echo "$p: a link on the way leads elsewhere: follow it first" >&2; exit 1; }
"""

_ONLY_FILES = """\
if [ -L "$f" ]; then echo "$p is a link, not a file" >&2; exit 1
elif [ -d "$f" ]; then echo "$p is a folder, not a file" >&2; exit 1
elif [ -p "$f" ]; then echo "$p is a pipe, not a file" >&2; exit 1
elif [ -S "$f" ]; then echo "$p is a socket, not a file" >&2; exit 1
elif [ -e "$f" ] && ! [ -f "$f" ]; then echo "$p is a device, not a file" >&2; exit 1
fi
"""

_NOT_THESE = """\
case $p in /proc/[0-9]*/* | /proc/self/* | /proc/thread-self/* | /proc/kcore | /proc/kmsg | /proc/kpage*)
echo "$p is not a file to read: use a command such as ps" >&2; exit 1 ;; esac
"""

# What was opened must still be what has the name: a link may have been put there since it was looked at.
_READ = """\
[ -e "$f" ] || { echo "$p: No such file or directory" >&2; exit 1; }
exec 8<"$f" || exit 1
i=$(stat -L -c %d:%i /proc/self/fd/8 2>/dev/null) && [ "$i" != "$(stat -c %d:%i -- "$f")" ] &&
{ echo "$p was replaced while it was read: try again" >&2; exit 1; }
exec head -c LIMIT <&8
"""

# All or nothing, also if the connection breaks in the middle: what did not come whole takes no file's place.
_WRITE = """\
t=./NAME
trap 'rm -f -- "$t"' EXIT
if [ -e "$f" ]; then
[ -w "$f" ] || { echo "$p: Permission denied" >&2; exit 1; }
(umask 077; : >"$t") && chown "$(stat -c %u:%g -- "$f")" "$t" 2>/dev/null; chmod "$(stat -c %a -- "$f")" "$t" || exit 1
fi
cat >>"$t" || exit 1
[ "$(wc -c <"$t")" -eq SIZE ] || { echo "$p: the connection broke, nothing was changed" >&2; exit 1; }
sync -- "$t" 2>/dev/null
mv -f -- "$t" "$f"
"""

_NAMES = """\
[ -e "$p" ] || { echo "$p: No such file or directory" >&2; exit 1; }
cd -P -- "$p" || exit 1
[ "$(pwd -P)" = "$p" ] || { echo "$p: a link on the way leads elsewhere: follow it first" >&2; exit 1; }
for f in * .[!.]* ..?*; do
if [ -d "$f" ]; then printf '%s/\\000' "$f"; elif [ -e "$f" ] || [ -L "$f" ]; then printf '%s\\000' "$f"; fi
done
"""

_STAT = """\
[ -e "$p" ] || [ -L "$p" ] || exit 0
stat -c '%f %s %Y %y' -- "$p"
"""

_REMOVE = """\
[ -e "$f" ] || [ -L "$f" ] || { echo "$p: No such file or directory" >&2; exit 1; }
[ -L "$f" ] || ! [ -d "$f" ] || { echo "$p: Is a directory" >&2; exit 1; }
rm -f -- "$f"
"""


class RemoteFiles:
    """Files of the place of a terminal, seen from its folder."""

    def __init__(self, terminal: RemoteTerminal) -> None:
        self._terminal = terminal

    async def resolve(self, path: str) -> str:
        """The absolute path with ~ and every link followed, also for a file that is not there yet."""
        found = await self._do(path, f'{RESOLVE}printf %s "$p"')
        return posixpath.normpath(os.fsdecode(found))

    async def stat(self, path: str) -> Stat | None:
        """What is at this path; a link is not followed."""
        words = (await self._do(path, _STAT)).split()
        if not words:
            return None
        mode, size, seconds = int(words[0], 16), int(words[1]), int(words[2])
        fraction = re.fullmatch(rb"[\d:]+(\.\d+)", words[4])
        return Stat(
            kind=_KINDS.get(stat.S_IFMT(mode)) or "other",
            size=size,
            modified=seconds + (float(fraction[1]) if fraction else 0.0),
            mode=stat.S_IMODE(mode),
        )

    async def read(self, path: str, limit: int) -> bytes:
        """The first `limit` bytes of a regular file."""
        return await self._do(path, _NOT_THESE + _INTO + _ONLY_FILES + _READ.replace("LIMIT", str(limit)), exact=True)

    async def write(self, path: str, data: bytes) -> None:
        """Make the file hold exactly this, all or nothing, with its folders; its mode is kept."""
        text = _WRITE.replace("NAME", f".{new_id()}.hermes").replace("SIZE", str(len(data)))
        make = 'd=${p%/*}; mkdir -p -- "${d:-/}" || exit 1\n'
        await self._do(path, make + _INTO + _ONLY_FILES + text, stdin=data, exact=True)

    async def remove(self, path: str) -> None:
        """Remove a file; of a link, the link."""
        await self._do(path, _INTO + _REMOVE, exact=True)

    async def names(self, path: str) -> tuple[str, ...]:
        """Names in a folder, sorted; folders end in a slash."""
        listed = await self._do(path, _NAMES, exact=True)
        return tuple(sorted(printable(name) for name in listed.split(b"\0") if name))

    async def search(self, search: Search, limit: int) -> tuple[Match, ...]:
        """The first `limit` matches: of text by path and line, of files the newest first."""
        return await find(self._terminal.link, search, await self.resolve(search.path), limit)

    async def _do(self, path: str, text: str, stdin: bytes = b"", *, exact: bool = False) -> bytes:
        """What a script says about a path, which it finds in $p; `exact` if no link in it may be followed."""
        await self._terminal.ready()
        if "\0" in path:
            raise TerminalError(f"{path!r} is not a path: it holds a NUL")
        place = posixpath.join(self._terminal.cwd, self._terminal.expand(path))
        place = "/" + posixpath.normpath(place).lstrip("/") if exact else place
        output = bytearray()
        seconds = SECONDS + PER_MEGABYTE * len(stdin) / 1_000_000
        reply = await self._terminal.link.call(
            f"p={quoted(place)}\n{text}", output.extend, stdin=stdin, timeout=seconds
        )
        if reply.cut == "broken":
            raise TerminalError(f"{printable(place)}: the connection broke; try again")
        if reply.code is None:
            raise TerminalError(f"{printable(place)}: no answer in {seconds:.0f} s")
        if reply.code != 0:
            raise TerminalError(_reason(last_line(reply.said)) or f"{printable(place)}: it did not work")
        return bytes(output)


def _reason(complaint: str) -> str:
    """What a program said, without the names of the shell and the program before it."""
    return re.sub(
        r"^(?:[\w./-]*sh: )?(?:(?:eval: )?(?:line )?\d+: )?(?:(?:mkdir|cat|mv|rm|stat|head|cd): )?", "", complaint
    )
