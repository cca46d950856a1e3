from hermes.mcp.breaker import Breaker
from tests.mcp.rig import HandClock


def opened(clock: HandClock) -> Breaker:
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.failure()
    return breaker


def test_three_failures_in_a_row_open_it() -> None:
    breaker = Breaker(HandClock())
    breaker.failure()
    breaker.failure()
    assert (breaker.state, breaker.admit()) == ("closed", "call")
    breaker.failure()
    assert (breaker.state, breaker.admit(), breaker.cooldown) == ("open", "refuse", 60.0)


def test_a_success_between_failures_starts_the_count_anew() -> None:
    breaker = Breaker(HandClock())
    for _ in range(5):
        breaker.failure()
        breaker.failure()
        breaker.success()
    assert (breaker.state, breaker.failures) == ("closed", 0)


def test_after_exactly_a_minute_one_call_and_only_one_goes_through() -> None:
    clock = HandClock()
    breaker = opened(clock)
    clock.now += 59.999
    assert breaker.admit() == "refuse"
    clock.now += 0.001
    assert [breaker.admit() for _ in range(3)] == ["probe", "refuse", "refuse"]
    assert breaker.state == "half-open"


def test_a_good_probe_closes_it_and_a_bad_one_starts_the_minute_again() -> None:
    clock = HandClock()
    bad, good = opened(clock), opened(clock)
    clock.now += 60
    assert (bad.admit(), good.admit()) == ("probe", "probe")
    bad.failure()
    good.success()
    assert (bad.state, bad.cooldown, good.state, good.failures) == ("open", 60.0, "closed", 0)


def test_an_interrupted_probe_leaves_the_turn_to_the_next_call() -> None:
    clock = HandClock()
    breaker = opened(clock)
    clock.now += 60
    breaker.admit()
    breaker.let_go()
    assert breaker.admit() == "probe"
