"""A process that uses a guarded resource: `once`, or until it is told that all is done."""

import asyncio
import sys
from pathlib import Path

import httpx2

from hermes.config import OAuthSettings
from hermes.mcp.oauth.authority import OAuth


def connect() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(verify=False, trust_env=False, timeout=30)


async def main(url: str, folder: Path, go: Path, once: bool) -> int:
    who = OAuth("notes", url, OAuthSettings(), folder, connect)
    print("ready", flush=True)
    while not go.exists():
        await asyncio.sleep(0.005)
    async with connect() as client:
        while True:
            header = await who.header()
            status = (await client.post(url, headers={"authorization": header}, json={})).status_code
            if status == 410 or (once and status == 200):
                return 0
            if status == 401 and not await who.refused(header, ""):
                return 1
            if status not in (200, 401):
                return 2


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4] == "once")))
