"""Commands about files: put the folder back as it was, save the conversation."""

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hermes.app.world import LocalWorld
from hermes.commands.conversation import must_be_idle, number
from hermes.commands.registry import TERMINAL, Command, Context, Outcome
from hermes.commands.transcript import as_markdown, fenced, turns_of
from hermes.protocol.errors import UserError
from hermes.protocol.ops import Rewind

if TYPE_CHECKING:
    from hermes.safety.checkpoints import Checkpoint, Checkpoints, Restored

EXAMPLE = "/rollback 1"
LONGEST_DIFF = 20_000
NAMES_SHOWN = 10
LONGEST_NAME = 100


async def rollback(ctx: Context, argument: str) -> Outcome:
    checkpoints, folder = _checkpoints(ctx), ctx.session.world.workspace
    if not argument:
        return Outcome(reply=_listed(await checkpoints.list(folder), folder, ctx.session.id))
    first, *rest = argument.split(maxsplit=1)
    if first != "diff":
        return await _restore(ctx, checkpoints, number(first, 1, EXAMPLE), *rest)
    count, *file = rest[0].split(maxsplit=1) if rest else ["1"]
    return Outcome(reply=_shown(await checkpoints.diff(folder, number(count, 1, EXAMPLE), *file)))


async def _restore(ctx: Context, checkpoints: "Checkpoints", which: int, file: str = "") -> Outcome:
    """Put the folder back, and the conversation with it: the model must not believe in files that are gone."""
    must_be_idle(ctx)
    session = ctx.session
    before = await checkpoints.list(session.world.workspace)
    restored = await checkpoints.restore(session.world.workspace, which, file)
    turn = 0 if file else _turn_of(before[which - 1], session.id)
    if not turn:
        return Outcome(reply=_told(restored))
    back = Rewind(to=turn, expect_turn=session.history.turn)
    return Outcome(reply=f"{_told(restored)}\nThe conversation is back where turn {turn} began.", ops=(back,))


async def snapshot(ctx: Context, argument: str) -> Outcome:
    checkpoints, folder = _checkpoints(ctx), ctx.session.world.workspace
    name = " ".join(argument.split())
    if not name or name == "list":
        return await rollback(ctx, "")
    must_be_idle(ctx)
    await checkpoints.take(folder, f"snapshot {name[:LONGEST_NAME]!r}")
    return Outcome(reply=f"Kept `{folder}` as it is now. `/rollback` lists it, `/rollback 1` comes back to it.")


async def save(ctx: Context, argument: str) -> Outcome:
    session = ctx.session
    row = await ctx.app.store.session(session.id)
    turns = await turns_of(ctx.app.store, session.id)
    if row is None or not turns:
        raise UserError("there is nothing to save", "say something first")
    path = Path(session.world.workspace, os.path.expanduser(argument or f"hermes-{session.id}.md"))
    await asyncio.to_thread(_write_new, path, as_markdown(row, turns))
    return Outcome(reply=f"Saved as `{path}`.")


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError:
        raise UserError(f"{path} is there already", "name another file") from None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", "name another file") from None


def _checkpoints(ctx: Context) -> "Checkpoints":
    world = ctx.session.world
    if not isinstance(world, LocalWorld) or world.checkpoints is None:
        raise UserError("there are no checkpoints", "hermes config set checkpoints.enabled true")
    if why := world.checkpoints.not_undoable(world.workspace):
        raise UserError(why, "install git")
    return world.checkpoints


def _turn_of(checkpoint: "Checkpoint", session: str) -> int:
    """The turn of this session that the checkpoint was taken in; 0 if it is another's, or none's."""
    owner, _, turn = checkpoint.turn.rpartition(":")
    return int(turn) if owner == session and turn.isdecimal() else 0


def _listed(checkpoints: "tuple[Checkpoint, ...]", folder: str, session: str) -> str:
    if not checkpoints:
        return f"There are no checkpoints of `{folder}` yet; the first is taken before the first change."
    lines = [f"Checkpoints of `{folder}`, the newest first:"]
    for each in checkpoints:
        turn = _turn_of(each, session)
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(each.at))
        lines.append(f"- {each.number}: {at}, {each.why}" + (f" in turn {turn}" if turn else ""))
    how = "`/rollback N` puts the folder back, `/rollback N FILE` one file, `/rollback diff N` shows the changes."
    lines += ["", how]
    return "\n".join(lines)


def _shown(diff: str) -> str:
    if not diff:
        return "Nothing has changed since."
    more = f"\n{len(diff) - LONGEST_DIFF:,} more characters are left out." if len(diff) > LONGEST_DIFF else ""
    return fenced(diff[:LONGEST_DIFF], "diff") + more


def _told(restored: "Restored") -> str:
    parts = [
        f"{verb} {_names(names)}."
        for verb, names in (("Put back", restored.written), ("Removed", restored.removed))
        if names
    ]
    parts += [f"Left `{name}` as it is: {why}." for name, why in restored.left]
    return "\n".join(parts) or "Everything was as it is at that checkpoint."


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(f"`{name}`" for name in names[:NAMES_SHOWN]) + more


def _question_of_rollback(argument: str) -> str:
    words = argument.split(maxsplit=1)
    if not words or not words[0].isdecimal():
        return ""
    what = words[1] if len(words) > 1 else "the folder"
    return f"Put {what} back as it was at checkpoint {words[0]}?"


ROLLBACK = Command(
    name="rollback",
    usage="[N [FILE] | diff N]",
    help="list checkpoints of the folder, put it or one file back, or see what has changed",
    run=rollback,
    destructive=_question_of_rollback,
)
SNAPSHOT = Command(
    name="snapshot",
    aliases=("snap",),
    usage="[NAME]",
    help="keep the folder as it is now under a name, or list what is kept",
    run=snapshot,
)
SAVE = Command(name="save", usage="[FILE]", help="save the conversation as Markdown", run=save, surfaces=TERMINAL)
