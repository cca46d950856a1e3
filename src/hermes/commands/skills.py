"""Commands about skills: what there is, what waits for the person, the curator, and one command for each skill."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hermes.commands.registry import Command, Completion, Context, Outcome
from hermes.commands.transcript import fenced
from hermes.protocol.errors import UserError
from hermes.protocol.items import Text
from hermes.protocol.ops import Say

if TYPE_CHECKING:
    from hermes.app import App
    from hermes.learning.skills.discover import Found

FOUND = 10
LISTED = 100
BROWSED = 30
ACTIONS = {
    "list": "the skills that there are",
    "search": "skills for a task",
    "browse": "skills that could be installed, or those about something",
    "show": "one of them, where it comes from and what it did",
    "pending": "drafts and changes that wait for you",
    "diff": "what a proposal would change",
    "approve": "vouch for a draft, a change or a proposal",
    "reject": "refuse one",
}
TENDING = {
    "status": "when it last worked",
    "run": "work now",
    "pause": "do not work by itself",
    "resume": "work by itself again",
    "pin": "keep a skill first and never put it away",
    "unpin": "treat it like any other",
    "archive": "put a skill of Hermes' own away",
    "restore": "bring it back",
}


async def skills(ctx: Context, argument: str) -> Outcome:
    await ctx.app.skills.shelf.refresh()
    action, _, rest = argument.partition(" ")
    rest = rest.strip()
    match action.lower():
        case "" | "list":
            return Outcome(reply=_listed(ctx.app))
        case "search" if rest:
            return Outcome(reply=_searched(ctx.app, rest))
        case "browse":
            return Outcome(reply=await _browsed(ctx, rest))
        case "show" | "inspect" | "why" if rest:
            return Outcome(reply=await _shown(ctx.app, rest))
        case "pending":
            return Outcome(reply=_pending(ctx.app))
        case "diff" if rest:
            return Outcome(reply=await _diff(ctx.app, rest))
        case "approve" if rest:
            return Outcome(reply=await ctx.app.skills.life.approve(rest))
        case "reject" if rest:
            return Outcome(reply=await ctx.app.skills.life.reject(rest))
        case _:
            raise UserError(f"what should /skills {argument} do?", f"it knows {', '.join(ACTIONS)}; most want a name")


async def curator(ctx: Context, argument: str) -> Outcome:
    return Outcome(reply=await tend(ctx.app, argument))


async def tend(app: "App", argument: str) -> str:
    """Do what `hermes curator` and /curator are asked to do."""
    action, _, name = argument.partition(" ")
    room, name = app.skills, name.strip()
    await room.shelf.refresh()
    match action.lower():
        case "" | "status":
            ran, paused = await room.curator.status()
            rows = room.shelf.rows.values()
            states = ", ".join(
                f"{count} {state}"
                for state in ("draft", "trial", "active", "stale", "archived")
                if (count := sum(row.state == state for row in rows))
            )
            when = (
                f"It last worked on {time.strftime('%Y-%m-%d at %H:%M', time.localtime(ran))}"
                if ran
                else "It has not worked yet"
            )
            return f"{when}{', and is paused' if paused else ''}. Skills that Hermes wrote: {states or 'none'}."
        case "run":
            return "\n".join(await room.curator.run()) or "There was nothing to do."
        case "pause" | "resume":
            await room.curator.pause(action.lower() == "pause")
            return "The curator is paused." if action.lower() == "pause" else "The curator works again."
        case "pin" | "unpin" if name:
            one = room.shelf.get(name)
            await room.shelf.store.pin(one.name, action.lower() == "pin")
            await room.shelf.refresh()
            return f"{one.name} is {'pinned' if action.lower() == 'pin' else 'not pinned any more'}."
        case "archive" if name:
            return await room.life.archive(name, "the person put it away")
        case "restore" if name:
            return await room.life.restore(name)
        case _:
            raise UserError(f"what should the curator {argument}?", f"it knows {', '.join(TENDING)}; some want a name")


async def reload(ctx: Context, argument: str) -> Outcome:
    shelf = ctx.app.skills.shelf
    await shelf.refresh()
    lines = [f"There are {len(shelf.found)} skills; new sessions begin with them.", *shelf.troubles]
    return Outcome(reply="\n".join(lines))


class Called:
    """The skills of an app as commands: /name puts the skill's text before what stands behind it."""

    def __init__(self, app: "App", taken: frozenset[str]) -> None:
        self._app = app
        self._taken = taken
        self._made: dict[str, tuple[Found, Command]] = {}

    def __call__(self) -> Iterable[Command]:
        # Whoever types asks for these at every key: nothing is read from the disk here.
        if "skills" not in self._app.__dict__:
            return ()
        known, self._made = self._made, {}
        for one in self._app.skills.shelf.found.values():
            name = one.name.replace(".", "-")
            if name in self._taken:
                continue
            before = known.get(name)
            self._made[name] = before if before is not None and before[0] is one else (one, _command(name, one))
        return tuple(command for _, command in self._made.values())


def _command(name: str, one: "Found") -> Command:
    async def run(ctx: Context, argument: str) -> Outcome:
        await ctx.app.skills.shelf.refresh()
        text = await ctx.app.skills.text(ctx.app.skills.shelf.get(one.name), ctx.session)
        # Its first line becomes the title of a session that begins with it.
        said = f"{argument or f'Do what the skill {one.name} says.'}\n\n{text}"
        return Outcome(ops=(Say(by=f"skill:{one.name}", origin="skill", parts=(Text(said),)),))

    return Command(name=name, help=one.skill.description, run=run, usage="[what to do]")


