"""What Hermes was used for and what that took, over some days: by day, model, platform, session, tool and hour."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable

from msgspec import Struct

from hermes.commands.conversation import number
from hermes.commands.numbers import short
from hermes.commands.plots import Bar, bars, spark, timeline
from hermes.commands.registry import Command, Context, Outcome
from hermes.commands.sessions import cost_of
from hermes.commands.transcript import fenced
from hermes.protocol.errors import UserError
from hermes.protocol.store import SessionRow, Store, ToolUse, UsageRow

DAYS = 30
LONGEST = 3_660
EVERY = 1_000_000
MOST = 8
"""Bars in a plot: what comes behind is summed up."""
WIDTHS = {"terminal": 52, "chat": 34}
DAY = 86_400.0


class Used(Struct, frozen=True, kw_only=True):
    """What some model calls used together."""

    name: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    cost: float
    unpriced: int

    @property
    def tokens(self) -> int:
        return self.input + self.output


class Called(Struct, frozen=True):
    """How often a tool was called, how often that failed, and how long it took in all."""

    name: str
    calls: int
    failed: int
    seconds: float


class Insights(Struct, frozen=True, kw_only=True):
    """The days from `since` on; `hours` counts the sessions that began in each hour of the day."""

    since: str
    days: int
    source: str
    sessions: int
    messages: int
    total: Used
    by_day: tuple[Used, ...]
    by_model: tuple[Used, ...]
    by_platform: tuple[Used, ...]
    by_purpose: tuple[Used, ...]
    by_session: tuple[Used, ...]
    tools: tuple[Called, ...]
    hours: tuple[int, ...]

    @property
    def review_share(self) -> float:
        """The part of all tokens that went into Hermes' reviews of its own work."""
        review = sum(used.tokens for used in self.by_purpose if used.name == "review")
        return review / self.total.tokens if self.total.tokens else 0.0


async def gather(store: Store, days: int, source: str = "", now: float | None = None) -> Insights:
    """Look at the last days, today among them, of every source or of one."""
    if days > LONGEST:
        raise UserError(f"{days:,} days are more than Hermes looks at", f"at most {LONGEST:,}")
    now = time.time() if now is None else now
    since = _midnight(now, days - 1)
    rows = [row for row in await store.sessions(source=source, limit=EVERY) if row.active >= since]
    usage = [row for row in await store.usage(since) if source in ("", row.source)]
    tools = [row for row in await store.tool_use(since) if source in ("", row.source)]
    titles = {row.id: row.title or row.id for row in rows}
    dates = [time.strftime("%Y-%m-%d", time.localtime(since + n * DAY + DAY / 2)) for n in range(days)]
    by_day = {used.name: used for used in _grouped(usage, lambda row: row.day)}
    return Insights(
        since=dates[0],
        days=days,
        source=source,
        sessions=len(rows),
        messages=sum(row.totals.messages for row in rows),
        total=_summed("", usage),
        by_day=tuple(by_day.get(date) or _summed(date, ()) for date in dates),
        by_model=_grouped(usage, lambda row: row.model),
        by_platform=_grouped(usage, lambda row: row.source),
        by_purpose=_grouped(usage, lambda row: row.purpose or "conversation"),
        by_session=_grouped(usage, lambda row: titles.get(row.session, row.session or "(deleted)")),
        tools=_tools(tools),
        hours=_hours(row for row in rows if row.started >= since),
    )


