"""An open session to which nobody says anything: idle.py SECONDS prints the CPU milliseconds that a second takes."""

import asyncio
import resource
import sys

from hermes import config
from hermes.app import App, Wish

SETTLE = 4.0
"""Seconds until what is done once behind the start is done."""


def own() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


async def main(seconds: float) -> None:
    async with App(config.load()) as app:
        session = await app.open(Wish())
        await asyncio.sleep(SETTLE)
        before = own()
        await asyncio.sleep(seconds)
        print((own() - before) / seconds)
        await session.close()


asyncio.run(main(float(sys.argv[1])))
