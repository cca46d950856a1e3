"""A shell at a place, and the scripts that it is given: one with an input of its own, or many one after another."""

import asyncio
import logging

from hermes.terminals.remote.place import Place, Running
from hermes.terminals.remote.script import MANY, ONE, Frame

log = logging.getLogger(__name__)


class Channel:
    """A running shell that reads its scripts from its input; those of a `lasting` one must not read it themselves."""

    def __init__(self, lasting: bool) -> None:
        self._lasting = lasting
        self._frame: Frame | None = None
        self._running: Running | None = None
        self._feeding: asyncio.Task[None] | None = None

    async def open(self, place: Place) -> None:
        self._running = await place.start(MANY if self._lasting else ONE, self._output, self._errors)

    @property
    def running(self) -> Running:
        assert self._running, "it is not open"
        return self._running

    @property
    def is_free(self) -> bool:
        """Whether it can take another script."""
        return self._lasting and not self.running.ended.done()

    def give(self, frame: Frame, data: bytes) -> None:
        """Begin a script, with the input behind it; what comes back goes to the frame."""
        self._frame = frame
        self._feeding = asyncio.ensure_future(self._feed(data))

    async def over_or_ended(self, timeout: float | None) -> None:
        assert self._frame
        events = [self._frame.over, self.running.ended]
        await asyncio.wait(events, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)

    async def stop_feeding(self) -> None:
        if self._feeding:
            self._feeding.cancel()
            await asyncio.wait([self._feeding])
        if not self._lasting:
            self.running.close_input()

    async def _feed(self, data: bytes) -> None:
        """Give the shell its input; one that does not want all of it says why by its end."""
        try:
            await self.running.write(data)
        except OSError as error:
            log.debug("input not taken: %s", error)
        if not self._lasting:
            self.running.close_input()

    def _output(self, data: bytes) -> None:
        if self._frame:
            self._frame.output(data)

    def _errors(self, data: bytes) -> None:
        if self._frame:
            self._frame.errors(data)
