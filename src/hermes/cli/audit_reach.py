"""What `hermes security audit` looks at in the settings: what runs without a question, and how far it reaches."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from hermes.cli.doctor_finding import Finding, fail, ok, warn
from hermes.cli.doctor_world import check_sandbox
from hermes.cli.words import many
from hermes.config import SECRET_NAME, Settings
from hermes.safety.commands.argv import program
from hermes.safety.commands.grants import Grant, from_text, grant_of, to_text

LOOPBACK = {"localhost", "127.0.0.1", "::1", ""}
_decided_elsewhere = re.compile(
    "python3?|node|deno|bun|ruby|perl|php|lua|make|just|p?npm|yarn|npx|uvx|pip|cargo|go|docker|podman|.*/.*"
)
"""Programs that run what a file says: whoever can change the file decides what such an entry allows."""
_heavy = re.compile("rm|dd|mkfs|shred|chmod|chown|p?kill|systemctl|mount|curl|wget|scp|rsync")


def check_approvals(settings: Settings) -> Iterator[Finding]:
    """Whether somebody is asked before something dangerous is done, and whether keys are masked."""
    file = settings.file
    if settings.yolo:
        yield fail("approvals", "HERMES_YOLO_MODE is set: nothing is asked", "hermes config unset HERMES_YOLO_MODE")
    if file.approvals.mode == "off":
        yield fail("approvals", "they are off: nothing is asked", "hermes config set approvals.mode manual")
    elif file.approvals.mode == "smart":
        yield warn("approvals", "a model judges what is dangerous before you are asked", "manual asks you each time")
    elif not settings.yolo:
        yield ok("approvals", "you are asked before what is dangerous")
    if not file.security.redact_secrets:
        do = "hermes config set security.redact_secrets true"
        yield fail("redaction", "keys are not masked in what the model sees and logs keep", do)
    if file.security.allow_private_urls:
        do = "hermes config set security.allow_private_urls false"
        yield warn("network", "pages may be fetched from your own network", do)
    if not file.checkpoints.enabled:
        do = "hermes config set checkpoints.enabled true"
        yield warn("checkpoints", "changes of files cannot be undone", do)


def check_allow_list(settings: Settings) -> Iterator[Finding]:
    """Commands that never ask: those whose words do not say what they do, and those that do nothing here."""
    odd = 0
    grants = [from_text(entry) if isinstance(entry, str) else entry for entry in settings.file.command_allowlist]
    for written, grant in zip(settings.file.command_allowlist, grants, strict=True):
        if why := _broad(grant):
            odd += 1
            shown = to_text(grant) if grant else str(written)
            yield warn("allow list", f"{shown!r} {why}", "hermes config edit, below command_allowlist")
    if not odd:
        yield ok("allow list", many(len(grants), "command"))


def _broad(grant: Grant) -> str:
    """Why an entry is one to look at; "" if it is not."""
    words = tuple(word for word in grant if word != "...")
    if not words or (len(words) == len(grant) and grant_of(words) is None):
        return "allows nothing: such a command is asked for each time"
    name = program(words[0])
    if _decided_elsewhere.fullmatch(name):
        return "never asks, and does whatever the file that it runs says"
    if _heavy.fullmatch(name):
        return "never asks, whatever it removes, changes or sends"
    return ""


async def check_terminal(settings: Settings) -> AsyncIterator[Finding]:
    """What holds commands, and what is handed to them."""
    terminal = settings.file.terminal
    if terminal.backend == "local":
        yield await asyncio.to_thread(_sandbox, settings)
        if terminal.sandbox != "off":
            yield _network(settings)
    person = os.path.realpath(settings.environ.get("HOME") or Path.home())
    for path in terminal.sandbox_paths:
        whole = os.path.realpath(os.path.expanduser(path))
        if person == whole or person.startswith(whole.rstrip("/") + "/"):
            do = "name the folders that are needed in terminal.sandbox_paths"
            yield fail("sandbox", f"{path} is open to every command, with all that is in it", do)
    passed = [name for name in terminal.env_passthrough if SECRET_NAME.match(name)]
    if passed:
        text = f"every command is handed {', '.join(passed)}"
        yield warn("sandbox", text, "hermes config edit, terminal.env_passthrough")
    for word in (*terminal.docker_volumes, *terminal.docker_extra_args):
        if word == "--privileged" or word.startswith(("/:", "/var/run/docker.sock", "/run/docker.sock")):
            yield fail(
                "container", f"{word} gives commands the whole machine", "take it out of the terminal's settings"
            )


def _sandbox(settings: Settings) -> Finding:
    if settings.file.terminal.sandbox == "off":
        return fail(
            "sandbox", "it is off: a command reaches all that you can", "hermes config set terminal.sandbox auto"
        )
    return check_sandbox(settings)


def _network(settings: Settings) -> Finding:
    if settings.file.terminal.network == "off":
        return ok("network", "commands have none")
    return ok("network", "commands may use it; without: hermes config set terminal.network off")


def check_connections(settings: Settings) -> Iterator[Finding]:
    """Addresses to which keys or questions go in the clear."""
    named = {"model": settings.model.base_url}
    named |= {f"custom_providers.{name}": one.base_url for name, one in settings.file.custom_providers.items()}
    for where, url in named.items():
        if is_clear(url):
            yield fail(
                "connections", f"{where}: {url} is not encrypted, on its way through the network", "use https://"
            )


def is_clear(url: str) -> bool:
    """Whether what is sent there can be read on the way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and (parts.hostname or "") not in LOOPBACK
