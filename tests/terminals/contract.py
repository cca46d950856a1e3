"""What every terminal must do, wherever it is. A test file inherits these tests and says by `stage` where they run."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from msgspec.structs import replace

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import BackgroundProcess, Files, Match, ProcessInfo, Ran, Search, Stat, Terminal
from tests.terminals.conftest import sleepers, until
from tests.tools.context import Context

Make = Callable[..., tuple[Terminal, Files]]


class Stage:
    """A place with a terminal that the tests of a file share.

    `make` gives another terminal at the same place (with `idle` seconds until it rests, if it ever does), `cut` breaks the
    connection, `awake` tells whether the place is up. A place without one of them has no such tests.
    """

    def __init__(
        self,
        make: Make,
        folder: str,
        *,
        cut: Callable[[], Awaitable[None]] | None = None,
        awake: Callable[[], Awaitable[bool]] | None = None,
        survives_cuts: bool = False,
        has_bash: bool = True,
        has_screen: bool = True,
    ) -> None:
        self.make = make
        self.folder = folder
        self.cut = cut
        self.awake = awake
        self.survives_cuts = survives_cuts
        self.has_bash = has_bash
        self.has_screen = has_screen
        self.terminal, self.files = make()


class Scene:
    """One test's empty folder in the shared terminal."""

    def __init__(self, stage: Stage, folder: str) -> None:
        self.stage = stage
        self.folder = folder
        self.terminal = stage.terminal
        self.files = stage.files

    async def said(self, command: str, **more: Any) -> tuple[str, int]:
        ran = await self.terminal.run(command, timeout=20, **more)
        return ran.output, ran.code


