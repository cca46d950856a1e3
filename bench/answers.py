"""The model server of the bench, in a process of its own: it echoes, or asks for as many tool steps as it is told.

The prompt `50 read_file {"path": "{n}.txt"}` makes it ask for read_file fifty times, with the number of the step for
{n}, and then say that it is done. Run as: python -m bench.answers LOG
"""

import asyncio
import re
import signal
import sys
from pathlib import Path

from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Call, Reply

TASK = re.compile(r"(\d+) (\w+) (\{.*\})", re.DOTALL)


def answer(request: Request) -> Reply:
    """What the request's prompt and the results so far call for."""
    text = request.user_text
    task = TASK.fullmatch(text)
    if task is None:
        return Reply(text)
    count, tool, args = task.groups()
    done = len(request.results)
    if done >= int(count):
        return Reply("done")
    return Reply(calls=(Call(tool, args.replace("{n}", str(done))),))


async def serve(log: Path) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with ModelServer(answer, models=("echo",), log=log) as server:
        print(server.url, flush=True)
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
