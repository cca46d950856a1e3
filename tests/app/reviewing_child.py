"""A process that reviews what others left, until it is killed: reviewing_child.py, with its home in the environment."""

import asyncio
import os

from hermes import config
from hermes.app import App, Wish
from hermes.app.reviews import Reviews


async def main() -> None:
    async with App(config.load(dict(os.environ))) as app:
        session = await app.open(Wish(cwd=os.environ["HOME"], can_ask=False))
        Reviews(app, settling=0.0, idle=0.05).follow(session)
        await asyncio.sleep(60)


asyncio.run(main())
