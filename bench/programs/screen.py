"""The full screen with a long conversation on its page: screen.py URL MESSAGES. It says when the page is filled."""

import asyncio
import gc
import sys
import time

from textual.pilot import Pilot

from hermes import config
from hermes.app import App, Wish
from hermes.protocol.events import Event, ItemDone
from hermes.protocol.items import Reply, Text, UserMessage
from hermes.tui.desk import Started
from hermes.tui.screen import HermesScreen

URL, MESSAGES = sys.argv[1], int(sys.argv[2])
ANSWER = "It is **so**, as `f(x)` shows:\n\n```python\ndef f(x):\n    return x + 1\n```\n\n- one\n- two\n"


def messages(session: str) -> list[Event]:
    found: list[Event] = []
    for number in range(1, MESSAGES // 2 + 1):
        said = UserMessage(id=f"q{number}", turn=number, step=0, index=0, parts=(Text(f"Question {number}?"),))
        told = Reply(id=f"a{number}", turn=number, step=number, index=0, text=ANSWER)
        found += [Event(session=session, at=time.time(), body=ItemDone(item)) for item in (said, told)]
    return found


async def main() -> None:
    async with App(config.load()) as app:

        async def start() -> Started:
            return Started(app, Wish(model="custom:stream", base_url=URL), lambda app, wish: app.open(wish))

        screen = HermesScreen(app.settings, start)

        async def fill(pilot: Pilot[object]) -> None:
            while screen.desk is None:
                await asyncio.sleep(0.01)
            front = screen.desk.front
            for event in messages(front.session.id):
                front.see(event)
            screen.desk.drawn(front)
            gc.freeze()  # as Hermes does when it opens a session
            await asyncio.sleep(0.5)
            screen.activity.say("filled")

        await screen.run_async(auto_pilot=fill)


asyncio.run(main())
