"""Show a stored session's events again, as they came.

In a terminal the pauses are kept, up to two seconds each; --speed 4 makes them a quarter as long, --fast leaves them out.
With --json, or in a pipe, there are none unless --speed is given.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable
from contextlib import aclosing

from hermes.cli.open import open_app
from hermes.cli.show import Show
from hermes.cli.stored import events_of, find
from hermes.protocol.errors import UserError
from hermes.protocol.events import Event
from hermes.protocol.wire import encode_event

LONGEST_PAUSE = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="SESSION", help="id, beginning of an id, or title")
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="every event as one line of JSON"
    )
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--speed", metavar="X", type=float, help="so many times as fast as it was")
    pace.add_argument("--fast", action="store_true", help="without pauses")


async def run(args: argparse.Namespace) -> int:
    if args.speed is not None and not args.speed > 0:
        raise UserError("--speed must be above 0", "--fast leaves the pauses out")
    as_json: bool = vars(args).get("json", False)
    speed = args.speed or (0.0 if args.fast or as_json or not sys.stdout.isatty() else 1.0)
    async with open_app(args) as app:
        tell: Callable[[Event], None] = _print_json if as_json else Show(sys.stdout, app.settings.environ).event
        row = await find(app.store, args.id)
        before: float | None = None
        async with aclosing(events_of(app.store, row.id)) as events:
            async for event in events:
                if speed and before is not None:
                    await asyncio.sleep(min(max(event.at - before, 0.0) / speed, LONGEST_PAUSE))
                before = event.at
                tell(event)
    return 0


def _print_json(event: Event) -> None:
    print(encode_event(event).decode(), flush=True)
