"""What is set and what there is, on one screen. --deep also tries it: one model call, the terminal, the MCP servers."""

import argparse
import time

from hermes.app import App
from hermes.cli.doctor import readable_settings
from hermes.cli.doctor_finding import Finding
from hermes.cli.doctor_model import check_model
from hermes.cli.doctor_world import check_servers, check_terminal
from hermes.cli.facts import (
    changed_settings,
    home_facts,
    model_facts,
    part_facts,
    print_facts,
    program_facts,
    provider_facts,
)
from hermes.cli.main import print_error
from hermes.cli.words import ago
from hermes.config import Settings
from hermes.protocol.errors import HermesError, UserError

SHOWN = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also every key and every setting that differs")
    parser.add_argument("--deep", action="store_true", help="also call the model, the terminal and the servers")


async def run(args: argparse.Namespace) -> int:
    settings = readable_settings()
    print_facts(program_facts())
    print_facts(home_facts(settings))
    async with App(settings) as app:
        print_facts(model_facts(app))
        print_facts(part_facts(settings))
        await _sessions(app)
        if args.all:
            print_facts(provider_facts(app))
            _print_settings(settings)
    return await _deep(settings) if args.deep else 0


async def _sessions(app: App) -> None:
    if not app.settings.database.exists():
        print_facts({"sessions": "none yet"})
        return
    try:
        latest = await app.store.sessions(limit=SHOWN)
    except HermesError as error:
        print_error(error)
        return
    many_more = " or more" if len(latest) == SHOWN else ""
    last = f", the latest {ago(latest[0].active, time.time())}" if latest else ""
    print_facts({"sessions": f"{len(latest)}{many_more}{last}, {sum(bool(row.owner) for row in latest)} of them open"})


def _print_settings(settings: Settings) -> None:
    try:
        print_facts(changed_settings(settings))
    except UserError as error:
        print_error(error, error.hint)


async def _deep(settings: Settings) -> int:
    findings = [finding async for finding in check_model(settings, offline=False)]
    findings.append(await check_terminal(settings))
    findings += [finding async for finding in check_servers(settings, offline=False)]
    for finding in findings:
        print_facts({f"{finding.check}: {finding.state}": _told(finding)})
    return 1 if any(finding.state == "fail" for finding in findings) else 0


def _told(finding: Finding) -> str:
    return f"{finding.text} ({finding.do})" if finding.do else finding.text
