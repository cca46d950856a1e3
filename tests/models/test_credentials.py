"""Keys: where they are found, which is taken, and which rest."""

from collections import Counter
from random import Random

import pytest

from hermes.models.authfile import StoredKey
from hermes.models.credentials import NO_KEY, STRATEGIES, ApiKey, Key, KeyPool, Strategy, find_keys

A, B, C = (ApiKey(label, f"secret-{label}") for label in "abc")


class Clock:
    """A time that moves only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def pool(strategy: Strategy, clock: Clock | None = None) -> KeyPool:
    return KeyPool([A, B, C], strategy, clock=clock or Clock(), random=Random(1))


def test_keys_come_from_numbered_variables_and_from_the_file_each_once() -> None:
    environ = {"K": "one", "K_2": " two ", "K_3": "", "K_4": "four", "OTHER": "one", "OTHER_2": "five"}
    stored = [StoredKey("spare", "six"), StoredKey("same", "two")]
    assert find_keys(["K", "OTHER", "ABSENT"], environ, stored) == (
        ApiKey("K", "one"),
        ApiKey("K_2", "two"),
        ApiKey("OTHER_2", "five"),
        ApiKey("spare", "six"),
    )
    assert find_keys(["ABSENT"], environ) == ()


def test_a_key_never_shows_its_secret() -> None:
    shown = repr([A, StoredKey("spare", "secret-x")])
    assert shown == "[ApiKey('a'), StoredKey('spare')]"


@pytest.mark.parametrize(
    ("strategy", "taken"),
    [("fill_first", [A, A, A, A]), ("round_robin", [A, B, C, A]), ("least_used", [A, B, C, A])],
)
def test_the_strategy_says_which_key_is_next(strategy: Strategy, taken: list[Key]) -> None:
    keys = pool(strategy)
    assert [keys.take() for _ in taken] == taken


def test_random_takes_every_key_about_as_often() -> None:
    keys = pool("random")
    uses = Counter(keys.take().label for _ in range(3000))
    assert set(uses) == {"a", "b", "c"}
    assert min(uses.values()) > 900


def test_the_least_used_key_catches_up_after_its_rest() -> None:
    clock = Clock()
    keys = pool("least_used", clock)
    assert keys.rotate(keys.take(), rest=60) == B
    assert [keys.take() for _ in range(3)] == [C, B, C]
    clock.now += 61
    assert keys.take() == A


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_key_that_rests_is_passed_over_until_its_time_is_up(strategy: Strategy) -> None:
    clock = Clock()
    keys = pool(strategy, clock)
    keys.rotate(A, rest=60)
    assert A not in {keys.take() for _ in range(30)}
    clock.now += 61
    assert A in {keys.take() for _ in range(30)}


def test_when_all_rest_nothing_is_rotated_to_and_the_first_to_wake_is_taken() -> None:
    keys = pool("fill_first")
    assert not keys.resting
    assert keys.rotate(A, rest=60) == B
    assert keys.rotate(B, rest=10) == C
    assert keys.rotate(C, rest=30) is None
    assert keys.resting
    assert keys.take() == B
    keys.wake(B)
    assert not keys.resting


def test_one_key_that_failed_is_still_there_to_be_tried_again() -> None:
    keys = KeyPool([NO_KEY])
    assert keys.rotate(NO_KEY, rest=60) is None
    assert keys.take() == NO_KEY


def test_a_pool_without_keys_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="NO_KEY"):
        KeyPool([])
