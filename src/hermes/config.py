"""Settings: read once, typed. Order: flag, environment, config.yaml, default. The environment is read here only."""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from hermes.protocol.errors import UserError
from hermes.protocol.targets import TARGETS, Target

SECRET_NAME = re.compile(r"^[A-Z][A-Z0-9_]*_(KEY|TOKEN|SECRET|PASSWORD)(_\d+)?$")
_variable = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_profile_name = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
TRUE = {"1", "true", "yes", "on"}
ACTIVE_PROFILE = "active_profile"
PLAIN_PROFILE = "default"
Times = Annotated[int, Meta(ge=1)]


class ModelSettings(Struct, frozen=True, omit_defaults=True):
    """Which model answers; in config.yaml also written as "provider:name"."""

    provider: str = ""
    name: str = ""
    base_url: str = ""
    api_key_env: str = ""


class Auxiliary(Struct, frozen=True, omit_defaults=True):
    """Which model does one kind of small work (approval, compression, titles ...), and how many seconds it may take."""

    provider: str = ""
    model: str = ""
    base_url: str = ""
    timeout: float | None = None


class CustomProvider(Struct, frozen=True, omit_defaults=True):
    base_url: str
    api_key_env: str = ""
    dialect: Literal["chat", "responses", "anthropic"] = "chat"
    context_length: int = 0


class Agent(Struct, frozen=True):
    max_turns: int = 90
    api_max_retries: int = 3
    max_tokens_per_turn: int | None = None
    max_cost_per_turn: float | None = None
    max_seconds_per_turn: float | None = None
    clarify_timeout: float = 3600
    reasoning_effort: str = ""


class SshSettings(Struct, frozen=True):
    """The machine of the ssh terminal; what is empty is left to ~/.ssh/config."""

    host: str = ""
    user: str = ""
    port: int = 0
    key: str = ""


class TerminalSettings(Struct, frozen=True):
    """Where commands run. Memory and disk are in megabytes; a place that nobody uses for `lifetime_seconds` may rest.

    `sandbox`, `sandbox_paths` (open to every command) and `network` are about the local terminal.
    """

    backend: str = "local"
    cwd: str = "."
    timeout: float = 180
    env_passthrough: tuple[str, ...] = ()
    lifetime_seconds: float = 300
    sandbox: Literal["auto", "bubblewrap", "landlock", "off"] = "auto"
    sandbox_paths: tuple[str, ...] = ()
    network: Literal["on", "off"] = "on"
    ssh: SshSettings = SshSettings()
    image: str = "nikolaik/python-nodejs:python3.11-nodejs20"
    container_cpu: float = 1
    container_memory: int = 5120
    container_disk: int = 10_240
    container_persistent: bool = True
    docker_mount_cwd: bool = False
    docker_volumes: tuple[str, ...] = ()
    docker_forward_env: tuple[str, ...] = ()
    docker_extra_args: tuple[str, ...] = ()
    docker_network: bool = True


class ToolOutput(Struct, frozen=True):
    """How much of a tool's output the model gets: bytes of a command, lines of a file, characters of each of them."""

    max_bytes: Annotated[int, Meta(ge=1_000, le=150_000)] = 50_000
    max_lines: Annotated[int, Meta(ge=1)] = 2_000
    max_line_length: Annotated[int, Meta(ge=1)] = 2_000


class CompressionSettings(Struct, frozen=True):
    """Whether a conversation that fills the model's window is condensed by itself; /compress works in any case."""

    enabled: bool = True


class PromptCaching(Struct, frozen=True):
    """How long Anthropic keeps what a prompt begins with; an hour costs more to write."""

    cache_ttl: Literal["5m", "1h"] = "5m"


class SessionSettings(Struct, frozen=True):
    """With `auto_prune`, sessions that nobody used for `retention_days` are deleted, at most once a day."""

    auto_prune: bool = False
    retention_days: Annotated[float, Meta(ge=1)] = 90


