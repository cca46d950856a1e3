"""An open session to which nobody says anything: idle.py SETTLE SECONDS prints the CPU milliseconds that a second takes.

The first SETTLE seconds are not counted: something is done once behind the start.
"""

import asyncio
import resource
import sys

from hermes import config
from hermes.app import App, Wish


def own() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


async def main(settle: float, seconds: float) -> None:
    async with App(config.load()) as app:
        session = await app.open(Wish())
        await asyncio.sleep(settle)
        before = own()
        await asyncio.sleep(seconds)
        print((own() - before) / seconds)
        await session.close()


asyncio.run(main(float(sys.argv[1]), float(sys.argv[2])))
