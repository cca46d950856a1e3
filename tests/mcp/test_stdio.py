"""A server that is a process: what it says and hears, how its death is noticed, and that nothing of it is left behind."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from hermes.mcp.stdio import StdioProcess
from hermes.protocol.errors import UserError

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked for in /proc")

ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message.get("params", {})}), flush=True)
"""
STUBBORN = "trap '' TERM; while :; do sleep 1000; done"


class Stage:
    """Starts servers that carry a variable of this test, and finds what is left of them by it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logged: list[str] = []
        self._variable = f"HERMES_TEST={os.urandom(8).hex()}"

    def process(self, *command: str, **env: str) -> StdioProcess:
        name, value = self._variable.split("=")
        env = {"PATH": os.environ["PATH"], name: value, **env}
        return StdioProcess("it", command, env=env, cwd=str(self.folder), log=self.logged.append)

    def python(self, code: str) -> StdioProcess:
        return self.process(sys.executable, "-I", "-S", "-c", code)

    def living(self) -> list[int]:
        return [int(row.name) for row in Path("/proc").iterdir() if row.name.isdigit() and self._lives(row)]

    def _lives(self, row: Path) -> bool:
        try:
            return self._variable.encode() in (row / "environ").read_bytes().split(b"\0")
        except OSError:
            return False


@pytest.fixture
def stage(tmp_path: Path):
    stage = Stage(tmp_path)
    yield stage
    for pid in (left := stage.living()):
        os.kill(pid, signal.SIGKILL)
    assert left == []


class Session:
    """The ends of the streams that the SDK's session would hold."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write

    async def ask(self, number: int, **params: Any) -> None:
        request = JSONRPCRequest(jsonrpc="2.0", id=number, method="echo", params=params)
        await self._write.send(SessionMessage(request))

    async def hear(self) -> Any:
        async with asyncio.timeout(10):
            return (await self._read.receive()).message

    async def ended(self) -> bool:
        async with asyncio.timeout(10):
            return [item async for item in self._read] == []


@asynccontextmanager
async def opened(process: StdioProcess) -> AsyncIterator[Session]:
    async with process as (read, write):
        yield Session(read, write)


def result(number: int, **fields: Any) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result=fields)


async def until(true: Callable[[], Any], seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)


async def test_messages_come_back_whole_and_in_order(stage: Stage):
    async with opened(stage.python(ECHO)) as session:
        for number in range(1, 101):
            await session.ask(number, text=f"{number}: ü 漢字 😀 \n\u2028", size="x" * number * 100)
            assert await session.hear() == result(number, text=f"{number}: ü 漢字 😀 \n\u2028", size="x" * number * 100)
    assert stage.logged == []


async def test_many_messages_wait_in_order_behind_one_that_is_larger_than_the_pipe(stage: Stage):
    async with opened(stage.python(ECHO)) as session:
        await session.ask(0, text="x" * (1 << 20))
        for number in range(1, 100):
            await session.ask(number)
        assert [(await session.hear()).id for _ in range(100)] == list(range(100))


async def test_banners_blanks_and_broken_lines_are_dropped_and_lines_may_come_in_pieces(stage: Stage):
    code = """
import sys, time
for piece in (b"Welcome!\\n\\r\\n{\\"log\\": 1}\\n", b'{"jsonrpc":"2.0","id":1,"result":{"t":"\\xc3', b'\\xbc"}}\\r', b'\\n{"cut'):
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
    time.sleep(0.02)
sys.stdin.read()
"""
    async with opened(stage.python(code)) as session:
        assert await session.hear() == result(1, t="ü")
    assert stage.logged == [
        "dropped a line that is no message: Welcome!",
        'dropped a line that is no message: {"log": 1}',
    ]


async def test_an_answer_that_is_too_long_fails_its_request_alone(stage: Stage):
    code = """
import sys
print('{"jsonrpc":"2.0","id":1,"result":{"text":"' + "x" * (17 << 20) + '"}}')
print('{"jsonrpc":"2.0","method":"big","params":{"text":"' + "x" * (17 << 20) + '"}}')
print('{"jsonrpc":"2.0","id":2,"result":{"text":"' + "x" * (15 << 20) + '"}}', flush=True)
sys.stdin.read()
"""
    async with opened(stage.python(code)) as session:
        text = "an answer of 17 MB is longer than 16 MB"
        error = ErrorData(code=-32603, message=text, data={"fault": "oversize"})
        assert await session.hear() == JSONRPCError(jsonrpc="2.0", id=1, error=error)
        assert await session.hear() == result(2, text="x" * (15 << 20))