class LogSettings(Struct, frozen=True):
    """From which level on Hermes logs to its files, how large one grows, and how many older ones are kept."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    max_size_mb: Annotated[float, Meta(gt=0)] = 5
    backup_count: Annotated[int, Meta(ge=1, le=100)] = 3


class Approvals(Struct, frozen=True):
    mode: Literal["manual", "smart", "off"] = "manual"
    timeout: float = 60
    deny: tuple[str, ...] = ()
    destructive_slash_confirm: bool = True
    mcp_reload_confirm: bool = True


class CheckpointSettings(Struct, frozen=True):
    enabled: bool = True
    max_snapshots: int = 20
    max_total_size_mb: int = 500
    max_file_size_mb: int = 10
    retention_days: int = 7
    auto_prune: bool = True


class Network(Struct, frozen=True):
    force_ipv4: bool = False


class Personality(Struct, frozen=True):
    """A manner of speaking; in config.yaml also written as one text."""

    system_prompt: str = ""
    tone: str = ""
    style: str = ""


class QuickCommand(Struct, frozen=True):
    """A slash command of the person's own: `exec` runs a shell command, `alias` stands for another slash command."""

    type: Literal["exec", "alias"]
    command: str = ""
    target: str = ""
    help: str = ""


class Details(Struct, frozen=True):
    """How much of each part of a conversation the screen shows."""

    thoughts: Literal["hidden", "folded", "open"] = "folded"
    tools: Literal["hidden", "folded", "open"] = "folded"
    subagents: Literal["hidden", "folded", "open"] = "folded"
    activity: Literal["hidden", "folded", "open"] = "open"


class Display(Struct, frozen=True):
    """How the terminal looks. `tool_progress` is how much of tool calls is shown, `busy_input_mode` what typing does meanwhile."""

    compact: bool = False
    skin: str = "default"
    personality: str = ""
    streaming: bool = True
    show_reasoning: bool = False
    busy_input_mode: Literal["interrupt", "queue", "steer"] = "interrupt"
    bell_on_complete: bool = False
    tool_progress: Literal["off", "new", "all", "verbose"] = "all"
    resume_display: Literal["full", "minimal"] = "full"
    show_cost: bool = True
    details: Details = Details()


class Local(Struct, frozen=True):
    """The embedded model: a GGUF file of your own instead of the one that Hermes fetches."""

    path: str = ""
    threads: int = 0


class ToolChoice(Struct, frozen=True):
    """Which of a server's tools are used, by their own names or as globs; `include` wins. Those in `idempotent` may be run again."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    idempotent: tuple[str, ...] = ()
    resources: bool = True
    prompts: bool = True


class Sampling(Struct, frozen=True):
    """Whether and how a server may ask a model."""

    enabled: bool = True
    model: str = ""
    max_tokens_cap: int = 4096
    timeout: float = 30
    max_rpm: int = 10
    allowed_models: tuple[str, ...] = ()
    max_tool_rounds: int = 5


class Elicitation(Struct, frozen=True):
    """Whether a server may ask the person, and how long it waits for them."""

    enabled: bool = True
    timeout: float = 300


class OAuthSettings(Struct, frozen=True):
    """Where a server's login differs from what it announces by itself."""

    client_id: str = ""
    client_secret: str = ""
    scope: str = ""
    redirect_host: str = "127.0.0.1"
    redirect_port: int = 0
    redirect_uri: str = ""
    client_name: str = "Hermes"
    timeout: float = 300


