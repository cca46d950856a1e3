"""The command that gives a session a standing goal, and holds, continues or gives it up."""

from hermes.agent.goal import Goal
from hermes.commands.conversation import must_be_idle
from hermes.commands.registry import Command, Completion, Context, Outcome
from hermes.protocol.errors import UserError
from hermes.protocol.items import Text
from hermes.protocol.ops import Say

ACTIONS = {
    "show": "tell the goal and how far it is",
    "pause": "do not go on by itself",
    "resume": "go on with it",
    "clear": "give it up",
}


async def goal(ctx: Context, argument: str) -> Outcome:
    session, goals = ctx.session, ctx.app.goals
    match argument.lower():
        case "" | "show" | "status":
            return Outcome(reply=goal_line(ctx) or "There is no goal. `/goal TEXT` sets one and starts to work on it.")
        case "pause":
            if _goal(ctx).state != "active":
                raise UserError("the goal is not active", "/goal shows it")
            await goals.pause(session)
            return Outcome()
        case "resume":
            must_be_idle(ctx)
            return Outcome(ops=(await goals.resume(session, _goal(ctx)),))
        case "clear":
            _goal(ctx)
            await goals.clear(session)
            return Outcome()
        case _:
            await goals.set(session, argument)
            return Outcome(ops=(Say(parts=(Text(argument),)),))


def goal_line(ctx: Context) -> str:
    """The goal of a session and how far it is; nothing if there is none."""
    if (there := ctx.session.history.goal) is None:
        return ""
    most = ctx.app.settings.file.goals.max_turns
    return f"Goal ({there.state}, went on by itself {there.turns} of {most} times): {there.text}"


def _goal(ctx: Context) -> Goal:
    if (there := ctx.session.history.goal) is None:
        raise UserError("there is no goal", "/goal TEXT sets one")
    return there


async def _actions(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=name, help=told) for name, told in ACTIONS.items()]


GOAL = Command(
    name="goal",
    usage="[TEXT | show | pause | resume | clear]",
    help="work turn after turn until a goal is reached",
    run=goal,
    complete=_actions,
)