async def test_an_answer_that_is_no_json_rpc_fails_its_request_at_once(stage: Stage):
    line = '{"jsonrpc":"2.0","id":1,"result":"not an object"}'
    async with opened(stage.process("sh", "-c", f"echo '{line}'; exec cat >/dev/null")) as session:
        error = ErrorData(code=-32603, message="an answer was no JSON-RPC", data={"fault": "garbage"})
        assert await session.hear() == JSONRPCError(jsonrpc="2.0", id=1, error=error)


async def test_a_message_that_cannot_be_written_fails_alone(stage: Stage):
    async with opened(stage.python(ECHO)) as session:
        await session.ask(1, text="half a face: \ud83d")
        answer = await session.hear()
        assert (answer.id, answer.error.data) == (1, {"fault": "garbage"})
        await session.ask(2, text="whole")
        assert await session.hear() == result(2, text="whole")


async def test_the_death_of_an_idle_server_is_noticed_at_once(stage: Stage):
    process = stage.python(ECHO)
    async with opened(process) as session:
        await session.ask(1)
        await session.hear()
        assert process.pid is not None and (process.code, process.exited.is_set()) == (None, False)
        died = time.monotonic()
        os.kill(process.pid, signal.SIGKILL)
        await process.exited.wait()
        assert time.monotonic() - died < 0.3
        assert process.code == 128 + signal.SIGKILL
        assert await session.ended()


async def test_an_exit_code_and_the_last_words_are_known(stage: Stage):
    answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
    process = stage.process("sh", "-c", f"echo '{answer}'; echo no database >&2; exit 3")
    async with opened(process) as session:
        assert await session.hear() == result(1)
        assert await session.ended()
        await process.exited.wait()
    assert (process.code, process.stderr_tail(), stage.logged) == (3, "no database\n", ["no database"])


async def test_kill_ends_the_whole_group_and_leaving_is_then_quick(stage: Stage):
    process = stage.process("sh", "-c", f"({STUBBORN}) & {STUBBORN}")
    async with process:
        await until(lambda: len(stage.living()) >= 4)
        started = time.monotonic()
        process.kill()
        assert time.monotonic() - started < 0.05
        await process.exited.wait()
    assert time.monotonic() - started < 1
    assert stage.living() == []
    process.kill()


async def test_a_server_that_sees_the_end_of_its_input_goes_by_itself(stage: Stage):
    process = stage.process("sh", "-c", "cat >/dev/null; exit 7")
    async with process:
        left = time.monotonic()
    assert (process.code, time.monotonic() - left < 1) == (7, True)


async def test_what_was_sent_just_before_leaving_still_arrives(stage: Stage):
    async with opened(stage.process("sh", "-c", "cat > heard")) as session:
        for number in range(20):
            await session.ask(number)
    assert (stage.folder / "heard").read_text().count("\n") == 20


async def test_a_server_stuck_in_writing_sees_the_end_of_its_input(stage: Stage):
    code = 'import sys; print("{}\\n" * 200_000, flush=True); sys.stdin.read(); sys.exit(5)'
    process = stage.python(code)
    async with process:
        await asyncio.sleep(0.1)
    assert process.code == 5


async def test_a_dead_wrapper_takes_the_real_server_with_it(stage: Stage):
    process = stage.process("sh", "-c", "sleep 1000 & exit 0")
    async with opened(process) as session:
        await process.exited.wait()
        assert await session.ended()
        assert len(stage.living()) == 1
    assert stage.living() == []


async def test_a_child_that_lost_its_environment_is_found_in_the_group(stage: Stage):
    process = stage.process("sh", "-c", "env -i sleep 1000 & echo $! >&2; exit 0")
    async with process:
        await process.exited.wait()
        await until(lambda: stage.logged)
        state = Path(f"/proc/{stage.logged[0]}/stat")
        assert state.read_text().split()[2] != "Z"
    assert not state.exists() or state.read_text().split()[2] == "Z"


async def test_a_child_in_a_session_of_its_own_is_found_after_its_parent_died(stage: Stage):
    process = stage.process("sh", "-c", "setsid setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & exit 0")
    async with process:
        await process.exited.wait()
        await until(lambda: len(stage.living()) == 4)
    assert stage.living() == []


