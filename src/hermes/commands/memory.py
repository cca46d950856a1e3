"""The command about memory: what is kept, what waits, where it comes from, and how to take it back."""

from hermes.commands.lasting import keep
from hermes.commands.registry import Command, Completion, Context, Outcome
from hermes.learning.memory import text
from hermes.protocol.errors import UserError
from hermes.protocol.targets import TARGETS

ACTIONS = {
    "pending": "what waits for you",
    "approve": "keep one of those, or all",
    "reject": "drop one of those, or all",
    "why": "where an entry comes from",
    "undo": "take the last change back, or the last of one entry",
    "approval": "on or off: whether you look at everything first",
}
EXAMPLE = "try /memory why 3"


async def memory(ctx: Context, argument: str) -> Outcome:
    from hermes.commands import remembered  # with the notebook, for those who ask about it

    action, _, rest = argument.strip().partition(" ")
    book, rest = ctx.app.memory.notebook, rest.strip()
    match action.lower():
        case "":
            return Outcome(reply=await _shown(ctx))
        case "pending":
            return Outcome(reply=await _pending(ctx))
        case "approve" | "reject" as verb:
            done = await remembered.decide(book, rest or remembered.ALL, approve=verb == "approve")
            return Outcome(
                reply=f"{'Kept' if verb == 'approve' else 'Dropped'} {len(done)}. New sessions will see it so."
            )
        case "why" if rest:
            first, *lines = await remembered.why(ctx.app, remembered.number(rest))
            return Outcome(reply="\n".join([f"> {first}", "", *(f"- {line}" for line in lines)]))
        case "undo":
            changes = await remembered.undo(book, remembered.number(rest) if rest else 0)
            return Outcome(reply="Taken back:\n" + "\n".join(f"- {remembered.told(change)}" for change in changes))
        case "approval" if rest in ("on", "off"):
            return Outcome(reply=await keep(ctx.app, "memory.write_approval", rest == "on"))
        case _:
            raise UserError(f"/memory does not know {argument!r}", f"{', '.join(ACTIONS)}; {EXAMPLE}")


async def _shown(ctx: Context) -> str:
    book = ctx.app.memory.notebook
    entries = await book.sync()
    lines: list[str] = []
    for target in TARGETS:
        used, limit = entries.used(target)
        lines.append(f"**{text.NAMES[target]}** {round(100 * used / limit)}%, {used:,} of {limit:,} characters")
        lines += [*([f"- {row.id}: {row.content}" for row in entries.active(target)] or ["- nothing yet"]), ""]
    if waiting := entries.pending():
        lines.append(f"{len(waiting)} waiting: `/memory pending`")
    return "\n".join(lines).rstrip()


async def _pending(ctx: Context) -> str:
    from hermes.commands import remembered

    waiting = await remembered.pending(ctx.app.memory.notebook)
    if not waiting:
        return "Nothing waits."
    lines = [f"- {row.id} ({row.target}): {what}" + (" **held**" if row.held else "") for row, what in waiting]
    return "\n".join(
        [
            "Waiting for a second sighting, or for you:",
            *lines,
            "",
            "`/memory approve N|all` keeps, `/memory reject N|all` drops.",
        ]
    )


async def actions(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=word, help=about) for word, about in ACTIONS.items()]


MEMORY = Command(
    name="memory",
    usage="[pending|approve [N]|reject [N]|why N|undo [N]|approval on|off]",
    help="show what is remembered, decide about what waits, take changes back",
    run=memory,
    complete=actions,
)