class McpServer(Struct, frozen=True):
    """One entry of mcp_servers: a command to start, or a URL; of both the URL is used."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    transport: Literal["", "stdio", "http", "sse"] = ""
    enabled: bool = True
    timeout: float = 120
    connect_timeout: float = 60
    tools: ToolChoice = ToolChoice()
    sampling: Sampling = Sampling()
    elicitation: Elicitation = Elicitation()
    auth: Literal["", "oauth", "header"] = ""
    oauth: OAuthSettings = OAuthSettings()
    ssl_verify: bool | str = True
    client_cert: str = ""
    client_key: str = ""
    approval: Literal["", "allow", "ask"] = ""
    keepalive_interval: float = 180
    idle_timeout_seconds: float = 0
    max_lifetime_seconds: float = 0


class SkillsSettings(Struct, frozen=True):
    """Where more skills lie (folders that are only read, and names of installed plugins), and what loading one may do.

    With `write_approval` a person looks at every skill that Hermes writes; `inline_shell` runs what stands in a person's own
    skills as !`command`. Those in `disabled` are seen by no session.
    """

    external_dirs: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    template_vars: bool = True
    inline_shell: bool = False
    write_approval: bool = False


class CuratorSettings(Struct, frozen=True):
    """How often skills are looked after, after how long without anybody at work, and when unused ones are put away."""

    enabled: bool = True
    interval_hours: float = 168
    min_idle_hours: float = 2
    stale_after_days: float = 30
    archive_after_days: float = 90


class MemorySettings(Struct, frozen=True):
    """What is remembered from session to session, and how much of it.

    Every `nudge_interval` turns of a person Hermes looks for something worth keeping (0: never); with `write_approval` a
    person looks at everything first. `provider` names the user model that is used besides.
    """

    memory_enabled: bool = True
    user_profile_enabled: bool = True
    memory_char_limit: int = 2200
    user_char_limit: int = 1375
    nudge_interval: int = 10
    reviews: bool = True
    reviews_per_day: int = 20
    write_approval: bool = False
    provider: str = ""

    @property
    def targets(self) -> tuple[Target, ...]:
        """Those that are switched on."""
        on: dict[Target, bool] = {"memory": self.memory_enabled, "user": self.user_profile_enabled}
        return tuple(target for target in TARGETS if on[target])

    @property
    def limits(self) -> dict[Target, int]:
        """Characters that each may hold."""
        return {"memory": self.memory_char_limit, "user": self.user_char_limit}


class HonchoSettings(Struct, frozen=True):
    """The Honcho server that knows the person: where it is, what they are called there, and how it is used.

    `recall` is what reaches a session: context in its prompt, tools, or both (hybrid); every `cadence` turns the context is
    asked for anew. {profile} in `workspace` is the profile's name.
    """

    base_url: str = ""
    workspace: str = "hermes-{profile}"
    peer: str = "person"
    agent: str = "hermes"
    recall: Literal["hybrid", "context", "tools"] = "hybrid"
    cadence: int = 2
    timeout: float = 30


class Security(Struct, frozen=True):
    """Whether keys are masked, and whether URLs may lead into own networks."""

    redact_secrets: bool = True
    allow_private_urls: bool = False


class Mcp(Struct, frozen=True):
    auto_reload_on_config_change: bool = True


class ToolSearch(Struct, frozen=True):
    """When tools are left out of the prompt to be found by tool_search: above this share of the window, always, or never."""

    enabled: Literal["auto", "on", "off"] = "auto"
    threshold_pct: float = 10


class ToolsSettings(Struct, frozen=True):
    tool_search: ToolSearch = ToolSearch()


class LoopCounts(Struct, frozen=True):
    """How often is too often: the very same failure, failures of one tool in a row, the same result of the same look."""

    exact_failure: Times = 2
    same_tool_failure: Times = 3
    no_progress: Times = 2


class HardStopCounts(LoopCounts, frozen=True):
    exact_failure: Times = 5
    same_tool_failure: Times = 8
    no_progress: Times = 5


class ToolLoopGuardrails(Struct, frozen=True):
    """When the model is told that its calls repeat themselves, and when such a call is not run any more."""

    warnings_enabled: bool = True
    hard_stop_enabled: bool = False
    warn_after: LoopCounts = LoopCounts()
    hard_stop_after: HardStopCounts = HardStopCounts()


class GoalSettings(Struct, frozen=True):
    """How often Hermes goes on by itself towards a goal before it asks."""

    max_turns: int = 20


class File(Struct, frozen=True):
    """config.yaml as Hermes reads it; keys that it does not know are left alone."""

    model: ModelSettings | str = ""
    fallback_providers: tuple[ModelSettings | str, ...] = ()
    custom_providers: dict[str, CustomProvider] = {}
    model_aliases: dict[str, str] = {}
    auxiliary: dict[str, Auxiliary] = {}
    credential_pools: dict[str, Literal["fill_first", "round_robin", "random", "least_used"]] = {}
    toolsets: tuple[str, ...] = ("hermes-cli",)
    platform_toolsets: dict[str, tuple[str, ...]] = {}
    agent: Agent = Agent()
    terminal: TerminalSettings = TerminalSettings()
    approvals: Approvals = Approvals()
    command_allowlist: tuple[tuple[str, ...] | str, ...] = ()
    checkpoints: CheckpointSettings = CheckpointSettings()
    file_read_max_chars: Annotated[int, Meta(ge=2_000, le=150_000)] = 100_000
    tool_output: ToolOutput = ToolOutput()
    compression: CompressionSettings = CompressionSettings()
    prompt_caching: PromptCaching = PromptCaching()
    sessions: SessionSettings = SessionSettings()
    logging: LogSettings = LogSettings()
    network: Network = Network()
    display: Display = Display()
    personalities: dict[str, str | Personality] = {}
    quick_commands: dict[str, QuickCommand] = {}
    local: Local = Local()
    mcp_servers: dict[str, McpServer] = {}
    mcp_discovery_timeout: float = 1.5
    mcp: Mcp = Mcp()
    tools: ToolsSettings = ToolsSettings()
    tool_loop_guardrails: ToolLoopGuardrails = ToolLoopGuardrails()
    memory: MemorySettings = MemorySettings()
    honcho: HonchoSettings = HonchoSettings()
    skills: SkillsSettings = SkillsSettings()
    curator: CuratorSettings = CuratorSettings()
    goals: GoalSettings = GoalSettings()
    security: Security = Security()
    timezone: str = ""

    def toolsets_of(self, platform: str) -> tuple[str, ...]:
        """The toolsets of a surface; one without a list of its own has that of the terminal."""
        return self.platform_toolsets.get(platform, self.toolsets)


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that a person can set, as it stands for this run; `shell` is the environment without what .env adds."""

    home: Path
    environ: Mapping[str, str]
    shell: Mapping[str, str]
    model: ModelSettings
    fallbacks: tuple[ModelSettings, ...]
    yolo: bool
    file: File

    @property
    def database(self) -> Path:
        return self.home / "state.db"

    @property
    def config_path(self) -> Path:
        return self.home / "config.yaml"


