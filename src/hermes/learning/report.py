"""What Hermes learned over some days: what it remembers and from which message, which skills it wrote and what they saved,
what was retired, and what finding all that out has cost."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from hermes.learning.recall.hidden import items_of
from hermes.learning.recall.quotes import body_of, cut, one_line
from hermes.protocol.memories import Change, Memories, Memory
from hermes.protocol.skills import SkillRow, Skills, SkillUse
from hermes.protocol.store import Log, UsageRow

DAY = 86_400.0
EVERY = 1_000_000
WORDS = 90
"""Bytes of a message that tell which one it was."""
REVIEW, TRIAL = "review", "trial"
GONE = ("retire", "archive", "reject")


class Lesson(Struct, frozen=True, kw_only=True):
    """Something remembered, with the message it came from (empty where that is gone or was a file) and what use it was."""

    id: int
    at: float
    target: str
    content: str
    state: str
    origin: str
    session: str
    item: str
    message: str
    helped: int
    hurt: int


class Skill(Struct, frozen=True, kw_only=True):
    """A skill that Hermes wrote: out of which turn, what its trials showed (before and after, summed up) and what use it was."""

    name: str
    state: str
    at: float
    why: str
    session: str
    turn: int
    trials: int
    better: int
    steps: tuple[int, int]
    tokens: tuple[int, int]
    loaded: int
    helped: int
    failed: int
    saved: int


class Retired(Struct, frozen=True):
    """Something that is no longer used: an entry of memory or a skill, since when, and by whom or why."""

    at: float
    kind: str
    what: str
    why: str


class Day(Struct, frozen=True):
    """One day: how many things were learned, how many retired, tokens in all, and those of them that reviews took."""

    date: str
    learned: int
    retired: int
    tokens: int
    review: int


class Report(Struct, frozen=True, kw_only=True):
    """The days from `since` on. Skills are all there are with what they saved so far, because that is not counted by day."""

    since: str
    days: tuple[Day, ...]
    lessons: tuple[Lesson, ...]
    skills: tuple[Skill, ...]
    retired: tuple[Retired, ...]
    purposes: tuple[tuple[str, int], ...]
    """Tokens by what they were for, the most first; the conversations themselves are "conversation"."""
    review_calls: int
    review_cost: float

    @property
    def tokens(self) -> int:
        return sum(count for _, count in self.purposes)

    @property
    def review_tokens(self) -> int:
        return dict(self.purposes).get(REVIEW, 0)

    @property
    def trial_tokens(self) -> int:
        return dict(self.purposes).get(TRIAL, 0)

    @property
    def saved(self) -> int:
        return sum(skill.saved for skill in self.skills)


class Store(Log, Protocol):
    """What a report is made of."""

    @property
    def memories(self) -> Memories: ...

    @property
    def skills(self) -> Skills: ...

    async def usage(self, since: float = 0.0) -> list[UsageRow]: ...


async def gather(store: Store, days: int, now: float | None = None) -> Report:
    """Look at the last days, today among them."""
    now = time.time() if now is None else now
    today = time.localtime(now)
    since = time.mktime((today.tm_year, today.tm_mon, today.tm_mday - days + 1, 0, 0, 0, 0, 0, -1))
    usage = await store.usage(since)
    lessons = await _lessons(store, since)
    skills = await _skills(store.skills)
    retired = await _retired(store, since)
    purposes: Counter[str] = Counter()
    for row in usage:
        purposes[row.purpose or "conversation"] += row.input + row.output
    reviews = [row for row in usage if row.purpose == REVIEW]
    born = [skill.at for skill in skills if skill.at >= since]
    dates = [_date(since + number * DAY + DAY / 2) for number in range(days)]
    return Report(
        since=dates[0],
        days=_days(dates, [*(lesson.at for lesson in lessons), *born], [each.at for each in retired], usage),
        lessons=lessons,
        skills=skills,
        retired=retired,
        purposes=tuple(purposes.most_common()),
        review_calls=sum(row.calls for row in reviews),
        review_cost=sum(row.cost for row in reviews),
    )


async def _lessons(store: Store, since: float) -> tuple[Lesson, ...]:
    """What was remembered, the newest first."""
    entries = [entry for entry in await store.memories.entries() if entry.created >= since and entry.content]
    messages: dict[str, dict[str, str]] = {}
    for session in dict.fromkeys(entry.session for entry in entries if entry.session and entry.item):
        wanted = {entry.item for entry in entries if entry.session == session}
        items = await items_of(store, session)
        messages[session] = {name: cut(one_line(body_of(items[name])), WORDS) for name in wanted & items.keys()}
    return tuple(_lesson(entry, messages.get(entry.session, {})) for entry in reversed(entries))


def _lesson(entry: Memory, messages: dict[str, str]) -> Lesson:
    return Lesson(
        id=entry.id,
        at=entry.created,
        target=entry.target,
        content=entry.content,
        state=entry.state,
        origin=entry.origin,
        session=entry.session,
        item=entry.item,
        message=messages.get(entry.item, ""),
        helped=entry.helped,
        hurt=entry.hurt,
    )


async def _skills(store: Skills) -> tuple[Skill, ...]:
    """Every skill that Hermes wrote, the most useful first."""
    uses = await store.uses()
    found = [await _skill(store, row, [use for use in uses if use.skill == row.name]) for row in await store.rows()]
    return tuple(sorted(found, key=lambda skill: (-skill.saved, -skill.helped, skill.name)))


async def _skill(store: Skills, row: SkillRow, uses: Sequence[SkillUse]) -> Skill:
    versions = await store.versions(row.name)
    first = versions[0] if versions else None
    trials = [trial for trial in await store.trials(row.name) if trial.version == (row.version or row.candidate)]
    shown = [trial for trial in trials if trial.finding != "inconclusive"]
    return Skill(
        name=row.name,
        state=row.state,
        at=row.created,
        why=first.why if first else "",
        session=first.session if first else "",
        turn=first.turn if first else 0,
        trials=len(trials),
        better=sum(trial.finding == "better" for trial in trials),
        steps=(sum(trial.steps[0] for trial in shown), sum(trial.steps[1] for trial in shown)),
        tokens=(sum(trial.tokens[0] for trial in shown), sum(trial.tokens[1] for trial in shown)),
        loaded=sum(use.loaded for use in uses),
        helped=sum(use.helped for use in uses),
        failed=sum(use.failed for use in uses),
        saved=sum(use.saved for use in uses),
    )


async def _retired(store: Store, since: float) -> tuple[Retired, ...]:
    """What went, the newest first."""
    changes = [change for change in await store.memories.changes(limit=EVERY) if change.at >= since]
    gone = [
        Retired(change.at, "memory", _content(change), _reason(change)) for change in changes if change.verb in GONE
    ]
    archived = [row for row in await store.skills.rows() if row.state == "archived" and row.changed >= since]
    gone += [Retired(row.changed, "skill", row.name, row.waiting or "archived") for row in archived]
    return tuple(sorted(gone, key=lambda each: -each.at))


def _content(change: Change) -> str:
    return change.before.content if change.before and change.before.content else change.after.content


def _reason(change: Change) -> str:
    return {"archive": "made room", "reject": "rejected"}.get(change.verb, f"by {change.by}")


def _days(
    dates: Sequence[str], learned: Sequence[float], retired: Sequence[float], usage: Sequence[UsageRow]
) -> tuple[Day, ...]:
    more, fewer = Counter(map(_date, learned)), Counter(map(_date, retired))
    tokens: Counter[str] = Counter()
    review: Counter[str] = Counter()
    for row in usage:
        tokens[row.day] += row.input + row.output
        if row.purpose == REVIEW:
            review[row.day] += row.input + row.output
    return tuple(Day(date, more[date], fewer[date], tokens[date], review[date]) for date in dates)


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
