"""Hermes as the conformance suite examines it: connect to a server, log in where it asks, use all that it offers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from msgspec import Struct

from hermes import config
from hermes.config import McpServer, OAuthSettings
from hermes.mcp.contract import (
    CallTool,
    GetPrompt,
    ListPrompts,
    ListResources,
    NeedsLogin,
    Operation,
    ReadResource,
    Sample,
    ServerFailed,
    ToolInfo,
)
from hermes.mcp.make import account_of, make_server
from hermes.mcp.oauth.flow import login
from hermes.mcp.oauth.web import LoginFailed
from hermes.mcp.server import Server
from hermes.protocol.events import Answered, Request

PATIENCE = 10.0
LOGINS = 3
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The address that the suite wants clients to be known by, where its login server takes one."""
SAMPLES = {"number": 1, "integer": 1, "boolean": True, "string": "word", "array": [], "object": {}}


class Task(Struct, frozen=True):
    """What the suite tells the client that it starts."""

    url: str
    scenario: str
    context: dict[str, Any] = {}


class Person:
    """Implements Caller: agrees to every form as it stands, and has a model that says one word."""

    session = "conformance"
    roots: tuple[str, ...] = ()

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return Answered("", "answered")

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        return {"role": "assistant", "content": {"type": "text", "text": "word"}, "model": "none"}

    def progress(self, text: str) -> None:
        return None


async def drive(task: Task, home: Path) -> list[str]:
    """The lines of error that a person would be shown."""
    settings = config.load({"HERMES_HOME": str(home)}, use_file=False)
    known = task.context.get("client_id", DOCUMENT), task.context.get("client_secret", "")
    entry = McpServer(
        url=task.url,
        timeout=PATIENCE,
        connect_timeout=PATIENCE,
        auth="oauth" if task.scenario.startswith("auth/") else "",
        oauth=OAuthSettings(client_id=known[0], client_secret=known[1], timeout=PATIENCE),
    )
    server = make_server("examiner", entry, settings, ask=_browse)
    visit = _Visit(server, lambda: login(account_of("examiner", entry, settings), _browse))
    server.start()
    try:
        await visit.enter()
        await visit.use_everything(task.context.get("toolCalls", ()))
    except (LoginFailed, ServerFailed) as error:
        visit.lines.append(str(error))
    finally:
        await server.close()
    return visit.lines


class _Visit:
    """One connection, from the first refusal to the last tool."""

    def __init__(self, server: Server, log_in: Callable[[], Awaitable[object]]) -> None:
        self._server, self._log_in = server, log_in
        self._person = Person()
        self._logins = 0
        self.lines: list[str] = []

    async def enter(self) -> None:
        """Wait until the server is there, logging in when it asks for that."""
        while not await self._server.settled(PATIENCE):
            if self._server.status().state != "needs_auth":
                raise ServerFailed("examiner", self._server.status().last_error)
            await self._admit()
            self._server.reconnect()
            async with asyncio.timeout(PATIENCE):
                while self._server.status().state == "connecting":
                    await asyncio.sleep(0.005)

    async def use_everything(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Each tool with the arguments given or the simplest that fit; then each resource and prompt."""
        wanted = [CallTool(call["name"], call["arguments"]) for call in calls]
        for call in wanted or [CallTool(tool.name, _arguments(tool)) for tool in self._server.catalog.tools]:
            try:
                await self._request(call)
            except ServerFailed as error:
                self.lines.append(str(error))
        if self._server.catalog.resources:
            for resource in (await self._request(ListResources())).resources:
                await self._request(ReadResource(resource.uri))
        if self._server.catalog.prompts:
            for prompt in (await self._request(ListPrompts())).prompts:
                await self._request(GetPrompt(prompt.name, {}))

    async def _request(self, operation: Operation) -> Any:
        while True:
            try:
                return await self._server.request(operation, self._person)
            except NeedsLogin:
                await self._admit()

    async def _admit(self) -> None:
        self._logins += 1
        if self._logins > LOGINS:
            raise NeedsLogin("examiner", f"{LOGINS} logins were not enough")
        await self._log_in()


async def _browse(url: str) -> str:
    """A person who consents: the browser follows the login page to where it leads."""
    async with httpx2.AsyncClient(verify=False, trust_env=False, timeout=PATIENCE) as browser:
        await browser.get(url, follow_redirects=True)
    return ""


def _arguments(tool: ToolInfo) -> dict[str, Any]:
    schema = msgspec.json.decode(tool.schema)
    kinds = {name: field.get("type", "string") for name, field in schema.get("properties", {}).items()}
    return {name: SAMPLES[kinds[name]] for name in schema.get("required", ())}
