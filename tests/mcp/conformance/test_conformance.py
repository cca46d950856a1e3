"""The client scenarios that each revision of the protocol requires, one at a time, as the protocol's own suite judges them."""

import asyncio
import os
import re
import shlex
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from _pytest.capture import CaptureManager
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult
from msgspec import Struct
from pydantic import ValidationError
from ruamel.yaml import YAML

from tests.mcp.conformance.driver import Task, drive
from tests.services import mcp_servers

Driver = Callable[[Task, Path], Awaitable[list[str]]]
FASTER = {"NODE_COMPILE_CACHE": str(mcp_servers.CACHE / "node-cache")}
KNOCK = Path(__file__).with_name("knock.py")
BOTH = (
    "tools_call",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
)
REQUIRED = {
    "2025-11-25": (
        *BOTH,
        "initialize",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
    ),
    "2026-07-28": (
        *BOTH,
        "request-metadata",
        "auth/resource-mismatch",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
        "auth/authorization-server-migration",
        "auth/iss-supported",
        "auth/iss-not-advertised",
        "auth/iss-supported-missing",
        "auth/iss-wrong-issuer",
        "auth/iss-unexpected",
        "auth/iss-normalized",
        "auth/metadata-issuer-mismatch",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
    ),
}


HOST, OTHER = r"localhost:\d+", r"\w+\.example\.com"
SHOWN = {
    "auth/scope-retry-limit": "HTTP 403: .*Scope upgrade will never succeed.*",
    "auth/resource-mismatch": f"{HOST} says that its tokens are for another server, {OTHER}",
    "auth/iss-supported-missing": f"the answer does not say that it comes from {HOST}",
    "auth/iss-wrong-issuer": f"the answer comes from {OTHER}, not from {HOST}",
    "auth/iss-unexpected": f"the answer comes from {OTHER}, not from {HOST}",
    "auth/iss-normalized": f"the answer comes from http://({HOST})/, not from http://\\1",
    "auth/metadata-issuer-mismatch": f"the login server {HOST} says that it is another one, {OTHER}",
    # The suite's server lists this tool and does not run it.
    "json-schema-ref-no-deref": "MCP call failed: Method not found",
    # Every check passes, but the answer of one of four tools cannot be read: see BEYOND_THE_SDK.
    "sep-2322-client-request-state": "MCP call failed: the answer does not fit the protocol",
}
"""What a person is shown in the end, where that is anything: mostly why they are rightly not logged in."""
BEYOND_THE_SDK = {
    "sep-2322-client-request-state": "mcp 2.3.0 takes resultType for required in a result of 2026-07-28; the protocol"
    " says that a client takes a result without it for complete",
}
"""What the SDK cannot do, and Hermes therefore cannot either, with the reason; each is shown with the bare SDK."""


class Check(Struct, frozen=True):
    """One verdict of the suite."""

    id: str
    status: str
    description: str = ""
    errorMessage: str = ""


@pytest.fixture(scope="module")
def examiner(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The suite's command, installed before the first test with its progress on the screen."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    with capture.global_and_fixture_disabled():
        return mcp_servers.examiner()[0]


async def examine(
    command: tuple[str, ...], scenario: str, revision: str, folder: Path, drive: Driver
) -> tuple[list[Check], list[str]]:
    """The suite's verdicts on a driver, and what it shows to a person; it runs here, for the process that the suite starts."""
    lines: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.extend(await drive(msgspec.json.decode(await reader.readline(), type=Task), folder / "home"))
        writer.close()

    results, line = folder / "results", folder / "line"
    client = shlex.join((sys.executable, "-I", "-S", str(KNOCK), str(line)))
    words = ("client", "--command", client, "--scenario", scenario, "--spec-version", revision)
    async with await asyncio.start_unix_server(serve, line):
        process = await asyncio.create_subprocess_exec(
            *command, *words, "--output-dir", str(results), stdout=PIPE, stderr=STDOUT, env=dict(os.environ) | FASTER
        )
        said, _ = await process.communicate()
    found = list(results.rglob("checks.json"))
    assert len(found) == 1, said.decode()
    return msgspec.json.decode(found[0].read_bytes(), type=list[Check]), lines


@pytest.mark.parametrize(
    ("revision", "scenario"), [(revision, name) for revision, names in REQUIRED.items() for name in names]
)
async def test_the_client_passes(revision: str, scenario: str, examiner: tuple[str, ...], tmp_path: Path):
    checks, lines = await examine(examiner, scenario, revision, tmp_path, drive)
    assert [check for check in checks if check.status in ("FAILURE", "WARNING")] == []
    assert any(check.status == "SUCCESS" for check in checks)
    assert re.fullmatch(SHOWN.get(scenario, ""), "; ".join(lines)), lines


@pytest.mark.parametrize("revision", REQUIRED)
def test_the_scenarios_are_those_that_the_revision_requires(revision: str, examiner: tuple[str, ...]):
    _, folder = mcp_servers.examiner()
    required = YAML(typ="safe").load(folder / f"{revision}.yaml")
    assert set(REQUIRED[revision]) == set(required["client"])


@pytest.mark.parametrize("scenario", BEYOND_THE_SDK)
async def test_the_bare_sdk_cannot_do_it_either(scenario: str, examiner: tuple[str, ...], tmp_path: Path):
    _, lines = await examine(examiner, scenario, "2026-07-28", tmp_path, call_with_the_sdk)
    assert lines == ["test_mrtr_no_result_type: ValidationError"]


async def call_with_the_sdk(task: Task, folder: Path) -> list[str]:
    """Call every tool as the SDK's documentation shows it."""

    async def agree(context: object, params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    failed: list[str] = []
    async with Client(task.url, elicitation_callback=agree) as client:
        for tool in (await client.list_tools()).tools:
            try:
                await client.call_tool(tool.name, {})
            except ValidationError as error:
                failed.append(f"{tool.name}: {type(error).__name__}")
    return failed
