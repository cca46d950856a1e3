"""The hub: skills from elsewhere are searched, looked at, installed, kept up to date and removed."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hermes import config
from hermes.app.collecting import Fetch, collect, read_index
from hermes.config import Settings
from hermes.learning.skills import hub
from hermes.learning.skills.bundled import bundled_folder
from hermes.learning.skills.lock import Lock, Pin, Trust
from hermes.learning.skills.parse import read_skill
from hermes.learning.skills.scan import Scan, scan
from hermes.learning.skills.shelf import Shelf
from hermes.learning.skills.sources import (
    DEFAULT_TAPS,
    GitSource,
    Named,
    Source,
    Tap,
    WebSource,
    read_source,
    spelled,
    trust_of,
)
from hermes.protocol.actions import Origin, RunCommand, Verdict
from hermes.protocol.errors import UserError

FRESH = 6 * 3600
"""Seconds for which the list of a tap is good."""


class Offer(Struct, frozen=True):
    """A skill that can be installed."""

    name: str
    description: str
    source: str
    trust: Trust


class Installed(Struct, frozen=True):
    """An installed skill with its state: ok, changed, allowed, missing, and after a look at its source also old or gone."""

    name: str
    pin: Pin
    state: str


class Hub:
    """The skills of a home that come from elsewhere. `fetch` is the guarded one of the app; nothing here runs a skill."""

    def __init__(self, settings: Settings, fetch: Fetch, cwd: Path, shelf: Shelf) -> None:
        self._settings = settings
        self._fetch = fetch
        self._cwd = cwd
        self.shelf = shelf
        self.root = settings.home / "skills"
        self.lock = Lock(self.root)
        self._taps_file = self.lock.hub / "taps.json"

    # Sources

    def taps(self) -> tuple[Tap, ...]:
        try:
            return msgspec.json.decode(self._taps_file.read_bytes(), type=tuple[Tap, ...])
        except FileNotFoundError:
            return DEFAULT_TAPS
        except (OSError, msgspec.DecodeError) as error:
            raise UserError(f"cannot read {self._taps_file}: {error}", "mend or remove it") from None

    def add_tap(self, text: str, *, trusted: bool) -> Tap:
        source = read_source(text, self._cwd)
        if isinstance(source, Named):
            raise UserError(f"{text!r} names no place", "owner/repo, a folder, git+URL or https://site")
        tap = Tap(spelled(source), trusted)
        self._change_taps(lambda taps: (*(each for each in taps if each.source != tap.source), tap))
        return tap

    def remove_tap(self, text: str) -> None:
        source = read_source(text, self._cwd)
        same = {text} if isinstance(source, Named) else {text, spelled(source)}
        gone = [tap for tap in self.taps() if tap.source in same or self._spelling(tap) in same]
        if not gone:
            raise UserError(f"there is no tap {text!r}", "hermes skills tap list shows them")
        self._change_taps(lambda taps: tuple(tap for tap in taps if tap not in gone))

    def _spelling(self, tap: Tap) -> str:
        source = read_source(tap.source, self._cwd)
        return tap.source if isinstance(source, Named) else spelled(source)

    def _change_taps(self, change: Callable[[tuple[Tap, ...]], tuple[Tap, ...]]) -> None:
        with self.lock.holding():
            config.write_private(self._taps_file, msgspec.json.encode(change(self.taps())).decode() + "\n")

    async def offers(self, query: str = "", *, refresh: bool = False) -> tuple[list[Offer], list[str]]:
        """What the taps have, those with all words of a query, and a line for each tap that does not answer."""
        found: list[Offer] = []
        troubles: list[str] = []
        for tap in self.taps():
            try:
                found += await self._offers_of(tap, refresh=refresh)
            except UserError as error:
                troubles.append(f"{tap.source}: {error}")
        words = query.lower().split()
        fit = [each for each in found if all(word in f"{each.name} {each.description}".lower() for word in words)]
        return sorted(fit, key=lambda each: (not all(w in each.name for w in words), each.name)), troubles

    async def _offers_of(self, tap: Tap, *, refresh: bool) -> list[Offer]:
        source = read_source(tap.source, self._cwd)
        assert not isinstance(source, Named)
        kept = self.lock.hub / "index" / f"{hashlib.sha256(tap.source.encode()).hexdigest()[:16]}.json"
        trust: Trust = "trusted" if tap.trusted else "community"
        if not refresh and kept.exists() and time.time() - kept.stat().st_mtime < FRESH:
            return [replace(each, trust=trust) for each in msgspec.json.decode(kept.read_bytes(), type=list[Offer])]
        offers = await self._look(source, trust)
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        config.write_private(kept, msgspec.json.encode(offers).decode())
        return offers

    async def _look(self, source: Source, trust: Trust) -> list[Offer]:
        if isinstance(source, WebSource):
            index, _ = await read_index(source.url, self._fetch)
            return [Offer(e.name, e.description, spelled(replace(source, skill=e.name)), trust) for e in index.skills]
        async with self._room() as room:
            fetched = await collect(source, room, self._fetch, self._settings.shell)
            return await asyncio.to_thread(_offered, fetched.folder, source, trust)

    # One skill

    @asynccontextmanager
    async def candidate(self, text: str) -> AsyncIterator[hub.Candidate]:
        """A skill in quarantine, scanned; it is gone from there at the end."""
        source = await self._meant(text)
        async with self._room() as room:
            fetched = await collect(source, room, self._fetch, self._settings.shell)
            folder = await asyncio.to_thread(hub.pick, fetched.folder, fetched.skill)
            yield await asyncio.to_thread(
                hub.take_in,
                room,
                folder,
                source=spelled(_exactly(source, folder, fetched.folder)),
                trust=trust_of(source, self.taps()),
                revision=fetched.revision,
                judge=self.judge,
            )

    async def install(
        self, text: str, *, category: str = "", force: bool = False, expected: str = ""
    ) -> tuple[str, Pin, Scan]:
        """Install what a source has; UserError if another hash was `expected`."""
        async with self.candidate(text) as candidate:
            if expected not in ("", candidate.hash):
                raise UserError("its source has something else now", "--newer takes what is there")
            self._check_bundled(candidate.skill.name, force=force)
            pin = await asyncio.to_thread(hub.install, self.lock, candidate, category=category, force=force)
            return candidate.skill.name, pin, candidate.scan

    def uninstall(self, name: str) -> Pin:
        return hub.uninstall(self.lock, name)

    def pinned(self, name: str) -> Pin:
        """The pin of an installed skill; UserError if it was not installed."""
        pin = self.lock.read().get(name)
        if pin is None:
            raise UserError(f"{name} was not installed from anywhere", "hermes skills list shows what was")
        return pin

    # All that is installed

    async def installed(self) -> list[Installed]:
        approved = await self.shelf.store.approved()
        return await asyncio.to_thread(
            lambda: [
                Installed(name, pin, hub.state_of(self.lock, pin, approved)) for name, pin in self.lock.read().items()
            ]
        )

    async def check(self, name: str = "") -> list[Installed]:
        """Installed skills, or one, compared with their source: old if there is something newer, gone if there is nothing."""
        checked: list[Installed] = []
        for each in await self.installed():
            if name in ("", each.name):
                checked.append(await self._compared(each) if each.state == "ok" else each)
        if name and not checked:
            self.pinned(name)
        return checked

    async def _compared(self, each: Installed) -> Installed:
        try:
            async with self.candidate(each.pin.source) as candidate:
                return each if candidate.hash == each.pin.hash else replace(each, state="old")
        except UserError as error:
            return replace(each, state=f"gone: {error}")

    async def update(self, name: str, *, force: bool = False, discard: bool = False) -> bool:
        """Install what the source has now; False if that is what is here. What was allowed once needs no force."""
        pin = self.pinned(name)
        async with self.candidate(pin.source) as candidate:
            if candidate.skill.name != name:
                raise UserError(
                    f"the source calls it {candidate.skill.name} now",
                    f"hermes skills uninstall {name}, then install it",
                )
            if candidate.hash == pin.hash and hub.state_of(self.lock, pin) == "ok":
                return False
            force = force or candidate.hash == pin.hash
            await asyncio.to_thread(hub.install, self.lock, candidate, force=force, discard=discard)
            return True

    async def audit(self) -> list[tuple[Installed, Scan]]:
        """Every installed skill, scanned again as it is now."""
        done: list[tuple[Installed, Scan]] = []
        for each in await self.installed():
            if each.state != "missing":
                found = await asyncio.to_thread(scan, self.root / each.pin.place, self.judge)
                self.lock.note("audited", each.name, verdict=found.verdict, state=each.state)
                done.append((each, found))
        return done

    @cached_property
    def judge(self) -> Callable[[str], Verdict]:
        """What the gate would say to a command of a skill, in a project of this person where nothing was allowed before."""
        from hermes.safety.gate import Gate, Policy
        from hermes.safety.places import places_of

        person = os.path.realpath(self._settings.environ.get("HOME") or Path.home())
        folder = os.path.join(person, "project")
        gate = Gate(Policy(places=places_of(self._settings.home, person)), always=lambda grant: None)
        origin = Origin(surface="hub", session="hub", workspace=folder)
        return lambda command: gate.judge(RunCommand(command, folder), origin)

    async def _meant(self, text: str) -> Source:
        source = read_source(text, self._cwd)
        if not isinstance(source, Named):
            return source
        offers, troubles = await self.offers()
        named = [each for each in offers if each.name == source.skill]
        if len(named) == 1:
            found = read_source(named[0].source, self._cwd)
            assert not isinstance(found, Named)
            return found
        if named:
            raise UserError(f"several taps have {text}", f"name one of {', '.join(each.source for each in named)}")
        raise UserError(
            f"no tap has a skill {text!r}",
            "; ".join(troubles) or "hermes skills search finds others; ./folder is a folder",
        )

    def _check_bundled(self, name: str, *, force: bool) -> None:
        folder = bundled_folder(self._settings.home)
        if folder and not force and any(path.name == name for path in hub.skills_in(folder).values()):
            raise UserError(f"{name} comes with Hermes already", "--force uses the other one instead")

    @asynccontextmanager
    async def _room(self) -> AsyncIterator[Path]:
        room = hub.quarantined(self.lock)
        folder = await asyncio.to_thread(room.__enter__)
        try:
            yield folder
        finally:
            await asyncio.to_thread(room.__exit__, None, None, None)


def _offered(folder: Path, source: Source, trust: Trust) -> list[Offer]:
    offers: list[Offer] = []
    for place, path in hub.skills_in(folder).items():
        try:
            skill = read_skill(path)
        except UserError:
            continue  # a tap of many skills is not spoilt by one that cannot be read; inspect tells why
        offers.append(Offer(skill.name, skill.description, spelled(replace(source, skill=place)), trust))
    return offers


def _exactly(source: Source, folder: Path, top: Path) -> Source:
    """The source with the path of the skill that was meant in it."""
    if isinstance(source, GitSource) and folder != top:
        return replace(source, skill=os.path.relpath(folder, top))
    return source
