"""A provider that cannot answer: the next one in line takes over amid the conversation, whatever its dialect."""

import msgspec
import pytest

from hermes.protocol.events import Notice, TurnEnded, Usage
from tests.services.model_server import ModelServer
from tests.services.script import Call, Reply, error
from tests.stories.stage import DIALECTS, Home, ended, tell

THOUGHTFUL = Reply("I look.", thought="What is there?", calls=(Call("read_file", {"path": "."}),))


def use_both(home: Home, first: ModelServer, dialect: str, spare: ModelServer, spare_dialect: str) -> None:
    customs = {
        "house": {"base_url": first.base_url, "dialect": dialect},
        "spare": {"base_url": spare.base_url, "dialect": spare_dialect},
    }
    model = {"provider": "house", "name": "best"}
    settings = {"model": model, "fallback_providers": ["spare:second"], "agent": {"api_max_retries": 0}}
    home.config.write_bytes(msgspec.json.encode({**settings, "custom_providers": customs}))


@pytest.mark.parametrize("spare_dialect", DIALECTS)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_another_provider_goes_on_with_what_the_first_one_began(home: Home, dialect, spare_dialect):
    async with (
        ModelServer([THOUGHTFUL, Reply("It is empty.", thought="Nothing."), THOUGHTFUL, error(503)]) as first,
        ModelServer([Reply("Still empty.", thought="The same."), THOUGHTFUL, Reply("Yes.")]) as spare,
    ):
        use_both(home, first, dialect, spare, spare_dialect)
        async with tell(home) as story:
            assert await story.say("one") == TurnEnded("done")
            assert await story.say("two") == TurnEnded("done")
            assert [notice.code for notice in story.of(Notice)] == ["retry"]
            assert await story.say("three") == TurnEnded("done")
            assert story.answers()[1::2] == ["It is empty.", "Still empty.", "Yes."]
            assert [usage.model.rpartition(":")[2] for usage in story.of(Usage)] == ["best"] * 3 + ["second"] * 3
    assert (first.violations, spare.violations) == ([], [])
    assert [len(server.requests) for server in (first, spare)] == [4, 3]


async def test_when_none_can_answer_each_is_named(home: Home):
    async with ModelServer([error(401)]) as first, ModelServer([error(503)]) as spare:
        use_both(home, first, "chat", spare, "anthropic")
        ran = await ended(home.start("-z", "go"))
        assert (ran.code, ran.out) == (1, "")
        last = ran.err.splitlines()[-1]
        assert "custom:house:best" in last and "custom:spare:second" in last
