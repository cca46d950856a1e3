"""A model that answers with one word every few milliseconds: stream.py RATE WORDS prints its URL."""

import asyncio
import itertools
import json
import sys
from contextlib import suppress

RATE, WORDS = int(sys.argv[1]), int(sys.argv[2])
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
TEXT = ("some **bold** words and `code` in a sentence that goes on for a line or so.\n\n"
        "- an item\n- another one\n\n```python\ndef f(x):\n    return x + 1\n```\n\n")  # fmt: skip


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.lower().splitlines() if line.startswith(b"content-length"))
    await reader.readexactly(length)
    writer.write(HEAD)
    words = itertools.cycle(TEXT.replace(" ", " \0").replace("\n", "\n\0").split("\0"))
    loop = asyncio.get_running_loop()
    began = loop.time()
    with suppress(ConnectionError):  # who listened has gone
        for number, word in enumerate(itertools.islice(words, WORDS), 1):
            writer.write(event({"delta": {"content": word}, "index": 0, "finish_reason": None}))
            await writer.drain()
            await asyncio.sleep(max(0.0, began + number / RATE - loop.time()))
        writer.write(event({"delta": {}, "index": 0, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
        await writer.drain()
    writer.close()


def event(choice: dict[str, object]) -> bytes:
    body = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "stream", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


asyncio.run(main())