async def test_a_cancelled_leaving_still_ends_what_ignores_every_request(stage: Stage):
    process = stage.process("sh", "-c", STUBBORN)
    entered = asyncio.Event()

    async def run() -> None:
        async with process:
            entered.set()

    task = asyncio.create_task(run())
    await entered.wait()
    started = time.monotonic()
    for _ in range(5):
        await asyncio.sleep(0.1)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 3.5 < time.monotonic() - started < 6
    assert (process.code, stage.living()) == (128 + signal.SIGKILL, [])


async def test_a_loop_that_ends_in_between_leaves_nothing(stage: Stage):
    """As asyncio.run does at its end: every task is cancelled, the one that ends the process too."""
    process = stage.process("sh", "-c", f"setsid sleep 1000 & {STUBBORN}")
    entered = asyncio.Event()

    async def run() -> None:
        async with process:
            await until(lambda: len(stage.living()) == 3)
            entered.set()

    before = asyncio.all_tasks()
    task = asyncio.create_task(run())
    await entered.wait()
    await asyncio.sleep(0.05)
    others = asyncio.all_tasks() - before
    for other in others:
        other.cancel()
    await asyncio.wait(others, timeout=5)
    assert task.cancelled()
    assert stage.living() == []


async def test_a_server_that_does_not_read_blocks_nobody_and_can_be_told(stage: Stage):
    process = stage.process("sleep", "1000")
    async with opened(process) as session:
        assert process.blocked_for() == 0.0
        started = time.monotonic()
        for number in range(50):
            await session.ask(number, text="x" * 10_000)
        assert time.monotonic() - started < 0.5
        await asyncio.sleep(0.2)
        assert 0.15 < process.blocked_for() < 1
        process.kill()
        await process.exited.wait()
    assert process.blocked_for() == 0.0


async def test_a_slow_reader_is_not_called_stuck(stage: Stage):
    code = "import os, time\nwhile os.read(0, 1 << 16): time.sleep(0.02)"
    process = stage.python(code)
    async with opened(process) as session:
        await session.ask(1, text="x" * (1 << 20))
        longest = 0.0
        for _ in range(40):
            await asyncio.sleep(0.01)
            longest = max(longest, process.blocked_for())
        assert 0 < longest < 0.3


async def test_a_flood_of_errors_neither_blocks_nor_grows(stage: Stage):
    flood = 'import sys, threading\ndef flood():\n while True: sys.stderr.write("noise " * 20 + "\\n")\n'
    async with opened(
        process := stage.python(f"{flood}threading.Thread(target=flood, daemon=True).start()\n{ECHO}")
    ) as session:
        await until(lambda: len(process.stderr_tail()) == 16 << 10)
        started = time.monotonic()
        for number in range(20):
            await session.ask(number)
            assert await session.hear() == result(number)
        assert time.monotonic() - started < 5
        assert len(process.stderr_tail()) == 16 << 10
        process.kill()
    assert len(stage.logged) < 2000


@pytest.mark.parametrize("closes", ["exec 1>&-", "exec 0<&-"])
async def test_a_server_that_closes_a_pipe_and_runs_on_is_ended(stage: Stage, closes: str):
    process = stage.process("sh", "-c", f"{closes}; echo closed >&2; exec sleep 1000")
    async with opened(process) as session:
        await until(lambda: stage.logged == ["closed"])
        await session.ask(1)
        async with asyncio.timeout(4):
            await process.exited.wait()
        assert await session.ended()
    assert stage.logged[1].endswith("and runs on; it is ended")


async def test_a_command_that_is_not_there_is_said_in_one_line(stage: Stage):
    with pytest.raises(UserError) as caught:
        async with stage.process("no-such-server"):
            pytest.fail("it was started")
    assert str(caught.value) == "the command no-such-server of MCP server it is not there"
    assert caught.value.hint == "install it, or correct mcp_servers.it.command in config.yaml"


@pytest.mark.parametrize("command", [("./plain",), ("./nonsense",), ("sh", "a\0b")])
async def test_a_command_that_cannot_be_started_is_said_in_one_line(stage: Stage, command: tuple[str, ...]):
    (stage.folder / "plain").write_text("no program")
    (stage.folder / "nonsense").write_bytes(b"\x7fELF nonsense")
    (stage.folder / "nonsense").chmod(0o755)
    with pytest.raises(UserError, match=r"^cannot start .* for MCP server it: [^\n]+$"):
        async with stage.process(*command):
            pytest.fail("it was started")


