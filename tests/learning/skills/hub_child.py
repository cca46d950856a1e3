"""Installs one version of a skill after the other, until it is killed."""

import itertools
import sys
from pathlib import Path

from hermes.learning.skills import hub
from hermes.learning.skills.lock import Lock
from tests.learning.skills.corpus import lay_out

TEXT = "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nVersion {}.\n"


def main(root: Path) -> None:
    lock = Lock(root)
    for number in itertools.count(1):
        source = lay_out(
            root.parent / f"source{number % 7}",
            {"SKILL.md": TEXT.format(number), "references/a.md": f"{number}\n" * 2_000},
        )
        with hub.quarantined(lock) as room:
            candidate = hub.take_in(room, source, source="here", trust="community")
            hub.install(lock, candidate)
        if number % 5 == 0:
            hub.uninstall(lock, "pdf")
        print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
