"""What a session asks, put to the person in a dialog."""

import asyncio

import msgspec
from textual.widgets import Input, OptionList

from hermes.protocol.events import Answered, Asked, Form, Login, Question, Request, Secret
from hermes.protocol.ops import Answer
from hermes.tui import dialog
from hermes.tui.dialog import Dialog, choices
from tests.services.script import Reply, call
from tests.tui.rig import Person, person

MAKE = call("terminal", command="touch made && chmod 666 made")
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "who you are"},
        "age": {"type": "integer"},
        "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
    },
    "required": ["name"],
}


async def ask(one: Person, request: Request) -> asyncio.Task[Answered]:
    """Let the session ask; the dialog is there when this returns."""

    async def answer() -> Answered:
        answered = await one.front.session.ask(request, "", 30)
        assert answered is not None
        return answered

    before = set(one.screen.query(Dialog))  # one that was just answered may still have the keys

    def takes_keys() -> bool:
        focused = one.screen.focused
        return isinstance(focused, Input | OptionList) and not before.intersection(focused.ancestors)

    task = asyncio.create_task(answer())
    await one.until(takes_keys)
    return task


async def test_what_is_dangerous_asks_and_runs_on_a_yes(tmp_path):
    async with person(tmp_path, [MAKE, Reply("made it")]) as one:
        await one.types("make it")
        await one.sees("May I run in", "touch made && chmod 666 made", "o  yes, once", "a  yes, always", "n  no")
        await one.pilot.press("o")
        await one.sees("→ once", "made it")
        assert (one.work / "made").exists()
        assert one.screen.prompt.display and one.screen.focused is not None


async def test_a_no_with_its_reason_reaches_the_model(tmp_path):
    async with person(tmp_path, [MAKE, Reply("as you wish")]) as one:
        await one.types("make it")
        await one.sees("b  no, because …")
        await one.pilot.press("b", *"not here", "enter")
        await one.sees("→ deny: not here", "as you wish")
        assert not (one.work / "made").exists()
        assert "not here" in str(one.server.last.body["messages"][-1])


async def test_a_yes_for_the_session_is_not_asked_again(tmp_path):
    async with person(tmp_path, [MAKE, Reply("once"), MAKE, Reply("twice")]) as one:
        await one.types("make it")
        await one.sees("s  yes, for this session")
        await one.pilot.press("down", "enter")
        await one.sees("→ session", "once")
        await one.says("again", "twice")
        assert one.page.count("? run in") == 1


async def test_a_key_that_was_meant_for_the_box_answers_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(dialog, "EARLY", 60.0)
    async with person(tmp_path, [MAKE, Reply("late")]) as one:
        await one.types("make it")
        await one.until(lambda: one.desk.questions.open)
        await one.pilot.press("o", "enter")
        assert one.front.asked and one.front.session.busy
        monkeypatch.setattr(dialog, "EARLY", 0.0)
        await one.pilot.press("n")
        await one.sees("→ deny", "late")


async def test_a_long_command_can_be_seen_in_full(tmp_path):
    command = "chmod 666 x\n" + "\n".join(f"echo line {n}" for n in range(20))
    async with person(tmp_path, [call("terminal", command=command), Reply("ok")], size=(100, 50)) as one:
        await one.types("go")
        await one.sees("f  show all of it")
        assert "echo line 18" not in one.seen.partition("May I")[2]
        await one.pilot.press("f")
        await one.until(lambda: "echo line 19" in one.seen.partition("May I")[2])
        await one.pilot.press("n")
        await one.sees("ok")


async def test_a_long_line_can_be_seen_in_full_and_the_choices_stay_in_sight(tmp_path):
    command = "chmod 666 x " + " ".join(f"word{n}" for n in range(300))
    async with person(tmp_path, [call("terminal", command=command), Reply("ok")], size=(60, 24)) as one:
        await one.types("go")
        await one.sees("f  show all of it")
        assert "word299" not in one.seen
        await one.pilot.press("f")
        await one.turns_to("word299")
        await one.sees("o  yes, once", "f  show all of it")
        await one.pilot.press("f", "n")
        await one.sees("ok")
        assert one.page.count("word") < 60 and "? run in" in one.page


