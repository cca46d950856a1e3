"""One block of text for a bug report: versions, settings, what was found, the last errors. Secrets are masked in it."""

import argparse

from hermes.app import App
from hermes.cli.doctor import examine, readable_settings
from hermes.cli.facts import changed_settings, home_facts, model_facts, part_facts, program_facts, provider_facts
from hermes.cli.keys import hidden
from hermes.cli.logfiles import ERRORS, files_of
from hermes.cli.mcp_connect import redactor
from hermes.config import SECRET_NAME, Settings
from hermes.protocol.errors import UserError

LAST = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show-keys", action="store_true", help="the last four signs of each key, to tell which it is")


async def run(args: argparse.Namespace) -> int:
    print(await dump(readable_settings(), show_keys=args.show_keys))
    return 0


async def dump(settings: Settings, *, show_keys: bool = False) -> str:
    """The block of text."""
    lines = ["--- hermes dump ---"]
    async with App(settings) as app:
        for facts in (
            program_facts(),
            home_facts(settings),
            model_facts(app),
            part_facts(settings),
            provider_facts(app),
        ):
            lines += [f"{name}: {fact}" for name, fact in facts.items()]
    lines += ["--- secrets ---", *_secrets(settings, show=show_keys)]
    lines += ["--- settings ---", *_settings(settings)]
    lines += ["--- doctor, offline ---"]
    lines += [
        f"{one.state} {one.check}: {one.text}" async for one in examine(settings, offline=True) if one.state != "ok"
    ]
    lines += ["--- last errors ---", *_errors(settings), "--- end ---"]
    return harmless("\n".join(lines), settings)


def harmless(text: str, settings: Settings) -> str:
    """A text as strangers may see it: secrets masked, and a person's own folder by its sign."""
    return redactor(settings).mask(_without_names(text, settings))


def _secrets(settings: Settings, *, show: bool) -> list[str]:
    """Which variables that hold secrets are set; of their values at most the end."""
    names = sorted(name for name, value in settings.environ.items() if SECRET_NAME.match(name) and value)
    return [f"{name}: {hidden(settings.environ[name]) if show else 'set'}" for name in names] or ["none"]


def _settings(settings: Settings) -> list[str]:
    try:
        return [f"{key}: {value}" for key, value in changed_settings(settings).items()] or ["all as they come"]
    except UserError as error:
        return [str(error)]


def _errors(settings: Settings) -> list[str]:
    files = files_of(settings.home / "logs", ERRORS)
    if not files:
        return ["none"]
    return files[-1].read_text(encoding="utf-8", errors="replace").splitlines()[-LAST:]


def _without_names(text: str, settings: Settings) -> str:
    """Without the name of a person, which is often part of the name of their folder."""
    own = settings.environ.get("HOME", "").rstrip("/")
    return text.replace(own, "~") if len(own) > 1 else text
