"""The tokens that every request begins with: system text and tools as they were sent, before anything is said."""

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec

from bench.stage import Stage
from bench.table import Limit, Row
from bench.turn import ask


def measure(stage: Stage) -> Iterator[Row]:
    ask(stage)
    system, tools = tokens(stage.bodies()[-1])
    yield Row(
        what="fixed prompt, o200k_base",
        value=system + tools,
        unit="tokens",
        beside=f"system {system:,} + tools {tools:,}",
        bar=Limit(value=5000),
        aim=Limit(value=3500),
    )


def tokens(body: dict[str, Any]) -> tuple[int, int]:
    """Tokens of the system text and of the tools, as compact JSON, of a request in the chat dialect."""
    encode = _encoder()
    texts = [text_of(message["content"]) for message in body["messages"] if message["role"] in ("system", "developer")]
    tools = msgspec.json.encode(body.get("tools") or []).decode()
    return sum(len(encode(text)) for text in texts), len(encode(tools))


@cache
def _encoder() -> Callable[[str], list[int]]:
    with warnings.catch_warnings():
        # The package opens its own data in a way that Python 3.11 calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base").encode_ordinary


def text_of(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
