"""Secrets that a tool comes across reach neither the model, nor the screen, nor the store; and masking destroys nothing."""

from hermes.protocol.events import ItemDelta, TurnEnded
from hermes.protocol.items import text_of
from hermes.safety.secrets.masks import MASK
from tests.services.model_server import ModelServer
from tests.services.script import Call, Reply, call
from tests.stories.stage import Home, ended, tell

CONFIGURED = "violet-anchor-7731-quill"
SHAPED = "ghp_" + "a8Kq2ZxW9" * 4


async def test_a_secret_in_a_file_or_in_output_is_masked_for_the_model_the_screen_and_the_store(home: Home):
    (home.work / "settings.ini").write_text(f"name = value\ntoken = {SHAPED}\nother = {CONFIGURED}\n")
    script = [call("read_file", path="settings.ini"), call("terminal", command="cat settings.ini"), Reply("done")]
    async with ModelServer(script) as server:
        home.use(server.base_url)
        (home.home / ".env").write_text(f"HOUSE_API_KEY={CONFIGURED}\n")
        ran = await ended(home.start("-z", "look", "--json"))
        assert ran.code == 0
        for secret in (SHAPED, CONFIGURED):
            assert secret not in ran.out
            assert secret not in str([request.body for request in server.requests])
        assert "name = value" in str(server.requests[-1].body)
    kept = b"".join(path.read_bytes() for path in home.home.glob("state.db*"))
    assert SHAPED.encode() not in kept and CONFIGURED.encode() not in kept


async def test_a_masked_secret_is_never_written_over_the_real_one(home: Home):
    text = f"token = {SHAPED}\n"
    (home.work / "settings.ini").write_text(text)
    masked = f"token = ghp_{MASK}\nmore = 1\n"
    script = [
        Reply(calls=(Call("write_file", {"path": "settings.ini", "content": masked}),)),
        Reply(calls=(Call("terminal", {"command": f"echo '{masked}' > settings.ini"}),)),
        Reply(calls=(Call("write_file", {"path": "notes.md", "content": "all well"}),)),
        Reply("done"),
    ]
    async with ModelServer(script) as server:
        home.use(server.base_url)
        async with tell(home) as story:
            assert await story.say("go") == TurnEnded("done")
            assert [call.status for call in story.calls()] == ["failed", "failed", "done"]
            assert "masked secret" in text_of(story.calls()[0].result)
    assert (home.work / "settings.ini").read_text() == text


async def test_a_secret_that_is_printed_letter_by_letter_is_never_shown_on_the_way(home: Home):
    text = f"before {SHAPED} and {CONFIGURED} after\nlast"
    (home.work / "slowly.sh").write_text(
        f"text='{text}'\nfor ((at = 0; at < ${{#text}}; at++)); do printf %s \"${{text:at:1}}\"; sleep 0.003; done\n"
    )
    async with ModelServer([call("terminal", command="bash slowly.sh"), Reply("done")]) as server:
        home.use(server.base_url)
        (home.home / ".env").write_text(f"HOUSE_API_KEY={CONFIGURED}\n")
        async with tell(home) as story:
            assert await story.say("go") == TurnEnded("done")
            deltas = [body for body in story.of(ItemDelta) if body.channel == "output"]
            shown = "".join(delta.text for delta in deltas)
            assert len(deltas) > 2
            assert [delta.offset for delta in deltas] == [
                sum(len(delta.text) for delta in deltas[:at]) for at in range(len(deltas))
            ]
            assert shown == f"before ghp_{MASK} and {CONFIGURED[:4]}{MASK} after\nlast"
            assert text_of(story.calls()[0].result) == shown


async def test_masking_can_be_switched_off(home: Home):
    (home.work / "key.txt").write_text(SHAPED)
    async with ModelServer([call("read_file", path="key.txt"), Reply("done")]) as server:
        home.use(server.base_url, security={"redact_secrets": False})
        await ended(home.start("-z", "look"))
        assert SHAPED in str(server.requests[-1].body)
