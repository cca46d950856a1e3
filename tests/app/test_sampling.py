"""A server's sampling request and the answer it gets."""

import base64

import msgspec

from hermes.app.sampling import sample
from hermes.mcp.contract import Sample
from hermes.protocol.items import Image, Reply, Text, ToolCall, UserMessage
from hermes.protocol.models import Began, Ended, Grew
from tests.agent.stage import ScriptedModel, answer, call, finish, text, thought


async def test_messages_become_a_request_and_the_text_a_result():
    model = ScriptedModel(thought("hm") + text("Paris", index=1) + finish())
    picture = base64.b64encode(b"png").decode()
    wish = Sample(
        messages=[
            {"role": "user", "content": {"type": "text", "text": "Where?"}},
            {"role": "assistant", "content": {"type": "text", "text": "Show me."}},
            {"role": "user", "content": {"type": "image", "data": picture, "mimeType": "image/png"}},
        ],
        system="Be brief.",
        max_tokens=100,
    )
    assert await sample(model, wish) == {
        "role": "assistant",
        "content": {"type": "text", "text": "Paris"},
        "model": "scripted",
        "stopReason": "endTurn",
    }
    request = model.requests[0]
    first, second, third = request.items
    assert (request.system, request.max_output) == ("Be brief.", 100)
    assert isinstance(first, UserMessage) and first.parts == (Text("Where?"),) and first.trust == "untrusted"
    assert isinstance(second, Reply) and second.text == "Show me."
    assert isinstance(third, UserMessage) and isinstance(third.parts[0], Image)
    assert request.images == {third.parts[0].blob: b"png"}


async def test_tools_and_their_results_travel_both_ways():
    model = ScriptedModel(call("look", '{"at":"sky"}', call_id="c9") + finish("calls"))
    wish = Sample(
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "Look."}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sea"}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "blue"}]}],
            },
        ],
        tools=[{"name": "look", "inputSchema": {"type": "object"}}],
    )
    assert await sample(model, wish) == {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c9", "name": "look", "input": {"at": "sky"}}],
        "model": "scripted",
        "stopReason": "toolUse",
    }
    (asked,) = [item for item in model.requests[0].items if isinstance(item, ToolCall)]
    assert (asked.call_id, asked.args, asked.result) == ("c1", '{"at":"sea"}', (Text("blue"),))
    assert [bytes(spec.schema) for spec in model.requests[0].tools] == [msgspec.json.encode({"type": "object"})]


async def test_an_empty_answer_is_an_empty_text():
    model = ScriptedModel([Began(0, "text"), Grew(0, ""), Ended(0), *finish("length")], answer("unused"))
    result = await sample(model, Sample(messages=[{"role": "user", "content": {"type": "text", "text": "?"}}]))
    assert (result["content"], result["stopReason"]) == ({"type": "text", "text": ""}, "maxTokens")


async def test_texts_are_one_block_cut_at_the_first_stop_sequence_and_tools_can_be_forbidden():
    model = ScriptedModel(text("one ") + text("two STOP three", index=1) + finish())
    wish = Sample(
        messages=[{"role": "user", "content": {"type": "text", "text": "?"}}],
        stop=("STOP", "three"),
        tools=[{"name": "look", "inputSchema": {"type": "object"}}],
        tool_choice="none",
    )
    result = await sample(model, wish)
    assert (result["content"], result["stopReason"]) == ({"type": "text", "text": "one two "}, "stopSequence")
    assert model.requests[0].tools == ()
