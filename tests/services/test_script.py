from pathlib import Path

import msgspec
import pytest

from tests.services.script import Call, Error, Fault, Reply, Script, Usage, call, error, read_script


def test_a_script_is_read_from_a_list_of_replies(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text(
        """[
            {"thought": "Hm.", "calls": [{"name": "ls", "args": {"path": "."}}, {"name": "ls", "args": "{"}]},
            {"error": {"status": 429, "headers": {"retry-after": "1"}}},
            {"text": "Hi", "finish": null, "usage": {"input": 1}, "fault": {"end": "cut", "after_bytes": 9}}
        ]"""
    )
    assert read_script(path) == Script(
        (
            Reply(thought="Hm.", calls=(Call("ls", {"path": "."}), Call("ls", "{"))),
            Reply(error=Error(status=429, headers={"retry-after": "1"})),
            Reply("Hi", finish=None, usage=Usage(input=1), fault=Fault(end="cut", after_bytes=9)),
        )
    )


def test_a_script_may_say_what_comes_after_its_replies(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text('{"replies": [{"text": "one"}], "then": "echo"}')
    assert read_script(path) == Script((Reply("one"),), then="echo")
    path.write_text('{"then": {"text": "always"}}')
    assert read_script(path) == Script(then=Reply("always"))


def test_a_word_that_no_reply_has_is_refused(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text('[{"texts": "Hi"}]')
    with pytest.raises(msgspec.ValidationError, match="unknown field `texts`"):
        read_script(path)


def test_a_fault_that_could_not_happen_is_refused():
    with pytest.raises(ValueError, match="need an end"):
        Fault(after_bytes=3)
    with pytest.raises(ValueError, match="after_events, not after_bytes"):
        Fault(end="error", after_bytes=3)


def test_the_finish_follows_from_the_calls_unless_it_is_given():
    replies = [Reply("Hi"), call("ls", path="."), Reply("Hi", finish="length"), Reply("Hi", finish=None)]
    assert [reply.finish_reason for reply in replies] == ["stop", "tool_calls", "length", None]


def test_the_common_replies_have_a_short_form():
    assert call("ls", path=".") == Reply(calls=(Call("ls", {"path": "."}),))
    assert error(429, headers={"retry-after": "1"}) == Reply(error=Error(None, 429, {"retry-after": "1"}))
    assert error("empty") == Reply(error=Error("empty"))
