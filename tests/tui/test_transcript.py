"""The conversation on the screen: scrolling, folding, marking."""

from textual.widgets import TextArea

from hermes.protocol.events import Event, ItemDelta, ItemDone, ItemStarted
from hermes.protocol.items import Reply as Said
from hermes.protocol.items import Text, Thought, ToolCall, UserMessage
from tests.services.script import Reply, call
from tests.tui.rig import Person, person


def see(one: Person, *bodies: object) -> None:
    for body in bodies:
        one.front.see(Event(session=one.front.session.id, at=0.0, body=body))  # type: ignore[arg-type]
    one.desk.drawn(one.front)


def message(number: int) -> ItemDone:
    return ItemDone(UserMessage(id=f"m{number}", turn=1, step=0, index=number, parts=(Text(f"message {number}"),)))


def done(number: int, output: str) -> ItemDone:
    call = ToolCall(
        id=f"c{number}",
        turn=1,
        step=1,
        index=number,
        call_id=f"c{number}",
        name=f"tool{number}",
        args="{}",
        kind="execute",
        status="done",
        result=(Text(output),),
    )
    return ItemDone(call)


async def test_the_end_is_shown_until_somebody_scrolls_up_and_again_when_they_come_back(tmp_path):
    async with person(tmp_path) as one:
        see(one, *map(message, range(100)))
        await one.sees("message 99")
        await one.pilot.press("pageup", "pageup")
        await one.until(lambda: "message 99" not in one.seen)
        before = [line[:90] for line in one.seen.splitlines()[:20]]
        see(one, message(100))
        await one.pilot.pause(0.15)
        assert [line[:90] for line in one.seen.splitlines()[:20]] == before
        await one.turns_to("message 100")
        see(one, message(101))
        await one.sees("message 101")


async def test_a_message_that_is_sent_leads_back_to_the_end(tmp_path):
    async with person(tmp_path, [Reply("here")]) as one:
        see(one, *map(message, range(100)))
        await one.sees("message 99")
        await one.pilot.press("pageup", "pageup")
        await one.until(lambda: "message 99" not in one.seen)
        await one.says("where?", "› where?", "here")


async def test_all_of_a_long_conversation_can_be_scrolled_to(tmp_path):
    async with person(tmp_path) as one:
        see(one, *map(message, range(1000)))
        await one.sees("message 999")
        transcript = one.screen.transcript

        def at_the_top() -> bool:
            transcript.scroll_to(y=0, animate=False)
            return "☤ Hermes" in one.seen and "message 0" in one.seen

        await one.until(at_the_top)


async def test_a_block_is_folded_and_opened_by_a_click(tmp_path):
    async with person(tmp_path) as one:
        see(one, done(1, "\n".join(f"line {n}" for n in range(1, 10))))
        await one.sees("● tool1", "line 3", "… 6 more lines")
        row = next(n for n, line in enumerate(one.seen.splitlines()) if "tool1" in line)
        await one.pilot.click(offset=(5, row))
        await one.sees("line 9")
        await one.pilot.click(offset=(5, row))
        await one.sees("… 6 more lines")


async def test_blocks_are_chosen_and_opened_with_the_keyboard(tmp_path):
    async with person(tmp_path) as one:
        see(one, done(1, "a\nb\nc\nd\ne\nf"), done(2, "u\nv\nw\nx\ny\nz"))
        await one.sees("● tool2")
        await one.pilot.press("shift+tab", "up", "enter")
        await one.sees("\n   f\n")
        assert "\n   z\n" not in one.seen
        await one.pilot.press("down", "down")
        await one.pilot.press("a")
        assert one.screen.prompt.text == "a"


async def test_marked_text_is_copied_with_ctrl_c(tmp_path):
    async with person(tmp_path) as one:
        see(one, message(1))
        await one.sees("message 1")
        row = next(n for n, line in enumerate(one.seen.splitlines()) if "message 1" in line)
        await one.pilot.mouse_down(offset=(3, row))
        await one.pilot.hover(offset=(9, row))
        await one.pilot.mouse_up(offset=(9, row))
        await one.pilot.press("ctrl+c")
        assert one.screen.clipboard == "message"
        assert one.screen.return_value is None


async def test_text_behind_a_gap_stands_behind_dots_until_the_whole_of_it_comes(tmp_path):
    async with person(tmp_path) as one:
        running = Said(id="r", turn=1, step=1, index=0, text="", status="running")
        see(one, ItemStarted(running), ItemDelta("r", "text", 0, "one "), ItemDelta("r", "text", 9, "three"))
        await one.sees("one  … three")
        see(one, ItemDone(Said(id="r", turn=1, step=1, index=0, text="one two three")))
        await one.sees("one two three")


async def test_a_reply_that_is_void_disappears(tmp_path):
    async with person(tmp_path) as one:
        running = Said(id="r", turn=1, step=1, index=0, text="", status="running")
        see(one, ItemStarted(running), ItemDelta("r", "text", 0, "half an ans"))
        await one.sees("half an ans")
        see(one, ItemDone(Said(id="r", turn=1, step=1, index=0, text="half an ans", status="discarded")))
        await one.until(lambda: "half an ans" not in one.page)


async def test_what_steers_a_terminal_is_shown_and_not_obeyed(tmp_path):
    evil = "\x1b]0;owned\x07\x1b[2Jtext\u202e"
    async with person(tmp_path) as one:
        see(
            one,
            ItemDone(Said(id="r", turn=1, step=1, index=0, text=evil)),
            ItemDone(Thought(id="t", turn=1, step=1, index=1, text=evil)),
            done(1, evil),
        )
        await one.sees("● tool1")
        assert not any(char in one.seen for char in "\x1b\x07\u202e")
        assert one.seen.count("�[2Jtext�") == 3


async def test_without_streaming_a_reply_comes_whole(tmp_path):
    async with person(tmp_path, settings="display: {streaming: false}\n") as one:
        running = Said(id="r", turn=1, step=1, index=0, text="", status="running")
        see(one, ItemStarted(running), ItemDelta("r", "text", 0, "one "))
        await one.pilot.pause(0.15)
        assert "one" not in one.page
        see(one, ItemDone(Said(id="r", turn=1, step=1, index=0, text="one two")))
        await one.sees("one two")


async def test_an_answered_question_leaves_the_page_at_its_end(tmp_path):
    script = [call("terminal", command="seq 200"), call("terminal", command="chmod 666 a"), Reply("over")]
    async with person(tmp_path, script, settings="display: {tool_progress: verbose}\n") as one:
        await one.types("count")
        await one.sees("n  no")
        await one.pilot.press("n")
        await one.sees("over")
        transcript = one.screen.transcript
        assert transcript.scroll_offset.y == transcript.max_scroll_y > 100
        assert one.screen.focused is one.screen.query_one(TextArea)


async def test_a_click_on_the_page_does_not_take_the_keys_from_the_box(tmp_path):
    async with person(tmp_path) as one:
        see(one, message(1))
        await one.sees("message 1")
        await one.pilot.click(offset=(5, 2))
        await one.pilot.press("a")
        assert one.screen.prompt.text == "a"


async def test_a_letter_on_the_page_goes_back_to_the_box(tmp_path):
    async with person(tmp_path) as one:
        see(one, done(1, "a"))
        await one.sees("● tool1")
        await one.pilot.press("shift+tab", "x", "y")
        await one.until(lambda: one.screen.prompt.text == "xy")