def environment() -> dict[str, str]:
    """The environment of this process, for those who need nothing of the settings."""
    return dict(os.environ)


def find_root(environ: Mapping[str, str] | None = None) -> Path:
    """Where Hermes keeps its things, those of every profile included."""
    environ = os.environ if environ is None else environ
    path = os.path.expanduser(environ.get("HERMES_HOME") or f"{environ.get('HOME') or '~'}/.hermes")
    if path.startswith("~"):
        raise UserError(f"{path} is nowhere: nobody has such a home folder", "set HERMES_HOME to a folder")
    return Path(path)


def find_profile(environ: Mapping[str, str] | None = None) -> str:
    """The profile that was asked for with -p, else the one that `hermes profile use` chose; "" is the plain home."""
    environ = os.environ if environ is None else environ
    named = environ.get("HERMES_PROFILE")
    if named is None:
        try:
            named = (find_root(environ) / ACTIVE_PROFILE).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            named = ""
    return "" if named == PLAIN_PROFILE else named


def find_home(environ: Mapping[str, str] | None = None) -> Path:
    """The home of the profile in use; UserError if there is no such profile."""
    root, profile = find_root(environ), find_profile(environ)
    # A process may hand on the home of its profile as HERMES_HOME, beside the profile's name.
    is_it = not profile or (root.parent.name == "profiles" and root.name == profile)
    home = root if is_it else profile_home(root, profile)
    if profile and not home.is_dir():
        raise UserError(f"there is no profile {profile!r}", "hermes profile list shows them")
    return home


