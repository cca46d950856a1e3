"""The shell text that is sent elsewhere: how it gets there, and how its end is known.

What is started is always a small `sh -c`. It reads one line from its input, the script with everything but plain ASCII written as
octal escapes, and evaluates it; what follows on the input is the command's own. (Not as an argument: there it would be too
long, and `pkill -f` would find it.) The script frames its work with signs that hold a mark, so that the end of the output,
the exit code and a connection that broke are never guessed:

    output:  what the work printed  NUL mark NUL
    errors:  NUL mark start NUL  what the work said on descriptor 9 or 2  NUL mark code N NUL
"""

import asyncio
import shlex
from typing import Literal

from msgspec import Struct

from hermes.protocol.errors import TerminalError
from hermes.terminals.remote.place import Take

ONE = ("sh", "-c", 'IFS= read -r l; eval "$(printf %b "$l")"')
MANY = ("sh", "-c", 'while IFS= read -r l; do eval "$(printf %b "$l")"; done')

_FRAME = """\
exec 9>&2
printf '\\000{mark} start\\000' >&9
(
{body}
) {streams}
c=$?
printf '\\000{mark}\\000'
printf '\\000{mark} code %s\\000' "$c" >&9
{drain}
"""

# The docker command loses what it was about to print when the other side takes no more input.
_DRAIN = "exec cat >/dev/null 2>&1 9>&-"


def line(body: str, mark: str, *, lasting: bool) -> bytes:
    """A framed script as the one line that is read there; behind it in a `lasting` shell comes the next one."""
    if "\0" in body:
        raise TerminalError("a command cannot hold a NUL character: put it into a file and use that")
    try:
        data = _FRAME.format(
            mark=mark, body=body, streams="</dev/null" if lasting else "", drain="" if lasting else _DRAIN
        ).encode()
    except UnicodeEncodeError as error:
        raise TerminalError(
            f"the command is not valid text near {error.object[error.start - 20 : error.start]!r}"
        ) from error
    plain = (chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\0{byte:03o}" for byte in data)
    return "".join(plain).encode() + b"\n"


def quoted(text: str) -> str:
    return shlex.quote(text)


class Reply(Struct, frozen=True):
    """How the work ended and what it said beside its output; `late` or `broken` if it was cut off, and then without a code."""

    code: int | None
    said: bytes
    cut: Literal["", "late", "broken"] = ""


class Frame:
    """Takes the two streams of one script apart; `over` is done when the work has said its code and all its output."""

    def __init__(self, mark: str, take: Take) -> None:
        self._take = take
        self._end = f"\0{mark}\0".encode()
        self._start = f"\0{mark} start\0".encode()
        self._code = f"\0{mark} code ".encode()
        self._held = b""
        self._errors = bytearray()
        self._output_over = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def output(self, data: bytes) -> None:
        """Hand on what came, but nothing that could be the beginning of the end sign."""
        if self._output_over:
            return
        data = self._held + data
        at = data.find(self._end)
        if at >= 0:
            self._output_over, self._held = True, b""
            self._hand_on(data[:at])
            self._look()
            return
        keep = next((size for size in range(len(self._end) - 1, 0, -1) if data.endswith(self._end[:size])), 0)
        self._held = data[len(data) - keep :]
        self._hand_on(data[: len(data) - keep])

    def errors(self, data: bytes) -> None:
        self._errors += data
        self._look()

    def rest(self) -> None:
        """Nothing more will come: hand on what was held back."""
        self._hand_on(self._held)
        self._held = b""

    @property
    def started(self) -> bool:
        return self._start in self._errors

    @property
    def complaint(self) -> bytes:
        """What was said before the script began, which is the way's own doing."""
        return bytes(self._errors.partition(self._start)[0])

    def reply(self) -> Reply:
        said, found, code = bytes(self._errors.partition(self._start)[2]).partition(self._code)
        number, whole, _ = code.partition(b"\0")
        return Reply(int(number) if found and whole else None, said)

    def _hand_on(self, data: bytes) -> None:
        if data:
            self._take(data)

    def _look(self) -> None:
        if self._output_over and not self.over.done() and self._code in self._errors and self.reply().code is not None:
            self.over.set_result(None)
