"""From the flags of a command line to a session."""

import argparse
import gc
import os
import sys

from hermes import config
from hermes.agent.session import Session
from hermes.app import App, Progress, Wish
from hermes.cli import logfiles
from hermes.cli.progress import Bar
from hermes.protocol.errors import UserError

GARBAGE = 20_000
"""New objects between two looks for garbage. Python's 700 is for programs that make many circles; here it cost a tenth of a step."""


def settings_for(args: argparse.Namespace) -> config.Settings:
    settings = config.load(use_file=not getattr(args, "ignore_user_config", False))
    if settings.file.logging != config.LogSettings():
        logfiles.use(settings.file.logging)
    return settings


def open_app(args: argparse.Namespace, progress: Progress | None = None) -> App:
    """The app as the flags want it; how far a download is goes to stderr, unless somebody else shows it."""
    dump = getattr(args, "dump_requests", None)
    if dump is not None:
        dump.mkdir(parents=True, exist_ok=True)
    return App(settings_for(args), progress=progress or Bar(sys.stderr).show, dump=dump)


async def open_session(app: App, wish: Wish) -> Session:
    """Open the session that is wished; from here on garbage is collected, but not what was loaded so far."""
    session = await app.open(wish)
    logfiles.name_session(session.id)
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(GARBAGE)
        gc.enable()
    return session


async def wish_of(app: App, args: argparse.Namespace, *, can_ask: bool) -> Wish:
    """What the flags ask for."""
    given = vars(args)
    toolsets = tuple(name.strip() for name in given.get("toolsets", "").split(",") if name.strip())
    return Wish(
        model=given.get("model", ""),
        provider=given.get("provider", ""),
        base_url=given.get("base_url", ""),
        toolsets=toolsets,
        skills=tuple(name.strip() for name in given.get("skills", "").split(",") if name.strip()),
        resume=await _session_meant(app, given),
        source=given.get("source", "cli"),
        cwd=given.get("cwd") or (os.getcwd() if given.get("no_restore_cwd") else ""),
        tell_id=given.get("pass_session_id", False),
        can_ask=can_ask,
        yolo=given.get("yolo", False),
        use_rules=not given.get("ignore_rules", False),
        steps=given.get("max_turns"),
    )


async def _session_meant(app: App, given: dict[str, str]) -> str:
    if "resume" in given:
        return given["resume"]
    if "continued" not in given:
        return ""
    if given["continued"]:
        return given["continued"]
    latest = await app.store.sessions(source="cli", limit=1)
    if not latest:
        raise UserError("there is no session to go on with", "start one: hermes")
    return latest[0].id
