from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.tools.watching import BURST, Breaker, Watch


def test_a_matching_line_is_told_whole():
    watch = Watch(["ready", "ERROR"], Breaker())
    assert watch.feed("starting\nserver rea", 0.0) == ""
    assert watch.feed("dy on 80\nmore\n", 0.1) == "printed:\nserver ready on 80"


def test_a_prompt_is_told_before_its_line_ends():
    watch = Watch(["Password:"], Breaker())
    assert watch.feed("Password: ", 0.0) == "printed:\nPassword:"
    assert watch.feed("\nok\n", 20.0) == ""


def test_one_notification_in_fifteen_seconds_and_the_dropped_ones_are_counted():
    watch = Watch(["x"], Breaker())
    assert watch.feed("x1\n", 0.0) == "printed:\nx1"
    assert watch.feed("x2\nx3\n", 14.9) == ""
    assert watch.feed("x4\n", 15.0) == "printed:\nx4\n[2 more matching lines were left out]"


def test_three_noisy_windows_in_a_row_end_the_watch():
    watch = Watch(["x"], Breaker())
    told = [watch.feed("x\n", float(second)) for second in range(200)]
    said = [(second, text.partition("\n")[0]) for second, text in enumerate(told) if text]
    assert said == [
        (0, "printed:"),
        (15, "printed:"),
        (30, "printed:"),
        (31, "matches its watch_patterns too often and is no longer watched; use process to look at it."),
    ]


def test_a_quiet_window_forgives():
    watch = Watch(["x"], Breaker())
    told = [watch.feed("x\n", at) for at in (0.0, 1.0, 15.0, 16.0, 30.0, 45.0, 46.0, 60.0, 61.0, 75.0)]
    assert [bool(text) for text in told] == [True, False, True, False, True, True, False, True, False, True]
    assert "no longer" not in "".join(told)


@settings(deadline=None)
@given(st.lists(st.floats(0, 60), max_size=200).map(sorted))
def test_all_processes_together_are_held_to_fifteen_in_ten_seconds(times):
    breaker = Breaker()
    let_through = [at for at in times if breaker.allows(at)]
    assert all(sum(start <= at < start + 10 for at in let_through) <= BURST for start in let_through)


def test_of_a_line_without_end_only_the_newest_part_is_kept():
    watch = Watch(["needle"], Breaker())
    assert watch.feed("start" + "hay" * 5000, 0.0) == ""
    assert watch.feed("needle\n", 1.0).startswith("printed:\nyhay")
