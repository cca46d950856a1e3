import asyncio

import pytest

from hermes.protocol.errors import TerminalError, ToolError
from hermes.protocol.tools import said
from hermes.tools.toolsets import make_tools


async def started(ctx, command: str, **more) -> str:
    """Start a background process; returns its id."""
    text = await ctx.text("terminal", command=command, background=True, **more)
    assert text.startswith("[started proc_")
    return text.split()[1]


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_command_gives_its_output_and_streams_it(ctx):
    assert await ctx.do("terminal", command="echo one; echo two >&2") == said("one\ntwo")
    assert {channel for channel, _ in ctx.emitted} == {"output"}
    assert "".join(text for _, text in ctx.emitted) == "one\ntwo\n"


@pytest.mark.parametrize(
    ("command", "text", "failed"),
    [
        ("true", "[exit 0]", False),
        ("echo out; false", "out\n[exit 1]", True),
        ("echo x | grep y", "[exit 1: nothing matched]", False),
        ("nonesuch_command 2>/dev/null", "[exit 127: command not found]", True),
        ("kill -9 $$", "[exit 137: ended by SIGKILL, perhaps out of memory]", True),
    ],
)
async def test_an_exit_code_is_told_with_its_meaning(ctx, command, text, failed):
    assert await ctx.do("terminal", command=command) == said(text, failed=failed)


async def test_the_folder_and_variables_carry_over(ctx, tmp_path):
    (tmp_path / "sub").mkdir()
    assert await ctx.text("terminal", command="cd sub; export X=5") == f"[folder is now {tmp_path}/sub]"
    assert await ctx.text("terminal", command="echo $X; pwd") == f"5\n{tmp_path}/sub"
    assert await ctx.text("terminal", command="pwd", workdir=str(tmp_path)) == str(tmp_path)
    assert await ctx.text("terminal", command="pwd") == f"{tmp_path}/sub"


async def test_a_command_that_takes_too_long_is_ended(ctx):
    result = await ctx.do("terminal", command="echo begun; sleep 30", timeout=1)
    assert result == said(
        "begun\n[timed out after 1 s and was ended; for long work use background=true]",
        failed=True,
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"command": " "}, "command is empty"),
        ({"command": "sleep 9 & echo"}, "Not run: '&' leaves a process running"),
        ({"command": "nohup sleep 9"}, "Not run: 'nohup' leaves a process running"),
        ({"command": "top", "pty": True}, "need background=true"),
        ({"command": "ls", "notify_on_complete": True}, "need background=true"),
        (
            {"command": "ls", "background": True, "notify_on_complete": True, "watch_patterns": ["x"]},
            "choose one",
        ),
        (
            {"command": "ls", "background": True, "watch_patterns": [""]},
            "a pattern in watch_patterns is empty",
        ),
    ],
)
async def test_a_call_that_makes_no_sense_runs_nothing(ctx, args, says):
    with pytest.raises(ToolError, match=says):
        await ctx.do("terminal", **args)
    assert not ctx.terminal.processes


async def test_a_folder_that_is_not_there_is_named(ctx):
    with pytest.raises(TerminalError, match="there is no folder"):
        await ctx.do("terminal", command="ls", workdir="nonesuch")


async def test_a_background_process_is_looked_after(ctx):
    name = await started(ctx, "echo hello; read line; echo got $line; sleep 60")
    await until(lambda: "hello" in ctx.terminal.processes[0].output(0)[0])
    running = f"[{name} running: echo hello; read line; echo got $line; sleep 60]"
    assert await ctx.text("process", action="list") == running[1:-1]
    assert await ctx.text("process", action="poll", session_id=name) == f"hello\n{running}"
    assert await ctx.text("process", action="poll", session_id=name) == running
    assert await ctx.text("process", action="submit", session_id=name, data="it") == (
        "[wrote 2 characters; poll for what it answers]"
    )
    await until(lambda: "got" in ctx.terminal.processes[0].output(0)[0])
    log = await ctx.text("process", action="log", session_id=name, offset=6, limit=3)
    assert log == f"got\n{running[:-1]}; next offset=9]"
    killed = await ctx.text("process", action="kill", session_id=name)
    assert killed.startswith(f"got it\n[{name} killed with code ")


