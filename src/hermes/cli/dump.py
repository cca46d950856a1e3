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
    settings = readable_settings()
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
    lines += ["--- secrets ---", *_secrets(settings, show=args.show_keys)]
    lines += ["--- settings ---", *_settings(settings)]
    lines += ["--- doctor, offline ---"]
    lines += [
        f"{one.state} {one.check}: {one.text}" async for one in examine(settings, offline=True) if one.state != "ok"
    ]
    lines += ["--- last errors ---", *_errors(settings), "--- end ---"]
    print(redactor(settings).mask(_without_names("\n".join(lines), settings)))
    return 0


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
    """A person's own folder by its sign: their name is often part of it."""
    own = settings.environ.get("HOME", "").rstrip("/")
    return text.replace(own, "~") if len(own) > 1 else text
