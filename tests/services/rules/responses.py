"""What the Responses API refuses."""

from itertools import zip_longest
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

CallId = Annotated[str, Meta(min_length=1, max_length=64)]


class InputText(Struct, tag_field="type", tag="input_text"):
    text: Filled


class InputImage(Struct, tag_field="type", tag="input_image"):
    image_url: Filled


class OutputText(Struct, tag_field="type", tag="output_text"):
    text: Filled


class RefusalPart(Struct, tag_field="type", tag="refusal"):
    refusal: Filled


class Message(Struct, tag_field="type", tag="message"):
    role: Literal["user", "assistant", "system", "developer"]
    content: Filled | Annotated[list[InputText | InputImage | OutputText | RefusalPart], Meta(min_length=1)]
    id: Annotated[str, Meta(pattern="^msg_")] | None = None


class FunctionCall(Struct, tag_field="type", tag="function_call"):
    call_id: CallId
    name: ToolName
    arguments: str
    id: Annotated[str, Meta(pattern="^fc_")] | None = None


class FunctionCallOutput(Struct, tag_field="type", tag="function_call_output"):
    call_id: CallId
    output: str | Annotated[list[InputText | InputImage], Meta(min_length=1)]


class SummaryText(Struct, tag_field="type", tag="summary_text"):
    text: str


class Reasoning(Struct, tag_field="type", tag="reasoning"):
    summary: list[SummaryText]
    id: Annotated[str, Meta(pattern="^rs_")] | None = None
    encrypted_content: Annotated[str, Meta(pattern="^enc_[0-9a-f]{16}$")] | None = None


class Tool(Struct):
    type: Literal["function"]
    name: ToolName
    parameters: ObjectSchema
    description: str = ""


Item = Message | FunctionCall | FunctionCallOutput | Reasoning


class ResponsesRequest(Struct):
    model: Filled
    input: Filled | Annotated[list[Item], Meta(min_length=1)]
    instructions: str | None = None
    tools: list[Tool] | None = None
    store: bool | None = None
    max_output_tokens: Annotated[int, Meta(ge=16)] | None = None


def check(body: Any) -> None:
    """Raises on the first thing that the API would not take."""
    request = msgspec.convert(_with_types(body), ResponsesRequest)
    check_unique("tools: names", [tool.name for tool in request.tools or []])
    if isinstance(request.input, list):
        _check_parts(request.input)
        _check_pairs(request.input)
        _check_reasoning(request.input, stored=request.store is not False)


def _with_types(body: Any) -> Any:
    """The body with the type that a message may leave out."""
    match body:
        case {"input": list(items)}:
            typed = [{"type": "message", **item} if isinstance(item, dict) else item for item in items]
            return {**body, "input": typed}
        case _:
            return body


def _check_parts(items: list[Item]) -> None:
    """What the assistant said is output, what anybody else said is input."""
    for index, item in enumerate(items):
        if isinstance(item, Message) and isinstance(item.content, list):
            kinds = OutputText | RefusalPart if item.role == "assistant" else InputText | InputImage
            if not all(isinstance(part, kinds) for part in item.content):
                raise Refused(f"input[{index}].content: a part of a type that the role {item.role} cannot have.")


def _check_pairs(items: list[Item]) -> None:
    """Each call has an output after it, each output its call, and no id comes twice."""
    check_unique("input: call_id of calls", [item.call_id for item in items if isinstance(item, FunctionCall)])
    waiting: list[str] = []
    for index, item in enumerate(items):
        match item:
            case FunctionCall(call_id=call_id, arguments=arguments):
                check_arguments(f"input[{index}]", arguments)
                waiting.append(call_id)
            case FunctionCallOutput(call_id=call_id) if call_id in waiting:
                waiting.remove(call_id)
            case FunctionCallOutput(call_id=call_id):
                raise Refused(f"No tool call found for function call output with call_id {call_id}.")
            case _:
                continue
    if waiting:
        raise Refused(f"No tool output found for function call {waiting[0]}.")


def _check_reasoning(items: list[Item], *, stored: bool) -> None:
    """A reasoning item is readable, and what it led to comes right after it."""
    for item, following in zip_longest(items, items[1:]):
        if not isinstance(item, Reasoning):
            continue
        if not stored and item.encrypted_content is None:
            raise Refused(f"Item with id '{item.id}' not found. Items are not persisted when store is false.")
        match following:
            case Reasoning() | FunctionCall() | Message(role="assistant"):
                continue
            case _:
                raise Refused(f"Item '{item.id}' of type 'reasoning' was provided without its required following item.")
