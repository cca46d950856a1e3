"""Every effect of files and terminals is asked about once, as what it really is."""

import os
import pwd
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from hermes.protocol.actions import Action, Origin, ReadPath, RunCommand, WritePath
from hermes.protocol.errors import Denied
from hermes.protocol.terminals import Files, Search, Terminal
from hermes.safety.gate import Gate, Policy
from hermes.safety.gated import GatedFiles, GatedTerminal, named_files
from hermes.safety.places import Places
from hermes.safety.typed import entered, is_input_of, with_input
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.files import LocalFiles

ENV = {"PATH": os.defpath + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


class Record:
    """Says yes, or no to what is on its list, and writes down what happened in which order."""

    def __init__(self) -> None:
        self.events: list[Action | tuple[str, ...]] = []
        self.forbidden: list[type] = []
        self.approved = False

    async def permit(self, action: Action) -> bool:
        self.events.append(action)
        if type(action) in self.forbidden:
            raise Denied("no")
        return self.approved

    async def before_change(self, paths: Sequence[str]) -> None:
        self.events.append(tuple(paths))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "home" / "project"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def record() -> Record:
    return Record()


@pytest.fixture
def files(root: Path, record: Record) -> GatedFiles:
    home = str(root.parent)
    places = Places(home=f"{home}/.hermes", user_home=home)
    inner: Files = LocalFiles(lambda: str(root), ENV | {"HOME": home})
    return GatedFiles(inner, record.permit, record.before_change, places)


@pytest.fixture
async def inner_terminal(root: Path) -> AsyncIterator[LocalTerminal]:
    terminal = LocalTerminal(str(root), ENV | {"HOME": str(root.parent)})
    yield terminal
    await terminal.close()


@pytest.fixture
def terminal(inner_terminal: LocalTerminal, root: Path, record: Record) -> GatedTerminal:
    return GatedTerminal(
        inner_terminal, record.permit, record.before_change, Places(home="", user_home=str(root.parent))
    )


async def test_they_are_what_the_protocol_asks_for(files: GatedFiles, terminal: GatedTerminal) -> None:
    some_files: Files = files
    some_terminal: Terminal = terminal
    assert (some_files, some_terminal.kind) == (files, "local")


# Files


async def test_reading_asks_once_with_the_real_path(files: GatedFiles, root: Path, record: Record) -> None:
    (root / "real.txt").write_text("hello")
    (root / "link").symlink_to("real.txt")
    assert await files.read("link", 100) == b"hello"
    assert await files.names(".") == ("link", "real.txt")
    assert record.events == [ReadPath(str(root / "real.txt")), ReadPath(str(root))]


async def test_looking_at_what_a_path_is_asks_nothing(files: GatedFiles, root: Path, record: Record) -> None:
    assert await files.resolve("~/x") == str(root.parent / "x")
    assert await files.stat("x") is None
    assert record.events == []


async def test_writing_asks_once_and_then_takes_the_checkpoint(files: GatedFiles, root: Path, record: Record) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / "link").symlink_to("../elsewhere")
    await files.write("link/a.txt", b"1")
    target = str(root.parent / "elsewhere" / "a.txt")
    assert record.events == [WritePath(target), (target,)]
    assert Path(target).read_bytes() == b"1"


async def test_removing_a_link_is_about_the_link(files: GatedFiles, root: Path, record: Record) -> None:
    (root / "real.txt").write_text("hello")
    (root / "link").symlink_to("real.txt")
    await files.remove("./sub/../link")
    assert record.events == [WritePath(str(root / "link"), delete=True), (str(root / "link"),)]
    assert sorted(os.listdir(root)) == ["real.txt"]


async def test_what_is_denied_does_not_happen(files: GatedFiles, root: Path, record: Record) -> None:
    (root / "a.txt").write_text("hello")
    record.forbidden = [ReadPath, WritePath]
    for effect in (files.read("a.txt", 9), files.names("."), files.write("b", b""), files.remove("a.txt")):
        with pytest.raises(Denied):
            await effect
    with pytest.raises(Denied):
        await files.search(Search(pattern="hello", path="."), 9)
    assert len(record.events) == 5
    assert sorted(os.listdir(root)) == ["a.txt"]


