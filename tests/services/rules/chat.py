"""What a chat completions provider refuses."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from tests.services.rules.shared import (
    Filled,
    ObjectSchema,
    Refused,
    ToolName,
    check_arguments,
    check_unique,
)


class TextPart(Struct, tag_field="type", tag="text"):
    text: Filled


class ImageURL(Struct):
    url: Filled


class ImagePart(Struct, tag_field="type", tag="image_url"):
    image_url: ImageURL


class Function(Struct):
    name: ToolName
    arguments: str


class ToolCall(Struct):
    id: Annotated[str, Meta(min_length=1, max_length=40)]
    type: Literal["function"]
    function: Function


class System(Struct, tag_field="role", tag="system"):
    content: Filled | Annotated[list[TextPart], Meta(min_length=1)]


class Developer(Struct, tag_field="role", tag="developer"):
    content: Filled | Annotated[list[TextPart], Meta(min_length=1)]


class User(Struct, tag_field="role", tag="user"):
    content: Filled | Annotated[list[TextPart | ImagePart], Meta(min_length=1)]


class Assistant(Struct, tag_field="role", tag="assistant"):
    content: str | Annotated[list[TextPart], Meta(min_length=1)] | None = None
    refusal: str | None = None
    tool_calls: Annotated[list[ToolCall], Meta(min_length=1)] | None = None


class ToolResult(Struct, tag_field="role", tag="tool"):
    tool_call_id: Filled
    content: str | list[TextPart]


class FunctionSchema(Struct):
    name: ToolName
    parameters: ObjectSchema
    description: str = ""


class Tool(Struct):
    type: Literal["function"]
    function: FunctionSchema


Message = System | Developer | User | Assistant | ToolResult


class ChatRequest(Struct):
    model: Filled
    messages: Annotated[list[Message], Meta(min_length=1)]
    tools: Annotated[list[Tool], Meta(min_length=1)] | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None


def check(body: Any) -> None:
    """Raises on the first thing that a provider would not take."""
    request = msgspec.convert(body, ChatRequest)
    check_unique("tools: names", [tool.function.name for tool in request.tools or []])
    if request.stream_options is not None and not request.stream:
        raise Refused("stream_options is only allowed when stream is true.")
    _check_first(request.messages)
    _check_contents(request.messages)
    _check_pairs(request.messages)


def _check_first(messages: list[Message]) -> None:
    spoken = [message for message in messages if not isinstance(message, System | Developer)]
    # OpenAI does not mind; Mistral, Gemini and most chat templates do.
    if not spoken or not isinstance(spoken[0], User):
        raise Refused("messages: the first message after the system text must have the role user.")


def _check_contents(messages: list[Message]) -> None:
    for index, message in enumerate(messages):
        match message:
            case Assistant(content=None | "", refusal=None | "", tool_calls=None):
                raise Refused(f"messages[{index}]: an assistant message without tool_calls must have content.")
            case Assistant(tool_calls=list(calls)):
                for call in calls:
                    check_arguments(f"messages[{index}].tool_calls", call.function.arguments)
            case _:
                continue


def _check_pairs(messages: list[Message]) -> None:
    """Each call has its result right after, each result its call, and no id comes twice."""
    calls = [call for message in messages if isinstance(message, Assistant) for call in message.tool_calls or []]
    check_unique("messages: tool call ids", [call.id for call in calls])
    waiting: list[str] = []
    for index, message in enumerate(messages):
        match message:
            case ToolResult(tool_call_id=call_id) if call_id in waiting:
                waiting.remove(call_id)
            case ToolResult(tool_call_id=call_id):
                raise Refused(
                    f"messages[{index}]: messages with role 'tool' must be a response to a preceding message "
                    f"with 'tool_calls': {call_id}"
                )
            case _:
                _check_answered(waiting)
                if isinstance(message, Assistant):
                    waiting = [call.id for call in message.tool_calls or []]
    _check_answered(waiting)


def _check_answered(waiting: list[str]) -> None:
    if waiting:
        raise Refused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. Without a response: {', '.join(waiting)}"
        )
