"""One streaming request and some commits, and nothing else: bare.py URL BODY DATABASE COMMITS

It imports what Hermes cannot do without, some of it by `floor`, and takes the shortest way with it.
"""

import argparse
import asyncio
from pathlib import Path

import msgspec
import ruamel.yaml  # noqa: F401
from floor import ask, connect, open_database, write


async def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("url", "body", "database"):
        parser.add_argument(name)
    parser.add_argument("commits", type=int)
    args = parser.parse_args()
    body = msgspec.json.decode(Path(args.body).read_bytes())
    database = open_database(args.database)
    for _ in range(args.commits):
        write(database, "a row")
    async with connect() as client:
        print(await ask(client, args.url, body))


asyncio.run(main())
