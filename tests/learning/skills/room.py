"""A home with a shelf of skills, and whoever writes and tends what stands on it."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hermes.learning.skills.birth import Source, Workshop
from hermes.learning.skills.discover import Place
from hermes.learning.skills.evidence import Evidence
from hermes.learning.skills.life import Life
from hermes.learning.skills.parse import Skill, write_skill
from hermes.learning.skills.pending import Pending
from hermes.learning.skills.shelf import Shelf
from hermes.protocol.skills import Decision, Trial
from hermes.store.sqlite import SqliteStore

PROVEN = Evidence(calls=6, verified=True, recovered=False, wished=False)
NEW = Skill(
    name="report", description="How to make the report.", body="1. make report\n2. make check", category="office"
)


class Room:
    """The hub and the clock are as the test sets them."""

    def __init__(self, folder: Path, store: SqliteStore) -> None:
        self.root, self.outside = folder / "skills", folder / "outside"
        self.hub: dict[str, str] = {}
        self.now = 1_000_000.0
        self.store = store.skills
        self.shelf = Shelf(self.root, store.skills, lambda: (Place(self.outside, "external"),), lambda: self.hub)
        self.pending = Pending(folder / "pending")
        self.life = Life(self.shelf, self.pending, lambda: self.now)
        self.workshop = Workshop(self.shelf, self.pending, lambda: self.now)

    def write(self, name: str, *, category: str = "", root: Path | None = None, **more: Any) -> Path:
        folder = (root or self.root) / category / name
        write_skill(folder, replace(Skill(name=name, description=f"About {name}.", body=f"Do {name}."), **more))
        return folder

    async def adopt(self, skill: Skill = NEW) -> Path:
        """A skill of Hermes' own that has passed its trial."""
        await self.workshop.create(skill, Source("agent", "s", 1), PROVEN)
        await self.decide(skill.name, 1)
        return self.shelf.found[skill.name].folder

    async def decide(self, name: str, number: int) -> None:
        version = await self.store.version(name, number)
        assert version is not None
        trial = Trial(skill=name, version=number, session="s", turn=1, finding="better", why="", at=self.now)
        decision = Decision(
            skill=name, expected=number, state="trial", version=number, hash=version.hash, saved=70, trials=(trial,)
        )
        assert await self.store.decide(decision, self.now)
        await self.shelf.refresh()
