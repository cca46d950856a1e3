"""What MCP servers cost: a call against the bare SDK, connecting several, and a turn that has one configured."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

from bench.cost import Failed, cpu, least, run
from bench.stage import PYTHON, TREE, Stage
from bench.table import Limit, Row
from bench.turn import ask

CONFIG = "config.yaml"
NOBODY = "http://127.0.0.1:9/mcp"
"""Port 9, "discard": nothing listens there, and the system refuses at once."""


def measure(stage: Stage) -> Iterator[Row]:
    count = stage.scale("600", "20")
    with fault_server() as url:
        yield _calls(stage, "streamable HTTP", count, url)
    yield _calls(stage, "stdio", count)
    for number in stage.scale((1, 5, 10), (2,)):
        yield _connect(stage, number)
    yield _turn(stage)
    yield _dead(stage)


@contextmanager
def fault_server() -> Iterator[str]:
    """The fault server over HTTP in a process of its own; gives its URL."""
    command = [PYTHON, "-m", "hermes.mcp.chaos", "--http", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TREE)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise Failed("the fault server did not start")
        yield url
    finally:
        process.terminate()
        process.communicate()


def _calls(stage: Stage, way: str, count: str, *url: str) -> Row:
    ours, bare = stage.alternate(7, _number(stage, "calls", count, *url), _number(stage, "bare_calls", count, *url))
    return Row(
        what=f"own CPU of one MCP call, {way}",
        value=least(ours),
        unit="ms",
        floor=least(bare),
        beside="bare SDK, same calls",
        bar=Limit(ratio=1.15),
    )


def _connect(stage: Stage, number: int) -> Row:
    ours, bare = stage.alternate(5, _number(stage, "connect", str(number)), _number(stage, "bare_connect", str(number)))
    return Row(
        what=f"connect {number} MCP server{'s' if number > 1 else ''} (stdio), wall",
        value=median(ours),
        unit="ms",
        floor=median(bare),
        beside="bare SDK, all at once",
    )


def _turn(stage: Stage) -> Row:
    """A turn with a server against one without, plus what the SDK takes to load, which no client can do without."""

    def without() -> tuple[float, float]:
        sdk = run([PYTHON, "-c", "import mcp"], env=stage.env, cwd=stage.work)
        empty = run([PYTHON, "-c", "pass"], env=stage.env, cwd=stage.work)
        return ask(stage).cpu, sdk.cpu - empty.cpu

    with fault_server() as url:
        ours, floor = stage.alternate(7, lambda: _ask_with(stage, url), without)
    return Row(
        what="one-shot turn with one MCP server (HTTP), CPU",
        value=least(ours),
        unit="ms",
        floor=least(turn + sdk for turn, sdk in floor),
        beside=f"without it, plus import mcp ({least(sdk for _, sdk in floor):.0f} ms)",
    )


def _dead(stage: Stage) -> Row:
    """How much later the answer comes: the SDK is loaded, finds nobody, and the prompt goes out."""

    def dead() -> float:
        with _configured(stage, NOBODY):
            return ask(stage).wall

    ours, without = stage.alternate(7, dead, lambda: ask(stage).wall)
    return Row(
        what="one-shot turn with a dead MCP server, wall",
        value=median(ours),
        unit="ms",
        floor=median(without),
        beside="without it; the bar is that plus 1.5 s",
        bar=Limit(value=median(without) + 1500),
    )


def _ask_with(stage: Stage, url: str) -> float:
    with _configured(stage, url):
        return cpu([ask(stage)])


@contextmanager
def _configured(stage: Stage, url: str) -> Iterator[None]:
    """One MCP server in the settings of the bench's home."""
    file = stage.home / CONFIG
    before = file.read_text()
    file.write_text(f"{before}mcp_servers: {{fault: {{url: '{url}'}}}}\n")
    try:
        yield
    finally:
        file.write_text(before)


def _number(stage: Stage, program: str, *args: str) -> Callable[[], float]:
    return lambda: float(stage.program(program, *args).out)
