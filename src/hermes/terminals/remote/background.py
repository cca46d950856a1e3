"""Processes elsewhere that outlive the call, the connection and a crash of ours: their output is kept in a file there.

folder/ID.sh    what runs it                   folder/ID.in    a pipe that it reads
folder/ID.out   what it printed                folder/ID.hold  who keeps the pipe open
folder/ID.base  how much was cut off that      folder/ID.pid   its number and when it started
folder/ID.code  how it ended
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import ProcessInfo
from hermes.terminals.output import Ring, decoded
from hermes.terminals.remote.commands import end
from hermes.terminals.remote.link import BACKOFF, Link
from hermes.terminals.remote.script import quoted

log = logging.getLogger(__name__)

FOLLOWED_FOR = 60
MOST_KEPT = 16_000_000
PATIENCE = 3.0

_LAUNCH = """\
umask 077
mkdir -p {folder} && [ -O {folder} ] && mkfifo {path}.in && : >{path}.out || exit 2
cat >{path}.sh <<'RUN_{mark}'
sleep 999999999 >{path}.in &
h=$!
echo "$h" >{path}.hold
{command_line}
c=$?
kill "$h"
echo "$c" >{path}.end
mv {path}.end {path}.code
rm -f {path}.in {path}.sh {path}.hold
RUN_{mark}
if command -v setsid >/dev/null; then set -- setsid; fi
"$@" sh {path}.sh </dev/null >/dev/null 2>&1 9>&- &
IFS= read -r s </proc/$!/stat && p=$! && set -- ${{s##*) }} && echo "$p ${{20}}" >{path}.pid
cat {path}.pid
"""

_FOLLOW = """\
n=0; quiet=0
until [ "$n" -ge {rounds} ]; do
read -r pid ticks <{path}.pid || exit 3
over=; [ -e {path}.code ] && over=1
[ -n "$over" ] || kill -0 "$pid" 2>/dev/null || [ -e {path}.code ] || exit 3
base=$(cat {path}.base 2>/dev/null || echo 0)
at=$((${{at-{offset}}} > base ? ${{at-{offset}}} : base))
size=$(($(wc -c <{path}.out) + base))
if [ "$size" -gt "$at" ]; then
tail -c +$((at - base + 1)) {path}.out | head -c $((size - at)); at=$size; quiet=0
fi
[ -z "$over" ] || {{ cat {path}.code >&9; exit 0; }}
if [ $((at - base)) -gt {most} ]; then echo "$at" >{path}.base; : >{path}.out; fi
quiet=$((quiet + 1)); pause=0.05; [ "$quiet" -lt 20 ] || pause=0.25
sleep $pause 2>/dev/null || sleep 1
n=$((n + 1))
done
exit 4
"""


def streams(folder: str, name: str) -> str:
    """Where the input and output of a process lead."""
    path = quoted(f"{folder}/{name}")
    return f"<{path}.in >>{path}.out"


def launch(folder: str, name: str, command_line: str, mark: str) -> str:
    """Text that starts a process on its own and says its number and start time."""
    path = quoted(f"{folder}/{name}")
    return _LAUNCH.format(folder=quoted(folder), path=path, mark=mark, command_line=command_line)


class FarBackground:
    """One such process, and the ring of its newest output."""

    def __init__(
        self,
        info: ProcessInfo,
        link: Link,
        folder: str,
        mark: str,
        on_output: Callable[[str], None] | None,
        on_exit: Callable[[ProcessInfo], None] | None,
    ) -> None:
        self.info = info
        self.ended_at: float | None = None
        self._link = link
        self._path = quoted(f"{folder}/{info.id}")
        self._mark = mark
        self._ring = Ring()
        self._told = decoded(on_output) if on_output else None
        self._on_exit = on_exit
        self._writing = asyncio.Lock()
        self._input_closed = False
        self._killed = False
        self._over = asyncio.get_running_loop().create_task(self._follow())

    def output(self, offset: int | None = None, limit: int | None = None) -> tuple[str, int]:
        """Output from byte `offset` on (None: what is new since the last such call), and the offset behind it."""
        return self._ring.read(offset, limit, final=self._over.done())

    async def wait(self, timeout: float) -> ProcessInfo:
        await asyncio.wait([self._over], timeout=timeout)
        return self.info

    async def write(self, data: bytes) -> None:
        """Write all of it; waits while the process does not read."""
        async with self._writing:
            if self._input_closed or self._over.done():
                raise TerminalError(f"{self.info.id} takes no more input: its input is closed")
            writing = asyncio.ensure_future(
                self._link.call(f"[ -p {self._path}.in ] && cat 1<>{self._path}.in", stdin=data)
            )
            await asyncio.wait([writing, self._over], return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                writing.cancel()
                await asyncio.wait([writing])
            if writing.cancelled() or writing.result().code != 0:
                raise TerminalError(f"{self.info.id} takes no more input: it has ended")

    async def close_input(self) -> None:
        async with self._writing:
            self._input_closed = True
            await self._link.call(f'kill "$(cat {self._path}.hold)" 2>/dev/null')

    async def kill(self) -> ProcessInfo:
        """End the process and all that it has started, also what it left behind after its own end."""
        self.expect_end()
        await self._link.call(end(self._mark))
        await asyncio.wait([self._over], timeout=PATIENCE)
        return self.info

    def expect_end(self) -> None:
        """From now on an end of the process is our doing."""
        if not self._over.done():
            self._killed = True

    async def forget(self) -> None:
        """Stop looking after it, wherever it is."""
        self._over.cancel()
        await asyncio.wait([self._over])

    def _take(self, data: bytes) -> None:
        self._ring.add(data)
        if self._told:
            self._told(data, False)

    async def _follow(self) -> None:
        try:
            state, code = await self._to_the_end()
        except TerminalError as error:
            log.warning("%s is lost: %s", self.info.id, error)
            state, code = "lost", None
        self.ended_at = time.monotonic()
        self.info = replace(self.info, state="killed" if self._killed else state, code=code)
        if self._told:
            self._told(b"", True)
        if self._on_exit:
            self._on_exit(self.info)

    async def _to_the_end(self) -> tuple[Literal["exited", "lost"], int | None]:
        """Follow it again and again, each time from where the last one ended: a follower of a dead owner ends by itself."""
        while True:
            text = _FOLLOW.format(path=self._path, offset=self._ring.end, rounds=FOLLOWED_FOR * 4, most=MOST_KEPT)
            reply = await self._link.call(text, self._take)
            if reply.code == 0:
                return "exited", int(reply.said)
            if reply.code == 3:
                return "lost", None
            if reply.code is None:
                await asyncio.sleep(BACKOFF[0])
