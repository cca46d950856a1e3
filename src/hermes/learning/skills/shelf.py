"""All skills of a home: what lies on the disk, together with what the store knows about it."""

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hermes import config
from hermes.learning.skills.discover import Found, Library, Place
from hermes.learning.skills.parse import Skill
from hermes.learning.skills.tree import put, take_away
from hermes.learning.skills.worth import summed, worth
from hermes.protocol.errors import UserError
from hermes.protocol.skills import VISIBLE, SkillRow, Skills, SkillUse

PLATFORMS = {"darwin": ("macos", "darwin"), "linux": ("linux",)}
LOCK = "skills"


class Kit(Struct, frozen=True):
    """What a session can do: skills that need other tools are not for it."""

    tools: frozenset[str] = frozenset()
    toolsets: frozenset[str] = frozenset()


class Shelf:
    """The skills as they were at the last `refresh`; nothing else here reads the disk.

    `places` are looked through in their order, the home's own folder first; `hub` tells the hashes of what was installed.
    Skills whose names are in `off` are known, and used by nobody.
    """

    def __init__(
        self,
        root: Path,
        store: Skills,
        places: Callable[[], Collection[Place]] = tuple,
        hub: Callable[[], Mapping[str, str]] = dict,
        off: Collection[str] = (),
    ) -> None:
        self.root = root
        self.store = store
        self._places = places
        self._hub = hub
        self._off = off
        self._library = Library()
        self.found: dict[str, Found] = {}
        self.rows: dict[str, SkillRow] = {}
        self.uses: dict[str, SkillUse] = {}
        self.pins: frozenset[str] = frozenset()
        self.approved: frozenset[str] = frozenset()
        self.troubles: tuple[str, ...] = ()

    async def refresh(self) -> None:
        """See what there is now; a change that a crash has interrupted is finished first."""
        known = await self.store.known()
        if not all(row.placed for row in known.rows):
            await self.settle()
            known = await self.store.known()
        self.rows = {row.name: row for row in known.rows}
        self.uses = summed(known.uses)
        self.pins, self.approved = known.pins, known.approved
        self.found, self.troubles = await asyncio.to_thread(self._look)

    async def settle(self) -> None:
        """Make the folders what the store says they are."""
        for row in await self.store.rows():
            if row.placed:
                continue
            seen = row.state in VISIBLE
            version = await self.store.version(row.name, row.version) if seen else None
            known = frozenset(each.hash for each in await self.store.versions(row.name))
            files = version.files if version else None
            if await asyncio.to_thread(self._place, row, files, known):
                await self.store.placed(row.name, row.hash)

    def _place(self, row: SkillRow, files: dict[str, bytes] | None, known: frozenset[str]) -> bool:
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with config.locked(self.root / LOCK):
            target = self.root / row.category / row.name if row.category else self.root / row.name
            if files is None:
                take_away(self.root, target, known)
            elif self._library.hash(target) != row.hash:
                put(self.root, row.category, row.name, files, known)
        return True

    def _look(self) -> tuple[dict[str, Found], tuple[str, ...]]:
        found, troubles = self._library.find((Place(self.root, "user"), *self._places()))
        try:
            hub = self._hub()
        except UserError as error:
            hub = None
            troubles.append(f"{error} ({error.hint})")
        for name, one in found.items():
            if one.origin == "user":
                found[name] = self._judged(one, hub)
        troubles += [f"{name}: {one.trouble}" for name, one in found.items() if one.trouble]
        for name in found.keys() & set(self._off):
            found[name] = replace(found[name], trouble=f"hermes skills config {name} on has it again")
        return found, tuple(troubles)

    def _judged(self, one: Found, hub: Mapping[str, str] | None) -> Found:
        """Whose a skill in the home is. What Hermes wrote or fetched must be as it was when that was allowed."""
        row = self.rows.get(one.name)
        if row is not None and row.state in VISIBLE:
            allowed, one = frozenset({row.hash}), replace(one, origin="agent")
        elif hub is None:
            return replace(one, trouble="nobody can tell whether it was installed from elsewhere")
        elif one.name in hub:
            allowed, one = self.approved | {hub[one.name]}, replace(one, origin="hub")
        else:
            return one
        if self._library.hash(one.folder) in allowed:
            return one
        how = f"/skills approve {one.name} allows it as it is now"
        return replace(one, trouble=f"its files were changed since they were allowed; {how}")

    # What a session sees

    def usable(self, kit: Kit) -> list[Found]:
        """The skills for a session, the most useful first: pinned ones, then by proven help, then by name."""
        fit = [one for one in self.found.values() if not one.trouble and fits(one.skill, kit)]
        return sorted(fit, key=lambda one: (one.name not in self.pins, *self._order(one.name), one.name))

    def get(self, name: str) -> Found:
        """A skill that may be loaded; UserError says why it may not."""
        one = self.found.get(name) or self.found.get(name.rpartition("/")[2])
        if one is None:
            near = [other for other in sorted(self.found) if name.lower() in other][:3]
            raise UserError(
                f"there is no skill {name!r}",
                f"there is {', '.join(near)}" if near else "skill_search, or hermes skills list, shows what there is",
            )
        if one.trouble:
            raise UserError(f"the skill {one.name} is switched off: {one.trouble}")
        return one

    @property
    def has_candidates(self) -> bool:
        """Whether there are versions that wait for their first trial, and for nobody else."""
        return any(row.candidate and not row.waiting for row in self.rows.values())

    def use(self, name: str) -> SkillUse:
        return self.uses.get(name, SkillUse(skill=name))

    def _order(self, name: str) -> tuple[float, int]:
        proven, loaded = worth(self.use(name))
        return -proven, -loaded


def fits(skill: Skill, kit: Kit) -> bool:
    """Whether a skill is for this system and these tools."""
    here = PLATFORMS.get(sys.platform, (sys.platform,))
    if skill.platforms and not any(platform.lower() in here for platform in skill.platforms):
        return False
    if not (kit.tools >= set(skill.requires_tools) and kit.toolsets >= set(skill.requires_toolsets)):
        return False
    return kit.tools.isdisjoint(skill.fallback_for_tools) and kit.toolsets.isdisjoint(skill.fallback_for_toolsets)
