"""Keeps a session's view within its model's window: masks at once, builds summaries in the background, hands over what is ready."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from msgspec import Struct

from hermes.agent.compaction import plan
from hermes.agent.compaction.leaf import Summarise, instructions, leaf, source
from hermes.agent.compaction.plan import KEPT, LEAST_SPAN, MASK_AT, NOW_AT, SUMMARISE_AT, Span
from hermes.agent.history import History
from hermes.agent.recorder import Recorder
from hermes.protocol.errors import ModelError
from hermes.protocol.events import Changed, ItemDone, Notice, Usage
from hermes.protocol.ids import new_id
from hermes.protocol.items import Summary

log = logging.getLogger(__name__)
MOST_FAILURES = 3
"""Summaries in a row that may fail before none is tried any more; masking goes on."""

WANTED_ONLY = "the conversation does not fit any more, and compression.enabled is false: /compress condenses it"


class Preview(Struct, frozen=True):
    """What compaction would do now, in tokens."""

    used: int
    window: int
    masks: int
    spans: int
    after: int


class Compactor:
    """One per session. `used` tells how many tokens the next request would have; `charge` hears what summaries cost while
    a turn waits for them; `renew` is called when the prefix breaks anyway. If it does nothing `by_itself`, the view is
    shortened only when somebody wants it."""

    def __init__(
        self,
        history: History,
        recorder: Recorder,
        *,
        window: Callable[[], int],
        used: Callable[[], int],
        summarise: Summarise | None,
        by_itself: bool = True,
        charge: Callable[[Usage], None],
        renew: Callable[[], Awaitable[None]],
    ) -> None:
        self.between_turns = True
        self._history, self._recorder = history, recorder
        self._window, self._used = window, used
        self._summarise, self._charge, self._renew = summarise, charge, renew
        self._by_itself = by_itself
        self._ready: list[tuple[Span, str]] = []
        self._building: asyncio.Task[None] | None = None
        self._failures = 0

    @property
    def share(self) -> float:
        """How much of the window the next request takes."""
        return self._used() / self._window()

    async def make_room(self, *, refused: bool = False) -> bool:
        """Shorten the view at a turn's boundary, or anywhere if the next request would hardly fit or was refused."""
        before = self._history.context_estimate()
        urgent = refused or self.share >= NOW_AT
        if not (urgent or self.between_turns):
            return False
        self.between_turns = False
        if not self._by_itself:
            made = self._apply(self._built())
            if refused and not made:
                self._recorder.note(Notice(WANTED_ONLY, code="compaction"))
            await self._announce(made, before)
            return bool(made)
        made = self._apply(self._masks(urgent=urgent)) + self._apply(self._built())
        if self.share >= NOW_AT or (refused and not made):
            self._recorder.note(Notice("making room: older steps are being condensed", code="compaction"))
            await self._build_now(refused=refused)
            made += self._apply(self._built())
        if refused and not made:
            made += self._apply(self._masks(wanted=0.0))
        await self._announce(made, before)
        return bool(made)

    def end_turn(self) -> None:
        """Begin to build in the background if the window is filling up."""
        if self._by_itself and self._building is None and (self.share >= SUMMARISE_AT or plan.crowds(self._history)):
            window = self._window()
            self._begin(plan.spans(self._history, window, KEPT, plan.span_size(window) // 2), "")

    def condense(self, focus: str, exchanges: int | None = None) -> None:
        """Do it because somebody wants it, to all but the last exchanges if they say how many to keep. A running turn goes
        on, and the next one has the shorter view."""
        history, window = self._history, self._window()
        kept = plan.share_of_last(history, window, exchanges) if exchanges else self._kept_if_wanted()
        preview = self.preview(kept)
        if not (preview.masks or preview.spans):
            return self._recorder.note(Notice("there is nothing to condense yet", code="compaction"))
        self._recorder.note(Notice("condensing older steps", code="compaction"))
        found = plan.spans(history, window, kept, LEAST_SPAN)
        self._begin(found, focus, then=lambda: self._splice(kept))

    def preview(self, kept: float | None = None) -> Preview:
        history, window = self._history, self._window()
        kept = self._kept_if_wanted() if kept is None else kept
        masks = plan.to_mask(history, window, kept, 0)
        found = plan.spans(history, window, kept, LEAST_SPAN)
        saved = sum(span.tokens - min(plan.LEAF, span.tokens // 4) for span in found)
        used = self._used()
        return Preview(used, window, len(masks), len(found), max(0, used - saved))

    async def close(self) -> None:
        if self._building is not None:
            self._building.cancel()
            await asyncio.gather(self._building, return_exceptions=True)

    # What is due

    def _masks(self, *, urgent: bool = False, wanted: float | None = None) -> Iterator[Summary]:
        """The mask that is due at this moment, if one is; if it is `wanted`, of all but this share of the window."""
        if not (urgent or wanted is not None or self.share >= MASK_AT):
            return
        kept = KEPT if wanted is None else wanted
        least = self._window() // 20 if wanted is None else 0
        if covers := plan.to_mask(self._history, self._window(), kept, least):
            yield Summary(id=new_id(), **self._place(), source="compaction", kind="mask", covers=covers, text="")

    def _built(self) -> Iterator[Summary]:
        """Summaries that were built and still fit: what they stand for is in the view, or is a leaf there."""
        built, self._ready = self._ready, []
        for span, text in built:
            there = {item.id for item in self._history.view()}
            made = leaf(span, text, **self._place())
            if made is not None and there.issuperset(made.covers):
                yield made

    # Building

    def _begin(self, found: list[Span], focus: str, then: Callable[[], Awaitable[None]] | None = None) -> None:
        async def build() -> None:
            try:
                await self._build(found, focus)
                if then is not None:
                    await then()
            finally:
                self._building = None

        found += plan.crowds(self._history)
        self._building = asyncio.create_task(build())

    async def _build_now(self, *, refused: bool) -> None:
        """Have summaries ready; where no model can make them and the provider has refused, what code can tell must do."""
        if self._building is not None:
            await asyncio.wait([self._building])
        if self._ready:
            return
        found = plan.spans(self._history, self._window(), KEPT / 2 if refused else KEPT, LEAST_SPAN // 4)
        await self._build(found, "")
        if refused and not self._ready:
            self._ready = [(span, "") for span in found]

    async def _build(self, found: list[Span], focus: str) -> None:
        for span in found:
            if self._summarise is None or self._failures >= MOST_FAILURES:
                return
            try:
                made = await self._summarise(source(span.items), instructions(focus))
            except ModelError as error:
                self._failures += 1
                log.warning("no summary, old results are only masked: %s", error)
                return
            self._recorder.note(made.usage)
            self._charge(made.usage)
            if made.text.strip():
                self._failures = 0
                self._ready.append((span, made.text))
            else:
                self._failures += 1

    # Taking over

    async def _splice(self, kept: float) -> None:
        """Take over at once what somebody waits for, unless a turn is running: the next one will."""
        if self._history.in_turn:
            return
        before = self._history.context_estimate()
        made = self._apply(self._built()) + self._apply(self._masks(wanted=kept))
        await self._announce(made, before)
        await self._recorder.commit_or_tell()

    def _apply(self, summaries: Iterator[Summary]) -> list[str]:
        made: list[str] = []
        for summary in summaries:
            self._recorder.note(ItemDone(summary))
            made.append(summary.id)
        return made

    async def _announce(self, made: list[str], before: int) -> None:
        if made:
            self._recorder.note(Changed("view", why="compaction", items=tuple(made)))
            await self._renew()
            after = self._history.context_estimate()
            text = f"condensed: about {before:,} tokens became {after:,}; nothing is lost"
            self._recorder.note(Notice(text, code="compaction"))

    def _kept_if_wanted(self) -> float:
        """Somebody who asks for it means what there is, not what the window could hold."""
        return KEPT * min(1.0, self.share)

    def _place(self) -> dict[str, Any]:
        history = self._history
        return {"turn": history.turn, "step": history.step, "index": history.next_index()}
