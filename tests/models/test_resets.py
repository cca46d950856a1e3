"""A wish to try keys again reaches the pools of every process of a home."""

from functools import partial
from pathlib import Path

from hermes.models.credentials import ApiKey, KeyPool
from hermes.models.resets import request_reset, reset_mark

A, B = ApiKey("a", "1"), ApiKey("b", "2")


def test_a_reset_wakes_the_keys_of_the_provider_that_is_meant(tmp_path: Path) -> None:
    pools = {name: KeyPool([A, B], clock=lambda: 1.0, mark=partial(reset_mark, tmp_path, name)) for name in ("x", "y")}
    for pool in pools.values():
        assert (pool.rotate(A, 60), pool.rotate(B, 60), pool.resting) == (B, None, True)
    request_reset(tmp_path, "x")
    assert [pool.resting for pool in pools.values()] == [False, True]
    assert pools["x"].take() == A
    request_reset(tmp_path)
    assert [pool.resting for pool in pools.values()] == [False, False]


def test_a_reset_is_good_once(tmp_path: Path) -> None:
    request_reset(tmp_path, "a/b")
    pool = KeyPool([A], clock=lambda: 1.0, mark=partial(reset_mark, tmp_path, "a/b"))
    pool.rotate(A, 60)
    assert pool.resting
    request_reset(tmp_path, "a/b")
    assert not pool.resting
    pool.rotate(A, 60)
    assert pool.resting
    assert [path.name for path in (tmp_path / "auth-reset").iterdir()] == ["of-a%2Fb"]


def test_a_reset_from_before_a_failure_does_not_bring_the_key_back(tmp_path: Path) -> None:
    pool = KeyPool([A, B], clock=lambda: 1.0, mark=partial(reset_mark, tmp_path, "x"))
    request_reset(tmp_path, "x")
    assert pool.rotate(A, 60) == B
    assert pool.take() == B
