"""Commands about how the model works and speaks: its effort, its thoughts on the screen, its personality."""

import difflib

from hermes.agent import personas
from hermes.commands.lasting import how_to_keep, keep, without_flags
from hermes.commands.registry import Command, Completion, Context, Outcome, Screen
from hermes.protocol.errors import UserError
from hermes.protocol.ops import Configure

LEVELS = {
    "none": "do not think before answering",
    "minimal": "think as little as the model can",
    "low": "think a little",
    "medium": "think as much as is usual",
    "high": "think long",
    "xhigh": "think as long as the model can",
}
AS_USUAL = "default"
"""The level that leaves it to the model."""
SHOWN = {"show": "open", "hide": "hidden", "full": "open", "clamp": "folded"}
FAST = "minimal"
"""The lowest level at which a model still thinks as it wants to."""


async def reasoning(ctx: Context, argument: str) -> Outcome:
    word, lasting = without_flags(argument.lower())
    if not word:
        now = ctx.session.effort or "as the model is used to"
        return Outcome(reply=f"Thinking: {now}. Levels: {', '.join((*LEVELS, AS_USUAL))}; or show, hide, full, clamp.")
    if word in SHOWN:
        said = await keep(ctx.app, "display.show_reasoning", SHOWN[word] == "open") if lasting else ""
        return Outcome(reply=said, screen=Screen("details", f"thoughts {SHOWN[word]}"))
    if word not in (*LEVELS, AS_USUAL):
        near = difflib.get_close_matches(word, (*LEVELS, AS_USUAL, *SHOWN), 1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join((*LEVELS, AS_USUAL, *SHOWN))}"
        raise UserError(f"there is no level {word!r}", hint)
    effort = "" if word == AS_USUAL else word
    said = await keep(ctx.app, "agent.reasoning_effort", effort) if lasting else how_to_keep(f"/reasoning {word}")
    return Outcome(ops=(Configure(effort=effort),), reply=f"Thinking: {word}, from the next step on. {said}")


async def fast(ctx: Context, argument: str) -> Outcome:
    wanted = {"": ctx.session.effort != FAST, "on": True, "off": False}.get(argument.lower())
    if wanted is None:
        raise UserError(f"{argument!r} is neither on nor off", "/fast, /fast on or /fast off")
    usual = ctx.app.settings.file.agent.reasoning_effort
    effort = FAST if wanted else "" if usual == FAST else usual
    said = f"as little as the model can. `/fast` again: {usual or 'as usual'}" if wanted else effort or "as usual"
    return Outcome(ops=(Configure(effort=effort),), reply=f"Thinking: {said}.")


async def personality(ctx: Context, argument: str) -> Outcome:
    custom = ctx.app.settings.file.personalities
    name, lasting = without_flags(argument)
    if not name:
        now = ctx.session.history.personality or "none"
        return Outcome(reply=f"Personality: {now}. There is {', '.join(personas.names(custom))}, and none.")
    if ctx.session.options.persona is None:
        raise UserError("the system text of this session is fixed", "start another session")
    personas.find(name, custom)
    chosen = "" if name.lower() in personas.NONE else name.lower()
    said = await keep(ctx.app, "display.personality", chosen) if lasting else how_to_keep(f"/personality {name}")
    return Outcome(ops=(Configure(personality=chosen),), reply=f"Personality: {chosen or 'none'}. {said}")


async def levels(ctx: Context, argument: str) -> list[Completion]:
    offered = [Completion(text=level, help=text) for level, text in LEVELS.items()]
    more = {
        AS_USUAL: "leave it to the model",
        "show": "show thoughts",
        "hide": "hide thoughts",
        "full": "show thoughts in full",
        "clamp": "show their first line",
    }
    return [*offered, *(Completion(text=word, help=text) for word, text in more.items())]


async def personalities(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=name) for name in (*personas.names(ctx.app.settings.file.personalities), "none")]


REASONING = Command(
    name="reasoning",
    usage="[LEVEL|show|hide|full|clamp] [--global]",
    help="tell or change how long the model thinks, show or hide its thoughts",
    run=reasoning,
    complete=levels,
)
FAST_ANSWERS = Command(
    name="fast", usage="[on|off]", help="let the model think as little as it can, or as usual again", run=fast
)
PERSONALITY = Command(
    name="personality",
    usage="[NAME|none] [--global]",
    help="let Hermes speak in another manner",
    run=personality,
    complete=personalities,
)