def sections(found: Insights, width: int) -> list[tuple[str, list[str]]]:
    """What was found as heads with lines of at most `width` places below."""
    total = found.total
    about = f" from {found.source}" if found.source else ""
    head = f"Last {found.days} days{about}" if found.days > 1 else f"Today{about}"
    if not found.sessions and not total.calls:
        return [(head, ["Nothing was asked."])]
    cached = f", {total.cache_read / total.input:.0%} from a cache" if total.cache_read and total.input else ""
    facts = [
        f"sessions    {found.sessions:,}",
        f"messages    {found.messages:,}",
        f"model calls {total.calls:,}",
        f"tool calls  {sum(tool.calls for tool in found.tools):,}",
        f"tokens in   {total.input:,}{cached}",
        f"tokens out  {total.output:,}" + (f", {total.reasoning:,} of them thinking" if total.reasoning else ""),
        f"cost        {cost_of(total.cost, total.unpriced, total.calls)}",
        f"reviews     {found.review_share:.1%} of the tokens",
    ]
    plots = (
        (
            "Tokens a day",
            timeline([(used.name, used.tokens) for used in found.by_day], width) if found.days > 1 else [],
        ),
        ("Tokens by model", _token_bars(found.by_model, width)),
        ("Tokens by platform", _token_bars(found.by_platform, width)),
        ("Tokens by purpose", _token_bars(found.by_purpose, width) if len(found.by_purpose) > 1 else []),
        ("Tokens by session", _token_bars(found.by_session, width)),
        ("Tool calls", bars([_tool_bar(tool) for tool in found.tools[:MOST]], width)),
        ("Hours at which sessions began", _hour_lines(found.hours)),
    )
    return [(head, facts), *((name, lines) for name, lines in plots if lines)]


async def insights(ctx: Context, argument: str) -> Outcome:
    days = number(argument.removeprefix("--days").strip(" ="), DAYS, "/insights 7")
    found = sections(await gather(ctx.app.store, days), WIDTHS[ctx.surface])
    return Outcome(reply="\n".join(f"**{head}**\n{fenced(chr(10).join(lines), 'text')}" for head, lines in found))


def _midnight(now: float, days_before: int) -> float:
    """When a day began, in local time; days are not all of one length."""
    today = time.localtime(now)
    return time.mktime((today.tm_year, today.tm_mon, today.tm_mday - days_before, 0, 0, 0, 0, 0, -1))


def _grouped(rows: Iterable[UsageRow], key: Callable[[UsageRow], str]) -> tuple[Used, ...]:
    """What was used under each name, the most first."""
    groups: dict[str, list[UsageRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return tuple(sorted((_summed(name, group) for name, group in groups.items()), key=lambda used: -used.tokens))


def _summed(name: str, rows: Iterable[UsageRow]) -> Used:
    every = list(rows)
    return Used(
        name=name,
        calls=sum(row.calls for row in every),
        input=sum(row.input for row in every),
        output=sum(row.output for row in every),
        cache_read=sum(row.cache_read for row in every),
        cache_write=sum(row.cache_write for row in every),
        reasoning=sum(row.reasoning for row in every),
        cost=sum((row.cost for row in every), 0.0),
        unpriced=sum(row.unpriced for row in every),
    )


def _tools(rows: Iterable[ToolUse]) -> tuple[Called, ...]:
    groups: dict[str, list[ToolUse]] = defaultdict(list)
    for row in rows:
        groups[row.tool].append(row)
    called = (
        Called(name, sum(r.calls for r in group), sum(r.failed for r in group), sum(r.seconds for r in group))
        for name, group in groups.items()
    )
    return tuple(sorted(called, key=lambda tool: (-tool.calls, tool.name)))


def _hours(rows: Iterable[SessionRow]) -> tuple[int, ...]:
    hours = [0] * 24
    for row in rows:
        hours[time.localtime(row.started).tm_hour] += 1
    return tuple(hours)


def _token_bars(used: tuple[Used, ...], width: int) -> list[str]:
    shown = [Bar(each.name, each.tokens, _amount(each)) for each in used[:MOST]]
    if rest := used[MOST:]:
        tokens = sum(each.tokens for each in rest)
        shown.append(Bar(f"{len(rest)} more", tokens, short(tokens)))
    return bars(shown, width)


def _amount(used: Used) -> str:
    return f"{short(used.tokens)} ${used.cost:.2f}" if used.cost else short(used.tokens)


def _tool_bar(tool: Called) -> Bar:
    failed = f", {tool.failed:,} failed" if tool.failed else ""
    return Bar(tool.name, tool.calls, f"{tool.calls:,}{failed}")


def _hour_lines(hours: tuple[int, ...]) -> list[str]:
    if not any(hours):
        return []
    busiest = max(range(24), key=hours.__getitem__)
    began = f"{hours[busiest]:,} session" + ("" if hours[busiest] == 1 else "s")
    return [spark(hours), "0     6     12    18   23", f"busiest: {busiest}:00, {began}"]


INSIGHTS = Command(
    name="insights", usage="[DAYS]", help="show what was used over the last 30 days, or so many", run=insights
)