def profile_home(root: Path, name: str) -> Path:
    """Where a profile of this name is, or would be; UserError if nothing can be called so."""
    if name == PLAIN_PROFILE:
        return root
    if not _profile_name.fullmatch(name):
        raise UserError(f"{name!r} cannot be the name of a profile", "use small letters, digits, - and _, 64 at most")
    return root / "profiles" / name


def choose_profile(name: str) -> None:
    """Use a profile for the rest of this process and in what it starts."""
    os.environ["HERMES_PROFILE"] = name
    find_home()


def load(environ: Mapping[str, str] | None = None, *, use_file: bool = True, use_env: bool = True) -> Settings:
    """Read .env and config.yaml of the home; UserError names the line or key that is wrong."""
    environ = dict(os.environ if environ is None else environ)
    home = find_home(environ)
    variables = (read_env(home / ".env") if use_env else {}) | environ
    file = convert(read_yaml(home / "config.yaml"), variables, home / "config.yaml") if use_file else File()
    return Settings(
        home=home,
        environ=variables,
        shell=environ,
        model=model_settings(variables.get("HERMES_MODEL") or file.model),
        fallbacks=tuple(model_settings(entry) for entry in file.fallback_providers),
        yolo=variables.get("HERMES_YOLO_MODE", "").lower() in TRUE,
        file=file,
    )


def model_settings(value: ModelSettings | str) -> ModelSettings:
    """A model as written: "provider:name", a bare name, or its parts."""
    if isinstance(value, ModelSettings):
        return value
    provider, colon, name = value.partition(":")
    return ModelSettings(provider, name) if colon else ModelSettings(name=provider)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file as plain data; {} if there is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except IsADirectoryError:
        raise UserError(f"{path} is a folder", f"remove it: rm -r {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot read {path}: {error}", f"mend or remove it: hermes config edit, or rm {path}"
        ) from None
    if not text.strip():
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        data = YAML(typ="safe", pure=False).load(text)
    except YAMLError as error:
        from hermes.config_faults import unreadable

        line, why = unreadable(error)
        raise UserError(f"{_at(path, line)}: {why}", "mend it with: hermes config edit") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} must hold settings as `key: value` lines", "mend it with: hermes config edit")
    return data


def convert(data: dict[str, Any], variables: Mapping[str, str], path: Path) -> File:
    """Settings as they were read from a file, typed; UserError names the one that is wrong, and its line in the file."""
    expanded = _expand(data, variables)
    try:
        return msgspec.convert(expanded, File, strict=False)
    except msgspec.ValidationError:
        from hermes.config_faults import key_of, line_of, misfit, named

        where, why = misfit(expanded, File)
        raise UserError(
            f"{_at(path, line_of(path, where, data))}: {named(where)} {why}",
            f"mend it with: hermes config edit, or hermes config unset {key_of(where)}",
        ) from None


def _at(path: Path, line: int) -> str:
    return f"{path} line {line}" if line else str(path)


def _expand(value: Any, variables: Mapping[str, str]) -> Any:
    """${VAR} in every string of the settings; one that is not set stays as it is written."""
    match value:
        case str():
            return _variable.sub(lambda m: variables.get(m[1], m[0]), value)
        case dict():
            return {str(k): _expand(v, variables) for k, v in value.items() if v is not None}
        case list():
            return [_expand(v, variables) for v in value]
        case _:
            return value


