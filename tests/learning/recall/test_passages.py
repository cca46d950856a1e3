"""Windows overlap, chapters do not, and what grows is made anew from where it grows."""

import time
from typing import Any

from msgspec.structs import replace

from hermes.learning.recall.passages import index, text_for_index
from hermes.protocol.items import Reply, Text, ToolCall, UserMessage
from hermes.protocol.recall import Said, Unread

NOON = time.mktime((2026, 5, 4, 12, 0, 0, 0, 0, -1))
DAY = 24 * 3_600


def message(seq: int, text: str = "", at: float = NOON) -> Said:
    parts = (Text(text or f"word{seq}"),)
    return Said(seq, at, UserMessage(id=f"m{seq}", turn=1, step=1, index=seq, parts=parts))


def call(seq: int, **more: Any) -> Said:
    fields: dict[str, Any] = {"name": "read_file", "args": "{}", "title": f"file{seq}.py", "status": "done"} | more
    return Said(seq, float(seq), ToolCall(id=f"c{seq}", turn=1, step=1, index=seq, call_id="c", **fields))


def unread(*said: Said, **more: Any) -> Unread:
    empty = Unread(session="s", title="", was=0, seq=99, window=0, chapter=0, untrusted=0, said=said)
    return replace(empty, **more)


def spans(passages: Any) -> list[tuple[int, int]]:
    return [(passage.first, passage.last) for passage in passages]


def test_windows_of_eight_begin_at_every_fourth_message() -> None:
    made = index(unread(*(message(seq) for seq in range(1, 19))))
    assert spans(made.windows) == [(1, 8), (5, 12), (9, 16), (13, 18)]
    assert spans(made.chapters) == [(1, 18)]
    assert spans(index(unread(*(message(seq) for seq in range(1, 9)))).windows) == [(1, 8)]


def test_a_long_session_has_several_chapters() -> None:
    assert spans(index(unread(*(message(seq) for seq in range(1, 131)))).chapters) == [(1, 64), (65, 128), (129, 130)]


def test_only_what_grew_is_made_anew() -> None:
    said = [message(seq) for seq in range(61, 70)]
    made = index(unread(*said, window=61, chapter=65))
    assert (spans(made.windows), spans(made.chapters)) == ([(61, 68), (65, 69)], [(65, 69)])


def test_calls_belong_to_the_message_before_them() -> None:
    made = index(unread(message(1, "look"), *(call(seq) for seq in range(2, 12)), message(12, "thanks")))
    assert spans(made.windows) == [(1, 12)]
    [window] = made.windows
    assert {"look", "thank", "file2", "file11", "readfile"} <= set(window.terms.split())


def test_the_title_is_in_the_last_chapter_and_in_no_window() -> None:
    made = index(unread(message(1, "hello"), title="Backups of Lisbon"))
    assert made.chapters[0].terms == "2026 4 backup hello lisbon mai"
    assert made.windows[0].terms == "2026 4 hello mai"


def test_passages_have_their_days_and_chapters_twice_what_several_messages_say() -> None:
    made = index(unread(message(1, "heron nest, nest"), message(2, "a heron", NOON + 40 * DAY)))
    assert made.windows[0].terms == "13 2026 4 heron june mai nest"
    assert made.chapters[0].terms == "13 2026 2026 4 heron heron june mai nest"


def test_nothing_said_makes_no_passages() -> None:
    made = index(unread(title="t"))
    assert (made.windows, made.chapters, made.seq) == ((), (), 99)


def test_of_a_call_the_tool_the_title_and_both_ends_of_the_result_can_be_found() -> None:
    result = (Text("begins " + "x" * 500 + " ended with ModuleNotFoundError"),)
    text = text_for_index(call(1, result=result).item)
    assert text.startswith("read_file file1.py begins ") and text.endswith("ModuleNotFoundError")
    assert len(text) < 250


def test_what_was_void_cannot_be_found() -> None:
    reply = Reply(id="r", turn=1, step=1, index=0, text="half", status="discarded")
    assert text_for_index(reply) == text_for_index(call(1, status="discarded").item) == ""
    assert text_for_index(replace(reply, status="interrupted")) == "half"
