"""Choose model, terminal, tools and limits, step by step. It can be run again at any time.

hermes setup                      every step; what is set already is offered as it is
hermes setup model                one step
hermes setup --non-interactive    take what is found on this machine, and ask nothing
hermes setup --portal             log in to Nous Portal with a browser, and let its default model answer
"""

import argparse
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from hermes import config
from hermes.cli.detect import find_claw
from hermes.cli.main import print_error
from hermes.cli.setup_model import choose_model, choose_portal, works_already
from hermes.cli.setup_parts import choose_agent, choose_terminal, choose_tools
from hermes.cli.setup_talk import Talk
from hermes.cli.soul import seed_soul
from hermes.config import Settings
from hermes.protocol.errors import UserError

Step = Callable[[Talk, Settings], Awaitable[bool]]
STEPS: dict[str, Step] = {
    "model": choose_model,
    "terminal": choose_terminal,
    "tools": choose_tools,
    "agent": choose_agent,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("step", metavar="STEP", nargs="?", choices=tuple(STEPS), help=", ".join(STEPS))
    parser.add_argument("--non-interactive", action="store_true", help="ask nothing: what is found, else the default")
    parser.add_argument("--quick", action="store_true", help="only what is missing")
    parser.add_argument("--reconfigure", action="store_true", help="ask also for what works already")
    parser.add_argument("--portal", action="store_true", help="log in to Nous Portal, and set its model; no other step")
    parser.add_argument("--reset", action="store_true", help="begin with no settings; the old ones are kept aside")


async def run(args: argparse.Namespace) -> int:
    talk = Talk(asks=not args.non_interactive)
    home = config.find_home()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    if seed_soul(home):
        talk.say(f"who Hermes is stands in {home / 'SOUL.md'}, for you to change")
    _make_usable(talk, home / "config.yaml", reset=args.reset)
    _greet(talk, config.load())
    if args.portal:
        return 0 if await choose_portal(talk, config.load()) else 1
    steps = [args.step] if args.step else list(STEPS)
    worked = [await _step(talk, name, args) for name in steps]
    talk.say("ready: hermes starts a chat, hermes doctor looks at everything" if all(worked) else "not all of it works")
    return 0 if all(worked) else 1


def _make_usable(talk: Talk, path: Path, *, reset: bool) -> None:
    """Put aside settings that cannot be read, or that are to be forgotten; nothing is lost."""
    if not path.exists():
        return
    problem = None
    try:
        config.convert(config.read_yaml(path), config.environment(), path)
    except UserError as error:
        problem = error
    if problem is None and not reset:
        return
    aside = path.with_name(f"config.yaml.{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(aside)
    if problem is not None:
        print_error(problem)
    talk.say(f"the settings so far are kept in {aside}")


def _greet(talk: Talk, settings: Settings) -> None:
    talk.say(f"settings: {settings.config_path}, secrets: {settings.home / '.env'}")
    if claw := find_claw(settings.environ):
        talk.say(
            f"there is an OpenClaw home in {claw}; this Hermes cannot take it over yet (hermes claw migrate is to come)"
        )


async def _step(talk: Talk, name: str, args: argparse.Namespace) -> bool:
    """One step; what works already is left alone where nobody asks to change it."""
    settings = config.load()
    set_already = await works_already(settings) if name == "model" else ""
    if set_already and not args.reconfigure and not args.step:
        if args.quick or not await talk.yes(f"model: {set_already}; change it?", default=False):
            return True
    elif args.quick and name != "model":
        return True
    return await STEPS[name](talk, settings)
