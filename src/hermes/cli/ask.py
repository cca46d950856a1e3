"""Questions to the person at the terminal."""

import asyncio
import sys
import termios

from hermes.protocol.errors import UserError


async def confirm(question: str) -> bool:
    """Yes or no, and no if nothing is typed; where nobody sits, -y must have been given."""
    if not sys.stdin.isatty():
        raise UserError(f"{question} There is nobody to ask", "add -y to do it without a question")
    return (await _typed(f"{question} [y/N] ")).lower() in ("y", "yes")


async def read_secret(name: str) -> str:
    """A secret that is typed without being shown, or the first line of stdin if that is no terminal."""
    if sys.stdin.isatty():
        secret = await _typed(f"{name} (not shown): ", hidden=True)
    else:
        secret = sys.stdin.readline().strip()
    if not secret:
        raise UserError(f"no value for {name} was given", "nothing was changed")
    return secret


async def _typed(prompt: str, *, hidden: bool = False) -> str:
    """A line from the terminal. It is waited for in the event loop, so that Ctrl+C ends the command at any moment."""
    terminal = sys.stdin.fileno()
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    before = termios.tcgetattr(terminal)
    if hidden:
        silent = [*before]
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
    print(prompt, end="", file=sys.stderr, flush=True)
    loop.add_reader(terminal, ready.set)
    try:
        await ready.wait()
        return sys.stdin.readline().strip()
    finally:
        loop.remove_reader(terminal)
        if hidden:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            print(file=sys.stderr)
