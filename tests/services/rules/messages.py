"""What the Anthropic Messages API refuses."""

from itertools import pairwise
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from tests.services.rules.shared import Filled, Refused, check_unique
from tests.services.wire.frames import signature

ToolId = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]+$")]
ToolName = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,128}$")]


class CacheControl(Struct):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class Text(Struct, tag_field="type", tag="text"):
    text: Filled
    cache_control: CacheControl | None = None


class Image(Struct, tag_field="type", tag="image"):
    source: dict[str, Any]
    cache_control: CacheControl | None = None


class ToolUse(Struct, tag_field="type", tag="tool_use"):
    id: ToolId
    name: ToolName
    input: dict[str, Any]
    cache_control: CacheControl | None = None


class ToolResult(Struct, tag_field="type", tag="tool_result"):
    tool_use_id: ToolId
    content: str | list[Text | Image] = ""
    is_error: bool = False
    cache_control: CacheControl | None = None


class Thinking(Struct, tag_field="type", tag="thinking", forbid_unknown_fields=True):
    thinking: str
    signature: Filled


class RedactedThinking(Struct, tag_field="type", tag="redacted_thinking", forbid_unknown_fields=True):
    data: Filled


Block = Text | Image | ToolUse | ToolResult | Thinking | RedactedThinking


class Message(Struct):
    role: Literal["user", "assistant"]
    content: Filled | Annotated[list[Block], Meta(min_length=1)]

    @property
    def blocks(self) -> list[Block]:
        """The content as blocks, whichever way it was sent."""
        return [Text(self.content)] if isinstance(self.content, str) else self.content


class InputSchema(Struct):
    type: Literal["object"]


class Tool(Struct):
    name: ToolName
    input_schema: InputSchema
    description: str = ""
    cache_control: CacheControl | None = None


class ThinkingMode(Struct):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: Annotated[int, Meta(ge=1024)] = 1024


class MessagesRequest(Struct):
    model: Filled
    max_tokens: Annotated[int, Meta(ge=1)]
    messages: Annotated[list[Message], Meta(min_length=1)]
    system: Filled | list[Text] | None = None
    tools: list[Tool] | None = None
    thinking: ThinkingMode | None = None


def check(headers: dict[str, str], body: Any) -> None:
    """Raises on the first thing that the API would not take."""
    if "anthropic-version" not in headers:
        raise Refused("anthropic-version: header is required")
    request = msgspec.convert(body, MessagesRequest)
    check_unique("tools: names", [tool.name for tool in request.tools or []])
    _check_budget(request)
    _check_breakpoints(request)
    for index, message in enumerate(request.messages):
        _check_blocks(f"messages.{index}", message)
    turns = _merged(request.messages)
    _check_turns(turns)
    _check_pairs(turns)


def _check_budget(request: MessagesRequest) -> None:
    mode = request.thinking
    if mode is not None and mode.type == "enabled" and request.max_tokens <= mode.budget_tokens:
        raise Refused("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _check_breakpoints(request: MessagesRequest) -> None:
    system = request.system if isinstance(request.system, list) else []
    spoken = [block for message in request.messages for block in message.blocks]
    marked = [part for part in (*system, *(request.tools or []), *spoken) if getattr(part, "cache_control", None)]
    if len(marked) > 4:
        raise Refused(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}.")


def _check_blocks(where: str, message: Message) -> None:
    """Each block belongs to the role, and a thought is the very one that the API gave."""
    user_only = Image | ToolResult
    assistant_only = ToolUse | Thinking | RedactedThinking
    for block in message.blocks:
        # Not a Meta(pattern=...) on `content`: in a union with a list msgspec 0.22 frees the pattern as a type.
        if isinstance(block, Text) and not block.text.strip():
            raise Refused(f"{where}: text content blocks must contain non-whitespace text")
        if isinstance(block, assistant_only if message.role == "user" else user_only):
            raise Refused(f"{where}: {message.role} messages cannot hold a {type(block).__name__} block.")
        if isinstance(block, Thinking) and block.signature != signature(block.thinking):
            raise Refused(f"{where}: Invalid `signature` in `thinking` block")
        if isinstance(block, ToolResult) and block.is_error and not block.content:
            raise Refused(f"{where}: content cannot be empty if `is_error` is true")
    thoughts = [isinstance(block, Thinking | RedactedThinking) for block in message.blocks]
    if any(thoughts) and not thoughts[0]:
        raise Refused(f"{where}: a message with thinking blocks must start with one.")


def _merged(messages: list[Message]) -> list[Message]:
    """The messages as the API sees them: neighbours of one role are one message."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(message.role, turns[-1].blocks + message.blocks)
        else:
            turns.append(message)
    return turns


def _check_turns(turns: list[Message]) -> None:
    if turns[0].role != "user":
        raise Refused('messages: first message must use the "user" role')
    if turns[-1].role != "user":
        raise Refused("This model does not support assistant message prefill: end with a user message.")


def _check_pairs(turns: list[Message]) -> None:
    """The results of a message's calls open the next message, one each, and nothing else is a result."""
    uses = [block.id for turn in turns for block in turn.blocks if isinstance(block, ToolUse)]
    check_unique("messages: `tool_use` ids", uses)
    for previous, turn in pairwise([Message("assistant", []), *turns]):
        called = [block.id for block in previous.blocks if isinstance(block, ToolUse)]
        results = [block.tool_use_id for block in turn.blocks if isinstance(block, ToolResult)]
        opening = [block.tool_use_id for block in turn.blocks[: len(results)] if isinstance(block, ToolResult)]
        check_unique("messages: `tool_result` ids", results)
        if stray := [call_id for call_id in results if call_id not in called]:
            raise Refused(f"unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(stray)}")
        if missing := [call_id for call_id in called if call_id not in opening]:
            raise Refused(
                f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}"
            )
