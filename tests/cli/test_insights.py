"""`hermes insights`: numbers and plots, for people and for programs."""

import re
from pathlib import Path

import msgspec
import pytest

from hermes.commands.insights import Insights
from hermes.protocol.models import Tokens
from hermes.protocol.tools import said
from tests.agent.stage import ScriptedModel, call, finish, make_tool, play, text
from tests.cli.command import Hermes

USED = Tokens(input=12_000, output=500, cache_read=6_000)


async def used(folder: Path) -> Hermes:
    """A home in which one session with two model calls is stored."""
    hermes = Hermes(folder)
    hermes.home.mkdir()

    async def run(ctx, args):
        return said("done")

    steps = (call("act") + finish("calls", USED, 0.25), text("hi") + finish(tokens=USED, cost=0.5))
    async with play(hermes.home, ScriptedModel(*steps), make_tool("act", run)) as stage:
        await stage.say("the garden")
    return hermes


async def test_a_pipe_gets_plain_text(tmp_path):
    hermes = await used(tmp_path)
    ran = await hermes.beside("insights", "--days", "2")
    assert ran.code == 0
    assert ran.out.split("\n\n")[0].splitlines() == [
        "Last 2 days",
        "sessions    1",
        "messages    2",
        "model calls 2",
        "tool calls  1",
        "tokens in   24,000, 50% from a cache",
        "tokens out  1,000",
        "cost        $0.7500",
        "reviews     0.0% of the tokens",
    ]
    assert "\x1b" not in ran.out
    assert re.search(r"\nbusiest: \d{1,2}:00, 1 session\n", ran.out)


async def test_programs_get_json(tmp_path):
    hermes = await used(tmp_path)
    ran = await hermes.beside("insights", "--json", "--source", "cli")
    found = msgspec.json.decode(ran.out, type=Insights)
    assert (found.days, found.sessions, found.total.calls, len(found.by_day)) == (30, 1, 2, 30)
    other = await hermes.beside("insights", "--json", "--source", "telegram")
    assert msgspec.json.decode(other.out, type=Insights).total.calls == 0


async def test_a_terminal_has_heads_in_bold_unless_it_wants_no_colour_and_no_line_is_too_wide(tmp_path):
    hermes = await used(tmp_path)
    bold = hermes.terminal("insights", columns=50, TERM="xterm")
    assert "\x1b[1mTokens by model\x1b[0m" in bold.out
    plain = hermes.terminal("insights", columns=50, TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in plain.out
    assert all(len(line) <= 50 for line in plain.out.splitlines())


def test_a_home_without_a_session_says_that_nothing_was_asked(tmp_path):
    hermes = Hermes(tmp_path)
    assert hermes("insights").out == "Last 30 days\nNothing was asked.\n"


@pytest.mark.parametrize(
    ("days", "line"),
    [
        ("0", "hermes: --days must be 1 or more (the default is 30)\n"),
        ("99999", "hermes: 99,999 days are more than Hermes looks at (at most 3,660)\n"),
    ],
)
def test_days_that_make_no_sense_are_one_line(tmp_path, days, line):
    ran = Hermes(tmp_path)("insights", "--days", days)
    assert (ran.code, ran.err) == (2, line)
