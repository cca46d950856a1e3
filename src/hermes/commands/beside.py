"""Commands that start something beside this conversation: a branch of it, or a question in the background."""

import time

from hermes.app.world import LocalWorld
from hermes.commands.conversation import free_title, must_be_idle, needed
from hermes.commands.registry import Command, Context, Outcome, Screen
from hermes.commands.settings import asks_nobody
from hermes.commands.width import cut
from hermes.protocol.errors import UserError

SHOWN = 60


async def branch(ctx: Context, argument: str) -> Outcome:
    must_be_idle(ctx)
    if not ctx.session.history.turn:
        raise UserError("there is nothing to branch from", "say something first")
    title = await free_title(ctx, argument) if argument else ""
    old, new = ctx.session.id, await ctx.app.fork(ctx.session.id, title)
    reply = f"This is a branch, session `{new}`. `/resume {old}` goes back to where it began."
    return Outcome(reply=reply, screen=Screen("resume", new))


async def background(ctx: Context, argument: str) -> Outcome:
    prompt = needed(argument, "/background TEXT")
    work = await ctx.app.background.start(ctx.session, prompt, yolo=asks_nobody(ctx))
    return Outcome(reply=f"At work in session `{work.session}`; the answer is told here. `/status` shows it.")


def work_lines(ctx: Context) -> list[str]:
    """What is at work beside this session: questions in the background, and processes of its terminal."""
    now = time.time()
    asked = [
        f"- background session `{work.session}`, {now - work.started:.0f} s: {_short(work.prompt)}"
        for work in ctx.app.background.work
        if work.asked_by == ctx.session.id
    ]
    world = ctx.session.world
    processes = [one.info for one in world.terminal.processes] if isinstance(world, LocalWorld) else []
    running = [info for info in processes if info.state == "running"]
    return [*asked, *(f"- process `{info.id}`, pid {info.pid}: `{_short(info.command)}`" for info in running)]


def _short(text: str) -> str:
    return cut(" ".join(text.split()), SHOWN)


BRANCH = Command(
    name="branch",
    aliases=("fork",),
    usage="[TITLE]",
    help="go on in a copy of this session; this one stays as it is",
    run=branch,
)
BACKGROUND = Command(
    name="background",
    aliases=("bg", "btw"),
    usage="TEXT",
    help="ask in a session of its own while this one goes on",
    run=background,
)
