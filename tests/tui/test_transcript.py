"""The conversation on the screen: scrolling, folding, marking."""

from textual.widgets import TextArea

from hermes.protocol.events import Event, ItemDelta, ItemDone, ItemStarted, TurnEnded
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


async def test_the_end_of_a_turn_is_seen_while_much_of_its_answer_is_still_to_be_drawn(tmp_path):
    async with person(tmp_path) as one:
        text = "".join(f"line {number}\n\n" for number in range(1_500))
        reply = Said(id="r", turn=1, step=1, index=0, text="", status="running")
        see(one, ItemStarted(reply), ItemDelta("r", "text", 0, text))
        await one.sees("characters more")
        see(one, ItemDone(Said(id="r", turn=1, step=1, index=0, text=text)), TurnEnded("interrupted"))
        await one.sees("■ interrupted")
        assert one.front.page.behind and "line 1499" not in one.front.page.text()
        await one.until(lambda: not one.front.page.behind)
        await one.sees("line 1499", "■ interrupted")
        assert one.page.count("line ") == 1_500 and "characters more" not in one.page


async def test_who_reads_further_up_stays_there_while_a_long_answer_is_drawn_anew(tmp_path):
    async with person(tmp_path) as one:
        text = "".join(f"line {number}\n\n" for number in range(500))
        see(one, ItemDone(Said(id="r", turn=1, step=1, index=0, text=text)))
        await one.sees("line 499")
        transcript = one.screen.transcript
        transcript.scroll_to(y=900, animate=False)
        await one.sees("line 450")
        await one.pilot.resize_terminal(80, 30)
        await one.until(lambda: not one.front.page.behind)
        await one.sees("line 450")
        assert transcript.scroll_offset.y == 900


async def test_what_is_drawn_at_once_is_drawn_soon_no_more(tmp_path):
    async with person(tmp_path) as one:
        see(one, ItemDone(Said(id="r", turn=1, step=1, index=0, text="line\n\n" * 500)))
        transcript = one.screen.transcript
        for _ in range(5):
            transcript.draw()
        waiting = [timer for timer in transcript._timers if timer._task is not None and not timer._task.done()]
        assert len(waiting) == 1
