"""Commands that steer the conversation: start anew, ask again, take back, stop, join in."""

from hermes.agent.history import History
from hermes.commands.registry import CONFIRMED, Command, Context, Outcome, Screen
from hermes.protocol.errors import UserError
from hermes.protocol.items import Text, UserMessage
from hermes.protocol.ops import Configure, Interrupt, Redirect, Rewind, Say

LONGEST_TITLE = 100
MOST = 1_000_000_000


async def new(ctx: Context, argument: str) -> Outcome:
    return Outcome(screen=Screen("new", await free_title(ctx, argument) if argument else ""))


async def retry(ctx: Context, argument: str) -> Outcome:
    session = ctx.session
    must_be_idle(ctx)
    asked = [item for item in session.history.view() if isinstance(item, UserMessage) and item.origin == "person"]
    if not asked:
        raise UserError("there is nothing to ask again", "say something first")
    last, turn = asked[-1], session.history.turn
    quoted = last.source if last.trust == "untrusted" else ""
    again = Say(parts=last.parts, sender=last.sender, quoted=quoted, expect_turn=turn)
    return Outcome(ops=(Rewind(to=last.turn, expect_turn=turn), again))


async def undo(ctx: Context, argument: str) -> Outcome:
    must_be_idle(ctx)
    count, turns = number(argument, 1, "/undo 2"), visible_turns(ctx.session.history)
    if not turns:
        raise UserError("there is nothing to take back", "say something first")
    if count > len(turns):
        raise UserError(f"there are no {count} exchanges", f"/undo {len(turns)} takes back all there is")
    back = Rewind(to=turns[-count], expect_turn=ctx.session.history.turn)
    return Outcome(ops=(back,), reply=f"Took back {_exchanges(count)}. Files stay as they are: `/rollback` for those.")


async def title(ctx: Context, argument: str) -> Outcome:
    if not argument:
        row = await ctx.app.store.session(ctx.session.id)
        return Outcome(reply=f"Title: {row.title}" if row and row.title else "This session has no title yet.")
    chosen = await free_title(ctx, argument)
    return Outcome(ops=(Configure(title=chosen),), reply=f"Title: {chosen}")


async def stop(ctx: Context, argument: str) -> Outcome:
    ended = await ctx.app.background.stop(ctx.session.id)
    said = "Stopping." if ctx.session.busy else "No turn is running; processes in the background are ended."
    more = f" Background sessions ended: {ended}; each can be resumed." if ended else ""
    return Outcome(ops=(Interrupt(background=True),), reply=said + more)


async def queue(ctx: Context, argument: str) -> Outcome:
    message = Say(parts=(Text(needed(argument, "/queue TEXT")),))
    return Outcome(ops=(message,), reply="Queued behind the running turn." if ctx.session.busy else "")


async def steer(ctx: Context, argument: str) -> Outcome:
    message = Redirect(parts=(Text(needed(argument, "/steer TEXT")),))
    return Outcome(ops=(message,), reply="It joins the running turn at its next step." if ctx.session.busy else "")


def must_be_idle(ctx: Context) -> None:
    if ctx.session.busy:
        raise UserError("a turn is running", "/stop it first")


def visible_turns(history: History) -> list[int]:
    """The turns that were not taken back, oldest first."""
    return sorted({item.turn for item in history.view() if isinstance(item, UserMessage)})


def number(argument: str, default: int, example: str) -> int:
    """A count from 1 on that a person typed; what is larger than anything that can be counted here is MOST."""
    if not argument:
        return default
    if not argument.isdecimal() or not argument.strip("0"):
        raise UserError(f"{argument!r} is not a number from 1 on", f"for example {example}")
    return int(argument) if len(argument) < len(str(MOST)) else MOST


def needed(argument: str, usage: str) -> str:
    if not argument:
        raise UserError("the text is missing", usage)
    return argument


async def free_title(ctx: Context, wanted: str) -> str:
    """A title in one line that no other session has."""
    wanted = " ".join(wanted.split())[:LONGEST_TITLE]
    row = await ctx.app.store.session(wanted)
    if row and row.id != ctx.session.id and row.title == wanted:
        raise UserError(f"session {row.id} has the title {wanted!r}", "choose another")
    return wanted


def _exchanges(count: int | str) -> str:
    return "the last exchange" if str(count) == "1" else f"the last {count} exchanges"


def _question_of_undo(argument: str) -> str:
    count = next((word for word in argument.split() if word not in CONFIRMED), "1")
    return f"Take back {_exchanges(count)}?" if count.isdecimal() else ""


NEW = Command(
    name="new",
    aliases=("reset",),
    usage="[TITLE]",
    help="start a new session; this one stays and can be resumed",
    run=new,
    destructive=lambda argument: "Start a new session?",
)
RETRY = Command(name="retry", help="ask the last question again, without its answer", run=retry)
UNDO = Command(
    name="undo",
    usage="[N]",
    help="take back the last exchange, or the last N",
    run=undo,
    destructive=_question_of_undo,
)
TITLE = Command(name="title", usage="[TEXT]", help="show or set the session's title", run=title)
STOP = Command(name="stop", help="end the running turn and what is at work in the background", run=stop)
QUEUE = Command(name="queue", aliases=("q",), usage="TEXT", help="say something when the turn is over", run=queue)
STEER = Command(name="steer", usage="TEXT", help="say something to the running turn", run=steer)
