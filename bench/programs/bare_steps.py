"""The requests of a turn once more, two commits for each, and nothing else: bare_steps.py URL BODIES DATABASE [COMMAND...]

Prints the milliseconds of CPU that one step took. The first request, which opens the connection, is not counted; a
command is run once for each step, and its own CPU is not counted either.
"""

import asyncio
import resource
import sys
from pathlib import Path

import msgspec
from floor import ask, connect, open_database, write


def own() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


async def main(url: str, file: str, path: str, *command: str) -> None:
    bodies = [msgspec.json.decode(line) for line in Path(file).read_bytes().splitlines()]
    database = open_database(path)
    async with connect() as client:
        await ask(client, url, bodies[0])
        before = own()
        for body in bodies[1:]:
            write(database, "begun")
            if command:
                child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
                await child.communicate()
            write(database, await ask(client, url, body))
        print((own() - before) / len(bodies[1:]))


asyncio.run(main(*sys.argv[1:]))
