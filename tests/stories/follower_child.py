"""Another process beside a session's owner: follower_child.py DATABASE SESSION follows it, says something, prints the answer.

It has no lease: it reads events and puts ops, both through the store.
"""

import asyncio
import sys
from pathlib import Path

from hermes.protocol.events import Event, ItemDone, TurnEnded, TurnStarted
from hermes.protocol.items import Reply, Text
from hermes.protocol.ops import Close, Say
from hermes.store.sqlite import SqliteStore


class Follower:
    """Reads a session's events as another process writes them."""

    def __init__(self, store: SqliteStore, session: str) -> None:
        self.events: list[Event] = []
        self._store, self._session = store, session

    async def ending_of(self, op: str) -> TurnEnded:
        """Wait for the end of the turn that an op began."""
        state = -1
        while True:
            after = self.events[-1].seq or 0 if self.events else 0
            self.events += await self._store.events(self._session, after)
            turn = next((event.turn for event in self.events if event.body == TurnStarted(op)), None)
            for event in self.events:
                if event.turn == turn and isinstance(event.body, TurnEnded):
                    return event.body
            state = await self._store.changed(state)

    def last_answer(self) -> str:
        items = [event.body.item for event in self.events if isinstance(event.body, ItemDone)]
        return next(item.text for item in reversed(items) if isinstance(item, Reply))


async def main(database: Path, session: str) -> None:
    async with SqliteStore(database) as store:
        follower = Follower(store, session)
        said = Say(by="somebody else", parts=(Text("from elsewhere"),))
        _, fresh = await store.put(session, said)
        _, again = await store.put(session, said)
        ended = await follower.ending_of(said.id)
        print(ended.reason, follower.last_answer(), fresh, again, await store.claim(session, "x:1:1:x"), flush=True)
        await store.put(session, Close(reason="told to"))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
