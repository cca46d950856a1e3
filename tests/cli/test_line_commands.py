"""Slash commands in the line chat: what it does of what a command wants of the screen, and what it declines."""

import base64
from pathlib import Path

from tests.cli.test_lines import home
from tests.services.script import Reply

ASKS = "[y]es, [a]lways without asking, [N]o\n"


async def test_a_person_who_says_always_is_asked_no_more(tmp_path: Path):
    async with home(tmp_path, [Reply("One."), Reply("Two.")]) as one, one.chat() as chat:
        await chat.say("first", "One.", "› ")
        await chat.say("second", "Two.", "› ")
        await chat.say("/undo", f"Take back the last exchange? {ASKS}", "› ")
        await chat.say("a", "Took back the last exchange.", "› ")
        await chat.say("/undo", "Took back the last exchange.", "› ")
        assert "destructive_slash_confirm: false" in (one.home / "config.yaml").read_text()


async def test_an_answer_from_the_background_comes_while_the_chat_waits(tmp_path: Path):
    async with home(tmp_path, [Reply("Hello."), Reply("It is **42**.\n\nReally.")]) as one, one.chat() as chat:
        await chat.say("hi", "Hello.", "› ")
        await chat.say(
            "/btw what is the answer?", "At work in session ", "answers (/resume ", "It is 42.\n", "Really.\n"
        )
        await chat.until("› ")
        background, here = sorted(await one.sessions(), key=lambda row: row.source)
        assert (background.source, here.source) == ("background", "cli")
        await chat.say(f"/resume {background.id}", "You: what is the answer?", "› ")


async def test_a_branch_goes_on_with_the_same_past(tmp_path: Path):
    async with home(tmp_path, [Reply("One."), Reply("Two.")]) as one, one.chat() as chat:
        await chat.say("first", "One.", "› ")
        await chat.say("/branch", "This is a branch, session ", "You: first", "Hermes: One.", "› ")
        await chat.say("second", "Two.", "› ")
        assert one.asked() == ["first", "second"]
        assert sorted(row.totals.messages for row in await one.sessions()) == [2, 4]


async def test_the_line_chat_does_what_it_can_for_the_screen_and_declines_the_rest(tmp_path: Path):
    async with home(tmp_path, [Reply("Copy **me**.")]) as one, one.chat() as chat:
        await chat.say("hi", "Copy **me**.", "› ")
        await chat.say("/copy", "copied, if the terminal lets programs do that\n", "› ")
        assert f"\x1b]52;c;{base64.b64encode(b'Copy **me**.').decode()}\x07" in chat.written
        await chat.say("/sessions", " hi, 2 messages, ", "(this one)", "› ")
        await chat.say("/reasoning show", "thoughts are shown\n", "› ")
        await chat.say("/details thoughts folded", "thoughts are hidden\n", "› ")
        for command in ("skin ares", "verbose", "busy queue", "details tools open"):
            name = command.split()[0]
            await chat.say(f"/{command}", f"/{name} is for the full screen: hermes --tui\n", "› ")
        await chat.say("/redraw", "/help lists the commands", "› ")


async def test_a_command_of_ones_own_asks_at_the_keyboard_before_it_does_something_dangerous(tmp_path: Path):
    quick = "quick_commands: {drop: {type: exec, command: touch x && chmod 666 x}}\n"
    async with home(tmp_path, more=quick) as one, one.chat() as chat:
        await chat.say("/drop", "May I run in", "[d]eny", "› ")
        await chat.say("d", "person said no", "› ")
        assert list(one.work.iterdir()) == []
        await chat.say("/drop", "May I run in", "[d]eny", "› ")
        await chat.say("o", "Done, without a word.", "› ")
        assert [path.name for path in one.work.iterdir()] == ["x"]
