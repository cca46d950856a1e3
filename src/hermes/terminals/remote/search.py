"""Search elsewhere: by the ripgrep that is there, else by our own sent to the Python that is there, else by grep and find."""

import asyncio
import posixpath
import re
from pathlib import Path

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import Match, Search
from hermes.terminals import grep
from hermes.terminals import search as local
from hermes.terminals.paths import printable
from hermes.terminals.remote.client import last_line
from hermes.terminals.remote.link import Link
from hermes.terminals.remote.script import quoted

MOST_BYTES = 20_000_000

_SCRIPT = """\
p={root}
case $p in /proc | /proc/*) p= ;; esac
[ -e "$p" ] || {{ echo {root}": there is nothing to search" >&2; exit 2; }}
if [ -d "$p" ]; then cd -- "$p"; t=.; else cd -- "${{p%/*}}/"; t=${{p##*/}}; fi || exit 2
export LC_ALL=C.UTF-8
if command -v rg >/dev/null; then set -- rg
elif python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
program=$(cat); set -- python3 -I -S -X utf8 -c "$program"
fi
[ "$t" = . ] && printf 'folder ' || printf 'file '
if [ $# -gt 0 ]; then echo rg; {like_rg}
else echo grep; {like_grep}
fi | head -c {most}
"""

# With what a bare container has. Hidden files and folders are left out, as rg does.
_LINES = """\
find "$t" ! -name . -name '.*' -prune -o -type f {name} -print | sort | while IFS= read -r f; do
r=$(grep -n -E {options} -e {pattern} -- "$f") && printf '%s\\000%s\\000' "$f" "$r"
done"""
_FILES = """find "$t" ! -name . -name '.*' -prune -o -type f {name} -exec stat -c '%Y %n' {{}} +"""
_DATED = " | xargs -0 -r stat -c '%Y %n' --"

# A hit has a colon behind its number, a line of context a dash.
_NUMBERED = re.compile(rb"(\d+)([:-])(.*)")


async def find(link: Link, search: Search, root: str, limit: int) -> tuple[Match, ...]:
    """The first `limit` matches below `root`, lines by path and number, files the newest first."""
    output = bytearray()
    body = _SCRIPT.format(
        root=quoted(root), like_rg=_like_rg(search, root, limit), like_grep=_like_grep(search, limit), most=MOST_BYTES
    )
    program = await asyncio.to_thread(Path(grep.__file__).read_bytes)
    reply = await link.call(body, output.extend, stdin=program, timeout=local.SECONDS)
    if reply.cut == "broken":
        raise TerminalError("the connection broke during the search; try again")
    if reply.code is None:
        raise TerminalError(f"the search took more than {local.SECONDS:.0f} s; name a smaller folder or a glob")
    if complaint := reply.said.decode(errors="replace").splitlines():
        if reply.code == 2:
            raise TerminalError(complaint[-1])
        reason = next((line for line in complaint if line.startswith("error")), last_line(reply.said))
        raise TerminalError(f"cannot search: {reason}")
    how, _, found = bytes(output).partition(b"\n")
    what, program_used = how.split()
    folder = root if what == b"folder" else posixpath.dirname(root)
    if search.target == "files":
        return _newest(found, folder, limit)
    if program_used == b"rg":
        lines = local.Lines(folder, limit)
        lines.take(found)
        return local.first(lines.matches, limit, search.context)
    return local.first(_from_grep(found, folder), limit, search.context)


def _like_rg(search: Search, root: str, limit: int) -> str:
    here = ["--one-file-system"] if root == "/" else []
    words = " ".join(quoted(word) for word in [*local.arguments(search, limit), *here])
    return f'"$@" {words} -- "$t"' + (_DATED if search.target == "files" else "")


def _like_grep(search: Search, limit: int) -> str:
    if search.target == "files":
        return _FILES.format(name=_name(search.pattern, search.ignore_case))
    options = f"-m {limit} -C {search.context}" + (" -i" if search.ignore_case else "")
    name = _name(search.glob) if search.glob else ""
    return _LINES.format(name=name, options=options, pattern=quoted(search.pattern))


def _name(glob: str, ignore_case: bool = False) -> str:
    """A glob as find's; braces and `**` are not known to it."""
    negated, glob = ("! ", glob[1:]) if glob.startswith("!") else ("", glob)
    test = "path" if "/" in glob else "name"
    pattern = f"./{glob.lstrip('/')}" if test == "path" else glob
    return f"{negated}-{'i' if ignore_case else ''}{test} {quoted(pattern)}"


def _from_grep(found: bytes, folder: str) -> list[Match]:
    matches: list[Match] = []
    records = found.split(b"\0")
    for path, lines in zip(records[::2], records[1::2], strict=False):
        where = printable(posixpath.join(folder.encode(), path.removeprefix(b"./")))
        for line in lines.split(b"\n"):
            if parts := _NUMBERED.fullmatch(line):
                text = parts[3].decode(errors="replace").rstrip("\r")[: local.LONGEST_TEXT]
                matches.append(Match(where, int(parts[1]), text, parts[2] == b":"))
    return matches


def _newest(found: bytes, folder: str, limit: int) -> tuple[Match, ...]:
    dated: list[tuple[int, bytes]] = []
    for line in found.splitlines():
        seconds, _, name = line.partition(b" ")
        dated.append((-int(seconds), name.removeprefix(b"./")))
    return tuple(Match(printable(posixpath.join(folder.encode(), name)), 0, "") for _, name in sorted(dated)[:limit])
