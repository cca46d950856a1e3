"""What Hermes learned from being used, from which message, what it saved, and what was retired: as text, JSON or a picture."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hermes.cli.open import open_app
from hermes.cli.pen import Pen
from hermes.cli.table import one_line
from hermes.commands.numbers import short
from hermes.commands.plots import Bar, bars, timeline
from hermes.protocol.errors import UserError

if TYPE_CHECKING:
    from hermes.learning.report import Lesson, Report, Retired, Skill

DAYS = 30
LONGEST = 3_660
WIDEST = 100
INDENT = " " * 11
MOST = 12
"""Lines of one kind: what comes behind is counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="COMMAND")
    parser.set_defaults(days=DAYS, png=None, json=False)
    report = commands.add_parser("report", help="what was learned, from which message, what it saved, what was retired")
    report.add_argument(
        "--days", metavar="N", type=int, default=DAYS, help=f"how many, today among them (default {DAYS})"
    )
    report.add_argument("--png", metavar="FILE", type=Path, help="draw it into this file too")
    report.add_argument("--json", action="store_true", help="everything as JSON")


async def run(args: argparse.Namespace) -> int:
    from hermes.learning.report import gather

    if not 1 <= args.days <= LONGEST:
        raise UserError(f"--days must be 1 to {LONGEST:,}", f"the default is {DAYS}")
    async with open_app(args) as app:
        report = await gather(app.store, args.days)
        if args.png is not None:
            _draw(report, args.png)
        if args.json:
            print(msgspec.json.encode(report).decode())
        else:
            _print(report, Pen(sys.stdout, app.settings.environ))
    return 0


def _print(report: "Report", pen: Pen) -> None:
    for index, (head, lines) in enumerate(sections(report, min(pen.width, WIDEST))):
        if index:
            pen.line()
        pen.line(pen.paint("bold", head))
        for line in lines:
            pen.line(pen.fit(line, pen.width) if pen.is_screen else one_line(line))


def sections(report: "Report", width: int) -> Iterator[tuple[str, list[str]]]:
    """Heads with the lines below them; what there is nothing of is left out."""
    yield f"Learned in the last {len(report.days)} days" if len(report.days) > 1 else "Learned today", _facts(report)
    learned = [(day.date, float(day.learned)) for day in report.days]
    parts = (
        ("Things learned a day", timeline(learned, width) if len(learned) > 1 and any(n for _, n in learned) else []),
        ("Remembered", _few([_lesson(lesson) for lesson in report.lessons])),
        ("Skills that Hermes wrote", _few([_skill(skill) for skill in report.skills])),
        ("Tokens saved, by skill", bars(_saved(report), width)),
        ("Retired", _few([_retired(each) for each in report.retired])),
        ("Tokens by purpose", bars(_purposes(report), width) if len(report.purposes) > 1 else []),
    )
    yield from ((head, "\n".join(lines).splitlines()) for head, lines in parts if lines)


def _facts(report: "Report") -> list[str]:
    since = [lesson for lesson in report.lessons if lesson.state in ("active", "archived", "retired")]
    waiting = sum(lesson.state == "pending" for lesson in report.lessons)
    helped = sum(lesson.helped for lesson in report.lessons)
    hurt = sum(lesson.hurt for lesson in report.lessons)
    visible = sum(skill.state in ("trial", "active", "stale") for skill in report.skills)
    share = report.review_tokens / report.tokens if report.tokens else 0.0
    cost = f", ${report.review_cost:.2f}" if report.review_cost else ""
    tried = report.trial_tokens / report.tokens if report.tokens else 0.0
    return [
        f"remembered  {len(since):,}" + (f", {waiting:,} more wait for you (hermes memory pending)" if waiting else ""),
        f"of use      {helped:,} times, misled {hurt:,} times",
        f"skills      {len(report.skills):,} written, {visible:,} in use",
        f"saved       {report.saved:,} tokens, by skills, as measured against the runs they were made from",
        f"retired     {len(report.retired):,}",
        f"reviews     {share:.1%} of the tokens, {report.review_calls:,} calls{cost}",
        f"trials      {tried:.1%} of the tokens, {report.trial_tokens:,}, to prove skills before they are used",
    ]


def _lesson(lesson: "Lesson") -> str:
    use = f", helped {lesson.helped}" if lesson.helped else ""
    use += f", misled {lesson.hurt}" if lesson.hurt else ""
    state = "" if lesson.state == "active" else f", {lesson.state}"
    told = f' "{lesson.message}"' if lesson.message else ""
    source = (
        f"{lesson.session}{told}" if lesson.session else "an edit of the file" if lesson.origin == "file" else "you"
    )
    what = f"{_date(lesson.at)} #{lesson.id} {one_line(lesson.content)} ({lesson.origin}{state}{use})"
    return f"{what}\n{INDENT}from {one_line(source)}"


def _skill(skill: "Skill") -> str:
    steps = f", steps {skill.steps[0]} → {skill.steps[1]}" if any(skill.steps) else ""
    tokens = f", tokens {short(skill.tokens[0])} → {short(skill.tokens[1])}" if any(skill.tokens) else ""
    tried = f"; {skill.better} of {skill.trials} trials better{steps}{tokens}" if skill.trials else "; no trial yet"
    used = f"; loaded {skill.loaded}, helped {skill.helped}, failed {skill.failed}"
    source = f"\n{INDENT}from {skill.session} turn {skill.turn}" if skill.session else ""
    return f"{_date(skill.at)} {skill.name} ({skill.state}){tried}{used}{source}"


def _retired(each: "Retired") -> str:
    return f"{_date(each.at)} {each.kind}: {one_line(each.what)} ({one_line(each.why)})"


def _saved(report: "Report") -> list[Bar]:
    return [Bar(skill.name, skill.saved, short(skill.saved)) for skill in report.skills if skill.saved > 0][:MOST]


def _purposes(report: "Report") -> list[Bar]:
    return [Bar(name, count, short(count)) for name, count in report.purposes[:MOST]]


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST else [*lines[:MOST], f"… and {len(lines) - MOST:,} more (--json has all)"]


def _draw(report: "Report", path: Path) -> None:
    from hermes.cli.chart import Panel, draw

    useful = sorted((lesson for lesson in report.lessons if lesson.helped), key=lambda lesson: -lesson.helped)[:MOST]
    panels = [
        Panel("things learned a day", tuple(Bar(day.date, day.learned) for day in report.days), upright=True),
        Panel("tokens a day", tuple(Bar(day.date, day.tokens) for day in report.days), upright=True),
        Panel("tokens by purpose", tuple(_purposes(report))),
        Panel("tokens saved, by skill", tuple(_saved(report))),
        Panel("what was remembered and helped", tuple(Bar(one_line(each.content), each.helped) for each in useful)),
    ]
    picture = draw(f"learned since {report.since}", [panel for panel in panels if panel.bars])
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}", "name another file") from None


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
