"""Talking on the full screen: messages, commands, interrupting, several sessions, leaving."""

import re
import subprocess
import sys

import pytest

from hermes.app import Wish
from hermes.commands.registry import Command, Context, Outcome
from hermes.protocol.items import Reply as Said
from hermes.store.sqlite import SqliteStore
from tests.services.script import Call, Fault, Reply, call
from tests.tui.rig import person


async def test_a_question_is_answered_on_the_screen(tmp_path):
    async with person(tmp_path, [Reply("Hello **there**.\n\n```python\nx = 1\n```")]) as one:
        await one.says("hi", "› hi", "Hello there.", "x = 1")
        assert one.asked() == ["hi"]
        assert "custom:echo" in one.seen and "/128k" in one.seen


async def test_what_is_typed_before_the_session_is_open_is_sent_once_it_is(tmp_path):
    async with person(tmp_path, [Reply("yes")], early="hello?") as one:
        await one.sees("› hello?", "yes")


async def test_a_tool_shows_its_output_while_it_runs_and_its_time_after(tmp_path):
    command = "echo first; sleep 0.6; echo second"
    async with person(tmp_path, [call("terminal", command=command), Reply("ran")]) as one:
        await one.types("run it")
        await one.sees("● terminal", "first")
        assert "second" not in one.seen.replace(command, "")
        await one.sees("second", "ran", " s)")


async def test_a_changed_file_is_shown_as_a_diff(tmp_path):
    script = [call("write_file", path="a.txt", content="one\ntwo\n"), Reply("written")]
    async with person(tmp_path, script) as one:
        await one.says("write", "+2 -0", "+one", "+two", "written")


async def test_a_thought_is_folded_to_a_line_and_opens_with_details(tmp_path):
    async with person(tmp_path, [Reply("Four.", thought="Two and two.\nThat makes four.")]) as one:
        await one.says("2+2", "▸ thought: Two and two.…", "Four.")
        assert "That makes four" not in one.page
        await one.types("/details thoughts open")
        await one.sees("│ That makes four.")
        await one.types("/details thoughts hidden")
        await one.until(lambda: "Two and two" not in one.page)


async def test_escape_ends_the_turn_and_what_was_said_so_far_stays(tmp_path):
    async with person(tmp_path, [Reply("word " * 20, endless=True), Reply("after")]) as one:
        await one.types("go")
        await one.sees("word word", "(Esc interrupts)")
        await one.pilot.press("escape")
        await one.sees("■ interrupted")
        await one.until(lambda: not one.front.session.busy)
        assert any(isinstance(item, Said) and item.text.startswith("word") for item in one.front.session.history.view())


