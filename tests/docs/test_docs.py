"""Every Python example in the docs runs, and every link between pages leads somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.commands.builtin import BUILTIN

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
EXAMPLES = [
    (page.name, number, code)
    for page in PAGES
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M), 1)
]


@pytest.mark.parametrize(("page", "number", "code"), EXAMPLES, ids=[f"{page} {number}" for page, number, _ in EXAMPLES])
def test_the_example_runs(page, number, code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_page_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_folder_has_its_page():
    folders = {path.parent.name for path in (ROOT / "src" / "hermes").glob("*/__init__.py")}
    assert folders - {page.stem for page in PAGES} == set()


def test_every_slash_command_is_on_its_page():
    named = set(re.findall(r"`/([a-z-]+)", (ROOT / "docs" / "commands.md").read_text()))
    assert {command.name for command in BUILTIN} - named == set()
