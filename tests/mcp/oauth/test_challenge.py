"""What a refusal says, and which scopes follow from it."""

import pytest

from hermes.mcp.oauth.challenge import Challenge, Scopes, parse, union, wanted


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", Challenge()),
        ("Bearer", Challenge()),
        ('Basic realm="x", scope="no"', Challenge()),
        ('Bearer realm="x"', Challenge()),
        ('Bearer scope="a b"', Challenge(scopes=("a", "b"))),
        ('Bearer scope=""', Challenge(scopes=())),
        ("bearer error=invalid_token,scope=a", Challenge("invalid_token", ("a",))),
        ('Bearer xscope="no", resource_metadata="https://h/a?b=c,d"', Challenge(metadata="https://h/a?b=c,d")),
        ('Basic realm="Bearer scope=\\"no\\"", Bearer scope="yes"', Challenge(scopes=("yes",))),
        ('Bearer error="insufficient_scope", Basic realm="x", scope="no"', Challenge("insufficient_scope")),
        ('Negotiate, Bearer scope="a"', Challenge(scopes=("a",))),
        ('Bearer error_description="say scope=\\"b\\" please", scope="a"', Challenge(scopes=("a",))),
        ('Bearer scope="first", scope="second"', Challenge(scopes=("first",))),
    ],
)
def test_only_the_bearer_part_of_a_challenge_counts(header: str, expected: Challenge) -> None:
    assert parse(header) == expected


@pytest.mark.parametrize(
    ("configured", "challenge", "offered", "known", "held", "expected"),
    [
        ((), None, None, None, (), ()),
        ((), None, ("o",), None, (), ("o",)),
        ((), ("c",), ("o",), None, (), ("c",)),
        (("mine",), ("c",), ("o",), None, (), ("mine",)),
        ((), ("c",), ("o",), None, ("held",), ("held", "c")),
        (("mine",), ("c", "held"), None, None, ("held",), ("held", "mine", "c")),
        ((), ("c",), None, ("offline_access",), (), ("c", "offline_access")),
        ((), None, None, ("offline_access",), (), ()),
        ((), ("offline_access", "c"), None, ("offline_access",), (), ("offline_access", "c")),
    ],
)
def test_scopes_are_chosen_in_the_order_of_the_specification(
    configured: Scopes,
    challenge: Scopes | None,
    offered: Scopes | None,
    known: Scopes | None,
    held: Scopes,
    expected: Scopes,
) -> None:
    assert wanted(configured, Challenge(scopes=challenge), offered, known, held) == expected


def test_a_union_has_each_scope_once_in_order() -> None:
    assert union(("b", "a"), (), ("a", "c", "b")) == ("b", "a", "c")
