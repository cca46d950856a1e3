"""A line that the person at the terminal types for `hermes mcp`."""

import asyncio
import sys


async def read_line(prompt: str) -> str | None:
    """What is typed behind a prompt, which follows all that was printed; None at the end of the input.

    It can be cancelled: nothing waits in a thread.
    """
    sys.stdout.flush()
    print(prompt, end="", file=sys.stderr, flush=True)
    if sys.stdin.isatty():
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        terminal = sys.stdin.fileno()
        loop.add_reader(terminal, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(terminal)
    line = sys.stdin.readline()
    if not line:
        print(file=sys.stderr)
    return line.strip() if line else None
