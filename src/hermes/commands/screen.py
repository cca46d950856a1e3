"""Commands about the screen: help, what is shown and how, the clipboard, the end."""

import difflib

from hermes.commands import offers
from hermes.commands.conversation import number
from hermes.commands.lasting import keep, without_flags
from hermes.commands.registry import TERMINAL, Command, Completion, Context, Outcome, Screen
from hermes.protocol.errors import UserError
from hermes.protocol.items import Reply

FORGET = "--delete"
PARTS = ("thoughts", "tools", "subagents", "activity")
STATES = ("hidden", "folded", "open")
PROGRESS = ("off", "new", "all", "verbose")
BUSY = {
    "interrupt": "end the turn and say it",
    "queue": "say it when the turn is over",
    "steer": "say it to the running turn",
}


async def show_help(ctx: Context, argument: str) -> Outcome:
    if argument:
        command = ctx.registry.find(argument.removeprefix("/"), ctx.surface)
        return Outcome(reply=_line(command))
    lines = [f"- {_line(command)}" for command in ctx.registry.commands if ctx.surface in command.surfaces]
    return Outcome(
        reply="\n".join([*lines, "", "Skills are commands too: /skills lists them. The beginning of a name is enough."])
    )


async def clear(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("clear"))


async def redraw(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("redraw"))


async def leave(ctx: Context, argument: str) -> Outcome:
    if argument not in ("", FORGET):
        raise UserError(
            f"/quit does not know {argument!r}", f"/quit, or /quit {FORGET} to keep nothing of this session"
        )
    return Outcome(screen=Screen("quit", ctx.session.id if argument else ""))


def _question_of_leaving(argument: str) -> str:
    return "Leave, and delete this session for good?" if argument.split()[:1] == [FORGET] else ""


async def copy(ctx: Context, argument: str) -> Outcome:
    back = number(argument, 1, "/copy 2")
    replies = [item.text for item in ctx.session.history.view() if isinstance(item, Reply) and item.text]
    if back > len(replies):
        said = f"there are only {len(replies)} answers" if replies else "there is no answer yet"
        raise UserError(said, "/copy takes the last one")
    return Outcome(screen=Screen("copy", replies[-back]))


async def details(ctx: Context, argument: str) -> Outcome:
    usage = f"/details PART STATE: {', '.join(PARTS)}; {', '.join(STATES)}"
    if not argument:
        return Outcome(reply=f"`{usage}`")
    part, _, state = argument.lower().partition(" ")
    return Outcome(screen=Screen("details", f"{_one_of(part, PARTS, usage)} {_one_of(state.strip(), STATES, usage)}"))


async def skin(ctx: Context, argument: str) -> Outcome:
    name, lasting = without_flags(argument)
    return Outcome(reply=await _kept(ctx, "display.skin", name, lasting), screen=Screen("skin", name))


async def verbose(ctx: Context, argument: str) -> Outcome:
    mode, lasting = without_flags(argument.lower())
    if mode:
        _one_of(mode, PROGRESS, f"/verbose {'|'.join(PROGRESS)}")
    return Outcome(reply=await _kept(ctx, "display.tool_progress", mode, lasting), screen=Screen("verbose", mode))


async def busy(ctx: Context, argument: str) -> Outcome:
    mode, lasting = without_flags(argument.lower())
    if mode:
        _one_of(mode, tuple(BUSY), f"/busy {'|'.join(BUSY)}")
    return Outcome(reply=await _kept(ctx, "display.busy_input_mode", mode, lasting), screen=Screen("busy", mode))


async def _kept(ctx: Context, key: str, value: str, lasting: bool) -> str:
    if lasting and not value:
        raise UserError("what should be kept?", "name it before --global")
    return await keep(ctx.app, key, value) if lasting else ""


def _one_of(word: str, choices: tuple[str, ...], usage: str) -> str:
    if word in choices:
        return word
    near = difflib.get_close_matches(word, choices, 1)
    said = f"{word!r} is none of {', '.join(choices)}" if word else f"one of {', '.join(choices)} is missing"
    raise UserError(said, f"did you mean {near[0]}?" if near else usage)


def _line(command: Command) -> str:
    also = f" (also {', '.join(f'`/{alias}`' for alias in command.aliases)})" if command.aliases else ""
    return f"`{command.call}`{also}: {command.help}"


async def _parts(ctx: Context, argument: str) -> list[Completion]:
    part, space, _ = argument.partition(" ")
    if space:
        return [Completion(text=state, start=len(part) + 1) for state in STATES]
    return [Completion(text=part) for part in PARTS]


async def _modes(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=mode) for mode in PROGRESS]


async def _ways(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=mode, help=text) for mode, text in BUSY.items()]


HELP = Command(
    name="help",
    usage="[COMMAND]",
    help="list the commands, or tell about one",
    run=show_help,
    complete=offers.commands,
)
CLEAR = Command(
    name="clear",
    help="clean the screen and start a new session",
    run=clear,
    destructive=lambda argument: "Start a new session?",
    surfaces=TERMINAL,
)
REDRAW = Command(name="redraw", help="draw the screen anew", run=redraw, surfaces=TERMINAL)
COPY = Command(name="copy", usage="[N]", help="copy the last answer, or the Nth last", run=copy, surfaces=TERMINAL)
DETAILS = Command(
    name="details",
    usage="[PART STATE]",
    help="hide, fold or open thoughts, tools, subagents or activity",
    run=details,
    surfaces=TERMINAL,
    complete=_parts,
)
SKIN = Command(
    name="skin",
    usage="[NAME] [--global]",
    help="list the colours and signs, or use others",
    run=skin,
    surfaces=TERMINAL,
)
VERBOSE = Command(
    name="verbose",
    usage="[off|new|all|verbose] [--global]",
    help="show more or less of tool calls",
    run=verbose,
    surfaces=TERMINAL,
    complete=_modes,
)
BUSY_INPUT = Command(
    name="busy",
    usage="[interrupt|queue|steer] [--global]",
    help="tell or change what typing does while a turn runs",
    run=busy,
    surfaces=TERMINAL,
    complete=_ways,
)
QUIT = Command(
    name="quit",
    aliases=("exit",),
    usage=f"[{FORGET}]",
    help="leave; the session can be resumed, unless it is deleted",
    run=leave,
    destructive=_question_of_leaving,
    surfaces=TERMINAL,
)
