"""The one place where settings become a session: the parts of Hermes know only the protocol, and are wired here."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

import hermes
from hermes import config
from hermes.agent import prompt, rules
from hermes.agent.session import Options, Session
from hermes.app.world import LocalWorld, Teller
from hermes.config import McpServer, ModelSettings, Settings
from hermes.models.authfile import AuthFile
from hermes.models.catalog import Catalog
from hermes.models.choose import Choice, Chooser
from hermes.models.pool import Pool
from hermes.models.roster import Roster
from hermes.protocol.errors import UserError
from hermes.protocol.ids import session_id
from hermes.protocol.models import Model
from hermes.protocol.ops import Budget
from hermes.protocol.store import SessionRow
from hermes.protocol.terminals import Files, Terminal
from hermes.protocol.tools import Tool
from hermes.safety.commands.grants import Grant, from_text, to_text
from hermes.safety.contracts import Contracts
from hermes.safety.environment import scrubbed
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import Places
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore, make_blob

if TYPE_CHECKING:
    from hermes.app.connections import Connections
    from hermes.app.supply import ServerSupply
    from hermes.mcp.contract import Sample
    from hermes.models.local import Local
    from hermes.safety.secrets.redact import Redactor

log = logging.getLogger(__name__)
Progress = Callable[[int, int, str], None]
PROMPT_ROOM = 3_000
"""Tokens of the prompt that the tools of MCP servers may take up, however large the model's window is."""
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

    @cached_property
    def connections(self) -> "Connections":
        """The MCP servers; from the first use on they connect in the background."""
        from hermes.app.connections import Connections

        connections = Connections(self.settings, self.mask, self._take_servers)
        connections.start()
        self._stack.push_async_callback(connections.close)
        return connections

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
            return await fetch(
                self.settings.home / "models",
                self._progress,
                env=self.settings.environ,
                weights=KNOWN[name],
                configured=Path(configured).expanduser() if configured else None,
            )

        if name not in self._local:
            self._local[name] = embedded(name, weights, threads=self.settings.file.local.threads)
        return self._local[name]

    # Sessions

    async def open(self, wish: Wish) -> Session:
        """A new session, or the stored one that the wish names."""
        file = self.settings.file
        row = await self.store.session(wish.resume) if wish.resume else None
        if row is not None:
            wish = self._as_it_was(wish, row)
        choice = self.choice(wish)
        model = self.model(choice)
        cwd = self._folder(wish)
        name = row.id if row else session_id(time.time())
        world = self._world(name, cwd, wish)
        supply = self._supply(wish, model, lambda: (world.workspace,))
        budget = Budget(
            steps=wish.steps or file.agent.max_turns,
            tokens=file.agent.max_tokens_per_turn,
            money=file.agent.max_cost_per_turn,
            seconds=file.agent.max_seconds_per_turn,
        )
        options = Options(
            model=model,
            system=prompt.system_text(self.sections(wish, model.profile)),
            tools=self.tools(wish, model.profile),
            world=world,
            owner=this_process(),
            version=hermes.__version__,
            cwd=cwd,
            source=wish.source,
            budget=budget,
            can_ask=wish.can_ask,
            restore=not wish.toolsets and wish.steps is None,
            effort=file.agent.reasoning_effort,
            model_named=lambda text: self.model(self.chooser.resolve(text, current=choice)),
            toolset=lambda names: self.tools(msgspec.structs.replace(wish, toolsets=names), model.profile),
            supply=supply,
            mask=self.mask,
            set_approvals=world.set_approvals,
            blob=make_blob,
        )
        if wish.resume:
            return await Session.resume(self.store, options, wish.resume)
        return await Session.create(self.store, options, name)

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

        file = self.settings.file
        chosen = wish.toolsets or (("small",) if profile == "small" else file.toolsets)
        return make_tools([name for name in chosen if not self._server_of(name)], file)

    def _server_of(self, toolset: str) -> str:
        """The MCP server that a toolset names, as mcp-<server> or by its own name; "" if it is another toolset."""
        from hermes.tools.toolsets import TOOLSETS

        name = toolset.removeprefix("mcp-")
        return name if name in self._servers and toolset not in TOOLSETS else ""

    def _supply(self, wish: Wish, model: Model, roots: Callable[[], tuple[str, ...]]) -> "ServerSupply | None":
        """The tools of MCP servers; None where there are none and none can come."""
        file = self.settings.file
        toolsets = wish.toolsets or file.toolsets
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
        )

    async def _sample(self, model: Model, wanted: "Sample") -> dict[str, Any]:
        """A model's answer for an MCP server: of the model that its settings name, else of the session's own."""
        from hermes.app.sampling import sample

        return await sample(self.model(self.chooser.resolve(wanted.model)) if wanted.model else model, wanted)

    def sections(self, wish: Wish, profile: str) -> tuple[prompt.Section, ...]:
        """The parts of the system text that a session would have."""
        cwd = Path(self._folder(wish))
        where = prompt.Where(
            cwd=str(cwd),
            system=os.uname().sysname,
            shell="bash",
            date=_date(self.settings.file.timezone),
            git_branch=rules.git_branch(cwd),
        )
        soul = self.settings.home / "SOUL.md"
        return prompt.sections(
            where,
            soul=soul.read_text(encoding="utf-8", errors="replace") if soul.exists() else "",
            extra=wish.system,
            rules=rules.find_rules(cwd) if wish.use_rules else ("", ""),
            small=profile == "small",
        )

    def _folder(self, wish: Wish) -> str:
        path = Path(wish.cwd or self.settings.file.terminal.cwd).expanduser()
        try:
            return str(path.resolve(strict=True))
        except OSError:
            hint = "go to another one, or hermes config set terminal.cwd FOLDER"
            raise UserError(f"the working folder {path} is not there", hint) from None

    def _world(self, session: str, cwd: str, wish: Wish) -> LocalWorld:
        from hermes.safety.checkpoints import Checkpoints, Limits
        from hermes.terminals.remembered import RememberedTerminal

        settings, file = self.settings, self.settings.file
        home, user_home = os.path.realpath(settings.home), os.path.realpath(settings.environ.get("HOME") or Path.home())
        places = Places(home=home, user_home=user_home)
        teller = Teller()
        inner, files, moved = self._terminal(session, cwd, places, teller)
        local = inner.kind == "local"
        terminal = RememberedTerminal(inner, lambda info: self.store.save(session, info))
        kept = file.checkpoints
        limits = Limits(
            snapshots=kept.max_snapshots,
            total=kept.max_total_size_mb << 20,
            file=kept.max_file_size_mb << 20,
            days=kept.retention_days,
        )
        search_path = settings.environ.get("PATH", os.defpath)
        checkpoints = None
        if kept.enabled and local:
            checkpoints = Checkpoints(home, user_home, search_path, notice=teller, limits=limits)
        policy = Policy(
            places=places,
            mode=file.approvals.mode,
            yolo=wish.yolo or settings.yolo,
            deny=file.approvals.deny,
            allow=tuple(from_text(entry) if isinstance(entry, str) else entry for entry in file.command_allowlist),
            servers=self._approvals,
        )
        return LocalWorld(
            cwd if local else inner.cwd,
            terminal,
            files,
            Gate(
                policy,
                always=self._always,
                not_undoable=checkpoints.not_undoable if checkpoints else lambda path: "",
                contracts=Contracts(settings.home / "mcp-contracts.json"),
            ),
            checkpoints,
            teller,
            patience=file.approvals.timeout,
            recover=lambda: self._end_survivors(session) if local else self._adopt(session, inner),
            moved=moved,
        )

    def _terminal(
        self, session: str, cwd: str, places: Places, tell: Callable[[str], None]
    ) -> tuple[Terminal, Files, Callable[[str], None]]:
        """The terminal that the settings name, its files, and whom to tell when the session moves to another folder."""
        from hermes.terminals.choose import open_terminal

        settings, file = self.settings, self.settings.file
        keys = {entry.api_key_env for entry in (settings.model, *settings.fallbacks, *file.custom_providers.values())}
        passed = {name: settings.environ[name] for name in file.terminal.env_passthrough if name in settings.environ}
        env = scrubbed({k: v for k, v in settings.shell.items() if k not in keys}) | passed
        if file.terminal.backend != "local" or file.terminal.sandbox == "off":
            return *open_terminal(settings, session, cwd, env), lambda folder: None
        from hermes.safety.sandbox.local import LocalSandbox, Wanted
        from hermes.terminals.backends.local import LocalTerminal
        from hermes.terminals.files import LocalFiles

        wanted = Wanted(file.terminal.sandbox, file.terminal.network == "on", file.terminal.sandbox_paths)
        box = LocalSandbox(session, cwd, places, env, wanted=wanted, tell=tell)
        terminal = LocalTerminal(cwd, env, name=session, sandbox=box)
        return (
            terminal,
            LocalFiles(lambda: terminal.cwd, env, box.outside),
            lambda folder: setattr(box, "workspace", folder),
        )

    async def _adopt(self, session: str, terminal: Terminal) -> None:
        """Look after what a crashed owner of this session left running somewhere else."""
        from hermes.terminals.remote.terminal import RemoteTerminal

        if isinstance(terminal, RemoteTerminal) and (left := await self.store.of(session)):
            await terminal.adopt(left)

    def _always(self, grant: Grant) -> None:
        """Keep an "always" answer in config.yaml, as words and not as shell text."""
        path = self.settings.config_path
        known = config.read_yaml(path).get("command_allowlist") or []
        try:
            if to_text(grant) not in known:
                config.set_value(path, "command_allowlist", [*known, to_text(grant)])
        except UserError as error:
            log.warning("an answer is good for this session only: %s", error)

    async def _end_survivors(self, session: str) -> None:
        """What a crash of this session's last owner left running is ended before the session goes on."""
        from hermes.terminals.survivors import end, end_all_of, survivors

        for info in await survivors(await self.store.of(session)):
            await end(info)
            await self.store.save(session, msgspec.structs.replace(info, state="killed"))
        await end_all_of(session)


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
