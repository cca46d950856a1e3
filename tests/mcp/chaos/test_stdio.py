"""The fault server over stdio: its answers, its ways to die or to stall, and counts that outlive it."""

import asyncio
import os
import signal

import pytest

from hermes.mcp.chaos.faults import Fault, When
from hermes.mcp.chaos.stdio import StdioChaos
from tests.mcp.chaos.wire import HELLO, Pipe, request, text_of, tool_call


async def test_it_answers_and_ends_with_its_stdin(tmp_path):
    chaos = StdioChaos(tmp_path)
    async with Pipe(chaos.command) as pipe:
        hello = await pipe.ask(request("initialize", HELLO))
        assert hello["result"]["protocolVersion"] == "2025-11-25"
        assert text_of(await pipe.ask(tool_call("count", key="k"))) == "1"
        pipe.stdin.close()
        assert await pipe.process.wait() == 0
    counts = chaos.counts
    assert (counts.requests, counts.keys) == ({"initialize": 1, "tools/call": 1}, {"k": 1})
    assert counts.processes == (pipe.process.pid,)


@pytest.mark.parametrize(
    ("when", "ran", "line"), [("before", {}, b""), ("after", {"k": 1}, b""), ("midway", {"k": 1}, b'{"jsonrpc"')]
)
async def test_it_exits_before_after_or_in_the_middle_and_only_once(
    tmp_path, when: When, ran: dict[str, int], line: bytes
):
    chaos = StdioChaos(tmp_path)
    chaos.arm(Fault(kind="exit", when=when, tool="count"))
    async with Pipe(chaos.command) as pipe:
        pipe.send(tool_call("count", key="k"))
        heard = await pipe.line()
        assert heard[: len(line) or 1] == line
        assert (await pipe.process.wait(), chaos.counts.keys) == (1, ran)
    async with Pipe(chaos.command) as pipe:
        assert text_of(await pipe.ask(tool_call("count", key="k"))) == str(ran.get("k", 0) + 1)


async def test_it_exits_while_idle(tmp_path):
    chaos = StdioChaos(tmp_path)
    async with Pipe(chaos.command) as pipe:
        await pipe.ask(request("ping"))
        chaos.arm(Fault(kind="exit", when="now"))
        async with asyncio.timeout(2):
            assert await pipe.process.wait() == 1


async def test_a_wedged_server_reads_nothing_more(tmp_path):
    chaos = StdioChaos(tmp_path)
    async with Pipe(chaos.command) as pipe:
        await pipe.ask(request("ping"))
        chaos.arm(Fault(kind="wedge"))
        async with asyncio.timeout(2):
            while not chaos.counts.faults:
                await asyncio.sleep(0.005)
        pipe.send(tool_call("echo", text="x" * 1_000_000))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await pipe.stdin.drain()
        pipe.stdin.transport.abort()


async def test_garbage_comes_before_the_answer_or_at_once(tmp_path):
    chaos = StdioChaos(tmp_path)
    chaos.arm(Fault(kind="garbage"))
    async with Pipe(chaos.command) as pipe:
        pipe.send(request("ping"))
        assert b"no JSON" in await pipe.line()
        assert await pipe.line() == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
        chaos.arm(Fault(kind="garbage", when="now", times=2))
        assert [b"no JSON" in await pipe.line() for _ in range(2)] == [True, True]


async def test_it_floods_stderr(tmp_path):
    chaos = StdioChaos(tmp_path)
    chaos.arm(Fault(kind="stderr", size=300_000))
    async with Pipe(chaos.command) as pipe:
        async with asyncio.timeout(5):
            heard = await pipe.stderr.readexactly(300_000)
        assert heard.startswith(b"chaos complains\n")
        assert (await pipe.ask(request("ping")))["result"] == {}


async def test_a_wrapper_dies_and_its_child_lives_on(tmp_path):
    chaos = StdioChaos(tmp_path, wrapped=True)
    async with Pipe(chaos.command) as pipe:
        await pipe.ask(request("ping"))
        (child,) = chaos.counts.processes
        chaos.arm(Fault(kind="orphan"))
        # asyncio's own wait() would wait for the pipes too, and the child still holds them.
        async with asyncio.timeout(2):
            while pipe.process.returncode is None:
                await asyncio.sleep(0.005)
        assert pipe.process.returncode == -signal.SIGKILL
        assert (await pipe.ask(request("ping", number=2)))["id"] == 2
        pipe.stdin.close()
        await asyncio.sleep(0.05)
        os.kill(child, signal.SIGKILL)


async def test_it_stays_silent_errs_or_says_too_much(tmp_path):
    chaos = StdioChaos(tmp_path)
    chaos.arm(Fault(kind="silent"), Fault(kind="rpc", text="Tool failed"), Fault(kind="oversize", size=200_000))
    async with Pipe(chaos.command) as pipe:
        pipe.send(tool_call("echo", text="lost"))
        failed = await pipe.ask(tool_call("echo", 2, text="x"))
        assert failed == {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "Tool failed"}}
        assert len(text_of(await pipe.ask(tool_call("echo", 3, text="x")))) == 200_000


async def test_a_cancelled_call_is_counted_and_not_answered(tmp_path):
    chaos = StdioChaos(tmp_path)
    async with Pipe(chaos.command) as pipe:
        pipe.send(tool_call("slow", seconds=30))
        await pipe.ask(request("ping", number=2))
        pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert (await pipe.ask(request("ping", number=3)))["id"] == 3
    assert (chaos.counts.cancelled, chaos.counts.runs) == (1, {"slow": 1})


async def test_a_storm_and_a_change_are_announced(tmp_path):
    chaos = StdioChaos(tmp_path)
    async with Pipe(chaos.command) as pipe:
        await pipe.ask(request("initialize", HELLO))
        chaos.arm(Fault(kind="storm", times=3), Fault(kind="describe", text="New words."))
        assert [b"list_changed" in await pipe.line() for _ in range(4)] == [True] * 4
        assert (await pipe.ask(request("tools/list")))["result"]["tools"][0]["description"] == "New words."


def test_faults_of_http_are_refused(tmp_path):
    with pytest.raises(ValueError, match="fault of HTTP servers"):
        StdioChaos(tmp_path).arm(Fault(kind="refuse"))
