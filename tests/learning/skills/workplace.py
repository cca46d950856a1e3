"""A home whose sessions did a kind of task the long way, and a model that does what a skill in its prompt says.

The model is gated: it knows nothing by itself. With a skill it runs what stands there as "run `command`", in that order, and
says it is done; without one it walks the long way that the recorded sessions went.
"""

import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from hermes import config
from hermes.agent.session import Session
from hermes.app import App
from hermes.learning.skills.birth import Source
from hermes.learning.skills.evidence import Evidence
from hermes.learning.skills.parse import Skill
from hermes.protocol.items import Kind
from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Result, Tool, ToolContext, said
from tests.agent.stage import Play, ScriptedModel, answer, call, finish, options
from tests.services.model_server import ModelServer
from tests.services.request import Request, text_of
from tests.services.script import Reply, Usage
from tests.services.script import call as reply_call

LONG_WAY = ("ls", "cat README", "make", "grep -n target Makefile", "cat Makefile", "make report", "make check")
SHORT_WAY = ("make report", "make check")
FAILS = ("make",)
PROVEN = Evidence(calls=6, verified=True, recovered=True, wished=False)
_skill = re.compile(r"# Skill: .*", re.DOTALL)
_run = re.compile(r"run `([^`]+)`")


class Shell(msgspec.Struct):
    command: str = ""


def shell(kind: Kind = "execute") -> Tool:
    """A terminal that only says what it was told."""

    async def run(ctx: ToolContext, args: Shell) -> Result:
        return said(f"{args.command}: {'error 2' if args.command in FAILS else 'ok'}", failed=args.command in FAILS)

    schema = b'{"type":"object","properties":{"command":{"type":"string"}}}'
    return Tool(spec=ToolSpec("terminal", "Run a command.", msgspec.Raw(schema)), args=Shell, run=run, kind=kind)


class Obedient:
    """The gated model; `long_way` is what it does by itself."""

    def __init__(self, long_way: Sequence[str] = LONG_WAY) -> None:
        self.long_way = long_way
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        texts = [text_of(message["content"]) for message in request.history if message["role"] == "user"]
        skill = next((found[0] for text in texts if (found := _skill.search(text))), "")
        plan = _run.findall(skill) or ([] if skill else self.long_way)
        done = len(request.results)
        size = Usage(input=len(str(request.body)) // 4, output=10)
        if done < len(plan):
            reply = reply_call("terminal", command=plan[done])
            return msgspec.structs.replace(reply, usage=size)
        return Reply("The report is made.", usage=size)


class Workplace:
    """An app whose model is the gated one."""

    def __init__(self, app: App, model: Obedient) -> None:
        self.app = app
        self.model = model

    async def did(self, task: str = "make the report", way: Sequence[str] = LONG_WAY, **more: Any) -> str:
        """A session that did a task this way; returns its id."""
        steps = [
            [*call("terminal", msgspec.json.encode({"command": command}).decode()), *finish("calls")] for command in way
        ]
        scripted = ScriptedModel(*steps, answer("The report is made."), name="custom:echo")
        chosen = options(scripted, shell(), cwd=str(self.app.settings.home), **more)
        session = await Session.create(self.app.store, chosen)
        stage = Play(session, self.app.store)
        await stage.say(task)
        await stage.close()
        return session.id

    async def draft(self, name: str, body: str, session: str, description: str = "") -> str:
        """A skill as the agent writes it after that session."""
        skill = Skill(name=name, description=description or f"How to {name.replace('-', ' ')} here.", body=body)
        await self.app.skills.workshop.create(skill, Source("agent", session, 1), PROVEN)
        return name

    def seen(self) -> list[str]:
        """The skills that a session would be told of."""
        return sorted(self.app.skills.shelf.found)


def says(*commands: str) -> str:
    return "\n".join(f"{number}. run `{command}`" for number, command in enumerate(commands, 1))


@asynccontextmanager
async def workplace(folder: Path, model: Obedient | None = None, settings: str = "") -> AsyncIterator[Workplace]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / ".no-bundled-skills").touch()
    model = model or Obedient()
    async with ModelServer(model) as server:
        line = f"model: {{provider: custom, name: echo, base_url: {server.base_url}}}\n"
        (home / "config.yaml").write_text(line + settings)
        variables = {"HERMES_HOME": str(home), "HOME": str(folder), "PATH": os.environ["PATH"]}
        async with App(config.load(variables)) as app:
            yield Workplace(app, model)
