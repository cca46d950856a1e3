"""Plots as they stand on a screen."""

import pytest

from hermes.commands.plots import Bar, bars, spark, timeline
from hermes.commands.width import places


def test_the_longest_bar_is_the_largest_value_and_what_is_there_can_be_seen():
    assert bars([Bar("cli", 80), Bar("telegram", 40), Bar("cron", 0.01, "a bit"), Bar("acp", 0)], 24) == [
        "cli      █████████    80",
        "telegram ████▌        40",
        "cron     ▏         a bit",
        "acp                    0",
    ]


@pytest.mark.parametrize("width", [20, 34, 56, 120])
def test_no_line_is_wider_than_the_screen(width):
    rows = [Bar("a-very-long-name-of-a-model-that-somebody-runs", 7_000_000), Bar("日本語の名前", 12), Bar("x", 0)]
    assert [places(line) for line in bars(rows, width)] == [width] * 3


def test_nothing_draws_nothing():
    assert (bars([], 40), spark([]), timeline([], 40)) == ([], "", [])
    assert bars([Bar("a", 0)], 12) == ["a          0"]


@pytest.mark.parametrize(
    ("values", "drawn"),
    [([1, 2, 3, 4, 5, 6, 7, 8], "▁▂▃▄▅▆▇█"), ([0, 0], "  "), ([0, 0.001, 10], " ▁█"), ([5], "█")],
)
def test_a_spark_shows_each_number_and_only_nothing_as_nothing(values, drawn):
    assert spark(values) == drawn


def test_a_timeline_has_its_days_below_and_joins_neighbours_where_there_is_no_room():
    days = [(f"11-{day:02}", float(day % 3)) for day in range(1, 25)]
    assert timeline(days, 40) == [spark([value for _, value in days]), "11-01" + " " * 14 + "11-24"]
    assert timeline(days, 12) == [spark([3, 1, 2] * 4), "11-01  11-24"]
    assert timeline(days[:2], 40) == [spark([1, 2]), "11-01 … 11-02"]
    assert timeline(days[:1], 40) == ["█", "11-01"]