async def test_input_can_be_written_and_closed(ctx):
    name = await started(ctx, "cat")
    await ctx.do("process", action="write", session_id=name, data="abc")
    assert await ctx.text("process", action="close", session_id=name) == f"[closed the input of {name}]"
    assert await ctx.text("process", action="wait", session_id=name, timeout=10) == (
        f"abc\n[{name} exited with code 0: cat]"
    )
    with pytest.raises(TerminalError, match="takes no more input"):
        await ctx.do("process", action="write", session_id=name, data="x")


async def test_a_wait_ends_with_its_timeout(ctx):
    name = await started(ctx, "sleep 60")
    assert await ctx.text("process", action="wait", session_id=name, timeout=1) == f"[{name} running: sleep 60]"


async def test_a_pseudo_terminal_is_given_on_demand(ctx):
    name = await started(ctx, "test -t 1 && echo screen", pty=True)
    assert await ctx.text("process", action="wait", session_id=name, timeout=10) == (
        f"screen\n[{name} exited with code 0: test -t 1 && echo screen]"
    )


async def test_only_the_end_of_much_output_is_polled(ctx):
    name = await started(ctx, "seq 20000")
    await ctx.terminal.processes[0].wait(10)
    text = await ctx.text("process", action="poll", session_id=name)
    assert text.startswith("[only the end; log shows the rest]\n")
    assert text.endswith(f"19999\n20000\n[{name} exited with code 0: seq 20000]")
    assert len(text) < 21_000


def test_a_call_is_shown_by_the_beginning_of_its_command():
    terminal, process = make_tools(["terminal"])
    titles = [terminal.title(terminal.args(command=command)) for command in ("ls", "a\nb", "x" * 101)]
    assert titles == ["ls", "a...", "x" * 100 + "..."]
    assert process.title(process.args(action="poll", session_id="proc_1")) == "poll proc_1"


async def test_a_process_that_is_not_there_names_those_that_are(ctx):
    with pytest.raises(ToolError, match=r"There is no process ''. There are: none."):
        await ctx.do("process", action="poll")
    name = await started(ctx, "sleep 60")
    with pytest.raises(ToolError, match=f"There is no process 'proc_x'. There are: {name}."):
        await ctx.do("process", action="kill", session_id="proc_x")


async def test_the_end_is_told_once_with_the_last_output(ctx):
    name = await started(ctx, "echo done; exit 3", notify_on_complete=True)
    await until(lambda: ctx.posted)
    later = await started(ctx, "echo later", notify_on_complete=True)
    await until(lambda: any(later in text for text in ctx.posted))
    assert ctx.posted == [
        f"done\n[background process {name} exited with code 3: echo done; exit 3]",
        f"later\n[background process {later} exited with code 0: echo later]",
    ]


async def test_an_end_that_is_waited_for_or_wanted_is_not_told(ctx):
    waited = await started(ctx, "sleep 0.1", notify_on_complete=True)
    await ctx.do("process", action="wait", session_id=waited, timeout=10)
    killed = await started(ctx, "sleep 60", notify_on_complete=True)
    await ctx.do("process", action="kill", session_id=killed)
    assert ctx.posted == []


async def test_a_watched_line_is_told(ctx):
    name = await started(ctx, "echo starting; echo ready on 80; read x; echo ready again", watch_patterns=["ready"])
    await until(lambda: ctx.posted)
    await ctx.do("process", action="submit", session_id=name)
    await ctx.do("process", action="wait", session_id=name, timeout=10)
    assert ctx.posted == [f"[background process {name} printed:\nready on 80]"]
