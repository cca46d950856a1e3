"""Reading what others write, and writing what agentskills.io allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from skills_ref import validate

from hermes.learning.skills import front
from hermes.learning.skills.parse import Skill, Variable, parse, read_skill, render, write_skill
from hermes.protocol.errors import UserError

FULL = Skill(
    name="mend-tests",
    description='Mend a failing test: "red" to green, when CI says no.',
    body="# Steps\n\n1. Run it.\n",
    license="MIT",
    compatibility="needs git",
    allowed_tools="terminal read_file",
    metadata={"author": "me"},
    version="2",
    category="coding",
    tags=("tests", "ci"),
    platforms=("linux", "macos"),
    requires_tools=("terminal",),
    requires_toolsets=("file",),
    fallback_for_tools=("web_search",),
    fallback_for_toolsets=("web",),
    related_skills=("review",),
    variables=(Variable("TOKEN"),),
)


def test_what_is_written_reads_back_and_passes_the_validator(tmp_path):
    write_skill(tmp_path / "mend-tests", FULL)
    assert read_skill(tmp_path / "mend-tests") == FULL
    assert validate(tmp_path / "mend-tests") == []


@given(
    description=st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=200),
    value=st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=60),
)
def test_any_description_reads_back(description, value):
    description, value = " ".join(description.split()) or "x", value.strip() or "x"
    skill = Skill(name="a", description=description, body="b\n", metadata={"k": value})
    read = parse(render(skill))
    assert (read.description, read.metadata) == (description, {"k": value})


@given(
    st.dictionaries(
        st.sampled_from(["name", "description", "license", "version"]),
        st.text("ab 1:#-\"'.,true[]{}~", max_size=12),
    )
)
def test_the_plain_reader_says_what_yaml_says_or_leaves_it_to_yaml(values):
    text = "".join(f"{key}: {value}\n" for key, value in values.items())
    plain = front._read_plain(text)
    if plain is not None:
        assert plain == {
            k: v for k, v in (YAML(typ="safe", pure=True).load(text) or {}).items() if v not in (None, "")
        } | {k: v for k, v in plain.items() if v == ""}


def test_keys_of_others_are_read_wherever_they_stand():
    text = """---
name: gif-search
description: >
  Find a GIF
  by its mood.
version: 1.10
platforms: [macos, linux]
unknown: {a: 1}
allowed-tools: Bash(curl:*) Read
required_environment_variables:
  - name: TENOR_KEY
    prompt: Your key
metadata:
  hermes:
    tags: [GIF, Media]
    category: media
    requires_toolsets: [terminal]
---

# GIFs
"""
    assert parse(text) == Skill(
        name="gif-search",
        description="Find a GIF by its mood.",
        body="# GIFs\n",
        version="1.1",
        platforms=("macos", "linux"),
        allowed_tools="Bash(curl:*) Read",
        variables=(Variable("TENOR_KEY", "Your key"),),
        tags=("GIF", "Media"),
        category="media",
        requires_toolsets=("terminal",),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# no front matter", "front matter"),
        ("---\nname: a\n---\n", "description"),
        ("---\nname: Not One\ndescription: x\n---\n", "name"),
        (f"---\nname: {'a' * 65}\ndescription: x\n---\n", "name"),
        (f"---\nname: a\ndescription: {'x' * 1025}\n---\n", "1,025"),
        ("---\nname: a\ndescription: [\n---\n", "cannot be read"),
        ("---\nname: a\ndescription: x\n---\n" + "y" * 100_000, "100,0"),
    ],
)
def test_what_cannot_be_used_is_one_line(text, said):
    with pytest.raises(UserError, match=said) as raised:
        parse(text, "a")
    assert "\n" not in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize("name", ["Big", "a--b", "-a", "a_b", "", "a" * 65])
def test_a_name_that_the_format_does_not_allow_is_not_written(name):
    with pytest.raises(UserError):
        render(Skill(name=name, description="x", body=""))
