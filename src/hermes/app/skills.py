"""Skills in an app: where they lie, who sees them, what they were used for, and when they are tried."""

import logging
import os
import time
from collections.abc import Iterable
from contextlib import aclosing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hermes import plugins
from hermes.agent.session import Session
from hermes.app.alongside import Alongside
from hermes.learning.skills.bundled import bundled_folder
from hermes.learning.skills.discover import Found, Place
from hermes.learning.skills.index import block
from hermes.learning.skills.lock import Lock
from hermes.learning.skills.shelf import Kit, Shelf
from hermes.learning.skills.tools import SkillTools
from hermes.learning.skills.used import Tally
from hermes.protocol.errors import HermesError, ToolError, UserError
from hermes.protocol.events import Event, ItemDone, Notice, TurnEnded
from hermes.protocol.skills import SkillUse
from hermes.protocol.tools import Tool
from hermes.store.owner import this_process

if TYPE_CHECKING:
    from hermes.app import App, Wish
    from hermes.app.trials import Trials
    from hermes.learning.skills.birth import Workshop
    from hermes.learning.skills.curator import Curator
    from hermes.learning.skills.evidence import Evidence
    from hermes.learning.skills.life import Life
    from hermes.learning.skills.pending import Pending

log = logging.getLogger(__name__)
PATIENCE = 1.0
"""Seconds that are given at the end to what has yet to be counted."""


class Skills:
    """The skills of one process. Closing it stops what it does beside the sessions; nothing is lost by that."""

    def __init__(self, app: "App") -> None:
        self._app = app
        root = app.settings.home / "skills"
        off = app.settings.file.skills.disabled
        self.shelf = Shelf(root, app.store.skills, self._places, Lock(root).hashes, off)
        self._owner = this_process()
        self._watching, self._work = Alongside(), Alongside()

    async def close(self) -> None:
        await self._watching.settle(PATIENCE)  # they end with their sessions, once all is counted
        await self._watching.close()
        await self._work.close()

    @cached_property
    def pending(self) -> "Pending":
        from hermes.learning.skills.pending import Pending

        return Pending(self._app.settings.home / "pending" / "skills")

    @cached_property
    def life(self) -> "Life":
        from hermes.learning.skills.life import Life

        return Life(self.shelf, self.pending)

    @cached_property
    def workshop(self) -> "Workshop":
        """Where skills are written; a review hands it to `propose`."""
        from hermes.learning.skills.birth import Workshop

        return Workshop(self.shelf, self.pending)

    @cached_property
    def trials(self) -> "Trials":
        from hermes.app.trials import Trials, looks_only
        from hermes.safety.gate import Gate, Policy
        from hermes.safety.places import places_of

        settings = self._app.settings
        places = places_of(settings.home, settings.environ.get("HOME") or Path.home())
        gate = Gate(Policy(places=places), always=lambda grant: None)
        return Trials(self._app, self.life, gate, looks_only(gate))

    @cached_property
    def curator(self) -> "Curator":
        from hermes.learning.skills.curator import Curator, Rhythm
        from hermes.learning.skills.life import Ages

        wanted = self._app.settings.file.curator
        ages = Ages(stale=wanted.stale_after_days, archived=wanted.archive_after_days)
        rhythm = Rhythm(interval=wanted.interval_hours, idle=wanted.min_idle_hours, ages=ages)
        return Curator(self.life, lambda: self.trials.run(again=True), rhythm, self._owner)

    # Where they lie

    def _places(self) -> tuple[Place, ...]:
        settings = self._app.settings
        outside = [self._expanded(each) for each in settings.file.skills.external_dirs]
        installed = [_folder(name) for name in settings.file.skills.plugins]
        bundled = bundled_folder(settings.home)
        return (
            *(Place(folder, "external") for folder in outside),
            *(Place(folder, "plugin") for folder in installed),
            *([Place(bundled, "bundled")] if bundled else []),
        )

    def _expanded(self, path: str) -> Path:
        """A path of the settings; ~ is the person's home as they have it."""
        home = self._app.settings.environ.get("HOME")
        return Path(home, path[2:]) if home and path.startswith("~/") else Path(os.path.expanduser(path))

    # What a session sees

    def block(self, names: Iterable[str]) -> str:
        """The index for the prompt of a session with tools of these names."""
        return block([one.skill for one in self.shelf.usable(_kit(names))])

    def tools(self, names: Iterable[str]) -> tuple[Tool, ...]:
        """The tools about skills for a session that has tools of these names."""
        kit = _kit(names)
        wanted = self._app.settings.file.skills
        made = SkillTools(
            self.shelf,
            lambda: self.workshop,
            lambda: self.life,
            kit=lambda: kit,
            guard=SkillGuard(),
            substitute=_substitute,
            shown=self._shown,
            fill=wanted.template_vars,
            inline_shell=wanted.inline_shell,
        )
        return bound(made)

    async def preloaded(self, wish: "Wish", session: str) -> "Wish":
        """The wish with the texts of the skills that it names; UserError names one that is not there."""
        if not wish.skills:
            return wish
        from hermes.learning.skills.load import loaded

        fill = self._app.settings.file.skills.template_vars
        texts = [await loaded(self.shelf.get(name), session, fill=fill) for name in wish.skills]
        return msgspec.structs.replace(wish, system="\n\n".join(filter(None, (wish.system, *texts))))

    async def text(self, one: Found, session: Session) -> str:
        """A skill as a message that a person sends by its name."""
        from hermes.learning.skills.load import loaded

        return await loaded(one, session.id, fill=self._app.settings.file.skills.template_vars)

    async def _shown(self, session: str) -> tuple[int, "Evidence"]:
        """The turn that a session is in, and what it shows so far."""
        from hermes.learning.skills.evidence import evidence

        events = await events_of(self._app, session)
        turn = max((event.turn for event in events), default=0)
        items = [event.body.item for event in events if isinstance(event.body, ItemDone)]
        return turn, evidence(items, turn)

    # Beside the sessions

    def follow(self, session: Session) -> None:
        """Count what the skills of a session did, and try new ones when it rests."""
        self._watching.start(self._watch(session))
        if session.options.can_ask and self._app.settings.file.curator.enabled:
            self._work.start(self._curate(session))

    async def _watch(self, session: Session) -> None:
        tally = Tally(self._version)
        # A single question must not wait for a commit that only says what was not used.
        offered = self._offered(session) if session.options.can_ask else []
        try:
            await self._tell(session, self.shelf.troubles, "warning")
            async with aclosing(session.events(after=session.history.seq)) as events:
                async for event in events:
                    uses = tally.take(event)
                    if isinstance(event.body, TurnEnded):
                        uses, offered = [*uses, *offered], []
                        if session.options.can_ask and self.shelf.has_candidates:
                            self._work.start(self._try(session))
                    if uses:
                        await self.shelf.store.count(uses)
        except HermesError as error:
            log.warning("the use of skills in session %s was not counted: %s", session.id, error)

    def _offered(self, session: Session) -> list[SkillUse]:
        """The skills whose names stand in a session's prompt."""
        names = [name for name in self.shelf.found if f"\n- {name}: " in session.system]
        return [SkillUse(skill=name, version=self._version(name)[0], offered=1) for name in names]

    async def _try(self, session: Session) -> None:
        try:
            await self._tell(session, await self.trials.run())
        except HermesError as error:
            log.warning("skills were not tried: %s", error)

    async def _curate(self, session: Session) -> None:
        """Let the curator work if it is time; the session is the one that is told."""
        try:
            last = [row.active for row in await self._app.store.sessions(limit=2) if row.id != session.id]
            if await self.curator.is_due(max(last, default=time.time())):
                await self._tell(session, await self.curator.run())
        except HermesError as error:
            log.warning("the curator stopped: %s", error)

    async def _tell(self, session: Session, lines: Iterable[str], level: Any = "info") -> None:
        for line in lines:
            try:
                await session.tell(Notice(line, level=level, code="skills"))
            except UserError:
                log.info("%s", line)

    def _version(self, name: str) -> tuple[int, int]:
        row, one = self.shelf.rows.get(name), self.shelf.found.get(name)
        return (row.version, row.saved) if row is not None and one is not None and one.origin == "agent" else (0, 0)


