"""The way to a place: opened when it is needed, tried again when it breaks, and let go when it is idle."""

import asyncio
import logging
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from hermes.protocol.errors import TerminalError
from hermes.terminals.marks import call_mark
from hermes.terminals.process import settled
from hermes.terminals.remote.channel import Channel
from hermes.terminals.remote.client import last_line
from hermes.terminals.remote.place import Place, Running, Take
from hermes.terminals.remote.script import Frame, Reply, line

log = logging.getLogger(__name__)

BACKOFF = (0.2, 0.8)
ENDING = 10.0
MOST_SPARE = 2


class NotStarted(TerminalError):
    """The script did not begin: trying again does nothing twice."""


class Job(Struct, frozen=True):
    """A script, what follows it on its input, who takes its output, and the text that ends what it started."""

    body: str
    take: Take
    stdin: bytes
    timeout: float | None
    mark: str
    end: str

    @property
    def lasting(self) -> bool:
        """Whether it can share a shell: a command cannot, for what it leaves behind may print at any time."""
        return not self.stdin and not self.end


class Link:
    """Runs scripts at a place. After `idle` seconds without one, and while `busy` says no, the place may rest."""

    def __init__(self, place: Place, terminal: str, idle: float) -> None:
        self.place = place
        self.busy: Callable[[], bool] = lambda: False
        self._terminal = terminal
        self._idle = idle
        self._opening = asyncio.Lock()
        self._under_way = 0
        self._timer: asyncio.TimerHandle | None = None
        self._resting: asyncio.Task[None] | None = None
        self._spare: list[Channel] = []
        self._left: set[Running] = set()
        self._closed = False

    async def call(
        self,
        body: str,
        take: Take = lambda data: None,
        *,
        stdin: bytes = b"",
        timeout: float | None = None,
        mark: str = "",
        end: str = "",
    ) -> Reply:
        """Run a script to its end; the reply says if it was cut off because it took too long or the connection broke.

        With `end` it is a command: that text ends what it started when it takes too long or we are cancelled.
        """
        job = Job(body, take, stdin, timeout, mark or call_mark(self._terminal), end)
        for pause in BACKOFF:
            try:
                return await self._once(job)
            except NotStarted as error:
                log.info("%s: %s; trying again", self.place.kind, error)
                await asyncio.sleep(pause)
        try:
            return await self._once(job)
        except NotStarted as error:
            raise TerminalError(f"{self.place.kind}: {error}") from error

    async def open(self) -> None:
        """Wake the place if it rests."""
        if self._closed:
            raise TerminalError("the terminal is closed")
        async with self._opening:
            try:
                await self.place.open()
            except TerminalError as error:
                self.place.doubt()
                raise NotStarted(str(error)) from error

    async def close(self) -> None:
        self._closed = True
        self._stop_timer()
        if self._resting:
            await asyncio.wait([self._resting])
        async with self._opening:
            self._drop_channels()
            for running in tuple(self._left):
                running.abandon()
            await self.place.close()

    async def _once(self, job: Job) -> Reply:
        self._under_way += 1
        self._stop_timer()
        try:
            await self.open()
            return await self._converse(job, await self._channel(job.lasting))
        finally:
            self._under_way -= 1
            self._set_timer()

    async def _channel(self, lasting: bool) -> Channel:
        while lasting and self._spare:
            if (spare := self._spare.pop()).is_free:
                return spare
        channel = Channel(lasting)
        await channel.open(self.place)
        return channel

    async def _converse(self, job: Job, channel: Channel) -> Reply:
        frame, running = Frame(job.mark, job.take), channel.running
        try:
            channel.give(frame, line(job.body, job.mark, lasting=job.lasting) + job.stdin)
            await channel.over_or_ended(job.timeout)
            cut = "" if frame.over.done() else "broken" if running.ended.done() else "late"
            if cut == "late":
                await self._end(running, job.end)
        except BaseException:
            await settled(asyncio.ensure_future(self._end(running, job.end)))
            running.abandon()
            raise
        finally:
            await channel.stop_feeding()
        frame.rest()
        if cut == "broken":
            self.place.doubt()
            if not frame.started:
                raise NotStarted(last_line(frame.complaint) or "the connection was closed")
        self._let_go(channel, over=not cut)
        return replace(frame.reply(), code=None, cut=cut) if cut else frame.reply()

    async def _end(self, running: Running, end: str) -> None:
        """End what a command has started; if the place cannot be reached in time, say so in the log and go on."""
        if not end or self._closed:
            return
        try:
            await self.call(end, timeout=ENDING)
        except TerminalError as error:
            log.warning("%s: what was running there could not be ended: %s", self.place.kind, error)
        await asyncio.wait([running.ended], timeout=0.3)

    def _let_go(self, channel: Channel, *, over: bool) -> None:
        """Keep on reading behind a command that is over, so that nothing it left behind dies of printing."""
        running = channel.running
        if not over or self._closed:
            running.abandon()
        elif channel.is_free:
            if len(self._spare) < MOST_SPARE:
                self._spare.append(channel)
            else:
                running.abandon()
        elif not running.ended.done():
            self._left.add(running)
            running.ended.add_done_callback(lambda _: self._left.discard(running))

    def _drop_channels(self) -> None:
        while self._spare:
            self._spare.pop().running.abandon()

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        if not self._under_way and not self._closed:
            self._stop_timer()
            self._timer = asyncio.get_running_loop().call_later(self._idle, self._idle_now)

    def _idle_now(self) -> None:
        self._timer = None
        if self.busy():
            self._set_timer()
        else:
            self._resting = asyncio.ensure_future(self._rest())

    async def _rest(self) -> None:
        async with self._opening:
            if not self._under_way and not self._closed:
                self._drop_channels()
                try:
                    await self.place.rest()
                except TerminalError as error:
                    log.warning("%s: %s", self.place.kind, error)
