"""What `hermes doctor` looks at around Hermes: Python, programs that the settings need, the sandbox, the terminal, MCP servers."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from hermes.cli.doctor_finding import Finding, fail, failed, ok, warn
from hermes.cli.mcp_connect import connecting
from hermes.cli.words import many
from hermes.config import McpServer, Settings
from hermes.protocol.errors import TerminalError, UserError
from hermes.safety.environment import scrubbed
from hermes.safety.places import places_of

PATIENCE = 10.0
OLDEST = (3, 11)
REMOTE = {"ssh": "ssh", "docker": "docker", "podman": "podman"}


def check_python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST:
        return fail("python", f"this is {version}", "install Python 3.11 or newer")
    return ok("python", f"{version} on {os.uname().sysname} {os.uname().release}")


# Programs


def check_programs(settings: Settings) -> Iterator[Finding]:
    """Each program that the settings as they are would start."""
    file, found = settings.file, list[str]()
    backend = file.terminal.backend
    wanted: list[tuple[tuple[str, ...], str, str]] = [(("bash",), "fail", "commands cannot be run")]
    if file.checkpoints.enabled:
        wanted.append((("git",), "warn", "changes of files cannot be undone"))
    if backend in REMOTE:
        wanted.append(((REMOTE[backend],), "fail", f"the terminal {backend!r} cannot be used"))
    if backend in ("singularity", "apptainer"):
        wanted.append((("apptainer", "singularity"), "fail", f"the terminal {backend!r} cannot be used"))
    wanted.append((("rg",), "warn", "searching files takes longer"))
    for names, state, without in wanted:
        if place := next(filter(None, (_which(name, settings) for name in names)), ""):
            found.append(os.path.basename(place))
        else:
            finding = fail if state == "fail" else warn
            yield finding("programs", f"{names[0]} is not installed: {without}", f"install {names[0]}")
    yield ok("programs", ", ".join(found))


def _which(name: str, settings: Settings) -> str:
    return shutil.which(name, path=settings.environ.get("PATH", os.defpath)) or ""


def check_sandbox(settings: Settings) -> Finding:
    """What would hold the commands of the local terminal."""
    wanted = settings.file.terminal
    if wanted.backend != "local":
        return ok("sandbox", f"commands run in {wanted.backend}")
    if wanted.sandbox == "off":
        return ok("sandbox", "off: commands that are allowed can reach everything")
    from hermes.safety.sandbox.local import NONE, LocalSandbox, Wanted

    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        return fail("sandbox", "the working folder is not there any more", "go to another one")
    places = places_of(settings.home, settings.environ.get("HOME") or Path.home())
    choice = Wanted(wanted.sandbox, wanted.network == "on", wanted.sandbox_paths)
    box = LocalSandbox("doctor", cwd, places, scrubbed(settings.shell), wanted=choice)
    try:
        kind, notice = box.kind, box.notice
    except UserError as error:
        return failed("sandbox", error)
    if kind == NONE:
        return warn("sandbox", notice, "install bubblewrap, or hermes config set terminal.sandbox off")
    return ok("sandbox", f"{kind}; {notice}" if notice else kind)


# The terminal


async def check_terminal(settings: Settings) -> Finding:
    """One command where commands run."""
    from hermes.terminals.choose import open_terminal

    backend, began = settings.file.terminal.backend, time.monotonic()
    try:
        terminal, _ = open_terminal(settings, f"doctor {os.getpid()}", "/", scrubbed(settings.shell))
    except UserError as error:
        return failed("terminal", error)
    try:
        async with asyncio.timeout(PATIENCE * 3):
            ran = await terminal.run("echo hello", timeout=PATIENCE)
            await terminal.close()
    except UserError as error:
        return failed("terminal", error)
    except (TerminalError, TimeoutError) as error:
        why = str(error) or f"no answer in {PATIENCE * 3:.0f} s"
        return fail("terminal", f"{backend}: {why}", "hermes terminal test tells more")
    if (ran.output, ran.code) != ("hello\n", 0):
        return fail("terminal", f"{backend}: `echo hello` said {ran.output!r}", "hermes terminal test tells more")
    return ok("terminal", f"{backend}, a command after {time.monotonic() - began:.1f} s")


# MCP servers


async def check_servers(settings: Settings, *, offline: bool) -> AsyncIterator[Finding]:
    """Each server that is enabled: its program is there, or it answers."""
    enabled = {name: one for name, one in settings.file.mcp_servers.items() if one.enabled}
    reachable: list[str] = []
    for name, entry in enabled.items():
        if problem := _not_startable(name, entry, settings):
            yield problem
        else:
            reachable.append(name)
    if offline or not reachable:
        if reachable:
            yield ok("mcp", f"{', '.join(reachable)}: not called")
        return
    async with connecting(settings, reachable) as servers:
        await asyncio.gather(*(server.settled(PATIENCE) for server in servers.values()))
        states = [server.status() for server in servers.values()]
    for status in states:
        if status.state == "ready":
            yield ok("mcp", f"{status.name}: {many(status.tools, 'tool')}")
        elif status.state == "needs_auth":
            yield warn("mcp", f"{status.name} wants a login", f"hermes mcp login {status.name}")
        else:
            why = status.last_error or "it does not answer"
            yield fail("mcp", f"{status.name}: {why}", f"hermes mcp test {status.name} shows where it fails")


def _not_startable(name: str, entry: McpServer, settings: Settings) -> Finding | None:
    if entry.url:
        return None
    if not entry.command:
        do = f"hermes config set mcp_servers.{name}.command PROGRAM"
        return fail("mcp", f"{name} has neither a command nor a URL", do)
    path = entry.env.get("PATH") or settings.environ.get("PATH", os.defpath)
    if shutil.which(os.path.expanduser(entry.command), path=path) is None:
        do = f"install it, or hermes mcp remove {name}"
        return fail("mcp", f"{name}: the program {entry.command!r} is not there", do)
    return None
