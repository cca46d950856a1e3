"""The command that makes a long conversation shorter for the model, or tells what that would do."""

from hermes.commands.conversation import number
from hermes.commands.registry import Command, Context, Outcome
from hermes.protocol.ops import Compact

PREVIEW = "--preview"
HERE = "here"
EXCHANGES = 1
"""Exchanges that stay word for word with /compress here."""


async def compress(ctx: Context, argument: str) -> Outcome:
    first, _, rest = argument.partition(" ")
    if first.lower() == HERE:
        return Outcome(ops=(Compact(keep=number(rest.strip(), EXCHANGES, f"/compress {HERE} 3")),))
    if argument != PREVIEW:
        return Outcome(ops=(Compact(focus=argument),))
    found = ctx.session.preview()
    if not (found.masks or found.spans):
        return Outcome(reply=f"Nothing to condense: about {found.used:,} of {found.window:,} tokens are used.")
    summaries = "one summary" if found.spans == 1 else f"{found.spans} summaries"
    steps = f"{summaries} would stand for the oldest steps" if found.spans else "no summaries yet"
    return Outcome(
        reply=f"About {found.used:,} of {found.window:,} tokens are used. `/compress` would cut {found.masks} old results "
        f"down to a line each; {steps}: about {found.after:,} tokens at most. Nothing is lost."
    )


COMPRESS = Command(
    name="compress",
    aliases=("compact",),
    usage=f"[FOCUS | {HERE} [N] | {PREVIEW}]",
    help="let summaries stand for older steps, keeping what has to do with FOCUS, or the last N exchanges",
    run=compress,
)