async def test_a_folder_that_is_not_there_is_said_in_one_line(stage: Stage):
    stage.folder /= "gone"
    with pytest.raises(UserError, match=r"^the folder .*/gone of MCP server it is not there$"):
        async with stage.process("sh"):
            pytest.fail("it was started")


async def test_the_command_is_looked_for_in_the_path_of_its_own_environment(stage: Stage):
    (stage.folder / "my-server").write_text('#!/bin/sh\necho "$PATH $0" >&2\n')
    (stage.folder / "my-server").chmod(0o755)
    for command in ("my-server", "./my-server"):
        async with (process := stage.process(command, PATH=str(stage.folder))):
            await process.exited.wait()
    assert [line.split()[0] for line in stage.logged] == [str(stage.folder)] * 2


async def test_it_sees_no_variable_but_those_it_was_given(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    async with (process := stage.process("env", GIVEN="yes")):
        await process.exited.wait()
        await until(lambda: len(stage.logged) >= 4)
    names = {line.removeprefix("dropped a line that is no message: ").split("=")[0] for line in stage.logged}
    assert names == {"PATH", "HERMES_TEST", "GIVEN", "HERMES_SERVER_MARK"}


async def test_a_hundred_kills_leave_no_process(stage: Stage):
    before = len(os.listdir("/proc/self/fd"))
    for cycle in range(100):
        process = stage.process("sh", "-c", "sleep 1000 & setsid sleep 1000 & exec sleep 1000")
        async with process:
            if cycle % 3 == 1:
                await asyncio.sleep(0.01)
            if cycle % 3 == 2 and process.pid is not None:
                os.kill(process.pid, signal.SIGKILL)
            else:
                process.kill()
            await process.exited.wait()
    assert stage.living() == []
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_hermes_that_is_killed_takes_its_server_with_it(stage: Stage):
    """The server sees the end of its input, because nobody else holds the other end of the pipe."""
    code = """
import asyncio, os
from hermes.mcp.stdio import StdioProcess
async def main():
    async with StdioProcess("it", ("cat",), env=dict(os.environ), cwd="", log=print) as (read, write):
        print('{"jsonrpc":"2.0","id":1,"result":{}}', flush=True)
        await asyncio.sleep(1000)
asyncio.run(main())
"""
    async with opened(process := stage.process(sys.executable, "-c", code)) as session:
        assert await session.hear() == result(1)
        children = [pid for pid in stage.living() if pid != process.pid]
        assert len(children) == 1 and process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: stage.living() == [], 1)


async def test_orphans_that_come_to_hermes_are_reaped(stage: Stage):
    """As they do once a terminal has asked the system for it; not one dead child is left unreaped."""
    code = """
import asyncio, ctypes, os
from hermes.mcp.stdio import StdioProcess
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
async def main():
    command = "sh", "-c", "sleep 1000 & setsid sleep 1000 & sleep 0.05; exit 0"
    async with StdioProcess("it", command, env=dict(os.environ), cwd="", log=print) as (read, write):
        await asyncio.sleep(0.2)
asyncio.run(main())
try:
    print(os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG))
except ChildProcessError:
    print('{"jsonrpc":"2.0","id":1,"result":{"children":0}}', flush=True)
"""
    async with opened(stage.process(sys.executable, "-c", code)) as session:
        assert await session.hear() == result(1, children=0)


async def test_the_client_of_the_sdk_talks_over_it_and_a_death_ends_its_calls(stage: Stage):
    code = """
from mcp.server.mcpserver import MCPServer
import os, time
server = MCPServer("small")
@server.tool()
def double(number: int) -> int:
    if number < 0: os._exit(9)
    return 2 * number
server.run("stdio")
"""
    process = stage.process(sys.executable, "-c", code)
    async with Client(process) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["double"]
        assert (await client.call_tool("double", {"number": 21})).structured_content == {"result": 42}
        with pytest.raises(Exception, match="Connection closed"):
            await client.call_tool("double", {"number": -1})
        await process.exited.wait()
    assert process.code == 9


async def test_a_notification_of_the_server_arrives_without_a_question(stage: Stage):
    line = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    async with opened(stage.process("sh", "-c", f"echo '{line}'; exec cat >/dev/null")) as session:
        assert await session.hear() == JSONRPCNotification(jsonrpc="2.0", method="notifications/tools/list_changed")
