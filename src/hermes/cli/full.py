"""The full screen in this terminal, from the flags to the last line that it leaves behind."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from typing import TYPE_CHECKING

from hermes import config
from hermes.cli.logfiles import keep_off_the_screen

if TYPE_CHECKING:
    from hermes.tui.desk import Started

TERMINATED = 130


def fits(args: argparse.Namespace, environ: Mapping[str, str]) -> bool:
    """Whether the full screen is wanted and can be drawn here; --tui and --cli say so outright."""
    given = vars(args)
    # Textual draws on stderr, so that a program whose output is piped can still have a screen.
    if given.get("json") or not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return False
    if "screen" in given:
        return given["screen"] == "full"
    return environ.get("TERM", "dumb") != "dumb"


async def talk_on_screen(args: argparse.Namespace) -> int:
    """Talk until the person leaves; returns the exit code."""
    from hermes.tui.screen import HermesScreen  # Textual: a fifth of a second

    keep_off_the_screen()
    settings = config.load(use_file=not getattr(args, "ignore_user_config", False))
    async with AsyncExitStack() as stack:

        async def start() -> "Started":
            from hermes.tui.desk import Started

            opening = await asyncio.to_thread(import_module, "hermes.cli.open")
            app = await stack.enter_async_context(opening.open_app(args, screen.tell_progress))
            return Started(app, await opening.wish_of(app, args, can_ask=True), opening.open_session)

        screen = HermesScreen(settings, start)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, screen.exit, TERMINATED)
        try:
            code = await screen.run_async()
        finally:
            if screen.conversations is not None:
                await screen.conversations.close()
    if screen.error is not None:
        raise screen.error
    for one in screen.conversations.all if screen.conversations else ():
        if one.session.history.turn:
            print(f"{screen.looks.skin.branding.goodbye} {one.session.id}")
    return 1 if code is None else code
