"""Commands about sessions: how this one is and what it used, which others there are."""

import time

from hermes.commands import offers
from hermes.commands.beside import work_lines
from hermes.commands.budgets import budgets_in_short
from hermes.commands.conversation import number
from hermes.commands.goal import goal_line
from hermes.commands.registry import TERMINAL, Command, Context, Outcome, Screen
from hermes.commands.settings import asks_nobody
from hermes.commands.transcript import recap, turns_of
from hermes.protocol.errors import UserError
from hermes.protocol.store import SessionRow

LISTED = 15
EXCHANGES = 10


async def status(ctx: Context, argument: str) -> Outcome:
    session, row = ctx.session, await _row(ctx)
    state = f"turn {session.history.turn} is running" if session.busy else f"idle after turn {session.history.turn}"
    lines = [
        f"Session `{session.id}`" + (f", {row.title}" if row.title else ""),
        f"- model: `{session.model.name}`",
        f"- folder: `{session.world.workspace}`",
        f"- state: {state}",
        f"- context: {_context(ctx)}",
        f"- tools: {len(session.tools)}",
        f"- budget of a turn: {budgets_in_short(session.budget)}",
        f"- questions: {'off (`/yolo off` brings them back)' if asks_nobody(ctx) else 'on'}",
    ]
    goal = [f"- {line[0].lower()}{line[1:]}"] if (line := goal_line(ctx)) else []
    return Outcome(reply="\n".join([*lines, *goal, *work_lines(ctx)]))


async def usage(ctx: Context, argument: str) -> Outcome:
    row = await _row(ctx)
    used = row.totals
    lines = (
        f"- tokens in: {used.input:,} (cache: {used.cache_read:,} read, {used.cache_write:,} written)",
        f"- tokens out: {used.output:,} (thinking: {used.reasoning:,})",
        f"- cost: {cost_of(used.cost, used.unpriced, used.steps)}",
        f"- context: {_context(ctx)}",
        f"- model calls: {used.steps:,}, tool calls: {used.calls:,}, turns: {used.turns:,}",
        f"- duration: {_duration(max(0.0, row.active - row.started))}",
    )
    return Outcome(reply="\n".join(lines))


async def sessions(ctx: Context, argument: str) -> Outcome:
    rows = await ctx.app.store.sessions(limit=number(argument, LISTED, "/sessions 30"))
    lines = [_line(row, ctx.session.id) for row in rows]
    text = "\n".join([*lines, "", "`/resume ID` or `/resume TITLE` goes on with one."])
    return Outcome(reply=text) if argument else Outcome(screen=Screen("sessions", text))


async def resume(ctx: Context, argument: str) -> Outcome:
    if not argument:
        return await sessions(ctx, "")
    row = await ctx.app.store.session(argument)
    if row is None:
        raise UserError(f"there is no session {argument!r}", "/sessions lists them")
    if row.id == ctx.session.id:
        raise UserError("that is this session", "/sessions lists the others")
    if any(work.session == row.id for work in ctx.app.background.work):
        raise UserError(f"session {row.id} is still at work in the background", "/status shows it, /stop ends it")
    return Outcome(screen=Screen("resume", row.id))


async def history(ctx: Context, argument: str) -> Outcome:
    count = number(argument, EXCHANGES, "/history 20")
    said = recap(await turns_of(ctx.app.store, ctx.session.id), count)
    return Outcome(reply=said or "Nothing was said yet.")


async def _row(ctx: Context) -> SessionRow:
    row = await ctx.app.store.session(ctx.session.id)
    if row is None:
        raise UserError(f"session {ctx.session.id} was deleted elsewhere", "/new starts another")
    return row


def _context(ctx: Context) -> str:
    used, size = ctx.session.history.context_estimate(), ctx.session.model.window
    return f"{used:,} of {size:,} tokens ({used / size:.0%})" if size else f"{used:,} tokens"


def cost_of(cost: float, unpriced: int, calls: int) -> str:
    """What calls cost together, as far as it is known."""
    if unpriced and unpriced == calls:
        return "not known"
    return f"${cost:.4f}" + (f" and {unpriced} calls of unknown price" if unpriced else "")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _line(row: SessionRow, here: str) -> str:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.active))
    title = row.title or "(no title)"
    return f"- `{row.id}` {title}, {row.totals.messages} messages, {at}" + (" (this one)" if row.id == here else "")


STATUS = Command(name="status", help="show the session, its model and its state", run=status)
RESUME = Command(
    name="resume",
    usage="[ID|TITLE]",
    help="go on with another session",
    run=resume,
    surfaces=TERMINAL,
    complete=offers.sessions,
)
SESSIONS = Command(name="sessions", usage="[N]", help="list the latest sessions", run=sessions, surfaces=TERMINAL)
USAGE = Command(name="usage", help="show tokens, cost, context and duration", run=usage)
HISTORY = Command(name="history", usage="[N]", help="show the last exchanges", run=history, surfaces=TERMINAL)