async def test_the_word_that_a_turn_is_interrupted_goes_with_the_turn(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes.tui.desk.TWICE", 60.0)
    async with person(tmp_path, [Reply("word " * 20, endless=True)]) as one:
        await one.types("go")
        await one.sees("word word")
        await one.pilot.press("ctrl+c")
        await one.sees("■ interrupted")
        await one.until(lambda: "again leaves" not in one.seen)


async def test_ctrl_c_twice_leaves(tmp_path):
    async with person(tmp_path) as one:
        await one.pilot.press("ctrl+c")
        await one.sees("again leaves")
        await one.pilot.press("ctrl+c")
        await one.until(lambda: one.screen.return_value == 0)


async def test_a_message_between_two_ctrl_c_makes_the_second_the_first_again(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes.tui.desk.TWICE", 60.0)
    async with person(tmp_path, [Reply("hello")]) as one:
        await one.pilot.press("ctrl+c")
        await one.sees("again leaves")
        await one.says("hi", "hello")
        await one.pilot.press("a", "ctrl+c")
        await one.until(lambda: one.screen.prompt.text == "")
        assert one.screen.return_value is None


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
async def test_the_first_key_empties_the_box_and_up_brings_back_what_stood_there(tmp_path, key):
    async with person(tmp_path) as one:
        await one.pilot.press("a", "b")
        await one.pilot.press(key)
        await one.until(lambda: one.screen.prompt.text == "")
        assert one.screen.return_value is None
        await one.pilot.press("up")
        assert one.screen.prompt.text == "ab"
        assert not (one.home / "history").exists()
        await one.pilot.press("enter")
        await one.until(lambda: (one.home / "history").exists() and (one.home / "history").read_text() == "ab\n")


async def test_ctrl_d_leaves(tmp_path):
    async with person(tmp_path) as one:
        await one.pilot.press("ctrl+d")
        await one.until(lambda: one.screen.return_value == 0)


async def test_a_session_can_be_left_without_a_trace(tmp_path):
    async with person(tmp_path, [Reply("It is blue."), Reply("It is red.")]) as one:
        await one.says("Which colour?", "It is blue.")
        kept = one.front.session.id
        await one.types("/new now")
        await one.until(lambda: one.front.session.id != kept)
        await one.says("And now?", "It is red.")
        await one.types("/quit --delete now")
        await one.until(lambda: one.screen.return_value == 0)
    async with SqliteStore(tmp_path / "home" / "state.db") as store:
        assert [row.id for row in await store.sessions()] == [kept]


async def test_typing_while_a_turn_runs_interrupts_it_and_keeps_what_was_done(tmp_path):
    async with person(tmp_path, [Reply("long " * 9, endless=True), Reply("as you wish")]) as one:
        await one.types("first")
        await one.sees("long long")
        await one.types("second")
        await one.sees("■ interrupted", "› second", "as you wish")
        said = [message["role"] for message in one.server.last.body["messages"]]
        assert said == ["system", "user", "assistant", "user"]


async def test_typing_while_a_turn_runs_can_wait_for_its_end(tmp_path):
    slow = Reply("one", fault=Fault(delay=3))
    async with person(tmp_path, [slow, Reply("two")], settings="display: {busy_input_mode: queue}\n") as one:
        await one.types("first")
        await one.until(lambda: one.front.session.busy)
        await one.types("second")
        await one.sees("1 queued", "one", "two")
        assert one.asked() == ["first", "second"]
        assert "interrupted" not in one.page


async def test_typing_while_a_turn_runs_can_join_it(tmp_path):
    script = [Reply(calls=(Call("terminal", {"command": "sleep 3"}),)), Reply("noted")]
    async with person(tmp_path, script, settings="display: {busy_input_mode: steer}\n") as one:
        await one.types("first")
        await one.sees("● terminal")
        await one.types("by the way")
        await one.sees("it joins the running turn at its next step", "› by the way", "noted")
        assert one.front.session.history.turn == 1
        assert one.asked() == ["first", "by the way"]


async def test_a_command_answers_on_the_page_and_an_unknown_one_names_the_nearest(tmp_path):
    async with person(tmp_path) as one:
        await one.types("/status")
        await one.sees("model: custom:echo")
        await one.types("/statsu")
        await one.sees("there is no command /statsu (did you mean /status?)")


async def test_a_destructive_command_asks_first(tmp_path):
    async with person(tmp_path, [Reply("hello")]) as one:
        await one.says("hi", "hello")
        session = one.front.session.id
        await one.types("/new")
        await one.sees("Start a new session?", "1  yes")
        await one.pilot.press("3")
        await one.until(lambda: not one.desk.questions.open)
        assert one.front.session.id == session
        await one.types("/new")
        await one.sees("Start a new session?")
        await one.pilot.press("enter")
        await one.until(lambda: one.front.session.id != session and len(one.desk.conversations.all) == 1)
        assert "hello" not in one.page


async def test_two_sessions_work_at_once_and_the_list_leads_from_one_to_the_other(tmp_path):
    async with person(tmp_path, [Reply("slow", fault=Fault(delay=0.8)), Reply("quick")]) as one:
        await one.types("the first thing")
        first = one.front
        await one.until(lambda: first.session.busy)
        await one.pilot.press("ctrl+n")
        await one.until(lambda: one.front is not first)
        await one.says("the second thing", "quick")
        assert "slow" not in one.page and "2 sessions" in one.seen
        await one.pilot.press("ctrl+t")
        await one.sees("●  the first thing", "○  the second thing (in front)")
        await one.pilot.press("up", "enter")
        await one.until(lambda: one.front is first)
        await one.sees("› the first thing", "slow")


async def test_a_session_goes_on_where_it_stopped(tmp_path):
    async with person(tmp_path, [Reply("It is blue.")]) as one:
        await one.says("Which colour?", "It is blue.")
        session = one.front.session.id
    async with person(tmp_path, [Reply("Still blue.")], wish=Wish(resume=session)) as one:
        await one.sees("Which colour? · one exchange so far", "You: Which colour?", "Hermes: It is blue.")
        await one.says("And now?", "Still blue.")
        assert one.asked() == ["Which colour?", "And now?"]


async def test_a_resumed_session_can_begin_with_one_line(tmp_path):
    async with person(tmp_path, [Reply("It is blue.")]) as one:
        await one.says("Which colour?", "It is blue.")
        session = one.front.session.id
    quiet = "display: {resume_display: minimal}\n"
    async with person(tmp_path, wish=Wish(resume=session), settings=quiet) as one:
        await one.sees("· Which colour? · one exchange so far")
        assert "It is blue" not in one.page


async def test_a_wrong_wish_ends_the_screen_with_its_error(tmp_path):
    async with person(tmp_path, wish=Wish(resume="nothing")) as one:
        assert str(one.screen.error) == "there is no session 'nothing'"


@pytest.mark.parametrize(("mode", "shown"), [("off", 0), ("new", 1), ("all", 2)])
async def test_tool_progress_tells_how_many_calls_are_shown(tmp_path, mode, shown):
    calls = Reply(calls=(Call("terminal", {"command": "true"}), Call("terminal", {"command": "true"})))
    async with person(tmp_path, [calls, Reply("ready")], settings=f"display: {{tool_progress: '{mode}'}}\n") as one:
        await one.says("go", "ready")
        assert one.page.count("● terminal") == shown


async def test_tools_open_and_fold_with_ctrl_o(tmp_path):
    async with person(tmp_path, [call("terminal", command="seq 20"), Reply("ready")]) as one:
        await one.says("go", "… 17 more lines")
        await one.pilot.press("ctrl+o")
        await one.until(lambda: "\n  20" in one.page)
        await one.pilot.press("ctrl+o")
        await one.sees("… 17 more lines")


async def test_what_was_said_before_can_be_scrolled_to_in_a_resumed_session(tmp_path):
    async with person(tmp_path, [Reply(f"answer {number}\n\nin full") for number in range(3)]) as one:
        for number in range(3):
            await one.says(f"question {number}", f"answer {number}")
        session = one.front.session.id
    async with person(tmp_path, wish=Wish(resume=session), size=(80, 24)) as one:
        await one.sees("3 exchanges so far")
        assert "in full\n\n› question 1" not in one.page
        await one.pilot.press("pageup", "pageup", "pageup")
        await one.sees("› question 0", "in full")


async def test_a_reference_is_sent_with_what_it_names(tmp_path):
    async with person(tmp_path, [Reply("read")]) as one:
        (one.work / "a.txt").write_text("the words of a\n" + "more\n" * 30 + "the end\n")
        await one.says("what is in @file:a.txt ?", "› what is in @file:a.txt ?", "the words of a", "more lines", "read")
        assert "the end" in str(one.server.last.body["messages"])
        assert "the end" not in one.page
        await one.pilot.press("shift+tab", "enter")
        await one.until(lambda: "the end" in one.page)
        await one.types("and @file:nothing.txt ?")
        await one.sees("nothing.txt")


async def test_a_picture_goes_along(tmp_path):
    async with person(tmp_path, [Reply("seen")]) as one:
        picture = one.work / "a.png"
        picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
        await one.desk.talk.take("look", (picture,))
        await one.sees("› look", "[a.png]", "seen")


async def test_the_last_answer_is_copied(tmp_path):
    async with person(tmp_path, [Reply("Four.")]) as one:
        await one.says("2+2", "Four.")
        await one.types("/copy")
        await one.sees("copied, if the terminal lets programs do that")
        assert one.screen.clipboard == "Four."


async def test_commands_and_their_arguments_are_offered(tmp_path):
    async with person(tmp_path) as one:
        await one.pilot.press(*"/deta")
        await one.sees("/details")
        assert [offer.text for offer in await one.desk.complete("/skin po", 8)] == ["poseidon"]


async def test_what_typing_does_can_be_changed_on_the_way(tmp_path):
    async with person(tmp_path) as one:
        await one.types("/busy steer")
        await one.sees("typing while a turn runs: steer")
        assert one.desk.talk.mode == "steer"


async def test_times_and_what_a_turn_took_are_shown_for_those_who_want_them(tmp_path):
    async with person(tmp_path, [Reply("Four.")]) as one:
        await one.says("two and two?", "Four.")
        await one.until(lambda: not one.front.session.busy)
        plain = one.page
        await one.types("/timestamps")
        await one.sees("timestamps: on")
        await one.types("/footer on")
        await one.sees("footer: on")
        assert re.search(r"^\d\d:\d\d › two and two\?\n\n\d\d:\d\d\nFour\.\n", one.page, re.MULTILINE)
        assert re.search(r"^custom:echo · .* · \d+\.\d s$", one.page, re.MULTILINE)
        await one.types("/ts off")
        await one.sees("timestamps: off")
        await one.types("/footer")
        await one.sees("footer: off")
        assert one.page.startswith(plain)


async def test_the_line_of_figures_comes_and_goes(tmp_path):
    async with person(tmp_path) as one:
        await one.sees("custom:echo │")
        await one.types("/sb")
        await one.sees("line of figures: off")
        await one.until(lambda: "custom:echo │" not in one.seen)
        await one.types("/statusbar on")
        await one.sees("custom:echo │")


async def test_something_else_moves_while_something_is_at_work(tmp_path):
    async with person(tmp_path, [Reply("one", fault=Fault(delay=5.0))]) as one:
        await one.types("/indicator")
        await one.sees("indicator: skin")
        await one.types("/indicator ascii")
        await one.sees("indicator: ascii")
        await one.types("go")
        await one.until(lambda: re.search(r"^ *[|/\\-] \w+ … \d+ s", one.seen, re.MULTILINE))


async def test_the_editor_and_the_clipboard_are_reached_by_commands_too(tmp_path):
    async with person(tmp_path) as one:

        def told(text: str) -> bool:
            return any(text in notice.message for notice in one.screen._notifications)

        await one.types("/compose Dear sir,")
        # Pilot has no terminal to lend: the editor gets the text, and is refused.
        await one.until(lambda: told("this terminal cannot be lent to an editor"))
        assert one.screen.prompt.text == "Dear sir,"
        one.screen.prompt.discard()
        await one.types("/paste")
        await one.until(lambda: told("pictures cannot be pasted here"))


async def test_the_bell_rings_when_a_turn_is_over(tmp_path, monkeypatch):
    rung: list[bool] = []
    async with person(tmp_path, [Reply("done")], settings="display: {bell_on_complete: true}\n") as one:
        monkeypatch.setattr(one.screen, "bell", lambda: rung.append(True))
        await one.says("go", "done")
        await one.until(lambda: rung == [True])


async def test_git_is_told_in_the_banner(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    for command in (["init", "-q", "-b", "trunk"], ["config", "user.name", "x"]):
        subprocess.run(["git", *command], cwd=work, check=True)
    (work / "new.txt").write_text("new")
    async with person(tmp_path) as one:
        await one.sees("~/work (trunk, 1 changed)")


async def test_a_session_that_is_closed_elsewhere_says_so(tmp_path):
    async with person(tmp_path, [Reply("hello")]) as one:
        await one.says("hi", "hello")
        await one.front.session.close("elsewhere")
        await one.sees("the session was closed elsewhere")


async def test_servers_that_work_are_counted(tmp_path):
    server = f"mcp_servers: {{time: {{command: {sys.executable}, args: ['-c', 'import sys; sys.exit(3)']}}}}\n"
    async with person(tmp_path, settings=server) as one:
        await one.sees("MCP 0/1")


async def test_a_question_in_another_session_is_told_at_the_bottom(tmp_path):
    ask = call("terminal", command="touch x && chmod 666 x")
    async with person(tmp_path, [ask, Reply("done")]) as one:
        await one.types("first")
        first = one.front
        await one.until(lambda: first.asked)
        await one.pilot.press("ctrl+n")
        await one.until(lambda: one.front is not first)
        await one.sees("1 asks: Ctrl+T")
        assert not one.desk.questions.open
        await one.pilot.press("ctrl+t")
        await one.sees("?  first")
        await one.pilot.press("up", "enter")
        await one.sees("May I run")
        await one.pilot.press("n")
        await one.sees("done")


async def test_an_unforeseen_error_ends_the_screen_and_shows_no_variables(tmp_path):
    def fail() -> None:
        secret = "hunter2"
        raise ZeroDivisionError(len(secret))

    with pytest.raises(ZeroDivisionError):
        async with person(tmp_path) as one:
            one.screen.call_later(fail)
            await one.until(lambda: one.screen.error is not None)
            assert isinstance(one.screen.error, ZeroDivisionError)
            assert one.screen._exit_renderables == []


async def test_a_command_that_breaks_is_told_and_the_session_goes_on(tmp_path):
    async def breaks(ctx: Context, argument: str) -> Outcome:
        raise ZeroDivisionError("oh")

    async with person(tmp_path, [Reply("still here")]) as one:
        one.desk.talk.registry.commands += (Command(name="breaks", help="", run=breaks),)
        await one.types("/breaks")
        await one.sees("internal error: ZeroDivisionError: oh")
        await one.says("hi", "still here")


def test_the_first_paint_loads_neither_the_app_nor_what_a_reply_needs():
    loaded = "import sys, hermes.tui.screen, hermes.cli.full; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    late = {"hermes.app", "hermes.agent.session", "hermes.store.sqlite", "hermes.tui.desk", "httpx2", "mcp", "pygments"}
    assert late & set(out) == set()
    assert "markdown_it" not in out and "textual.widgets._markdown" not in out
