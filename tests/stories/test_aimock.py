"""The same session against a model server that others wrote: aimock of CopilotKit, which speaks all three dialects."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes.protocol.events import ItemDelta, Notice, TurnEnded, Usage
from hermes.protocol.items import Thought
from tests.stories.stage import DIALECTS, Home, QuickApp, ended, tell

NPM = Path(__file__).parents[2] / ".cache" / "npm"
NODE, LLMOCK = NPM / "node", NPM / "node_modules" / ".bin" / "llmock"
HELLO = "Hello from somebody else's server, in several pieces."
FACES = "x" + "😀🚀" * 20
"""Its pieces are of 20 UTF-16 units, so that each one cuts a face in half."""
TEXT = 'first line\nsecond line: ü, 漢字, "quotes"\n'

pytestmark = [pytest.mark.needs(str(NODE), str(LLMOCK)), pytest.mark.parametrize("dialect", DIALECTS)]


def fixture(words: str, response: dict[str, Any], pause: int = 5, **match: Any) -> dict[str, Any]:
    """An answer to these words, with so many milliseconds between its pieces."""
    return {"match": {"userMessage": words, **match}, "response": response, "latency": pause}


FIXTURES = [
    fixture("hello", {"content": HELLO, "reasoning": "A greeting is wanted."}, pause=100),
    fixture("faces", {"content": FACES}),
    fixture(
        "write it",
        {
            "content": "I will.",
            "toolCalls": [
                {"name": "write_file", "arguments": {"path": "a.txt", "content": TEXT}},
                {"name": "read_file", "arguments": {"path": "."}},
            ],
        },
        hasToolResult=False,
    ),
    fixture("write it", {"content": "It is written."}, hasToolResult=True),
]
for name in DIALECTS:
    limit = {"message": "Rate limit exceeded.", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
    FIXTURES += [
        fixture(f"hurry {name}", {"error": limit, "status": 429}, sequenceIndex=0),
        fixture(f"hurry {name}", {"content": "Now it works."}, sequenceIndex=1),
    ]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    path.write_bytes(msgspec.json.encode({"fixtures": FIXTURES}))
    server = subprocess.Popen(
        [NODE, LLMOCK, "-p", "0", "-f", path, "--strict", "--validate-on-load"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(path.parent)},
    )
    assert server.stdout is not None
    try:
        lines = iter(server.stdout.readline, "")
        yield next(line.split()[-1] for line in lines if "listening on" in line) + "/v1"
    finally:
        server.terminate()
        server.communicate()


async def test_it_answers_with_text_and_thoughts(home: Home, url, dialect):
    home.use(url, dialect)
    async with tell(home) as story:
        assert await story.say("hello") == TurnEnded("done")
        assert story.answers() == [HELLO]
        assert [thought.text for thought in story.items(Thought)] == ["A greeting is wanted."]
        assert len([delta for delta in story.of(ItemDelta) if delta.channel == "text"]) > 1
        assert [usage.step for usage in story.of(Usage)] == [1]
        # What was thought goes back as this server sealed it, and it takes it.
        assert await story.say("hello again") == TurnEnded("done")


async def test_a_character_that_it_cuts_in_half_arrives_whole(home: Home, url, dialect):
    home.use(url, dialect)
    async with tell(home, QuickApp(home.settings())) as story:
        assert await story.say("faces") == TurnEnded("done")
        assert story.answers() == [FACES]


async def test_it_calls_tools_with_streamed_arguments_and_reads_their_results(home: Home, url, dialect):
    home.use(url, dialect)
    async with tell(home) as story:
        assert await story.say("write it") == TurnEnded("done")
        assert story.answers() == ["I will.", "It is written."]
        assert {call.name: call.status for call in story.calls()} == {"write_file": "done", "read_file": "done"}
        assert (home.work / "a.txt").read_text() == TEXT
        assert len([delta for delta in story.of(ItemDelta) if delta.channel == "args"]) > 2


async def test_its_rate_limit_passes(home: Home, url, dialect):
    home.use(url, dialect)
    async with tell(home, QuickApp(home.settings())) as story:
        assert await story.say(f"hurry {dialect}") == TurnEnded("done")
        assert story.answers() == ["Now it works."]
        assert [notice.code for notice in story.of(Notice)] == ["retry"]


async def test_what_it_does_not_know_fails_and_the_session_goes_on(home: Home, url, dialect):
    home.use(url, dialect)
    async with tell(home, QuickApp(home.settings())) as story:
        ending = await story.say("something that no fixture matches")
        assert (ending.reason, "fixture" in ending.error) == ("failed", True)
        assert await story.say("hello") == TurnEnded("done")


async def test_the_command_talks_to_it(home: Home, url, dialect):
    home.use(url, dialect)
    ran = await ended(home.start("-z", "write it"))
    assert (ran.code, ran.out, ran.err) == (0, "It is written.\n", "")
    assert (home.work / "a.txt").read_text() == TEXT
