"""Commands about what stands around the conversation on the screen: times, figures, the sign of work, the box."""

from hermes.commands.registry import TERMINAL, Command, Completion, Context, Outcome, Screen, ScreenAction
from hermes.protocol.errors import UserError

SWITCH = {"on": "show it", "off": "hide it"}
INDICATORS = {
    "skin": "the faces of the skin",
    "dots": "a turning dot",
    "ascii": "a turning line, for every terminal",
}


def _switch(action: ScreenAction, name: str, help: str, *aliases: str) -> Command:
    async def run(ctx: Context, argument: str) -> Outcome:
        if argument.lower() not in ("", *SWITCH):
            raise UserError(f"{argument!r} is neither on nor off", f"/{name}, /{name} on or /{name} off")
        return Outcome(screen=Screen(action, argument.lower()))

    return Command(
        name=name, aliases=aliases, usage="[on|off]", help=help, run=run, surfaces=TERMINAL, complete=_switches
    )


async def _switches(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=word, help=told) for word, told in SWITCH.items()]


async def indicator(ctx: Context, argument: str) -> Outcome:
    if argument.lower() not in ("", *INDICATORS):
        raise UserError(f"there is no indicator {argument!r}", f"/indicator {'|'.join(INDICATORS)}")
    return Outcome(screen=Screen("indicator", argument.lower()))


async def _indicators(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=name, help=told) for name, told in INDICATORS.items()]


async def paste(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("paste"))


async def compose(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("compose", argument))


TIMESTAMPS = _switch("timestamps", "timestamps", "show or hide when each message was said", "ts")
STATUSBAR = _switch("statusbar", "statusbar", "show or hide the line of figures at the bottom", "sb")
FOOTER = _switch("footer", "footer", "show or hide what each turn took, below its answer")
INDICATOR = Command(
    name="indicator",
    usage=f"[{'|'.join(INDICATORS)}]",
    help="choose what moves while something is at work",
    run=indicator,
    surfaces=TERMINAL,
    complete=_indicators,
)
PASTE = Command(name="paste", help="send the picture in the clipboard along", run=paste, surfaces=TERMINAL)
COMPOSE = Command(
    name="prompt",
    aliases=("compose",),
    usage="[TEXT]",
    help="write the message in your editor",
    run=compose,
    surfaces=TERMINAL,
)