def read_env(path: Path) -> dict[str, str]:
    """A .env file: NAME=value lines, quotes and `export` allowed, # for comments."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}", "mend or remove it") from None
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            value = value.strip()
            if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            elif " #" in value:
                value = value.partition(" #")[0].rstrip()
            found[name.strip()] = value
    return found


def set_value(path: Path, key: str, value: Any) -> None:
    """Set a dotted key in config.yaml; comments, order and unknown keys stay. A part of the model makes it a group."""

    def change(data: dict[str, Any]) -> None:
        *folders, last = key.split(".")
        if folders == ["model"] and isinstance(data.get("model"), str):
            data["model"] = msgspec.to_builtins(model_settings(data["model"]))
        for name in folders:
            if data.get(name) is None:
                data[name] = {}
            data = data[name]
            if not isinstance(data, dict):
                raise UserError(f"{key}: {name} is not a group of settings", f"hermes config unset {name} first")
        data[last] = value

    _edit(path, change)


def unset_value(path: Path, key: str) -> bool:
    """Take a dotted key out of config.yaml, and the groups that it leaves empty; False if it was not there."""
    found = False

    def change(data: dict[str, Any]) -> None:
        nonlocal found
        *folders, last = key.split(".")
        above: list[tuple[dict[str, Any], str]] = []
        for name in folders:
            above.append((data, name))
            data = data.get(name, {}) if isinstance(data, dict) else {}
        found = isinstance(data, dict) and last in data
        if found:
            del data[last]
        while found and above:
            group, name = above.pop()
            if group[name]:
                break
            del group[name]

    _edit(path, change, check=False)
    return found


def _edit(path: Path, change: Any, *, check: bool = True) -> None:
    """Change a YAML file under a lock: as a whole or not at all, and with `check` only if the result fits the settings."""
    import io

    from ruamel.yaml import YAML

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(path):
        read_yaml(path)
        yaml = YAML()
        yaml.width = 4096
        data = yaml.load(path.read_text(encoding="utf-8")) if path.exists() else None
        data = {} if data is None else data
        change(data)
        text = io.StringIO()
        yaml.dump(data, text)
        if check:
            variables = read_env(path.with_name(".env")) | dict(os.environ)
            convert(YAML(typ="safe").load(text.getvalue()) or {}, variables, path)
        write_private(path, text.getvalue())


def set_secret(path: Path, name: str, value: str) -> None:
    """Set a line of .env, which only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(path):
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if line.strip().removeprefix("export ").partition("=")[0].strip() != name]
        line = f"{name}={_quoted(value)}"
        write_private(path, "\n".join([*kept, line] if value else kept) + "\n")


def _quoted(value: str) -> str:
    """A value as it must stand in .env to be read back the same."""
    if value == value.strip() and " #" not in value and value[:1] not in ("'", '"'):
        return value
    return f"'{value}'"


@contextlib.contextmanager
def locked(path: Path, patience: float = 60.0) -> Iterator[None]:
    """Keep other processes from changing a file meanwhile; UserError if one does not let go of it in time. Blocks."""
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not took_lock(handle):
            if time.monotonic() > deadline:
                raise UserError(
                    f"another process has kept {path} locked for {patience:.0f} s",
                    "end the hermes process that hangs, and try again",
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def took_lock(handle: int) -> bool:
    """Lock an open file or folder against other processes, unless one of them has it; closing it lets it go."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600, all or nothing."""
    try:
        replace_private(path, text)
    except OSError as error:
        hint = "free some space, or check its permissions; it is as it was"
        raise UserError(f"cannot write {path}: {error.strerror}", hint) from error


def replace_private(path: Path, text: str) -> None:
    """The same for those who can do something about an OSError themselves."""
    path = path.resolve()  # a link, to dotfiles say, stays one
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
