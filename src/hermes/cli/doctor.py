"""Look at everything that Hermes needs and say what is wrong and what to do. Nothing is changed without --fix.

Exit code 1 if something fails. A broken config.yaml is one of the findings: what follows then uses the defaults.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator

import msgspec

from hermes import config
from hermes.cli.doctor_finding import Finding, line
from hermes.cli.doctor_home import check_home
from hermes.cli.doctor_model import check_model
from hermes.cli.doctor_store import check_store
from hermes.cli.doctor_world import check_programs, check_python, check_sandbox, check_servers, check_terminal
from hermes.cli.main import print_error
from hermes.cli.table import one_line
from hermes.cli.words import many
from hermes.config import Settings
from hermes.protocol.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="mend what is safe to mend, and say so")
    parser.add_argument("--offline", action="store_true", help="call no model and no server")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as JSON")


async def run(args: argparse.Namespace) -> int:
    as_json = vars(args).get("json", False)
    found: list[tuple[Finding, str]] = []
    async for finding in examine(readable_settings(), offline=args.offline):
        mended = await _mend(finding) if args.fix and finding.mend else ""
        found.append((finding, mended))
        if not as_json:
            print(_line(finding, mended), flush=True)
    left = [finding for finding, mended in found if not mended]
    print(_as_json(found) if as_json else _summary(left, fixed=len(found) - len(left)))
    return 1 if any(finding.state == "fail" for finding in left) else 0


def readable_settings() -> Settings:
    """The settings, without whichever of their files cannot be used."""
    try:
        return config.load()
    except UserError:
        try:
            return config.load(use_file=False)
        except UserError:
            return config.load(use_file=False, use_env=False)


async def examine(settings: Settings, *, offline: bool) -> AsyncIterator[Finding]:
    """Every check, in the order in which one depends on the other."""
    yield check_python()
    for finding in check_home(settings):
        yield finding
    async for finding in check_store(settings):
        yield finding
    for finding in check_programs(settings):
        yield finding
    yield await asyncio.to_thread(check_sandbox, settings)
    async for finding in check_model(settings, offline=offline):
        yield finding
    if settings.file.terminal.backend == "local" or not offline:
        yield await check_terminal(settings)
    async for finding in check_servers(settings, offline=offline):
        yield finding


async def _mend(finding: Finding) -> str:
    """What was done; "" if it could not be done."""
    assert finding.mend is not None
    try:
        return await asyncio.to_thread(finding.mend)
    except OSError as error:
        print_error(f"cannot mend {finding.check}: {error}")
        return ""


def _line(finding: Finding, mended: str) -> str:
    if mended:
        return f"mended {finding.check:<12} {one_line(finding.text)}: {one_line(mended)}"
    return line(finding)


def _summary(left: list[Finding], *, fixed: int) -> str:
    fails = sum(finding.state == "fail" for finding in left)
    warnings = sum(finding.state == "warn" for finding in left)
    parts = [many(fails, "problem")] if fails else []
    parts += [many(warnings, "warning")] if warnings else []
    parts += [f"{fixed} mended"] if fixed else []
    can = sum(finding.mend is not None for finding in left)
    hint = f"; hermes doctor --fix mends {can} of them" if can else ""
    return (", ".join(parts) or "all is well") + hint


def _as_json(found: list[tuple[Finding, str]]) -> str:
    rows = [
        {"check": one.check, "state": one.state, "text": one.text, "do": one.do, "mended": mended}
        for one, mended in found
    ]
    return msgspec.json.encode(rows).decode()
