"""The command that tells what a bug report needs, as strangers may see it: no secrets, no name of the person's folder."""

import asyncio
import os
import platform
from pathlib import Path

import hermes
from hermes.commands.registry import Command, Context, Outcome
from hermes.commands.settings import asks_nobody
from hermes.commands.transcript import fenced

ERRORS = 10
"""Lines of the log of errors that are shown: the last."""
LOOK = 32_768
"""Bytes at the end of that log among which they are looked for."""
HINT = "`hermes debug share` writes this and the logs to one file, to look into and to attach."


async def debug(ctx: Context, argument: str) -> Outcome:
    lines = [f"{name}: {fact}" for name, fact in _facts(ctx).items()]
    errors = await asyncio.to_thread(_last_errors, ctx.app.settings.home / "logs" / "errors.log")
    text = "\n".join([*lines, "last errors:" if errors else "last errors: none", *errors])
    return Outcome(reply=f"{fenced(_harmless(ctx, text), 'text')}\n{HINT}")


def _facts(ctx: Context) -> dict[str, str]:
    session, file, system = ctx.session, ctx.app.settings.file, os.uname()
    servers = ctx.app.connections.servers.all() if "connections" in ctx.app.__dict__ else ()
    states = [f"{server.name} {server.status().state}" for server in servers]
    return {
        "hermes": hermes.__version__,
        "python": platform.python_version(),
        "system": f"{system.sysname} {system.release} {system.machine}",
        "session": f"{session.id} from {session.surface}, turn {session.history.turn}, "
        f"{'busy' if session.busy else 'idle'}, event {session.history.seq}",
        "model": f"{session.model.name}, {session.model.dialect}, window {session.model.window:,}, "
        f"effort {session.effort or 'as usual'}",
        "context": f"about {session.history.context_estimate():,} tokens",
        "folder": session.world.workspace,
        "terminal": f"{file.terminal.backend}, sandbox {file.terminal.sandbox}",
        "approvals": "off" if asks_nobody(ctx) else file.approvals.mode,
        "tools": ", ".join(session.tools.own),
        "mcp servers": ", ".join(states) or "none",
    }


def _last_errors(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOOK))
            return file.read().decode(errors="replace").splitlines()[-ERRORS:]
    except OSError:  # there is no such log as long as nothing went wrong
        return []


def _harmless(ctx: Context, text: str) -> str:
    own = ctx.app.settings.environ.get("HOME", "").rstrip("/")
    return ctx.app.redactor.mask(text.replace(own, "~") if len(own) > 1 else text)


DEBUG = Command(name="debug", help="show what a bug report needs, secrets masked", run=debug)
