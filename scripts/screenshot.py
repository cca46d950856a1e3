"""Draw docs/screenshot.svg, the picture of the full screen in the README, from a conversation that is always the same.

python scripts/screenshot.py
"""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PICTURE = TREE / "docs" / "screenshot.svg"
SIZE = (100, 48)
FACTS = {"model": "nous:hermes-4-405b", "folder": "~/project", "session": "20260101_120000_abcdef"}
TYPED = "Now say it in @file:README.md too"


async def draw(folder: Path) -> str:
    from msgspec.structs import replace
    from textual.widgets import TextArea

    from hermes.protocol.events import Event
    from tests.tui.rig import person
    from tests.tui.scene import SCENE

    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", folder / "work"], check=True)
    (folder / "work" / "greet.py").touch()
    async with person(folder, size=SIZE) as one:
        front = one.front
        await one.until(lambda: front.banner.git)
        for name, value in FACTS.items():
            setattr(front.banner, name, value)
        front.opened = time.monotonic() - 330
        front.page.touch(front.banner)
        for body in SCENE:
            front.see(Event(session=front.session.id, at=0.0, body=body))
        one.screen.query_one(TextArea).cursor_blink = False
        one.screen.prompt.load(TYPED)
        one.screen.transcript.draw()
        await one.pilot.pause(0.2)
        one.screen.status.facts = replace(one.screen.status.facts, model=FACTS["model"])
        await one.pilot.pause()
        return one.screen.export_screenshot(title="Hermes", simplify=True)


def main() -> int:
    sys.path.insert(0, str(TREE))
    with tempfile.TemporaryDirectory() as folder:
        drawn = asyncio.run(draw(Path(folder)))
    PICTURE.write_text(re.sub(r"terminal-\d+", "terminal", drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
