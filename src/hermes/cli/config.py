"""Settings: config.yaml by dotted key, secrets in .env. Without an action: show them.

hermes config set agent.max_turns 40
hermes config set toolsets '[file, terminal]'
hermes config set OPENROUTER_API_KEY        asks for the value and keeps it in .env
"""

import argparse
import asyncio
import shlex
from pathlib import Path
from typing import Any

import msgspec

from hermes import config
from hermes.cli import keys
from hermes.cli.ask import read_secret
from hermes.cli.config_migrate import migrate
from hermes.cli.main import print_error
from hermes.cli.table import one_line
from hermes.config import Settings
from hermes.protocol.errors import UserError
from hermes.safety.environment import scrubbed
from hermes.tui.prompt.external import editor_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=show)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    actions.add_parser("show", help="every setting; secrets are masked").set_defaults(do=show)

    got = actions.add_parser("get", help="one setting as it stands, its default included")
    got.add_argument("key", metavar="KEY")
    got.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as JSON")
    got.set_defaults(do=get)

    made = actions.add_parser("set", help="change a setting, or keep a secret")
    made.add_argument("key", metavar="KEY")
    made.add_argument(
        "value", metavar="VALUE", nargs="?", help="true, 5, text, [a, b], {a: 1}; a secret may be - or left out"
    )
    made.add_argument("--force", action="store_true", help="also a key that Hermes does not know")
    made.set_defaults(do=set_value)

    gone = actions.add_parser("unset", help="back to the default")
    gone.add_argument("key", metavar="KEY")
    gone.set_defaults(do=unset)

    actions.add_parser("path", help="where config.yaml is").set_defaults(do=print_path)
    actions.add_parser("env-path", help="where .env is").set_defaults(do=print_env_path)
    actions.add_parser("edit", help="open config.yaml in $VISUAL or $EDITOR").set_defaults(do=edit)
    actions.add_parser("check", help="say what is wrong or unknown").set_defaults(do=check)
    actions.add_parser("migrate", help="move secrets from config.yaml into .env").set_defaults(do=move_secrets)


async def run(args: argparse.Namespace) -> int:
    return await args.do(args)


async def show(args: argparse.Namespace) -> int:
    """Whatever can be read is shown, and what cannot is named."""
    base = config.load(use_file=False)
    as_set: dict[str, Any] = {}
    try:
        as_set = dict(keys.flat(config.read_yaml(base.config_path)))
        now = dict(keys.flat(keys.effective(config.load())))
    except UserError as error:
        print_error(error, error.hint)
        now = as_set
    print(base.config_path)
    for key, value in (now | {key: as_set[key] for key in as_set if key not in now}).items():
        print(f"  {key}: {one_line(keys.written(keys.masked(key, value)))}{_note(base, key, as_set)}")
    print(base.home / ".env")
    for name, value in config.read_env(base.home / ".env").items():
        print(f"  {name}={one_line(keys.masked(name, value))}")
    return 0


def _note(base: Settings, key: str, as_set: dict[str, Any]) -> str:
    if key == "model" and base.environ.get("HERMES_MODEL"):
        return "  (from HERMES_MODEL)"
    if key not in as_set:
        return "  (default)"
    return "  (not known)" if keys.not_known(key, base.file) else ""


async def get(args: argparse.Namespace) -> int:
    value = keys.masked(args.key, _value(config.load(), args.key))
    if isinstance(value, str) and not vars(args).get("json"):
        print(value)
    else:
        print(msgspec.json.encode(value).decode())
    return 0


def _value(settings: Settings, key: str) -> Any:
    if keys.VARIABLE.fullmatch(key):
        if key not in settings.environ:
            raise UserError(f"{key} is not set", f"hermes config set {key}")
        return settings.environ[key]
    tree = keys.effective(settings)
    if key.startswith("model."):
        tree["model"] = msgspec.structs.asdict(settings.model)
    for where in (tree, config.read_yaml(settings.config_path)):
        value = keys.look_up(where, key)
        if value is not keys.MISSING:
            return value
    why = keys.not_known(key, settings.file)
    raise UserError(why or f"{key} is not set", "hermes config show lists every setting")


