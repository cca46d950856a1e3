"""The command that tells what was learned in this session, after reading it once more for what is worth keeping."""

from hermes.commands.registry import Command, Context, Outcome
from hermes.commands.width import cut
from hermes.protocol.errors import UserError

SHOWN = 200
WAITS = "A review has to wait: another one is at work, the model is too small, or today's are used up."


async def learn(ctx: Context, argument: str) -> Outcome:
    try:
        outcome = await ctx.app.review(ctx.session)
    except TimeoutError:
        raise UserError("the review had no answer in time", "try again, or /memory for what there is") from None
    told = WAITS if outcome is None else outcome.line
    learned = [*await _remembered(ctx), *await _written(ctx)]
    head = "Learned in this session:" if learned else "Nothing was learned in this session yet."
    return Outcome(reply="\n".join(filter(None, (head, *learned, told))))


async def _remembered(ctx: Context) -> list[str]:
    entries = await ctx.app.store.memories.entries("active", "pending")
    mine = [entry for entry in entries if entry.session == ctx.session.id and entry.content]
    return [f"- memory {entry.id} ({entry.state}): {cut(' '.join(entry.content.split()), SHOWN)}" for entry in mine]


async def _written(ctx: Context) -> list[str]:
    shelf = ctx.app.skills.shelf
    await shelf.refresh()
    lines: list[str] = []
    for name, row in shelf.rows.items():
        if any(version.session == ctx.session.id for version in await shelf.store.versions(name)):
            lines.append(f"- skill **{name}** ({row.state}){f': {row.waiting}' if row.waiting else ''}")
    return lines


LEARN = Command(name="learn", help="show what was learned in this session, and look for more", run=learn)
