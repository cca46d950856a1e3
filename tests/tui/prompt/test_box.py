"""The box as a person uses it: every key, and what is sent."""

import time
from pathlib import Path

import pytest
from textual import events

from hermes.commands.registry import Completion
from tests.tui.prompt.desk import desk

COMMANDS = [
    Completion(text="/model ", label="/model [NAME]", help="change the model"),
    Completion(text="/mcp", help="the servers"),
    Completion(text="/memory", help="what is remembered"),
]


async def commands(text: str, cursor: int) -> list[Completion]:
    before = text[:cursor]
    return [offer for offer in COMMANDS if before and offer.text.startswith(before) and offer.text != before]


# Typing and sending


async def test_enter_sends_what_is_typed_and_empties_the_box(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type("hello there")
        assert one.box.text == "hello there"
        await one.press("enter")
        assert (one.screen.sent, one.box.text) == ([("hello there", ())], "")


@pytest.mark.parametrize("key", ["alt+enter", "ctrl+j", "shift+enter"])
async def test_a_newline_does_not_send(tmp_path: Path, key: str):
    async with desk(tmp_path) as one:
        await one.press("a", key, "b")
        assert (one.box.text, one.screen.sent) == ("a\nb", [])
        await one.press("enter")
        assert one.screen.sent == [("a\nb", ())]


async def test_keys_that_come_all_at_once_are_taken_in_their_order(tmp_path: Path):
    async with desk(tmp_path) as one:
        for key in ("a", "ctrl+j", "b", "left", "c", "enter", "d", "enter"):
            one.area.post_message(events.Key(key, key if len(key) == 1 else None))
        await one.settled()
        assert one.screen.sent == [("a\ncb", ()), ("d", ())]


async def test_an_empty_message_is_not_sent(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.press("space", "ctrl+j", "enter")
        assert one.screen.sent == []


async def test_a_space_before_a_slash_stays(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type(" /etc ")
        await one.press("enter")
        assert one.screen.sent == [(" /etc", ())]


async def test_the_box_grows_with_the_text_to_ten_lines(tmp_path: Path):
    async with desk(tmp_path) as one:
        heights = []
        for lines in (1, 3, 10, 40):
            one.box.load("\n".join("x" * lines))
            await one.settled()
            heights.append(one.area.content_size.height)
        assert heights == [1, 3, 10, 10]
        assert one.area.scroll_y == 30
        await one.press("enter")
        assert one.area.content_size.height == 1


async def test_a_long_line_is_wrapped_and_counts_as_several(tmp_path: Path):
    async with desk(tmp_path, size=(60, 24)) as one:
        one.box.load("word " * 30)
        await one.settled()
        assert one.area.content_size.height == 3


async def test_every_change_is_told(tmp_path: Path):
    async with desk(tmp_path) as one:
        before = one.screen.edits
        await one.type("ab")
        await one.press("backspace")
        assert one.screen.edits - before == 3


async def test_keys_of_the_screen_are_left_to_it(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type("text")
        keys = ["ctrl+c", "ctrl+d", "ctrl+z", "escape", "pageup", "pagedown"]
        await one.press(*keys)
        assert (one.screen.keys, one.box.text) == (keys, "text")


async def test_tab_does_not_leave_the_box(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.press("tab")
        assert (one.screen.keys, one.area.has_focus) == ([], True)


async def test_the_placeholder_is_shown_while_nothing_is_typed(tmp_path: Path):
    async with desk(tmp_path) as one:
        one.box.placeholder = "Ask anything"
        assert one.area.placeholder == "Ask anything"


FINGERS = {
    "ctrl+left x": "one two xthree",
    "alt+b alt+b x": "one xtwo three",
    "home ctrl+right x": "onex two three",
    "ctrl+a alt+f x": "onex two three",
    "ctrl+a x ctrl+e y": "xone two threey",
    "ctrl+b x ctrl+f y": "one two threxey",
    "ctrl+w": "one two ",
    "alt+backspace": "one two ",
    "ctrl+a alt+d": " two three",
    "ctrl+a delete": "ne two three",
    "ctrl+u": "",
    "alt+b ctrl+k": "one two ",
    "shift+left shift+left x": "one two thrx",
    "ctrl+shift+left x": "one two x",
    "shift+home x": "x",
    "f7 x": "x",
    "ctrl+u ctrl+underscore": "one two three",
    "ctrl+u ctrl+underscore ctrl+y": "",
    "ctrl+home x ctrl+end y": "xone two threey",
}


async def test_the_text_is_edited_as_fingers_know_it(tmp_path: Path):
    edited: dict[str, str] = {}
    async with desk(tmp_path) as one:
        for keys in FINGERS:
            one.box.load("")
            await one.type("one two three")
            await one.press(*keys.split())
            edited[keys] = one.box.text
    assert edited == FINGERS


@pytest.mark.parametrize(
    "text", [("word " * 10 + "\n") * 1000, ("word " * 200 + "\n") * 50], ids=["many lines", "long lines"]
)
async def test_a_key_in_a_text_of_50_kilobytes_takes_less_than_50_ms(tmp_path: Path, text: str):
    async with desk(tmp_path, "word", size=(100, 30)) as one:
        one.box.load(text)
        await one.settled()
        took: list[float] = []
        for key in "abcdefghi":
            start = time.process_time()
            await one.pilot.press(key)
            took.append(time.process_time() - start)
        assert sorted(took)[len(took) // 2] < 0.05
        assert one.box.text == text + "abcdefghi"


# The history


async def test_up_and_down_go_through_what_was_typed_before(tmp_path: Path):
    async with desk(tmp_path, "first", "second\nline") as one:
        await one.type("draft")
        await one.press("up")
        assert one.box.text == "second\nline"
        await one.press("up", "up")
        assert one.box.text == "first"
        await one.press("up")
        assert one.box.text == "first"
        await one.press("down")
        assert one.box.text == "second\nline"
        await one.press("down")
        assert one.box.text == "draft"
        await one.press("down")
        assert one.box.text == "draft"


async def test_up_and_down_move_in_the_text_first(tmp_path: Path):
    async with desk(tmp_path, "before") as one:
        await one.type("one\ntwo")
        await one.press("up", "x", "down", "y")
        assert one.box.text == "onex\ntwoy"
        await one.press("up", "up")
        assert one.box.text == "before"


async def test_up_moves_through_the_rows_of_a_wrapped_line(tmp_path: Path):
    async with desk(tmp_path, "before", size=(60, 24)) as one:
        one.box.load("word " * 20)
        await one.press("up")
        assert one.box.text == "word " * 20
        await one.press("up")
        assert one.box.text == "before"


async def test_what_is_sent_can_be_had_again_now_and_in_later_sessions(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type("again\nplease")
        await one.press("enter")
        await one.press("up")
        assert one.box.text == "again\nplease"
    async with desk(tmp_path) as one:
        await one.press("up")
        assert one.box.text == "again\nplease"


async def test_an_entry_that_is_changed_becomes_a_text_of_its_own(tmp_path: Path):
    async with desk(tmp_path, "first", "second") as one:
        await one.press("up", "up", "x")
        assert one.box.text == "firstx"
        await one.press("up")
        assert one.box.text == "second"
        await one.press("down")
        assert one.box.text == "firstx"


async def test_ctrl_r_searches_the_history(tmp_path: Path):
    async with desk(tmp_path, "fix the tests", "write docs", "run the TESTS again") as one:
        await one.type("draft")
        await one.press("ctrl+r", "ctrl+u")
        await one.type("tests")
        assert one.offers == ["run the TESTS again", "fix the tests"]
        await one.press("ctrl+r", "enter")
        assert (one.box.text, one.offers, one.screen.sent) == ("fix the tests", [], [])
        await one.press("enter")
        assert one.screen.sent == [("fix the tests", ())]


async def test_escape_leaves_the_search_with_the_text_as_it_was(tmp_path: Path):
    async with desk(tmp_path, "something else") as one:
        await one.type("draft")
        await one.press("ctrl+r", "ctrl+u", "e", "l", "escape")
        assert (one.box.text, one.offers, one.screen.keys) == ("draft", [], [])
        await one.press("escape")
        assert one.screen.keys == ["escape"]


async def test_a_search_without_a_find_keeps_the_draft(tmp_path: Path):
    async with desk(tmp_path, "something") as one:
        await one.type("draft")
        await one.press("ctrl+r", "z", "enter")
        assert one.box.text == "draft"


# Completion and suggestions


async def test_completions_are_listed_above_the_box_and_tab_takes_one(tmp_path: Path):
    async with desk(tmp_path, completions=commands) as one:
        await one.type("/m")
        assert one.offers == ["/model ", "/mcp", "/memory"]
        assert (one.popup.region.bottom <= one.area.region.y, one.popup.region.height) == (True, 3)
        await one.press("tab")
        assert (one.box.text, one.offers) == ("/model ", [])


async def test_the_list_shows_what_each_one_does(tmp_path: Path):
    async with desk(tmp_path, completions=commands, size=(60, 20)) as one:
        await one.type("/m")
        lines = one.popup.render().plain.splitlines()
        assert lines == [
            "/model [NAME]  change the model",
            "/mcp           the servers",
            "/memory        what is remembered",
        ]


async def test_the_arrows_move_in_the_list_and_enter_takes_what_they_moved_to(tmp_path: Path):
    async with desk(tmp_path, "before", completions=commands) as one:
        await one.type("/m")
        await one.press("down", "enter")
        assert (one.box.text, one.screen.sent) == ("/mcp", [])
        await one.press("enter")
        assert one.screen.sent == [("/mcp", ())]


async def test_up_from_the_first_goes_to_the_last(tmp_path: Path):
    async with desk(tmp_path, completions=commands) as one:
        await one.type("/m")
        await one.press("up", "tab")
        assert one.box.text == "/memory"


async def test_enter_sends_when_nothing_was_chosen_in_the_list(tmp_path: Path):
    async with desk(tmp_path, completions=commands) as one:
        await one.type("/m")
        await one.press("enter")
        assert (one.screen.sent, one.offers) == ([("/m", ())], [])


async def test_escape_closes_the_list_and_only_then_goes_to_the_screen(tmp_path: Path):
    async with desk(tmp_path, completions=commands) as one:
        await one.type("/m")
        await one.press("escape")
        assert (one.offers, one.screen.keys, one.box.text) == ([], [], "/m")
        await one.press("escape")
        assert one.screen.keys == ["escape"]
        await one.press("o")
        assert one.offers == ["/model "]


async def test_a_click_takes_an_offer(tmp_path: Path):
    async with desk(tmp_path, completions=commands) as one:
        await one.type("/m")
        await one.pilot.click(one.popup, offset=(3, 2))
        await one.settled()
        assert (one.box.text, one.area.has_focus) == ("/memory", True)


async def test_what_is_taken_replaces_only_what_it_stands_for(tmp_path: Path):
    async def paths(text: str, cursor: int) -> list[Completion]:
        return [Completion(text="@file:a.py ", start=4)] if text[:cursor].endswith("@fi") else []

    async with desk(tmp_path, completions=paths) as one:
        await one.type("see  now")
        await one.press(*["left"] * 4)
        await one.type("@fi")
        await one.press("tab")
        assert (one.box.text, one.area.cursor) == ("see @file:a.py  now", 15)
        await one.press("ctrl+underscore")
        assert one.box.text == "see @fi now"


async def test_what_comes_from_the_history_opens_no_list(tmp_path: Path):
    async with desk(tmp_path, "older", "/m", completions=commands) as one:
        await one.press("up")
        assert (one.box.text, one.offers) == ("/m", [])
        await one.press("up")
        assert one.box.text == "older"


async def test_a_long_list_shows_the_part_round_what_is_marked(tmp_path: Path):
    async def many(text: str, cursor: int) -> list[Completion]:
        return [Completion(text=f"word{number}") for number in range(30)]

    async with desk(tmp_path, completions=many) as one:
        await one.type("w")
        assert one.popup.region.height == 8
        await one.press(*["down"] * 20)
        assert one.popup.render().plain.split() == [f"word{number}" for number in range(16, 24)]


@pytest.mark.parametrize("key", ["tab", "right"])
async def test_a_suggestion_from_the_history_is_accepted(tmp_path: Path, key: str):
    async with desk(tmp_path, "explain this code\nin detail", "expand it") as one:
        await one.type("expl")
        assert one.area.suggestion == "ain this code"
        await one.press(key)
        assert (one.box.text, one.area.suggestion) == ("explain this code", "")


async def test_a_suggestion_of_a_command_comes_after_the_history(tmp_path: Path):
    async with desk(tmp_path, completions=commands) as one:
        await one.type("/mo")
        assert one.area.suggestion == "del"
        await one.press("right")
        assert one.box.text == "/model"


async def test_there_is_no_suggestion_where_the_cursor_is_not_at_the_end(tmp_path: Path):
    async with desk(tmp_path, "explain this") as one:
        await one.type("expl")
        await one.press("left")
        assert one.area.suggestion == ""
        await one.press("right")
        assert (one.box.text, one.area.suggestion) == ("expl", "ain this")