async def set_value(args: argparse.Namespace) -> int:
    settings = config.load(use_file=False)
    if keys.VARIABLE.fullmatch(args.key):
        return await _set_variable(settings, args.key, args.value)
    if args.value is None:
        raise UserError(f"what should {args.key} be?", f"hermes config set {args.key} VALUE")
    why = keys.not_known(args.key, settings.file)
    if why and not args.force:
        raise UserError(why, "add --force to set it all the same")
    value = keys.typed(args.value)
    path, before = settings.config_path, _problem()
    try:
        for key, part in _parts(path, args.key, value):
            config.set_value(path, key, part)
    except UserError as error:
        is_new = before is None or str(before) != str(error)
        if is_new and str(error).startswith(f"{path}: "):
            raise UserError(str(error), "nothing was changed") from None
        raise
    print(f"{args.key}: {keys.written(keys.masked(args.key, value))}")
    return 0


def _parts(path: Path, key: str, value: Any) -> list[tuple[str, Any]]:
    """What to set: another model of a provider whose address or key is set too leaves those as they are."""
    found = config.read_yaml(path).get("model")
    if key == "model" and isinstance(value, str) and isinstance(found, dict):
        meant = config.model_settings(value)
        if meant.provider and found.get("provider", meant.provider) == meant.provider:
            return [("model.provider", meant.provider), ("model.name", meant.name)]
    return [(key, value)]


async def _set_variable(settings: Settings, name: str, value: str | None) -> int:
    value = await read_secret(name) if value in (None, "-") else value.strip()
    if not value or not value.isprintable():
        raise UserError(f"the value of {name} must be one line of text", f"hermes config unset {name} removes it")
    path = settings.home / ".env"
    already = settings.environ.get(name)
    from_outside = already is not None and config.read_env(path).get(name) != already
    config.set_secret(path, name, value)
    print(f"{name} is in {path}")
    if from_outside and already != value:
        print_error(f"the environment has another {name}, which is used before this one", f"unset {name}")
    return 0


async def unset(args: argparse.Namespace) -> int:
    home = config.find_home()
    if keys.VARIABLE.fullmatch(args.key):
        found = args.key in config.read_env(home / ".env")
        if found:
            config.set_secret(home / ".env", args.key, "")
    else:
        path = home / "config.yaml"
        found = keys.look_up(config.read_yaml(path), args.key) is not keys.MISSING
        if found:
            config.unset_value(path, args.key)
    print(f"{args.key} is unset" if found else f"{args.key} was not set")
    return 0


async def print_path(args: argparse.Namespace) -> int:
    print(config.find_home() / "config.yaml")
    return 0


async def print_env_path(args: argparse.Namespace) -> int:
    print(config.find_home() / ".env")
    return 0


async def edit(args: argparse.Namespace) -> int:
    settings = config.load(use_file=False)
    command = editor_of(settings.environ, instead=f"open {settings.config_path} yourself")
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        child = await asyncio.create_subprocess_exec(
            *command, str(settings.config_path), env=scrubbed(settings.environ)
        )
    except OSError as error:
        raise UserError(f"cannot start {command[0]}: {error.strerror}", "set EDITOR to one that is there") from None
    if code := await child.wait():
        raise UserError(f"{command[0]} ended with code {code}", f"look at {settings.config_path}")
    if problem := _problem():
        raise problem
    return 0


async def check(args: argparse.Namespace) -> int:
    """Errors end it; what is merely odd is listed."""
    from hermes.app import App, Wish

    settings = config.load()
    async with App(settings) as app:
        choice = app.choice(Wish())
    found = [
        why
        for key in dict(keys.flat(config.read_yaml(settings.config_path)))
        if (why := keys.not_known(key, settings.file))
    ]
    found += _open_secrets(settings)
    for why in found:
        print_error(why)
    print(f"{settings.config_path} can be used; the model is {choice.name}")
    return 0


async def move_secrets(args: argparse.Namespace) -> int:
    moved = await asyncio.to_thread(migrate, config.load())
    for line in moved or ["there is no secret in config.yaml"]:
        print(line)
    return 0


def _open_secrets(settings: Settings) -> list[str]:
    """Secrets that lie where others may read them."""
    odd: list[str] = []
    for key, value in keys.flat(config.read_yaml(settings.config_path)):
        if keys.masked(key, value) != value:
            odd.append(f"{key} in config.yaml looks like a secret: keep it in .env and write ${{NAME}} here")
    for name in (".env", "auth.json"):
        path: Path = settings.home / name
        if path.exists() and path.stat().st_mode & 0o077:
            odd.append(f"others can read {path}: chmod 600 {shlex.quote(str(path))}")
    return odd


def _problem() -> UserError | None:
    """What is wrong with config.yaml, if anything is."""
    try:
        config.load()
    except UserError as error:
        return error
    return None
