"""What a careful person would look at: who can read the home, where secrets lie, what runs without a question.

hermes security audit             one line for each thing, with what to do
hermes security audit --offline   do not ask the MCP servers whether their tools are what was approved

Exit code 1 if something should be changed. Nothing is changed by it.
"""

import argparse
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from hermes.app import App
from hermes.app.hub import Hub
from hermes.cli.audit_home import check_modes, check_secrets, check_services
from hermes.cli.audit_reach import check_allow_list, check_approvals, check_connections, check_terminal
from hermes.cli.audit_servers import check_contracts, check_entries
from hermes.cli.doctor import readable_settings
from hermes.cli.doctor_finding import Finding, fail, failed, line, ok, warn
from hermes.cli.words import many
from hermes.config import Settings
from hermes.protocol.errors import HermesError, UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    audited = actions.add_parser("audit", help="look at all of it, and say what to change")
    audited.add_argument("--offline", action="store_true", help="call no MCP server")
    audited.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as JSON")


async def run(args: argparse.Namespace) -> int:
    found: list[Finding] = []
    as_json = vars(args).get("json", False)
    async for finding in examine(readable_settings(), offline=args.offline):
        found.append(finding)
        if not as_json:
            print(line(finding), flush=True)
    wrong = sum(finding.state == "fail" for finding in found)
    if as_json:
        rows = [{"check": one.check, "state": one.state, "text": one.text, "do": one.do} for one in found]
        print(msgspec.json.encode(rows).decode())
    else:
        look = sum(finding.state == "warn" for finding in found)
        print(f"{many(wrong, 'thing')} to change, {look} to look at" if wrong or look else "there is nothing to change")
    return 1 if wrong else 0


async def examine(settings: Settings, *, offline: bool) -> AsyncIterator[Finding]:
    """Every check, from what lies on the disk to what others offer."""
    for check in (check_modes, check_secrets, check_services, check_approvals, check_allow_list, check_connections):
        for finding in check(settings):
            yield finding
    async for finding in check_terminal(settings):
        yield finding
    for finding in check_entries(settings):
        yield finding
    if not offline:
        async for finding in check_contracts(settings):
            yield finding
    async for finding in check_skills(settings):
        yield finding


async def check_skills(settings: Settings) -> AsyncIterator[Finding]:
    """Skills from elsewhere: whether their files are still those that were scanned when they were installed."""
    if not (settings.home / "skills").is_dir():
        yield ok("skills", "none was installed")
        return
    async with App(settings) as app:
        try:
            installed = await Hub(settings, app.fetch, Path.cwd(), app.skills.shelf).installed()
        except UserError as error:
            yield failed("skills", error)
            return
        except HermesError as error:
            yield fail("skills", str(error), "hermes doctor tells more")
            return
    for each in installed:
        look = f"hermes skills diff {each.name} shows how, hermes skills reset {each.name} undoes it"
        if each.state == "changed":
            yield fail("skills", f"{each.name} was changed since it was installed, so it is off", look)
        elif each.state == "allowed":
            yield warn("skills", f"{each.name} was changed since it was installed, and you allowed it", look)
    same = sum(each.state == "ok" for each in installed)
    yield ok("skills", f"{many(same, 'installed skill')} as it was scanned" if same else "none was installed")