class TerminalContract:
    """Inherit it as TestSomewhere, beside a module-scoped fixture `stage`."""

    @pytest.fixture
    async def scene(self, stage: Stage, nap: str) -> Scene:
        folder = f"{stage.folder}/{nap}"
        await stage.terminal.run(f"mkdir -p {folder}; cd {folder}", timeout=30, cwd="/")
        return Scene(stage, folder)

    # Commands

    async def test_a_command_gives_its_output_code_time_and_folder(self, scene: Scene) -> None:
        ran = await scene.terminal.run("echo out; echo err >&2; echo out; exit 3", timeout=20)
        assert 0 < ran.seconds < 10
        assert replace(ran, seconds=0.0) == Ran(output="out\nerr\nout\n", code=3, seconds=0.0, cwd=scene.folder)

    async def test_exit_codes_are_the_commands_own(self, scene: Scene) -> None:
        for command, code in (("true", 0), ("(exit 9)", 9), ("exec false", 1), ("no-such-program", 127)):
            assert (await scene.said(command))[1] == code

    async def test_standard_input_is_what_was_given_or_nothing(self, scene: Scene) -> None:
        assert await scene.said("cat") == ("", 0)
        assert await scene.said("cat", stdin="grüße".encode()) == ("grüße", 0)
        assert await scene.said("wc -c", stdin=b"x" * 3_000_000) == ("3000000\n", 0)
        assert await scene.said("true", stdin=b"x" * 3_000_000) == ("", 0)

    async def test_folder_and_exported_variables_carry_over(self, scene: Scene) -> None:
        await scene.terminal.run(
            "mkdir 'sub folder'; cd 'sub folder'; export NAME='two words é'; PRIVATE=1", timeout=20
        )
        assert scene.terminal.cwd == f"{scene.folder}/sub folder"
        assert await scene.said('pwd; echo "$NAME/${PRIVATE-none}"; cd -; unset NAME') == (
            f"{scene.folder}/sub folder\ntwo words é/none\n{scene.folder}\n",
            0,
        )
        assert await scene.said("echo ${NAME-none}") == ("none\n", 0)

    async def test_the_folder_is_kept_however_a_command_ends(self, scene: Scene) -> None:
        for command in ("cd /tmp; exit 7", "cd /proc\nset -e; false", "cd /; cat <<END\ntext\nEND"):
            folder = command.split()[1].rstrip(";")
            assert (await scene.terminal.run(command, timeout=20)).cwd == scene.terminal.cwd == folder
        assert await scene.said("pwd") == ("/\n", 0)

    async def test_functions_and_aliases_carry_over_where_there_is_bash(self, scene: Scene) -> None:
        if not scene.stage.has_bash:
            pytest.skip("another shell has no way to write them down")
        await scene.terminal.run("greet() { echo hello $1; }; alias say='echo said'", timeout=20)
        assert await scene.said("greet you; say so") == ("hello you\nsaid so\n", 0)

    async def test_a_folder_for_one_call_is_for_that_call_only(self, scene: Scene) -> None:
        await scene.terminal.run("mkdir -p a/b", timeout=20)
        ran = await scene.terminal.run("pwd", timeout=20, cwd="a/../a")
        assert (ran.output, ran.cwd, scene.terminal.cwd) == (f"{scene.folder}/a\n", f"{scene.folder}/a", scene.folder)
        with pytest.raises(TerminalError, match=r"there is no folder .*/nowhere"):
            await scene.terminal.run("pwd", timeout=20, cwd="nowhere")

    async def test_nothing_runs_where_nobody_meant_it_to_when_the_folder_has_gone(self, scene: Scene) -> None:
        await scene.terminal.run("mkdir a; cd a", timeout=20)
        await scene.terminal.run(f"rmdir {scene.folder}/a", timeout=20, cwd="/")
        with pytest.raises(TerminalError, match=f"nothing was run, and the terminal is now in {scene.folder}$"):
            await scene.terminal.run("touch x", timeout=20)
        assert await scene.said("pwd; ls") == (f"{scene.folder}\n", 0)

    async def test_commands_beside_each_other_keep_what_each_has_changed(self, scene: Scene) -> None:
        await asyncio.gather(
            scene.terminal.run("sleep 0.2", timeout=20),
            scene.terminal.run("cd /tmp; sleep 0.1", timeout=20),
            scene.terminal.run("export LATE=1", timeout=20),
        )
        assert await scene.said("pwd; echo $LATE; unset LATE") == ("/tmp\n1\n", 0)

    async def test_a_long_command_and_odd_characters_arrive_as_they_are(self, scene: Scene) -> None:
        assert await scene.said("echo '\\c \\n %s é \x01 $x `' \"$#\"; : " + "x" * 150_000) == (
            "\\c \\n %s é \x01 $x ` 0\n",
            0,
        )
        with pytest.raises(TerminalError, match="NUL"):
            await scene.terminal.run("echo \0", timeout=20)

    # Output

    async def test_output_is_told_as_it_comes(self, scene: Scene) -> None:
        told: list[tuple[str, float]] = []
        await scene.terminal.run(
            "echo one; sleep 0.5; printf 'tw\\303'; printf '\\251\\n'",
            timeout=20,
            on_output=lambda text: told.append((text, time.monotonic())),
        )
        assert "".join(text for text, _ in told) == "one\ntwé\n"
        assert told[0][0] == "one\n"
        assert told[0][1] < told[1][1] - 0.2

    async def test_output_that_is_not_text_is_replaced(self, scene: Scene) -> None:
        assert await scene.said("printf '\\377\\376\\033[31mred\\033[0m\\r\\n\\000\\303'") == (
            "\ufffd\ufffdred\n\0\ufffd",
            0,
        )

    async def test_output_is_capped_head_and_tail(self, scene: Scene) -> None:
        ran = await scene.terminal.run("echo first; yes | head -c 10000000; echo last", timeout=60)
        assert ran.omitted == 10_000_011 - 50_000
        assert ran.output.startswith("first\ny\n")
        assert ran.output.endswith("y\nlast\n")
        assert len(ran.output) < 50_100

    # Ends

    async def test_a_timeout_gives_124_and_what_there_was(self, scene: Scene, nap: str) -> None:
        began = time.monotonic()
        ran = await scene.terminal.run(f"cd /tmp; echo begun; setsid sleep {nap} & sleep {nap}", timeout=1)
        assert time.monotonic() - began < 3
        # A shell may say of its child that it was terminated.
        assert (ran.output.splitlines()[0], ran.code, ran.timed_out) == ("begun", 124, True)
        assert sleepers(nap) == []
        assert await scene.said("echo still here") == ("still here\n", 0)

    async def test_an_interrupt_ends_the_whole_tree(self, scene: Scene, nap: str) -> None:
        command = f"(trap '' TERM; setsid sleep {nap} & sleep {nap}) & sh -c 'sleep {nap}'"
        running = asyncio.create_task(scene.terminal.run(command, timeout=60))
        await until(lambda: len(sleepers(nap)) >= 3)
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert time.monotonic() - began < 2
        assert sleepers(nap) == []

    async def test_a_process_left_behind_does_not_hold_the_call(self, scene: Scene, nap: str) -> None:
        began = time.monotonic()
        assert await scene.said(f"echo one; sleep {nap} &") == ("one\n", 0)
        assert time.monotonic() - began < 3
        await until(lambda: len(sleepers(nap)) == 1)

    async def test_closing_ends_every_process_and_then_nothing_runs(self, scene: Scene, nap: str) -> None:
        terminal, _ = scene.stage.make()
        await terminal.run(f"sleep {nap} &", timeout=20)
        ends: list[ProcessInfo] = []
        one = await terminal.start(f"setsid sleep {nap} & sleep {nap}", on_exit=ends.append)
        await until(lambda: len(sleepers(nap)) == 3)
        await terminal.close()
        assert sleepers(nap) == []
        assert one.info.state == "killed"
        assert ends == [one.info]
        with pytest.raises(TerminalError, match="closed"):
            await terminal.run("true", timeout=20)

    # Background processes

    async def test_a_background_process_is_polled_written_to_and_waited_for(self, scene: Scene) -> None:
        await scene.terminal.run("export GREETING=hello", timeout=20)
        ends: list[ProcessInfo] = []
        told: list[str] = []
        command = "pwd; echo $GREETING; read line; echo got $line; cat; exit 3"
        one: BackgroundProcess = await scene.terminal.start(command, on_output=told.append, on_exit=ends.append)
        assert (one.info.command, one.info.cwd, one.info.state) == (command, scene.folder, "running")
        assert one.info.pid > 0
        assert one in list(scene.terminal.processes)
        await until(lambda: one.output(0)[0] == f"{scene.folder}\nhello\n")
        assert one.output()[0] == f"{scene.folder}\nhello\n"
        assert (await one.wait(0.05)).state == "running"
        await one.write("grüße\n".encode())
        await until(lambda: one.output(0)[0].endswith("got grüße\n"))
        assert one.output()[0] == "got grüße\n"
        await one.close_input()
        ended = await one.wait(20)
        assert (ended.state, ended.code) == ("exited", 3)
        assert ends == [one.info]
        assert "".join(told) == one.output(0)[0] == f"{scene.folder}\nhello\ngot grüße\n"
        with pytest.raises(TerminalError, match="takes no more input"):
            await one.write(b"more")

    async def test_only_the_newest_two_hundred_kilobytes_are_kept(self, scene: Scene) -> None:
        one = await scene.terminal.start("echo first; yes | head -c 1000000; echo last")
        await one.wait(20)
        text, behind = one.output()
        assert (len(text), behind) == (200_000, 1_000_011)
        assert text.endswith("y\nlast\n")

    async def test_killing_ends_the_whole_tree(self, scene: Scene, nap: str) -> None:
        one = await scene.terminal.start(f"trap '' TERM; setsid sleep {nap} & sleep {nap}")
        await until(lambda: len(sleepers(nap)) == 2)
        info = await one.kill()
        assert (info.state, info.code) == ("killed", 137)
        assert sleepers(nap) == []

    async def test_the_model_is_told_of_patterns_and_of_ends(self, scene: Scene) -> None:
        context = Context(cast(Any, scene.terminal), cast(Any, scene.files))
        await context.do("terminal", command="echo up; echo ready on 80", background=True, watch_patterns=["ready"])
        await until(lambda: any("ready on 80" in text for text in context.posted))
        await context.do("terminal", command="sleep 0.1; echo fin", background=True, notify_on_complete=True)
        await until(lambda: any("exited with code 0" in text and "fin" in text for text in context.posted))

    async def test_a_pseudo_terminal_is_a_terminal(self, scene: Scene) -> None:
        if not scene.stage.has_screen:
            with pytest.raises(TerminalError, match="has no pseudo-terminals: start it without pty"):
                await scene.terminal.start("true", pty=True)
            return
        one = await scene.terminal.start(
            "test -t 0 && test -t 1 && stty size; echo $TERM; read x; echo got $x", pty=True
        )
        await until(lambda: "xterm-256color" in one.output(0)[0])
        assert one.output()[0].splitlines() == ["30 120", "xterm-256color"]
        await one.write(b"hello\n")
        assert (await one.wait(20)).code == 0
        assert one.output()[0].splitlines()[-1] == "got hello"

    async def test_control_c_on_a_pseudo_terminal_interrupts(self, scene: Scene, nap: str) -> None:
        if not scene.stage.has_screen:
            pytest.skip("it has no pseudo-terminals")
        one = await scene.terminal.start(f"trap 'echo interrupted; exit 5' INT; sleep {nap}", pty=True)
        await until(lambda: sleepers(nap))
        await one.write(b"\x03")
        assert (await one.wait(20)).code == 5
        assert "interrupted" in one.output()[0]
        assert sleepers(nap) == []

    # Files

    async def test_large_and_binary_files_are_written_and_read_as_they_are(self, scene: Scene) -> None:
        data = os.urandom(4_000_000)
        await scene.files.write("a/b/data", data)
        assert await scene.files.read("a/b/data", 5_000_000) == data
        assert await scene.files.read("a/b/data", 7) == data[:7]
        assert await scene.files.names("a/b") == ("data",)
        await scene.files.write("a/b/data", b"")
        assert await scene.files.read("a/b/data", 10) == b""

    async def test_a_write_keeps_the_mode_and_follows_links(self, scene: Scene) -> None:
        await scene.terminal.run(
            "echo old >script; chmod 751 script; ln -s script link; ln -s made dangling", timeout=20
        )
        await scene.files.write(await scene.files.resolve("link"), b"new")
        await scene.files.write(await scene.files.resolve("dangling"), b"more")
        found = await scene.files.stat("script")
        assert found
        assert found == Stat(kind="file", size=3, modified=found.modified, mode=0o751)
        assert abs(found.modified - time.time()) < 60
        assert await scene.said("cat script made; readlink link") == ("newmorescript\n", 0)

    async def test_row_24_a_link_that_was_put_there_after_the_look_is_an_error(self, scene: Scene) -> None:
        await scene.terminal.run("mkdir real; echo old >real/file; ln -s real link; ln -s real/file alias", timeout=20)
        files = scene.files
        for effect in (
            files.read("link/file", 9),
            files.read("alias", 9),
            files.write("link/file", b"new"),
            files.write("alias", b"new"),
            files.names("link"),
            files.remove("link/file"),
        ):
            with pytest.raises(TerminalError, match=r"link|directory"):
                await effect
        assert await scene.said("cat real/file; ls real; readlink alias") == ("old\nfile\nreal/file\n", 0)

    async def test_paths_are_resolved_and_looked_at(self, scene: Scene) -> None:
        await scene.terminal.run("mkdir -p real/sub .hidden; ln -s real link; mkfifo pipe; touch 'a b'", timeout=20)
        files, folder = scene.files, scene.folder
        assert await files.resolve("link/new/../file") == f"{folder}/real/file"
        assert await files.resolve("link/sub/..") == f"{folder}/real"
        assert await files.resolve("missing/x") == f"{folder}/missing/x"
        assert await files.resolve("/") == "/"
        kinds = [one.kind for name in (".", "link", "pipe", "a b") if (one := await files.stat(name))]
        assert kinds == ["folder", "link", "other", "file"]
        assert await files.stat("missing") is None
        assert await files.names(".") == (".hidden/", "a b", "link/", "pipe", "real/")
        await files.remove("link")
        assert await files.names(".") == (".hidden/", "a b", "pipe", "real/")

    async def test_what_is_not_a_file_is_refused_in_one_line(self, scene: Scene) -> None:
        for path, complaint in (
            (".", "is a folder, not a file"),
            ("/dev/zero", "is a device, not a file"),
            ("missing", "missing: No such file or directory"),
            ("/proc/self/environ", "is not a file to read"),
            ("a\0b", "is not a path"),
        ):
            with pytest.raises(TerminalError, match=f"^[^\\n]*{complaint}[^\\n]*$"):
                await scene.files.read(await scene.files.resolve(path), 10)

    async def test_what_cannot_be_written_or_removed_says_why(self, scene: Scene) -> None:
        await scene.files.write("file", b"")
        for call in (scene.files.write(".", b""), scene.files.write("file/x", b""), scene.files.remove("missing")):
            with pytest.raises(TerminalError, match=r"is a folder|Not a directory|File exists|No such file"):
                await call
        with pytest.raises(TerminalError, match="Is a directory"):
            await scene.files.remove(scene.folder)
        assert await scene.files.names(".") == ("file",)

    async def test_lines_and_files_are_searched(self, scene: Scene) -> None:
        folder = scene.folder
        await scene.files.write("sub/a.py", b"import os\n\ndef first():\n    pass\n")
        await scene.files.write("b.txt", "Def in text é\n".encode())
        await scene.files.write(".hidden/c.py", b"def hidden\n")
        await scene.terminal.run("touch -d '2001-01-01 00:00:00' sub/a.py", timeout=20)
        search = scene.files.search
        assert await search(Search(pattern="def [a-z]+", path=".", ignore_case=True), 10) == (
            Match(f"{folder}/b.txt", 1, "Def in text é"),
            Match(f"{folder}/sub/a.py", 3, "def first():"),
        )
        assert await search(Search(pattern="def", path="sub/a.py", context=1), 10) == (
            Match(f"{folder}/sub/a.py", 2, "", False),
            Match(f"{folder}/sub/a.py", 3, "def first():"),
            Match(f"{folder}/sub/a.py", 4, "    pass", False),
        )
        assert await search(Search(pattern="def", path=".", glob="*.txt"), 10) == ()
        assert await search(Search(pattern="[ab].*", path=".", target="files"), 10) == (
            Match(f"{folder}/b.txt", 0, ""),
            Match(f"{folder}/sub/a.py", 0, ""),
        )
        with pytest.raises(TerminalError, match="nothing to search"):
            await search(Search(pattern="x", path="missing"), 10)

    # Connections

    async def test_a_broken_connection_is_made_again(self, scene: Scene, nap: str) -> None:
        if scene.stage.cut is None:
            pytest.skip("there is no connection that could break")
        await scene.terminal.run("export KEPT=yes", timeout=20)
        background = await scene.terminal.start(f"sleep 1; echo survived; sleep {nap}")
        running = asyncio.create_task(scene.terminal.run(f"echo begun; sleep {nap}", timeout=60))
        await until(lambda: len(sleepers(nap)) >= 1)
        await scene.stage.cut()
        with pytest.raises(TerminalError, match="the connection broke while the command ran"):
            await running
        assert await scene.said("echo $KEPT; pwd") == (f"yes\n{scene.folder}\n", 0)
        if scene.stage.survives_cuts:
            await until(lambda: "survived" in background.output(0)[0], 10)
            assert (await background.kill()).state == "killed"
        else:
            assert (await background.wait(10)).state == "lost"
        assert sleepers(nap) == []

    async def test_an_idle_place_rests_and_wakes_when_it_is_needed(self, scene: Scene, nap: str) -> None:
        stage = scene.stage
        if stage.awake is None:
            pytest.skip("it never rests")
        terminal, files = stage.make(idle=0.3)
        await terminal.run(f"cd {stage.folder}; echo kept >{nap}.txt; export KEPT=yes", timeout=20)
        one = await terminal.start("sleep 1")
        await asyncio.sleep(0.6)
        assert await stage.awake(), "a background process keeps it awake"
        await one.wait(20)
        deadline = time.monotonic() + 10
        while await stage.awake():
            assert time.monotonic() < deadline, "it did not rest"
            await asyncio.sleep(0.1)
        assert (await terminal.run(f"cat {nap}.txt; echo $KEPT", timeout=20)).output == "kept\nyes\n"
        assert await files.read(f"{nap}.txt", 100) == b"kept\n"
        await terminal.close()
