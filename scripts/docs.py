"""Write docs/cli.md: what `hermes --help` says, for every command.

python scripts/docs.py           write it
python scripts/docs.py --check   only say whether it is up to date
"""

import os
import re
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PAGE = TREE / "docs" / "cli.md"
INTRO = "# Commands\n\nWritten by `make docs` from the help of each command; do not edit.\n"


def main() -> int:
    if sys.version_info[:2] != (3, 11):
        print("docs: skipped; argparse words its help differently from version to version, this page is 3.11's")
        return 0
    page = "\n".join([INTRO, *(f"## `{name}`\n\n```text\n{text}```\n" for name, text in commands("hermes"))])
    if "--check" not in sys.argv[1:]:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        print("docs/cli.md is behind the commands; run make docs", file=sys.stderr)
        return 1
    return 0


def commands(name: str) -> list[tuple[str, str]]:
    """Return a command and all below it, each with its help."""
    text = help_of(name)
    below = re.search(r"^(?:commands|actions):\n((?: .*\n?)+)", text, re.MULTILINE)
    words = re.findall(r"^ {2,4}([a-z][\w-]*)", below[1], re.MULTILINE) if below else []
    return [(name, text), *(row for word in words for row in commands(f"{name} {word}"))]


def help_of(name: str) -> str:
    command = [sys.executable, "-I", "-m", *name.split(), "--help"]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


if __name__ == "__main__":
    sys.exit(main())