class SkillGuard:
    """Implements Guard with the rules of safety."""

    def check(self, path: str) -> None:
        from hermes.safety.paths import judge_skill_file

        verdict = judge_skill_file(path)
        if verdict.decision != "allow":
            raise ToolError(f"{path}: {verdict.why}.")

    def read(self, folder: Path, path: str) -> bytes:
        from hermes.learning.skills.tree import LARGEST_FILE
        from hermes.safety.roots import Root

        try:
            with Root(str(folder)) as root:
                return root.read(path, LARGEST_FILE)
        except OSError as error:
            raise ToolError(f"{path}: {error.strerror}.") from error


def bound(tools: "SkillTools | type[SkillTools]") -> tuple[Tool, ...]:
    """The four tools, of something that has their methods."""
    from hermes.tools.declare import tool

    return (
        tool(tools.skills_list, kind="search", toolset="skills", effect=False),
        tool(tools.skill_search, kind="search", toolset="skills", effect=False, title=lambda args: args.query),
        tool(tools.skill_view, kind="read", toolset="skills", effect=False, title=lambda args: args.name),
        tool(tools.skill_manage, kind="other", toolset="skills", title=lambda args: f"{args.action} {args.name}"),
    )


def skill_tools(settings: object) -> tuple[Tool, ...]:
    """The tools as lists show them; those of a session are made by the app, which has the skills."""

    async def closed(ctx: object, args: object) -> Any:
        raise ToolError("No skills are open here.")

    return tuple(msgspec.structs.replace(each, run=closed) for each in bound(SkillTools))


async def events_of(app: "App", session: str) -> list[Event]:
    """All events of a stored session."""
    events: list[Event] = []
    while more := await app.store.events(session, events[-1].seq or 0 if events else 0):
        events += more
    return events


def _substitute(text: str, old: str, new: str, every: bool) -> str:
    from hermes.tools.replacing import replace

    return replace(text, old, new, every=every).text


def _kit(names: Iterable[str]) -> Kit:
    from hermes.tools.toolsets import TOOLSETS

    tools = frozenset(names)
    return Kit(tools, frozenset(name for name, members in TOOLSETS.items() if tools.issuperset(members)))


def _folder(name: str) -> Path:
    notation = plugins.find("skills", name, {})
    if notation is None:
        raise UserError(f"skills.plugins: there is no plugin {name!r}", "is its package installed?")
    return Path(plugins.load(notation))
