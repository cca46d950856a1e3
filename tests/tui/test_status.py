"""The figures at the bottom, at every width, and the line that moves."""

import pytest
from msgspec.structs import replace

from hermes.protocol.events import Event, Usage
from hermes.tui.status import Facts, colour, figures
from tests.services.script import Reply, call
from tests.tui.rig import person

FACTS = Facts(
    model="openrouter:anthropic/claude-sonnet-5.5",
    used=104_000,
    size=200_000,
    cost=0.0125,
    seconds=754,
    servers=(2, 3),
    background=1,
    sessions=2,
)


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (
            120,
            "claude-sonnet-5.5 │ 104k/200k │ █████░░░░░ 52% │ $0.0125 │ 12m │ MCP 2/3 │ 1 in background │ 2 sessions",
        ),
        (75, "claude-sonnet-5.5 │ 52% │ $0.0125 │ 12m │ MCP 2/3 │ 1 in background"),
        (51, "claude-sonnet-5.5 │ 52% │ $0.0125 │ 12m │ MCP 2/3"),
        (30, "claude-sonnet-5.5 │ 52%"),
        (12, "claude-sonn…"),
    ],
)
def test_there_are_as_many_figures_as_there_is_room(width, line):
    assert figures(FACTS, width).plain == line


def test_a_session_that_waits_is_told_however_narrow_the_screen():
    assert figures(replace(FACTS, asking=1), 40).plain == "claude-sonnet-5.5 │ 1 asks: Ctrl+T │ 52%"


def test_what_is_not_known_is_left_out():
    assert figures(Facts(model="local:small", used=900), 100).plain == "local:small │ 900 tokens │ 0s"


@pytest.mark.parametrize(
    ("share", "wanted"),
    [
        (0.0, "$success"),
        (0.49, "$success"),
        (0.5, "yellow"),
        (0.8, "darkorange"),
        (0.94, "darkorange"),
        (0.95, "$error"),
    ],
)
def test_the_colour_tells_how_full_the_window_is(share, wanted):
    assert colour(share) == wanted


async def test_tokens_and_cost_of_the_session_are_shown(tmp_path):
    async with person(tmp_path, [Reply("hi")]) as one:
        await one.says("hi")
        await one.sees("15/128k")
        used = Usage(2, "m", 10, 5, cost=0.5, context_used=64_000, context_size=128_000)
        one.front.see(Event(session=one.front.session.id, at=0.0, body=used))
        await one.sees("64.0k/128k", "50%", "$0.5000")


async def test_processes_in_the_background_are_counted(tmp_path):
    start = call("terminal", command="sleep 30", background=True)
    async with person(tmp_path, [start, Reply("started")]) as one:
        await one.says("go", "started", "1 in background")
        await one.types("/stop")
        await one.until(lambda: "in background" not in one.seen)
