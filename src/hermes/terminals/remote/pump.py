r"""A program behind a screen: its two outputs and its input go through one pseudo-terminal, byte for byte, and are paced.

Some places offer nothing but a screen with a shell that waits for typing, mix both outputs on it, and hang up on a reader
that is slow. A script runs the program there, and speaks with us instead:

    from there:  mark NL, then  o N NL bytes | r N NL bytes   output, error output (each waits for its answer)
                                g NL                          the input has come, other lines may follow
                                i NL                          the program took it, the next may come
                                x CODE NL                     the program has ended
    from here:   o NL | r NL    that was taken, the next may come
                 d N NL bytes   input; nothing follows before it has come, for who reads it there may read too far
                 e NL           there is no more input
"""

import asyncio
import shlex
from collections.abc import Callable, Sequence

from hermes.terminals.remote.place import Take

SCRIPT = "HERMES_PUMP"
LONGEST_INPUT = 262_144
NO_MORE = b"e\n"

_SCRIPT = r"""
unset HERMES_PUMP
stty raw -echo
d=$(mktemp -d) || exit 1
mkfifo "$d/in" "$d/o" "$d/r" "$d/turn" "$d/o.next" "$d/r.next" || exit 1
exec 7<&0 3<>"$d/turn" 4<>"$d/o.next" 5<>"$d/r.next"
echo >&3
say() { read -r z <&3; printf "$@"; echo >&3; }
pump() {
while dd bs=65536 count=1 2>/dev/null >"$d/$1.part" && [ -s "$d/$1.part" ]; do
read -r z <&3
printf '%s %s\n' "$1" $(wc -c <"$d/$1.part")
cat "$d/$1.part"
echo >&3
read -r z <&"$2"
done
}
take() {
trap '' PIPE
exec 6>"$d/in"
while read -r l n; do
case $l in
d)
head -c "$n" >"$d/in.part"
say 'g\n'
{ cat "$d/in.part" >&6; say 'i\n'; } 2>/dev/null &
;;
e) exec 6>&- ;;
o) echo >&4 ;;
r) echo >&5 ;;
esac
done
}
printf 'MARK\n'
if command -v setsid >/dev/null; then set -- setsid "$@"; fi
"$@" <"$d/in" >"$d/o" 2>"$d/r" 3<&- 4<&- 5<&- 7<&- &
program=$!
pump o 4 <"$d/o" &
output=$!
pump r 5 <"$d/r" &
errors=$!
take <&7 &
taker=$!
wait "$program"
code=$?
wait "$output"
wait "$errors"
say 'x %s\n' "$code"
kill "$taker"
rm -rf "$d"
"""


def script(mark: str) -> str:
    """The text that must be in the variable SCRIPT of the shell on the screen."""
    return _SCRIPT.replace("MARK", mark)


def typed(argv: Sequence[str]) -> bytes:
    """The line that is typed to run a program."""
    return f' exec sh -c "${SCRIPT}" sh {shlex.join(argv)}\n'.encode()


def packed(data: bytes) -> bytes:
    """Input as it is sent."""
    return b"d %d\n" % len(data) + data


def is_input(line: bytes) -> bool:
    """Whether nothing may be sent behind this before it has come."""
    return line.startswith(b"d ")


class Unpacked:
    """Takes apart what comes from there; `answer` is given each line that must go back.

    `come` and `taken` are set when input has come there, and when the program took it.
    """

    def __init__(self, mark: str, output: Take, errors: Take, answer: Callable[[bytes], None]) -> None:
        self.begun = asyncio.Event()
        self.come = asyncio.Event()
        self.taken = asyncio.Event()
        self.code: int | None = None
        self._mark = f"{mark}\n".encode()
        self._takes = {b"o": output, b"r": errors}
        self._answer = answer
        self._held = b""
        self._stream = b""
        self._missing = 0

    def feed(self, data: bytes) -> None:
        self._held += data
        if not self.begun.is_set():
            _, mark, rest = self._held.partition(self._mark)
            if not mark:
                return
            self._held = rest
            self.begun.set()
        while self._held and self._next():
            continue

    def _next(self) -> bool:
        """Take one part off what is held; False if it is not whole yet."""
        if self._missing:
            part, self._held = self._held[: self._missing], self._held[self._missing :]
            self._missing -= len(part)
            self._takes[self._stream](part)
            if not self._missing:
                self._answer(self._stream + b"\n")
            return True
        line, whole, rest = self._held.partition(b"\n")
        if not whole:
            return False
        self._held = rest
        match line.split():
            case [b"g"]:
                self.come.set()
            case [b"i"]:
                self.taken.set()
            case [b"x", code]:
                self.code = int(code)
            case [stream, size]:
                self._stream, self._missing = stream, int(size)
        return True
