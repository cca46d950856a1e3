"""A request as the model server received it, and what it says whatever its dialect."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from tests.services.wire.frames import Dialect


class Request(Struct, frozen=True):
    """One recorded request; `violation` says why a provider would have refused it, or is empty."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    connection: int
    """Counted from 1 in the order in which the connections were opened."""
    at: float
    """Seconds on the monotonic clock."""
    dialect: Dialect | None = None
    violation: str = ""

    @property
    def user_text(self) -> str:
        """The text of the last user message that has any."""
        if isinstance(self.body.get("input"), str):
            return self.body["input"]
        texts = [text_of(item["content"]) for item in self.history if item.get("role") == "user"]
        return next((text for text in reversed(texts) if text), "")

    @property
    def results(self) -> dict[str, str]:
        """The text of each tool result by the id of its call."""
        return dict(self._results())

    @property
    def tool_names(self) -> list[str]:
        """The tools that were offered, in order."""
        return [tool.get("function", tool)["name"] for tool in self.body.get("tools") or []]

    @property
    def history(self) -> list[dict[str, Any]]:
        """The messages, or the input items of the Responses dialect."""
        return self.body["input"] if self.dialect == "responses" else self.body["messages"]

    @property
    def prompt(self) -> bytes:
        """Tools and system text: the prefix that a provider caches, in the order of keys as sent."""
        match self.dialect:
            case "chat":
                system: Any = [m for m in self.history if m["role"] in ("system", "developer")]
            case "responses":
                system = self.body.get("instructions")
            case _:
                system = self.body.get("system")
        return msgspec.json.encode([self.body.get("tools"), system])

    def _results(self) -> Iterator[tuple[str, str]]:
        for item in self.history:
            match item:
                case {"role": "tool", "tool_call_id": call_id, "content": content}:
                    yield call_id, text_of(content)
                case {"type": "function_call_output", "call_id": call_id, "output": output}:
                    yield call_id, text_of(output)
                case {"role": "user", "content": list(blocks)}:
                    for block in blocks:
                        if block["type"] == "tool_result":
                            yield block["tool_use_id"], text_of(block.get("content", ""))
                case _:
                    continue


def text_of(content: str | list[dict[str, Any]]) -> str:
    """The text of a message's content, whether it is one string or parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