async def test_a_search_passes_over_keys(files: GatedFiles, root: Path, record: Record) -> None:
    home = root.parent
    for name in (".ssh/config", ".hermes/.env", ".hermes/config.yaml", "project/a.txt"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("needle")
    found = await files.search(Search(pattern="needle", path=str(home)), 9)
    assert {match.path for match in found} <= {str(home / ".hermes/config.yaml"), str(home / "project/a.txt")}
    assert str(home / "project/a.txt") in {match.path for match in found}
    assert [match.path for match in await files.search(Search(pattern="needle", path=str(home / ".ssh")), 9)] == [
        str(home / ".ssh/config")
    ]
    assert record.events == [ReadPath(str(home)), ReadPath(str(home / ".ssh"))]


# Terminal


async def test_a_command_asks_once_with_its_folder(terminal: GatedTerminal, root: Path, record: Record) -> None:
    (root / "sub").mkdir()
    ran = await terminal.run("echo hi", timeout=10, cwd="sub")
    assert (ran.output, ran.code) == ("hi\n", 0)
    assert record.events == [RunCommand("echo hi", str(root / "sub"))]


async def test_the_folder_is_the_one_that_a_cd_left(terminal: GatedTerminal, root: Path, record: Record) -> None:
    (root / "sub").mkdir()
    await terminal.run("cd sub", timeout=10)
    await terminal.run("pwd", timeout=10)
    await terminal.run("pwd", timeout=10, cwd="~")
    assert record.events == [
        RunCommand("cd sub", str(root)),
        RunCommand("pwd", str(root / "sub")),
        RunCommand("pwd", str(root.parent)),
    ]
    assert terminal.cwd == str(root / "sub")


async def test_a_command_that_may_change_something_is_preceded_by_the_checkpoint(
    terminal: GatedTerminal, root: Path, record: Record
) -> None:
    (root / ".env").write_text("A=1")
    await terminal.run("rm .env 'not there'", timeout=10)
    assert record.events == [RunCommand("rm .env 'not there'", str(root)), (str(root), str(root / ".env"))]


async def test_what_a_command_reads_is_part_of_it(terminal: GatedTerminal, root: Path, record: Record) -> None:
    ran = await terminal.run("cat", timeout=10, stdin=b"it's me")
    assert ran.output == "it's me"
    assert record.events == [RunCommand("cat <<< 'it'\"'\"'s me'", str(root))]


async def test_a_denied_command_does_not_run(terminal: GatedTerminal, root: Path, record: Record) -> None:
    record.forbidden = [RunCommand]
    with pytest.raises(Denied):
        await terminal.run("touch x", timeout=10)
    with pytest.raises(Denied):
        await terminal.start("touch x")
    assert record.events == [RunCommand("touch x", str(root)), RunCommand("touch x", str(root), background=True)]
    assert os.listdir(root) == []
    assert list(terminal.processes) == []


async def test_typing_into_a_process_is_a_command(terminal: GatedTerminal, root: Path, record: Record) -> None:
    process = await terminal.start("bash")
    record.events.clear()
    await process.write(b"echo o")
    await process.write(b"ne; echo t")
    await terminal.processes[0].write(b"wo\n")
    await process.close_input()
    info = await process.wait(10)
    assert (info.state, info.code, process.output(0)[0]) == ("exited", 0, "one\ntwo\n")
    assert [event for event in record.events if isinstance(event, RunCommand)] == [
        RunCommand("bash <<< 'echo o'", str(root)),
        RunCommand("bash <<< 'echo one; echo t'", str(root)),
        RunCommand("bash <<< 'echo one; echo two\n'", str(root)),
    ]


async def test_an_unfinished_line_is_known_to_the_next_call(
    inner_terminal: LocalTerminal, root: Path, record: Record
) -> None:
    typed: dict[str, bytes] = {}

    def each_call() -> GatedTerminal:
        return GatedTerminal(
            inner_terminal, record.permit, record.before_change, Places(home="", user_home=str(root.parent)), typed
        )

    await (await each_call().start("cat")).write(b"first\nrm -rf ")
    await each_call().processes[0].write(b"/")
    assert [event for event in record.events if isinstance(event, RunCommand)][
        -1
    ].command == "cat <<< 'first\nrm -rf /'"


async def test_denied_input_does_not_arrive(terminal: GatedTerminal, record: Record) -> None:
    process = await terminal.start("cat")
    record.forbidden = [RunCommand]
    with pytest.raises(Denied):
        await process.write(b"secret\n")
    await process.close_input()
    await process.wait(10)
    assert process.output(0)[0] == ""


async def test_ending_a_process_asks_nothing(terminal: GatedTerminal, record: Record) -> None:
    process = await terminal.start(f"{sys.executable} -c 'import time; time.sleep(60)'")
    record.events.clear()
    assert (await process.kill()).state == "killed"
    assert record.events == []


async def test_what_was_approved_is_not_asked_about_with_each_further_line(
    terminal: GatedTerminal, root: Path, record: Record
) -> None:
    process = await terminal.start("bash")
    await process.write(b"cd /\n")
    record.approved = True
    await process.write(b"git push\n")
    record.approved = False
    await process.write(b"ls\n")
    assert [event for event in record.events if isinstance(event, RunCommand)][-2:] == [
        RunCommand("bash <<< 'cd /\ngit push\n'", str(root)),
        RunCommand("bash <<< 'cd /\nls\n'", str(root)),
    ]


async def test_the_folder_that_is_judged_is_the_one_that_a_command_runs_in(
    terminal: GatedTerminal, root: Path, record: Record
) -> None:
    someone = pwd.getpwuid(os.getuid())
    (root / "link").symlink_to("/usr")
    for named, real in ((f"~{someone.pw_name}", os.path.realpath(someone.pw_dir)), ("link", "/usr")):
        record.events.clear()
        ran = await terminal.run("pwd -P", timeout=10, cwd=named)
        assert (ran.output.strip(), record.events) == (real, [RunCommand("pwd -P", real)])


def test_input_that_is_not_text_can_be_shown() -> None:
    assert with_input("cat", b"\xff") == "cat <<< '\ufffd'"
    assert with_input("cat", b"") == "cat"


@pytest.mark.parametrize(
    "command", ["bash; true", "bash # typing", "bash | cat", "(bash)", "bash && ls", "bash \\", "cat\nbash"]
)
@pytest.mark.parametrize("typed", ["git push\n", "ls #\rgit push\r", "ls #\x15git push\n", "git log\x7f\x7f\x7fpush\n"])
def test_what_is_typed_into_a_shell_is_judged_wherever_the_shell_stands(command: str, typed: str) -> None:
    gate = Gate(Policy(places=Places(home="/h/.hermes", user_home="/h")), always=lambda grant: None)
    seen = with_input(command, entered(typed.encode()))
    verdict = gate.judge(RunCommand(seen, "/h/work"), Origin(surface="cli", session="s", workspace="/h/work"))
    assert verdict.decision == "ask", seen
    assert is_input_of(command, seen)


async def test_enter_on_a_screen_ends_a_line(terminal: GatedTerminal, root: Path, record: Record) -> None:
    process = await terminal.start("cat", pty=True)
    await process.write(b"ls #\rgit push\r")
    assert [event for event in record.events if isinstance(event, RunCommand)][
        -1
    ].command == "cat <<< 'ls #\ngit push\n'"


def test_words_that_name_no_file_are_passed_over(root: Path) -> None:
    (root / "a").touch()
    assert named_files(["a", "./a", "b", "\0", "\ud800"], str(root)) == [str(root / "a")]
