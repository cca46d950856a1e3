"""Whether git would speak to another machine through ssh, with the person's keys."""

import os
import re

from hermes.safety.commands.argv import listed, operands
from hermes.safety.commands.steps import Step
from hermes.safety.patterns import Pattern

_REACH = listed("fetch pull clone ls-remote submodule remote lfs")
_SSH = Pattern(r"(git\+)?ssh(\+git)?://.*|[\w.-]+@[\w.-]+:(?!//).*")
_REMOTE = Pattern(r'\s*\[remote "(.*)"\]\s*')
_URL = Pattern(r"\s*url\s*=\s*(.*?)\s*", re.IGNORECASE)
LARGEST = 1_000_000


def host_by_ssh(step: Step) -> str:
    """The machine that a step would speak to through ssh, as far as its words and the repository's settings tell."""
    words = operands(step.args, ("-C", "-c")) if step.name == "git" else []
    if not words or words[0] not in _REACH:
        return ""
    if words[:2] == ["remote", "add"] or words[:2] in (["remote", "show"], ["remote"]):
        return ""
    if named := next(filter(_SSH.fullmatch, words[1:]), ""):
        return _host(named)
    if words[0] in ("clone", "ls-remote") and len(words) > 1 and ("/" in words[1] or ":" in words[1]):
        return ""
    remotes = _remotes(step.cwds[0] if step.cwds else "")
    wanted = [remotes[word] for word in words[1:2] if word in remotes] or list(remotes.values())
    return next((_host(url) for url in wanted if _SSH.fullmatch(url)), "")


def _host(url: str) -> str:
    return re.sub(r"^.*://", "", url).rpartition("@")[2].partition("/")[0].partition(":")[0]


def _remotes(folder: str) -> dict[str, str]:
    """The addresses of the repository that a folder lies in, by their names."""
    while not os.path.isfile(f"{folder}/.git/config") and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        with open(f"{folder}/.git/config", encoding="utf-8", errors="replace") as file:
            lines = file.read(LARGEST).splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if line.lstrip().startswith("["):
            name = section[1] if (section := _REMOTE.fullmatch(line)) else ""
        elif name and (url := _URL.fullmatch(line)):
            found[name] = url[1]
    return found
