"""Adopts, changes, archives and restores a skill without end, until it is killed."""

import asyncio
import sys
from pathlib import Path

from hermes.learning.skills.birth import Source
from hermes.learning.skills.parse import FILE
from hermes.protocol.skills import Decision
from hermes.store.sqlite import SqliteStore
from tests.learning.skills.room import NEW, PROVEN, Room


async def work(folder: Path) -> None:
    async with SqliteStore(folder / "state.db") as store:
        room = Room(folder, store)
        await room.shelf.refresh()
        if NEW.name not in room.shelf.rows:
            await room.workshop.create(NEW, Source("agent"), PROVEN)
        print("ready", flush=True)
        number = 0
        while True:
            number += 1
            row = room.shelf.rows[NEW.name]
            if row.candidate:
                version = await room.store.version(NEW.name, row.candidate)
                assert version is not None
                await room.store.decide(
                    Decision(
                        skill=NEW.name,
                        expected=row.candidate,
                        state="trial",
                        version=row.candidate,
                        hash=version.hash,
                    ),
                    1.0,
                )
                await room.shelf.refresh()
            elif row.state == "archived":
                await room.life.restore(NEW.name)
            elif number % 3:
                files = await room.workshop.files(NEW.name)
                more = {f"references/{number % 5}.md": str(number).encode() * 1000}
                await room.workshop.change(NEW.name, {FILE: files[FILE], **more}, Source("agent"))
            else:
                await room.life.archive(NEW.name)


asyncio.run(work(Path(sys.argv[1])))
