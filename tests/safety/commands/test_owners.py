"""The table of which module holds the rule about a program, and that a command loads no more than it needs."""

import json
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from hermes.safety.commands import code, foreign
from hermes.safety.commands.owners import FOREIGN, OWNERS, rule_for

MODULES = sorted(set(OWNERS.values()))


@pytest.mark.parametrize("module", MODULES)
def test_the_table_names_the_programs_that_a_module_has_rules_for(module: str) -> None:
    rules = import_module(f"hermes.safety.commands.{module}").RULES
    assert {name for name, owner in OWNERS.items() if owner == module} == set(rules)
    assert {name: rule_for(name) for name in rules} == rules


def test_no_two_modules_have_a_rule_for_the_same_program() -> None:
    named = Counter(name for module in MODULES for name in import_module(f"hermes.safety.commands.{module}").RULES)
    assert [name for name, count in named.items() if count > 1] == []


def test_every_module_with_rules_is_in_the_table() -> None:
    files = Path(code.__file__).parent.glob("*.py")
    assert sorted(file.stem for file in files if "\nRULES" in file.read_text()) == MODULES


def test_the_table_names_the_interpreters_that_code_is_read_for() -> None:
    assert foreign.RISKY.keys() | foreign.SAME.keys() == FOREIGN


@pytest.mark.parametrize("name", ["python", "python3", "python3.12", "pypy", "pypy3"])
def test_a_python_of_any_version_is_one(name: str) -> None:
    assert rule_for(name) is code.python


@pytest.mark.parametrize("name", ["perl", "perl5.36", "ruby3.2", "node", "node20", "lua5.4", "octave-cli"])
def test_another_interpreter_is_known_with_its_version(name: str) -> None:
    assert rule_for(name) is foreign.interpreter


@pytest.mark.parametrize("name", ["true", "pythonic", "frobnicate", "3", ""])
def test_what_has_no_rule_of_its_own_has_none(name: str) -> None:
    assert rule_for(name) is None


LOADS = """
import json, sys
from hermes.safety.commands.case import Case
from tests.safety.scene import judge
known = set(sys.modules)
loaded = {"": sorted(known)}
for command in sys.argv[1:]:
    judge(command)
    loaded[command] = sorted(set(sys.modules) - known)
    known = set(sys.modules)
print(json.dumps(loaded))
"""


def test_a_command_loads_the_rules_of_the_programs_that_it_names_and_no_others() -> None:
    """To load all of them takes 15 milliseconds, which the first command would wait for."""
    commands = ["true", "ls -la", "cat x.py", "grep -rn x src", "git status", "mkdir -p a"]
    done = subprocess.run([sys.executable, "-c", LOADS, *commands], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    assert set(loaded.pop("")) & {f"hermes.safety.commands.{name}" for name in MODULES} == {
        "hermes.safety.commands.looking"
    }
    assert loaded == {
        "true": [],
        "ls -la": [],
        "cat x.py": [],
        "grep -rn x src": [],
        "git status": [f"hermes.safety.commands.{name}" for name in ("git", "git_ssh", "git_verbs")],
        "mkdir -p a": [f"hermes.safety.commands.{name}" for name in ("editors", "files", "removal")],
    }
