"""The budgets of a turn: shown, and changed for this session or for every new one."""

import re

from msgspec.structs import replace

from hermes.commands.lasting import how_to_keep, keep, without_flags
from hermes.commands.registry import Command, Completion, Context, Outcome
from hermes.protocol.errors import UserError
from hermes.protocol.ops import Budget, Configure

SETTINGS = {
    "steps": "agent.max_turns",
    "tokens": "agent.max_tokens_per_turn",
    "money": "agent.max_cost_per_turn",
    "time": "agent.max_seconds_per_turn",
}
EXAMPLES = {"steps": "50", "tokens": "200k", "money": "$0.50", "time": "10m"}
NO_LIMIT = ("none", "off", "unlimited")
THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000}
SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_amount = re.compile(r"\$?(\d+(?:\.\d+)?)\s*([a-z]*)")


async def budget(ctx: Context, argument: str) -> Outcome:
    words, lasting = without_flags(argument.lower())
    if not words:
        return Outcome(
            reply="\n".join([*budget_lines(ctx), "", "`/budget steps 50` changes one, `none` takes it away."])
        )
    what, _, amount = words.partition(" ")
    if what not in SETTINGS:
        raise UserError(f"there is no budget {what!r}", f"choose from {', '.join(SETTINGS)}")
    if not amount:
        raise UserError(f"how much is the budget of {what}?", f"/budget {what} {EXAMPLES[what]}, or none")
    value = None if amount in NO_LIMIT else _read(what, amount)
    changed = _with(ctx.session.budget, what, value)
    said = await _keep(ctx, what, value) if lasting else how_to_keep(f"/budget {words}")
    reply = f"Budget of a turn, {_line(what, changed)}, from the next turn on. {said}"
    return Outcome(ops=(Configure(budget=changed),), reply=reply)


def budget_lines(ctx: Context) -> list[str]:
    """What a turn may use at most, with what the running one has used."""
    used = ctx.session.meter
    so_far = {"steps": f"{used.steps}", "tokens": f"{used.tokens:,}", "money": f"${used.money:.2f}"}
    lines: list[str] = []
    for what in SETTINGS:
        now = f" ({so_far[what]} used by this turn)" if ctx.session.busy and what in so_far else ""
        lines.append(f"- {_line(what, ctx.session.budget)}{now}")
    return lines


def budgets_in_short(budget: Budget) -> str:
    """The limits that there are, in one line."""
    parts = (
        f"{budget.steps:,} steps" if budget.steps is not None else "",
        f"{budget.tokens:,} tokens" if budget.tokens is not None else "",
        f"${budget.money:g}" if budget.money is not None else "",
        f"{budget.seconds:g} s" if budget.seconds is not None else "",
    )
    return ", ".join(filter(None, parts)) or "no limit"


async def _keep(ctx: Context, what: str, value: float | None) -> str:
    if what == "steps" and value is None:
        raise UserError("a turn needs a limit of steps in the settings", "/budget steps 200 --global")
    return await keep(ctx.app, SETTINGS[what], value)


def _with(budget: Budget, what: str, value: float | None) -> Budget:
    match what:
        case "steps":
            return replace(budget, steps=value)
        case "tokens":
            return replace(budget, tokens=value)
        case "money":
            return replace(budget, money=value)
        case _:
            return replace(budget, seconds=value)


def _value(budget: Budget, what: str) -> float | None:
    return {"steps": budget.steps, "tokens": budget.tokens, "money": budget.money, "time": budget.seconds}[what]


def _line(what: str, budget: Budget) -> str:
    value = _value(budget, what)
    if value is None:
        return f"{what}: no limit"
    written = {"money": f"${value:g}", "time": f"{value:g} s"}.get(what, f"{value:,.0f}")
    return f"{what}: {written}"


def _read(what: str, amount: str) -> float:
    """An amount as people write it: 200k tokens, $0.50, 10m."""
    found = _amount.fullmatch(amount.replace(",", ""))
    units = {"tokens": THOUSANDS, "time": SECONDS}.get(what, {"": 1})
    if found is None or found[2] not in units or not float(found[1]):
        raise UserError(f"{amount!r} is no amount of {what}", f"for example /budget {what} {EXAMPLES[what]}")
    value = float(found[1]) * units[found[2]]
    if what in ("steps", "tokens"):
        if value != int(value):
            raise UserError(f"{amount!r} is no whole number", f"for example /budget {what} {EXAMPLES[what]}")
        return int(value)
    return value


async def offered(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=what, help=_line(what, ctx.session.budget)) for what in SETTINGS]


BUDGET = Command(
    name="budget",
    usage="[steps|tokens|money|time AMOUNT] [--global]",
    help="show or change what a turn may use at most",
    run=budget,
    complete=offered,
)