async def test_while_it_asks_the_screen_says_that_it_waits(tmp_path):
    async with person(tmp_path, [MAKE, Reply("ok")]) as one:
        await one.types("go")
        await one.sees("waiting for your answer …")
        await one.pilot.press("n")
        await one.sees("ok")
        assert "waiting" not in one.seen


async def test_a_question_offers_its_choices_or_another_answer(tmp_path):
    async with person(tmp_path) as one:
        task = await ask(one, Question("Which colour?", ("red", "blue")))
        await one.sees("Which colour?", "1  red", "2  blue")
        await one.pilot.press("2")
        assert await task == Answered((await task).request_id, how="answered", choice="blue", by="person")
        task = await ask(one, Question("Which colour?", ("red", "blue")))
        await one.pilot.press("0", *"green", "enter")
        assert (await task).text == "green"


async def test_a_long_question_can_be_read_to_its_end(tmp_path):
    async with person(tmp_path, size=(60, 24)) as one:
        text = "Which?\n" + "\n".join(f"reason {n}" for n in range(40))
        answered = await ask(one, Question(text, ("this", "that")))
        await one.sees("Which?", "reason 0", "1  this", "0  something else …", "f  show all of it")
        await one.pilot.press("f")
        await one.turns_to("reason 39")
        await one.sees("2  that")
        await one.pilot.press("2")
        assert (await answered).choice == "that"


async def test_a_question_without_choices_takes_a_line(tmp_path):
    async with person(tmp_path) as one:
        task = await ask(one, Question("How many?"))
        await one.pilot.press(*"three", "enter")
        assert (await task).text == "three"


async def test_a_secret_is_not_shown_and_not_stored(tmp_path):
    async with person(tmp_path) as one:
        task = await ask(one, Secret("The password?"))
        await one.pilot.press(*"hunter2")
        await one.sees("The password?", "•••••••")
        await one.pilot.press("enter")
        assert (await task).how == "answered"
        assert "hunter2" not in one.page
        assert b"hunter2" not in (one.home / "state.db").read_bytes() + (one.home / "state.db-wal").read_bytes()


async def test_a_form_has_a_line_for_each_field(tmp_path):
    async with person(tmp_path) as one:
        task = await ask(one, Form("The server asks", msgspec.Raw(msgspec.json.encode(SCHEMA))))
        await one.sees("name: who you are", "age", "small", "s  send")
        await one.pilot.press(*"Ada", "enter", *"36", "enter", "enter", "s")
        assert (await task).text == "name: Ada\nage: 36\nsize: small"


async def test_a_login_shows_its_address(tmp_path):
    async with person(tmp_path) as one:
        task = await ask(one, Login("https://example.org/login", "Log in, please"))
        await one.sees("Log in, please", "https://example.org/login")
        await one.pilot.press("n")
        assert (await task).choice == "decline"


async def test_a_question_that_is_answered_elsewhere_goes_away(tmp_path):
    async with person(tmp_path) as one:
        task = await ask(one, Question("Which?", ("a", "b")))
        (request_id,) = one.front.asked
        await one.front.session.send(Answer(request_id=request_id, choice="a"))
        await one.until(lambda: not one.desk.questions.open)
        assert (await task).choice == "a" and one.screen.prompt.display


async def test_escape_ends_the_turn_that_asks(tmp_path):
    async with person(tmp_path, [MAKE]) as one:
        await one.types("make it")
        await one.sees("May I run")
        await one.pilot.press("escape")
        await one.sees("→ taken back", "■ interrupted")
        assert not one.desk.questions.open and not (one.work / "made").exists()


def test_every_choice_of_an_approval_has_a_key_of_its_own():
    for request in (Question("?", tuple("abcdefgh")), Login("http://a"), Form("f", msgspec.Raw(b"{}"))):
        keys = [one.key for one in choices(Asked("r", request))]
        assert len(keys) == len(set(keys))
