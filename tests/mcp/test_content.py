"""What servers send back, as parts."""

import base64
import hashlib
from typing import Any

import mcp_types as wire

from hermes.mcp import content
from hermes.protocol.items import Image, Part, Text

PNG = b"\x89PNG\r\n\x1a\nand the rest"


class Blobs:
    """Keeps bytes as a session does, by their hash."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[bytes, str]] = {}

    async def keep(self, data: bytes, media_type: str) -> str:
        ref = hashlib.sha256(data).hexdigest()
        self.kept[ref] = (data, media_type)
        return ref


def text(words: str) -> wire.TextContent:
    return wire.TextContent(text=words)


async def parts(*blocks: Any, structured: Any = None) -> tuple[Part, ...]:
    result = wire.CallToolResult(content=list(blocks), structured_content=structured)
    return await content.called(result, Blobs().keep)


async def test_neighbouring_texts_are_one_so_that_one_cap_holds_for_them() -> None:
    assert await parts(text("one"), text("two")) == (Text("one\ntwo"),)
    assert await parts() == ()


async def test_a_picture_is_kept_as_a_blob_and_shown_between_the_texts() -> None:
    blobs = Blobs()
    picture = wire.ImageContent(data=base64.b64encode(PNG).decode(), mime_type="image/png")
    result = wire.CallToolResult(content=[text("before"), picture, text("after")])
    found = await content.called(result, blobs.keep)
    ref = hashlib.sha256(PNG).hexdigest()
    assert found == (Text("before"), Image(ref, "image/png"), Text("after"))
    assert blobs.kept == {ref: (PNG, "image/png")}


async def test_sound_and_odd_pictures_are_kept_and_referred_to() -> None:
    blobs = Blobs()
    data = base64.b64encode(b"RIFF").decode()
    sound = wire.AudioContent(data=data, mime_type="audio/wav")
    drawing = wire.ImageContent(data=data, mime_type="image/svg+xml")
    ref = hashlib.sha256(b"RIFF").hexdigest()
    assert await content.called(wire.CallToolResult(content=[sound, drawing]), blobs.keep) == (
        Text(f"[audio/wav: 4 bytes, kept as blob:{ref[:16]}]\n[image/svg+xml: 4 bytes, kept as blob:{ref[:16]}]"),
    )
    assert list(blobs.kept) == [ref]


async def test_a_picture_that_is_no_base64_is_said_to_be_unreadable() -> None:
    broken = wire.ImageContent(data="%%%", mime_type="image/png")
    assert await parts(broken) == (Text("[image/png: what the server sent cannot be read]"),)


async def test_links_and_embedded_resources_come_with_their_uri() -> None:
    link = wire.ResourceLink(uri="file:///a.md", name="a", mime_type="text/markdown", description="Notes")
    inside = wire.EmbeddedResource(resource=wire.TextResourceContents(uri="note://1", text="hello"))
    data = base64.b64encode(b"PK").decode()
    packed = wire.EmbeddedResource(
        resource=wire.BlobResourceContents(uri="zip://1", blob=data, mime_type="application/zip")
    )
    ref = hashlib.sha256(b"PK").hexdigest()[:16]
    assert await parts(link, inside, packed) == (
        Text(
            "[resource: file:///a.md (text/markdown): a, Notes]\n"
            "[resource: note://1]\nhello\n"
            f"[zip://1, application/zip: 2 bytes, kept as blob:{ref}]"
        ),
    )


async def test_a_structured_result_is_added_only_if_no_text_says_it() -> None:
    assert await parts(structured={"a": 1}) == (Text('{"a":1}'),)
    assert await parts(text("It is one."), structured={"a": 1}) == (Text('It is one.\n{"a":1}'),)
    assert await parts(text('{ "a": 1 }'), structured={"a": 1}) == (Text('{ "a": 1 }'),)


async def test_a_bare_value_that_an_sdk_wrapped_is_not_said_twice() -> None:
    assert await parts(text("sunny"), structured={"result": "sunny"}) == (Text("sunny"),)
    assert await parts(text("[1, 2]"), structured={"result": [1, 2]}) == (Text("[1, 2]"),)
    assert await parts(text("3"), structured={"result": 4}) == (Text('3\n{"result":4}'),)


async def test_a_resource_that_is_read_alone_is_just_its_text() -> None:
    one = wire.TextResourceContents(uri="note://1", text="hello")
    two = wire.TextResourceContents(uri="note://2", text="world")
    assert await content.resource(wire.ReadResourceResult(contents=[one]), Blobs().keep) == (Text("hello"),)
    assert await content.resource(wire.ReadResourceResult(contents=[one, two]), Blobs().keep) == (
        Text("[resource: note://1]\nhello\n[resource: note://2]\nworld"),
    )


async def test_a_prompt_is_its_messages_behind_their_roles() -> None:
    messages = [
        wire.PromptMessage(role="user", content=text("Review this.")),
        wire.PromptMessage(role="assistant", content=text("Gladly.")),
    ]
    result = wire.GetPromptResult(description="A review", messages=messages)
    assert await content.prompt(result, Blobs().keep) == (Text("A review\n[user]\nReview this.\n[assistant]\nGladly."),)


def test_lists_have_one_line_for_each_thing() -> None:
    listed = wire.ListResourcesResult(
        resources=[
            wire.Resource(uri="a://1", name="one"),
            wire.Resource(uri="a://2", name="two", mime_type="text/plain"),
        ]
    )
    assert content.resources(listed) == (Text("a://1: one\na://2 (text/plain): two"),)
    asked = [wire.PromptArgument(name="code", required=True), wire.PromptArgument(name="style")]
    known = wire.ListPromptsResult(
        prompts=[wire.Prompt(name="review", description="Reviews code.", arguments=asked), wire.Prompt(name="hi")]
    )
    assert content.prompts(known) == (Text("review(code, style?): Reviews code.\nhi()"),)


def test_an_empty_list_says_so() -> None:
    assert content.resources(wire.ListResourcesResult(resources=[])) == (Text("There are no resources."),)
    assert content.prompts(wire.ListPromptsResult(prompts=[])) == (Text("There are no prompts."),)
