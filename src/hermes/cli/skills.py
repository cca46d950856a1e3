"""Skills: those that come with Hermes, your own, and those of others. Without an action: list them.

hermes skills search pdf
hermes skills inspect anthropics/skills/pdf
hermes skills install anthropics/skills/pdf      owner/repo/skill, a folder, an archive, git+URL or https://site#skill
hermes skills update
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from hermes.app.hub import Hub, Installed, Offer
from hermes.cli.ask import confirm
from hermes.cli.main import print_error
from hermes.cli.open import open_app
from hermes.cli.skills_changes import diff, list_modified, reset
from hermes.cli.skills_config import configure
from hermes.cli.skills_publish import publish
from hermes.cli.skills_snapshot import add_parsers as add_snapshot
from hermes.cli.table import Column, one_line, print_table
from hermes.cli.words import many
from hermes.learning.skills.bundled import opt_in, opt_out
from hermes.learning.skills.scan import Scan
from hermes.protocol.errors import UserError

LISTED = (Column("name"), Column("category"), Column("from"), Column("state"), Column("what it is for", shrinks=True))
OFFERED = (Column("name"), Column("trust"), Column("source", shrinks=True), Column("what it is for", shrinks=True))
CHECKED = (Column("name"), Column("state", shrinks=True), Column("source", shrinks=True))
TAPS = (Column("source", shrinks=True), Column("trust"))
SHOWN = 40
ORIGINS = {"user": "you", "bundled": "Hermes", "agent": "learned"}

Action = Callable[[argparse.Namespace, Hub], Awaitable[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=list_skills)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")

    def action(name: str, do: Action, text: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=text, description=text)
        added.set_defaults(do=do)
        return added

    action("list", list_skills, "every skill, where it comes from and whether it can be used")
    for name, text in (("browse", "everything that the taps have"), ("search", "what the taps have for some words")):
        found = action(name, search, text)
        found.add_argument(
            "words",
            metavar="WORD",
            nargs="*" if name == "browse" else "+",
            help="must all stand in name or description",
        )
        found.add_argument("--refresh", action="store_true", help="ask every tap anew")
    action("inspect", inspect, "fetch and scan a skill without installing it").add_argument("source", metavar="SOURCE")
    installed = action("install", install, "fetch, scan and install a skill; nothing of it is run")
    installed.add_argument(
        "source", metavar="SOURCE", help="a name from a tap, owner/repo/skill, a folder, an archive, https://site#skill"
    )
    installed.add_argument("--category", default="", help="the folder to put it in")
    installed.add_argument(
        "--force", action="store_true", help="install what is odd; what is dangerous is never installed"
    )
    action("check", check, "whether there is something newer").add_argument(
        "name", metavar="NAME", nargs="?", default=""
    )
    updated = action("update", update, "install what is newer")
    updated.add_argument("name", metavar="NAME", nargs="?", default="", help="default: all of them")
    updated.add_argument("--force", action="store_true", help="also what is odd")
    action("audit", audit, "scan what is installed again, and compare it with its hash")
    removed = action("uninstall", uninstall, "remove an installed skill")
    removed.add_argument("name", metavar="NAME")
    removed.add_argument("-y", "--yes", action="store_true", help="do not ask")
    action("reset", reset, "undo changes to an installed or bundled skill; yours go to .archive").add_argument(
        "name", metavar="NAME"
    )
    action("list-modified", list_modified, "skills that are no longer as they came")
    action("diff", diff, "how a skill here differs from its source").add_argument("name", metavar="NAME")
    action("opt-out", leave_bundled, "do without the skills that come with Hermes")
    action("opt-in", take_bundled, "have the skills that come with Hermes again")
    switched = action("config", configure, "choose which skills sessions see: from a list, or NAME on|off")
    switched.add_argument("name", metavar="NAME", nargs="?", default="")
    switched.add_argument("state", nargs="?", choices=("on", "off"), default="on", help="default: on")
    add_snapshot(actions.add_parser("snapshot", help="what is installed, as a file for another home"))
    published = action("publish", publish, "scan a skill and pack it for others; nothing is sent")
    published.add_argument("name", metavar="NAME")
    published.add_argument("-o", "--output", metavar="FILE", default="", help="where to (default: NAME.zip here)")
    taps = action("tap", list_taps, "the sources that are searched").add_subparsers(title="actions", metavar="ACTION")
    taps.add_parser("list", help="every tap").set_defaults(do=list_taps)
    added = taps.add_parser("add", help="search a source too")
    added.add_argument("source", metavar="SOURCE")
    added.add_argument("--trusted", action="store_true", help="install its skills also if they are a little odd")
    added.set_defaults(do=add_tap)
    gone = taps.add_parser("remove", help="search a source no more")
    gone.add_argument("source", metavar="SOURCE")
    gone.set_defaults(do=remove_tap)


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        return await args.do(args, Hub(app.settings, app.fetch, Path.cwd(), app.skills.shelf))


async def list_skills(args: argparse.Namespace, hub: Hub) -> int:
    shelf = hub.shelf
    await shelf.refresh()
    rows: list[tuple[str, ...]] = []
    for name, one in sorted(shelf.found.items()):
        state = "off" if one.trouble else shelf.rows[name].state if one.origin == "agent" else "on"
        rows.append((name, one.skill.category, ORIGINS.get(one.origin, one.origin), state, one.skill.description))
    print_table(LISTED, rows, sys.stdout)
    for trouble in shelf.troubles:
        print_error(trouble)
    if drafts := sum(bool(row.candidate) for row in shelf.rows.values()):
        print_error(f"Hermes has {many(drafts, 'draft')} to try", "/skills pending in a session shows more")
    return 0


async def search(args: argparse.Namespace, hub: Hub) -> int:
    offers, troubles = await hub.offers(" ".join(args.words), refresh=args.refresh)
    for trouble in troubles:
        print_error(trouble)
    if not offers:
        searched = "that could be searched " if troubles else ""
        print_error(f"no tap {searched}has such a skill", "hermes skills tap add SOURCE searches another one")
        return 1
    print_table(OFFERED, [_row(each) for each in offers], sys.stdout)
    return 0


async def inspect(args: argparse.Namespace, hub: Hub) -> int:
    async with hub.candidate(args.source) as candidate:
        skill = candidate.skill
        print(f"{skill.name}: {one_line(skill.description)}")
        print(
            f"from {candidate.source} ({candidate.trust})"
            + (f", commit {candidate.revision[:12]}" if candidate.revision else "")
        )
        print(f"files: {', '.join(map(one_line, candidate.files))}")
        _show(candidate.scan)
    return 0


async def install(args: argparse.Namespace, hub: Hub) -> int:
    name, pin, scan = await hub.install(args.source, category=args.category, force=args.force)
    if scan.findings:
        _show(scan)
    print(f"{name} is installed in {hub.root / pin.place}; sessions that begin from now on see it")
    return 0


async def check(args: argparse.Namespace, hub: Hub) -> int:
    checked = await hub.check(args.name)
    print_table(CHECKED, [(each.name, _word(each), each.pin.source) for each in checked], sys.stdout)
    return 0


async def update(args: argparse.Namespace, hub: Hub) -> int:
    names = [args.name] if args.name else [each.name for each in await hub.installed()]
    failed = False
    for name in names:
        try:
            changed = await hub.update(name, force=args.force)
            print(f"{name} {'is updated' if changed else 'is as its source has it'}")
        except UserError as error:
            if args.name:
                raise
            print_error(f"{name}: {error}", error.hint)
            failed = True
    return 1 if failed else 0


async def audit(args: argparse.Namespace, hub: Hub) -> int:
    done = await hub.audit()
    for each, scan in done:
        print(f"{each.name}: {scan.verdict}, {_word(each)}")
        _show_findings(scan)
    bad = [each.name for each, scan in done if each.state not in ("ok", "allowed") or scan.verdict == "dangerous"]
    print(f"{many(len(done), 'skill')} scanned, {len(bad)} to look at", file=sys.stderr)
    return 1 if bad else 0


async def uninstall(args: argparse.Namespace, hub: Hub) -> int:
    hub.pinned(args.name)
    if not (args.yes or await confirm(f"Remove the skill {args.name}?")):
        print_error("nothing was removed")
        return 1
    await asyncio.to_thread(hub.uninstall, args.name)
    print(f"{args.name} is removed")
    return 0


async def list_taps(args: argparse.Namespace, hub: Hub) -> int:
    print_table(TAPS, [(tap.source, "trusted" if tap.trusted else "community") for tap in hub.taps()], sys.stdout)
    return 0


async def add_tap(args: argparse.Namespace, hub: Hub) -> int:
    print(f"{hub.add_tap(args.source, trusted=args.trusted).source} is searched from now on")
    return 0


async def remove_tap(args: argparse.Namespace, hub: Hub) -> int:
    hub.remove_tap(args.source)
    print(f"{args.source} is searched no more; what was installed from it stays")
    return 0


async def leave_bundled(args: argparse.Namespace, hub: Hub) -> int:
    print("sessions do without the bundled skills" + ("" if opt_out(hub.root.parent) else " already"))
    return 0


async def take_bundled(args: argparse.Namespace, hub: Hub) -> int:
    print("sessions have the bundled skills" + (" again" if opt_in(hub.root.parent) else " already"))
    return 0


def _row(offer: Offer) -> tuple[str, ...]:
    return offer.name, offer.trust, offer.source, offer.description


def _word(each: Installed) -> str:
    words = {
        "ok": "as it was installed",
        "old": "there is something newer",
        "changed": "changed here, so it is off",
        "allowed": "changed here, and allowed",
    }
    return words.get(each.state, each.state)


def _show(scan: Scan) -> None:
    print(f"scan: {scan.verdict}")
    _show_findings(scan)


def _show_findings(scan: Scan) -> None:
    for each in scan.findings[:SHOWN]:
        place = f"{each.file}:{each.line}" if each.line else each.file or "together"
        quoted = f": {one_line(each.text)}" if each.text else ""
        print(f"  {each.severity:<9}  {one_line(place)}  {each.what}{quoted}")
    if len(scan.findings) > SHOWN:
        print(f"  and {len(scan.findings) - SHOWN} more")
