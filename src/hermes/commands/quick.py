"""Slash commands of the person's own, from quick_commands in config.yaml: a shell command, or another name for a command."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from hermes.agent.desk import Scope
from hermes.commands.conversation import must_be_idle
from hermes.commands.registry import TERMINAL, Command, Context, Outcome, Registry, offers_nothing
from hermes.commands.transcript import fenced
from hermes.commands.width import cut
from hermes.config import QuickCommand
from hermes.protocol.actions import Origin
from hermes.protocol.errors import Denied, UserError
from hermes.protocol.events import Answered, Request

SHOWN = 60


def quick_commands(entries: Mapping[str, QuickCommand], known: Registry) -> Iterator[Command]:
    """The commands that the settings add; an alias stands for one of those that are known."""
    for key, entry in entries.items():
        name = key.lower().removeprefix("/")
        yield _shell(name, entry) if entry.type == "exec" else _alias(name, entry, known)


def _shell(name: str, entry: QuickCommand) -> Command:
    async def run(ctx: Context, argument: str) -> Outcome:
        if not entry.command:
            raise UserError(f"/{name} has no command", f"hermes config set quick_commands.{name}.command COMMAND")
        if argument:
            raise UserError(f"/{name} takes nothing behind it", "it runs as it stands in quick_commands")
        return Outcome(reply=await _ran(ctx, entry.command))

    return Command(name=name, help=entry.help or f"run {cut(' '.join(entry.command.split()), SHOWN)}", run=run)


async def _ran(ctx: Context, command: str) -> str:
    """Run a command in the session's terminal, through the gate like any other effect; it is the person's own."""
    must_be_idle(ctx)
    session, told = ctx.session, list[str]()

    async def ask(request: Request, within: float) -> Answered | None:
        return await session.ask(request, "", within)

    origin = Origin(
        surface=session.surface,
        session=session.id,
        turn=session.history.turn,
        tool="quick_command",
        workspace=session.world.workspace,
    )
    terminal = session.world.equip(Scope(origin, ask, told.append)).terminal
    try:
        ran = await terminal.run(command, timeout=ctx.app.settings.file.terminal.timeout)
    except Denied as error:
        # What follows the first sentence tells a model what to do instead.
        raise UserError(str(error).split(". ")[0]) from None
    ended = "It did not end in time." if ran.timed_out else f"Exit code {ran.code}." if ran.code else ""
    output = fenced(session.mask(ran.output), "text") if ran.output.strip() else ""
    return "\n".join(filter(None, (*told, output, ended))) or "Done, without a word."


def _alias(name: str, entry: QuickCommand, known: Registry) -> Command:
    words, _, given = entry.target.removeprefix("/").partition(" ")
    try:
        target = known.find(words, "terminal")
    except UserError as error:
        return _broken(name, entry, error)

    def whole(argument: str) -> str:
        return f"{given} {argument}".strip()

    return replace(
        target,
        name=name,
        aliases=(),
        usage="",
        help=entry.help or f"the same as /{target.name} {given}".rstrip(),
        run=lambda ctx, argument: target.run(ctx, whole(argument)),
        destructive=lambda argument: target.destructive(whole(argument)),
        complete=offers_nothing,
    )


def _broken(name: str, entry: QuickCommand, why: UserError) -> Command:
    async def run(ctx: Context, argument: str) -> Outcome:
        raise UserError(f"quick_commands.{name}.target: {why}", why.hint)

    return Command(name=name, help=entry.help or f"the same as {entry.target or 'nothing'}", run=run, surfaces=TERMINAL)
