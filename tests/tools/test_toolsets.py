import subprocess
import sys

import msgspec
import pytest

from hermes.protocol.errors import UserError
from hermes.tools.toolsets import TOOLS, TOOLSETS, make_tools, tool_names


def test_every_toolset_can_be_made():
    for name, tools in TOOLSETS.items():
        made = make_tools([name])
        assert {tool.spec.name for tool in made} == set(tools)


def test_tools_come_once_and_in_one_order_however_they_are_chosen():
    assert tool_names(["terminal", "file", "coding"]) == tool_names(["coding"])
    assert tool_names(["search_files", "todo", "read_file"]) == ("read_file", "search_files", "todo")
    assert tool_names(["*"]) == tool_names(["all"]) == tuple(TOOLS)
    assert tool_names([]) == ()


def test_the_small_profile_has_four_tools():
    assert tool_names(["small"]) == ("read_file", "write_file", "terminal")


def test_a_toolset_that_is_not_there_suggests_one():
    with pytest.raises(UserError, match="There is no toolset 'files'") as error:
        make_tools(["file", "files"])
    assert error.value.hint == "Did you mean file?"


def test_each_session_gets_tools_of_its_own():
    [one], [other] = make_tools(["read_file"]), make_tools(["read_file"])
    assert one.run is not other.run
    assert one.spec is other.spec


@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
def test_the_tools_stay_within_their_share_of_the_prompt():
    import bpe_openai

    sent = [
        {
            "type": "function",
            "function": {"name": t.spec.name, "description": t.spec.description, "parameters": t.spec.schema},
        }
        for t in make_tools(["all"])
    ]
    assert len(bpe_openai.get_encoding("o200k_base").encode(msgspec.json.encode(sent).decode())) <= 2_050


def test_a_tool_that_is_not_chosen_is_not_imported():
    code = (
        "import sys; from hermes.tools.toolsets import make_tools; make_tools(['small']);"
        "print([m for m in ('hermes.tools.patch', 'hermes.tools.todo', 'difflib', 'json') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