def _listed(app: "App") -> str:
    shelf = app.skills.shelf
    if not shelf.found:
        return "There are no skills. `hermes skills search` finds some; Hermes writes its own as it works."
    lines = [_line(app, one) for one in sorted(shelf.found.values(), key=lambda one: (one.skill.category, one.name))]
    more = [f"… and {len(lines) - LISTED} more; `/skills search` finds them"] if len(lines) > LISTED else []
    return "\n".join([*lines[:LISTED], *more])


def _searched(app: "App", query: str) -> str:
    from hermes.learning.skills.search import Finder

    shelf = app.skills.shelf
    found = Finder().search(query, [one.skill for one in shelf.found.values()], FOUND)
    return "\n".join(_line(app, shelf.found[skill.name]) for skill in found) or f"No skill is about {query!r}."


async def _browsed(ctx: Context, query: str) -> str:
    from hermes.app.hub import Hub

    app = ctx.app
    hub = Hub(app.settings, app.fetch, Path(ctx.session.world.workspace), app.skills.shelf)
    offers, troubles = await hub.offers(query)
    lines = [f"- **{each.name}** ({each.trust}): {each.description} `{each.source}`" for each in offers[:BROWSED]]
    if len(offers) > BROWSED:
        lines.append(f"… and {len(offers) - BROWSED} more; `/skills browse WORDS` finds those about something")
    end = "`hermes skills install SOURCE` installs one." if offers else "There is no such skill to install."
    return "\n".join([*lines, *troubles, end])


async def _shown(app: "App", name: str) -> str:
    shelf = app.skills.shelf
    row, one, use = shelf.rows.get(name), shelf.found.get(name), shelf.use(name)
    if row is None and one is None:
        raise UserError(f"there is no skill {name!r}", "/skills lists them")
    lines: list[str] = []
    if one is not None:
        lines += [f"**{one.name}** ({one.origin}): {one.skill.description}", f"It lies in `{one.folder}`."]
        lines += [f"It is switched off: {one.trouble}"] if one.trouble else []
    if row is not None:
        lines.append(f"Hermes wrote it; it is {row.state}{f', and {row.waiting}' if row.waiting else ''}.")
        for version in await shelf.store.versions(name):
            lines.append(f"- version {version.number} by {version.by}, from turn {version.turn} of `{version.session}`")
        for trial in await shelf.store.trials(name):
            lines.append(f"- trial of version {trial.version} on `{trial.session}`: {trial.finding}, {trial.why}")
    lines.append(
        f"Offered {use.offered}, loaded {use.loaded}, helped {use.helped}, failed {use.failed}; about {use.saved:,} tokens saved."
    )
    return "\n".join(lines)


def _pending(app: "App") -> str:
    drafts = [row for row in app.skills.shelf.rows.values() if row.candidate]
    lines = [f"- **{row.name}** (draft): {row.waiting or 'it waits for its trial'}" for row in drafts]
    lines += [f"- **{each.id}**: a change to {each.skill} ({each.origin})" for each in app.skills.pending.all()]
    lines += [f"- **{one.name}**: {one.trouble}" for one in app.skills.shelf.found.values() if one.trouble]
    return (
        "\n".join([*lines, "`/skills approve NAME` or `/skills reject NAME`."]) if lines else "Nothing waits for you."
    )


async def _diff(app: "App", name: str) -> str:
    from hermes.learning.skills.pending import difference

    row, store = app.skills.shelf.rows.get(name), app.skills.shelf.store
    if row is not None and row.candidate:
        new, old = await store.version(name, row.candidate), await store.version(name, row.version)
        return fenced(difference(old.files if old else {}, new.files if new else {}), "diff")
    return fenced(app.skills.pending.get(name).diff, "diff")


def _line(app: "App", one: "Found") -> str:
    row = app.skills.shelf.rows.get(one.name)
    state = "off" if one.trouble else row.state if row is not None and one.origin == "agent" else one.origin
    pinned = ", pinned" if one.name in app.skills.shelf.pins else ""
    return f"- **{one.name}** ({state}{pinned}): {one.skill.description}"


async def _offers(ctx: Context, argument: str) -> list[Completion]:
    action, gap, _ = argument.partition(" ")
    if not gap:
        return [Completion(text=name, help=told) for name, told in ACTIONS.items()]
    shelf = ctx.app.skills.shelf
    match action:
        case "show":
            names = list(shelf.found)
        case "approve" | "reject" | "diff":
            names = [row.name for row in shelf.rows.values() if row.candidate]
            names += [each.id for each in ctx.app.skills.pending.all()]
        case _:
            names = []
    return [Completion(text=name, start=len(action) + 1) for name in sorted(names)]


async def _tending_offers(ctx: Context, argument: str) -> list[Completion]:
    action, gap, _ = argument.partition(" ")
    if not gap:
        return [Completion(text=name, help=told) for name, told in TENDING.items()]
    names = ctx.app.skills.shelf.found if action in ("pin", "unpin") else ctx.app.skills.shelf.rows
    return [Completion(text=name, start=len(action) + 1) for name in sorted(names)]


SKILLS = Command(
    name="skills",
    help="list, search and look at skills, and decide about those that wait",
    run=skills,
    usage="[list | search WORDS | browse [WORDS] | show NAME | pending | diff NAME | approve NAME | reject NAME]",
    complete=_offers,
)
CURATOR = Command(
    name="curator",
    help="look after the skills that Hermes wrote",
    run=curator,
    usage="[status | run | pause | resume | pin NAME | unpin NAME | archive NAME | restore NAME]",
    complete=_tending_offers,
)
RELOAD = Command(name="reload-skills", help="look for skills anew", run=reload)
