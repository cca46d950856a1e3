"""Commands about the screen: help, a clean one, the end."""

from hermes.commands.registry import TERMINAL, Command, Context, Outcome, Screen


async def show_help(ctx: Context, argument: str) -> Outcome:
    if argument:
        command = ctx.registry.find(argument.removeprefix("/"), ctx.surface)
        return Outcome(reply=_line(command))
    lines = [f"- {_line(command)}" for command in ctx.registry.on(ctx.surface)]
    return Outcome(reply="\n".join([*lines, "The beginning of a name is enough."]))


async def clear(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("clear"))


async def leave(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("quit"))


def _line(command: Command) -> str:
    also = f" (also {', '.join(f'`/{alias}`' for alias in command.aliases)})" if command.aliases else ""
    return f"`{command.call}`{also}: {command.help}"


HELP = Command(name="help", usage="[COMMAND]", help="list the commands, or tell about one", run=show_help)
CLEAR = Command(
    name="clear",
    help="clean the screen and start a new session",
    run=clear,
    destructive=lambda argument: "Start a new session?",
    surfaces=TERMINAL,
)
QUIT = Command(name="quit", aliases=("exit",), help="leave; the session can be resumed", run=leave, surfaces=TERMINAL)
