"""Run the fault server by itself: `python -m hermes.mcp.chaos --stdio` or `--http PORT` (0: any free one)."""

import argparse
import asyncio
import subprocess
import sys
from pathlib import Path

from hermes.mcp.chaos.plan import Plan


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m hermes.mcp.chaos", description=__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--stdio", action="store_true", help="speak on stdin and stdout")
    way.add_argument("--http", metavar="PORT", type=int, help="speak streamable HTTP on loopback; prints the URL")
    parser.add_argument("--era", choices=("old", "modern", "both"), default="old", help="the protocol's era")
    parser.add_argument("--stream", action="store_true", help="answer every request with an event stream")
    parser.add_argument("--folder", type=Path, help="keeps counts and faults beyond the process")
    parser.add_argument("--wrapped", action="store_true", help="start the server as the child of a wrapper")
    args = parser.parse_args(argv)
    if args.wrapped:
        rest = [word for word in argv if word != "--wrapped"]
        return subprocess.call([sys.executable, "-m", "hermes.mcp.chaos", *rest])
    plan = Plan(era=args.era, stream=args.stream, folder=args.folder)
    with asyncio.Runner() as runner:
        runner.run(_stdio(plan) if args.stdio else _http(plan, args.http))
    return 0


async def _stdio(plan: Plan) -> None:
    from hermes.mcp.chaos.stdio import serve_stdio

    await serve_stdio(plan)


async def _http(plan: Plan, port: int) -> None:
    from hermes.mcp.chaos.server import ChaosServer

    async with ChaosServer(plan, port=port) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
