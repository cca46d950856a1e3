"""The line chat as a person has it: the real command at a terminal or behind a pipe, and a scripted model."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from hermes.protocol.events import ItemDone, SessionClosed, SessionOpened, TurnEnded
from hermes.protocol.items import Reply as Said
from hermes.protocol.ops import Close
from hermes.protocol.store import SessionRow
from hermes.protocol.wire import decode_event
from hermes.store.sqlite import SqliteStore
from tests.cli.terminal import Terminal, terminal
from tests.services.model_server import ModelServer
from tests.services.script import Call, Fault, Reply, call, error

CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"


def make(name: str) -> str:
    """A command that asks first, and makes a file."""
    return f"touch {name} && chmod 666 {name}"


class Home:
    """A home, a folder to work in and a model server that follows a script."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.home, self.work, self.server = folder / "home", folder / "work", server
        self.environ = {
            "HERMES_HOME": str(self.home),
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "TERM": "xterm",
        }

    def set_up(self, more: str) -> None:
        self.home.mkdir()
        self.work.mkdir()
        model = f"model: {{provider: custom, name: echo, base_url: {self.server.base_url}}}\n"
        (self.home / "config.yaml").write_text(model + more)

    @asynccontextmanager
    async def chat(self, *args: str, columns: int = 80) -> AsyncIterator[Terminal]:
        async with terminal(["-m", "hermes", "--cli", *args], self.environ, self.work, columns) as there:
            await there.until("› ")
            yield there

    async def pipe(self, *args: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hermes",
            *args,
            env=self.environ,
            cwd=self.work,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def piped(self, text: str, *args: str) -> tuple[int | None, str, str]:
        program = await self.pipe(*args)
        out, err = await asyncio.wait_for(program.communicate(text.encode()), 20)
        return program.returncode, out.decode(), err.decode()

    async def sessions(self) -> list[SessionRow]:
        async with SqliteStore(self.home / "state.db") as store:
            return await store.sessions()

    def asked(self) -> list[Any]:
        """What people said in the last request."""
        body = self.server.last.body
        return [message["content"] for message in body["messages"] if message["role"] == "user"]


@asynccontextmanager
async def home(folder: Path, script: Sequence[Reply] = (), more: str = "") -> AsyncIterator[Home]:
    async with ModelServer(list(script)) as server:
        one = Home(folder, server)
        one.set_up(more)
        yield one
    assert server.violations == []


STORY = """\
Hermes 0.1.0 · custom:echo · WORK · SESSION
/help lists the commands, Ctrl+D leaves

› hi

Hello there.

Second paragraph.

› over \\
› two lines

● terminal  echo one; echo two; echo…
    one
    two

    three, four

It said one and two.

› /title

Title: hi

› /tilte

there is no command /tilte (did you mean /title?)

›

To go on: hermes --resume SESSION
"""


async def test_a_conversation_in_a_terminal_of_forty_columns(tmp_path: Path):
    script = [
        Reply("Hello there.\n\nSecond paragraph."),
        call("terminal", command="echo one; echo two; echo; echo three, four"),
        Reply("It said one and two."),
    ]
    async with home(tmp_path, script) as one, one.chat(columns=40) as chat:
        await chat.say("hi", "paragraph.\n", "› ")
        await chat.say("over \\", "› ")
        await chat.say("two lines", "one and two.", "› ")
        assert one.asked() == ["hi", "over \ntwo lines"]
        await chat.say("/title", "Title: hi", "› ")
        await chat.say("/tilte", "did you mean", "› ")
        chat.type(CTRL_D)
        assert await chat.end() == 0
        [row] = await one.sessions()
        assert row.end_reason == "left"
        seen = chat.screen.replace(row.id, "SESSION").replace(str(one.work), "WORK")
        assert re.sub(r"echo[^\n]*…(  \(\d\.\d s\))?", "echo one; echo two; echo…", seen) == STORY
        assert all(len(line) <= 40 for line in seen.splitlines() if line.startswith("●"))


async def test_pasted_lines_are_one_message_and_twice_ctrl_c_leaves(tmp_path: Path):
    async with home(tmp_path) as one, one.chat() as chat:
        await chat.say("\x1b[200~one\ntwo\x1b[201~", "done", "› ")
        assert one.asked() == ["one\ntwo"]
        chat.type("half a li")
        await chat.until("half a li")
        chat.type(CTRL_C)
        await chat.until("Ctrl+C again leaves\n")
        await chat.until("› half a li")
        chat.type(CTRL_C)
        assert await chat.end() == 0
        assert chat.shows_what_is_typed
        assert chat.screen.rstrip().endswith("To go on: hermes --resume " + (await one.sessions())[0].id)


async def test_approvals_are_asked_and_only_what_is_offered_is_an_answer(tmp_path: Path):
    script = [
        Reply(calls=(Call("terminal", {"command": make("made")}), Call("terminal", {"command": make("not")}))),
        Reply("Done with it."),
    ]
    async with home(tmp_path, script) as one, one.chat() as chat:
        await chat.say("go", "May I run in", f"    {make('made')}\n    [o]nce  [s]ession  [a]lways  [d]eny\n", "› ")
        await chat.say("maybe", "type one of the letters in brackets\n", "› ")
        await chat.say("o", "  → once\n", f"{make('not')}\n    [o]nce", "› ")
        await chat.say("d I said no", "  → deny: I said no\n", "Done with it.")
        assert [path.name for path in one.work.iterdir()] == ["made"]


async def test_a_question_that_timed_out_does_not_swallow_the_next_line(tmp_path: Path):
    script = [call("terminal", command=make("no")), Reply("I did not."), Reply("Heard you.")]
    async with home(tmp_path, script, "approvals: {timeout: 0.5}\n") as one, one.chat() as chat:
        await chat.say("go", "[d]eny", "  → no answer in time\n", "I did not.")
        await chat.say("o", "that question is over\n")
        await chat.say("hello", "Heard you.")
        assert one.asked() == ["go", "hello"]
        assert list(one.work.iterdir()) == []


async def test_what_was_typed_before_a_question_does_not_answer_it(tmp_path: Path):
    script = [call("terminal", command="cat gate"), call("terminal", command=make("no")), Reply("Fine.")]
    async with home(tmp_path, script) as one, one.chat() as chat:
        os.mkfifo(one.work / "gate")
        await chat.say("go", "cat gate …")
        chat.type("always\n")
        await chat.until("always")
        (one.work / "gate").write_text("open")
        await chat.until("[d]eny")
        await chat.until("› ")
        await chat.say("d", "  → deny\n", "Fine.")
        assert [path.name for path in one.work.iterdir()] == ["gate"]


async def test_the_model_asks_with_choices(tmp_path: Path):
    script = [call("clarify", question="Which colour?", choices=["red", "blue"]), Reply("Blue it is.")]
    async with home(tmp_path, script) as one, one.chat() as chat:
        await chat.say("go", "? Which colour?\n    1 red\n    2 blue\n", "› ")
        await chat.say("2", "  → blue\n", "Blue it is.")
        assert one.server.last.body["messages"][-1]["content"] == "blue"


async def test_ctrl_c_ends_the_turn_and_the_chat_goes_on(tmp_path: Path):
    slow = Reply("never", fault=Fault(delay=60))
    async with home(tmp_path, [slow, Reply("Still here.")]) as one, one.chat() as chat:
        chat.type("go" + ENTER)
        await one.server.received(1)
        chat.type(CTRL_C)
        await chat.until("■ interrupted\n")
        await chat.until("› ")
        await chat.say("there?", "Still here.")


async def test_ctrl_c_counts_as_the_first_one_again_after_something_was_said(tmp_path: Path):
    slow = Reply("never", fault=Fault(delay=60))
    async with home(tmp_path, [slow, Reply("Still here.")]) as one, one.chat() as chat:
        chat.type(CTRL_C)
        await chat.until("Ctrl+C again leaves\n")
        chat.type("go" + ENTER)
        await one.server.received(1)
        chat.type(CTRL_C)
        await chat.until("■ interrupted\n")
        await chat.until("› ")
        await chat.say("there?", "Still here.")


async def test_ctrl_c_at_a_question_ends_the_turn(tmp_path: Path):
    async with home(tmp_path, [call("terminal", command=make("no"))]) as one, one.chat() as chat:
        await chat.say("go", "[d]eny", "› ")
        chat.type(CTRL_C)
        await chat.until("  → taken back\n")
        await chat.until("■ interrupted\n")
        await chat.say("next", "done")
        assert one.asked()[-1] == "next"


async def test_sigterm_closes_the_session_and_leaves(tmp_path: Path):
    slow = Reply("never", fault=Fault(delay=60))
    async with home(tmp_path, [slow]) as one, one.chat() as chat:
        chat.type("go" + ENTER)
        await one.server.received(1)
        chat.signal(signal.SIGTERM)
        assert await chat.end() == 130
        assert "■ interrupted" in chat.screen
        assert [(row.end_reason, row.owner) for row in await one.sessions()] == [("left", "")]


async def test_a_session_that_is_closed_elsewhere_ends_the_chat(tmp_path: Path):
    async with home(tmp_path) as one, one.chat() as chat:
        await chat.say("first", "done", "› ")
        [row] = await one.sessions()
        async with SqliteStore(one.home / "state.db") as store:
            await store.put(row.id, Close(reason="enough"))
        await chat.until("the session was closed elsewhere\n")
        assert await chat.end() == 0
        assert [row.end_reason for row in await one.sessions()] == ["enough"]


async def test_sessions_are_changed_without_leaving(tmp_path: Path):
    script = [Reply("To plant."), Reply("To cook."), Reply("Again.")]
    async with home(tmp_path, script) as one, one.chat() as chat:
        await chat.say("the garden", "To plant.", "› ")
        await chat.say("/new the kitchen", "Start a new session? [y]es, [a]lways without asking, [N]o\n", "› ")
        await chat.say("y", "Hermes 0.1.0", "› ")
        await chat.say("food", "To cook.")
        assert one.asked() == ["food"]
        await chat.until("› ")
        await chat.say("/resume the garden", "You: the garden\n\nHermes: To plant.\n", "› ")
        await chat.say("/retry", "turn 1 is taken back", "› the garden\n", "Again.", "› ")
        await chat.say("/clear now", "Hermes 0.1.0", "› ")
        chat.type("/quit" + ENTER)
        assert await chat.end() == 0
        titles = {row.title: row.end_reason for row in await one.sessions()}
        assert titles == {"the garden": "left", "the kitchen": "left"}
        assert "To go on" not in chat.screen


async def test_a_session_can_be_left_without_a_trace(tmp_path: Path):
    async with home(tmp_path) as one, one.chat() as chat:
        await chat.say("first", "done", "› ")
        await chat.say("/quit --delete", "Leave, and delete this session for good? [y]es", "› ")
        chat.type("y" + ENTER)
        assert await chat.end() == 0
        assert await one.sessions() == []
        assert "To go on" not in chat.screen


async def test_a_destructive_command_without_a_yes_does_nothing(tmp_path: Path):
    async with home(tmp_path) as one, one.chat() as chat:
        await chat.say("first", "done", "› ")
        await chat.say("/undo", "Take back the last exchange? [y]es, [a]lways without asking, [N]o\n", "› ")
        chat.type(ENTER)
        await chat.until("› ")
        await chat.say("second", "done")
        assert one.asked() == ["first", "second"]


async def test_a_process_that_ends_is_heard_at_the_prompt_and_nothing_typed_is_lost(tmp_path: Path):
    command = "until test -e go; do sleep 0.05; done"
    script = [
        call("terminal", command=command, background=True, notify_on_complete=True),
        Reply("It runs."),
        Reply("It has ended."),
        Reply("Heard you."),
    ]
    async with home(tmp_path, script) as one, one.chat("--yolo") as chat:
        await chat.say("start it", "It runs.", "› ")
        chat.type("half")
        (one.work / "go").touch()
        await chat.until("› [process] [background process proc_")
        await chat.until("It has ended.\n")
        await chat.until("› half")
        await chat.say(" a line", "Heard you.")
        assert one.asked()[-1] == "half a line"


async def test_each_line_of_a_pipe_is_a_message(tmp_path: Path):
    async with home(tmp_path, [Reply("One."), Reply("Two.")]) as one:
        assert await one.piped("first\n\n/etc/hosts\n") == (0, "One.\n\nTwo.\n", "")
        assert one.asked() == ["first", "/etc/hosts"]
        assert [row.end_reason for row in await one.sessions()] == ["left"]


async def test_nobody_is_asked_behind_a_pipe(tmp_path: Path):
    async with home(tmp_path, [call("terminal", command=make("no")), Reply("Not done.")]) as one:
        code, out, _ = await one.piped("go")
        assert code == 0
        assert "  refused\n    This needs approval" in out
        assert list(one.work.iterdir()) == []


async def test_the_exit_code_is_that_of_the_last_turn(tmp_path: Path):
    async with home(tmp_path, [Reply("One."), error(400), error(400), Reply("Two.")]) as one:
        code, out, _ = await one.piped("first\nsecond\n")
        assert (code, out.splitlines()[0], out.splitlines()[-1][:2]) == (1, "One.", "✗ ")
        code, out, _ = await one.piped("first\nsecond\n")
        assert (code, out.splitlines()[0][:2], out.splitlines()[-1]) == (0, "✗ ", "Two.")


async def test_an_empty_pipe_leaves_nothing_behind(tmp_path: Path):
    async with home(tmp_path) as one:
        assert await one.piped("") == (0, "", "")
        assert await one.sessions() == []


async def test_events_of_a_pipe_as_json_lines(tmp_path: Path):
    async with home(tmp_path, [Reply("One."), Reply("Two.")]) as one:
        code, out, _ = await one.piped("first\nsecond\n", "--json")
        bodies = [decode_event(line.encode()).body for line in out.splitlines()]
        assert (type(bodies[0]), bodies[-1]) == (SessionOpened, SessionClosed("left"))
        said = [body.item.text for body in bodies if isinstance(body, ItemDone) and isinstance(body.item, Said)]
        assert (code, said) == (0, ["One.", "Two."])
        assert [body for body in bodies if isinstance(body, TurnEnded)] == [TurnEnded("done")] * 2


async def test_a_signal_ends_a_pipe_that_is_still_open(tmp_path: Path):
    async with home(tmp_path, [Reply("One."), Reply("never", fault=Fault(delay=60))]) as one:
        for number, lines in ((signal.SIGTERM, b"first\n"), (signal.SIGINT, b"second\n")):
            program = await one.pipe()
            assert program.stdin and program.stdout
            program.stdin.write(lines)
            if number == signal.SIGTERM:
                assert await asyncio.wait_for(program.stdout.readline(), 10) == b"One.\n"
            else:
                await one.server.received(2)
            program.send_signal(number)
            assert await asyncio.wait_for(program.wait(), 10) == 130
            program.stdin.close()


async def test_a_terminal_whose_output_goes_elsewhere_is_a_pipe(tmp_path: Path):
    async with home(tmp_path, [Reply("One.")]) as one:
        line = f"exec {sys.executable} -m hermes > out"
        shell = ["-c", f"import os; os.execvp('sh', ['sh', '-c', {msgspec.json.encode(line).decode()}])"]
        async with terminal(shell, one.environ, one.work) as there:
            there.type("first\n" + CTRL_D)
            assert await there.end() == 0
        assert (one.work / "out").read_text() == "One.\n"
