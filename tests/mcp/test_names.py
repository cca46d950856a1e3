"""Names of a server's tools."""

import re

from hypothesis import given
from hypothesis import strategies as st

from hermes.mcp.names import tool_name, tool_names


def test_a_tool_is_named_after_its_server() -> None:
    assert tool_name("github", "create_issue") == "mcp__github__create_issue"


def test_signs_that_models_refuse_become_underscores() -> None:
    assert tool_name("my-server", "get.data/now") == "mcp__my_server__get_data_now"


def test_a_long_name_is_cut_and_ends_in_a_hash_of_the_whole() -> None:
    one, other = tool_name("server", "x" * 80), tool_name("server", "x" * 81)
    assert (len(one), len(other)) == (64, 64)
    assert one != other
    assert one[:55] == other[:55] == f"mcp__server__{'x' * 42}"


def test_tools_that_would_be_called_the_same_are_told_apart_in_any_order() -> None:
    tools = ["a-b", "a_b", "a.b", "c"]
    names = tool_names("s", tools)
    assert (names["a_b"], names["c"]) == ("mcp__s__a_b", "mcp__s__c")
    assert re.fullmatch(r"mcp__s__a_b_[0-9a-f]{8}", names["a-b"])
    assert len(set(names.values())) == 4
    assert tool_names("s", reversed(tools)) == names


@given(st.text(min_size=1), st.lists(st.text(), max_size=8))
def test_every_name_is_one_that_models_accept_and_no_two_are_the_same(server: str, tools: list[str]) -> None:
    names = tool_names(server, tools)
    assert set(names) == set(tools)
    assert len(set(names.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_]{1,64}", name) for name in names.values())
