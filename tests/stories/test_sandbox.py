"""The sandbox as a person meets it: it is on, work goes on in it, and a yes opens what the question said."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hermes.protocol.actions import RunCommand
from hermes.protocol.errors import UserError
from hermes.protocol.events import Asked, TurnEnded
from hermes.protocol.ops import Answer
from tests.services.model_server import ModelServer
from tests.services.script import Reply, call
from tests.stories.stage import Home, ended, tell

pytestmark = pytest.mark.needs("bwrap")
FINE = Reply("fine")


def person(home: Home) -> Path:
    """The person's own folder, with a key and a start-up file in it."""
    folder = Path(home.environ["HOME"])
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh/id_rsa").write_text("canary-33ab")
    (folder / ".bashrc").write_text("as it was\n")
    return folder


async def test_with_the_filter_off_commands_are_still_held(home: Home) -> None:
    folder = person(home)
    attack = "echo evil >> ~/.bashrc; cat ~/.ssh/id_rsa; cat ~/home/config.yaml; echo work > made.txt"
    async with ModelServer([call("terminal", command=attack), FINE]) as server:
        home.use(server.base_url)
        ran = await ended(home.start("--yolo", "-z", "go"))
        said = "".join(server.last.results.values())
    assert (ran.code, ran.out) == (0, "fine\n"), ran
    assert "canary" not in said
    assert said.count("Read-only file system") == 1, said
    assert (folder / ".bashrc").read_text() == "as it was\n"
    assert (home.work / "made.txt").read_text() == "work\n"


async def test_a_commit_is_made_with_the_persons_own_name(home: Home) -> None:
    folder = person(home)
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.com\n")
    subprocess.run(["git", "init", "-q", home.work], check=True)
    command = "echo x > f && git add f && git commit -qm one && git log --format='%an %s'"
    async with ModelServer([call("terminal", command=command), FINE]) as server:
        home.use(server.base_url)
        await ended(home.start("-z", "go"))
        assert "Ada one" in "".join(server.last.results.values())


async def test_files_and_commands_see_the_same_temporary_files(home: Home) -> None:
    name = f"/tmp/hermes-story-{os.urandom(4).hex()}"
    script = [
        call("write_file", path=f"{name}/one.txt", content="by the tool\n"),
        call(
            "terminal",
            command=f"cat {name}/one.txt; echo by a command > {name}/two.txt; ln -s {name}/two.txt {name}/link",
        ),
        call("read_file", path=f"{name}/link"),
        call("search_files", pattern="by", path=name),
        call("patch", path=f"{name}/two.txt", old_string="command", new_string="person"),
        call("terminal", command=f"cat {name}/*.txt"),
        FINE,
    ]
    async with ModelServer(script) as server:
        home.use(server.base_url)
        ran = await ended(home.start("--yolo", "-z", "go"))
        results = list(server.last.results.values())
    assert ran.code == 0, ran
    assert not Path(name).exists()
    assert "by the tool" in results[1]
    assert "by a command" in results[2]
    assert (f"{name}/one.txt" in results[3], f"{name}/two.txt" in results[3]) == (True, True), results[3]
    assert ("by the tool" in results[5], "by a person" in results[5]) == (True, True)


async def test_the_question_says_what_a_yes_opens_and_the_yes_opens_it(home: Home) -> None:
    target = person(home) / "letters" / "one.txt"
    target.parent.mkdir()
    target.write_text("old\n")
    (home.work / "made.txt").write_text("kept\n")
    command = f"cp made.txt {target}"
    async with ModelServer([call("terminal", command=command), FINE]) as server:
        home.use(server.base_url)
        async with tell(home) as story:
            turn = asyncio.ensure_future(story.say("go"))
            await story.until(lambda: bool(story.of(Asked) or story.of(TurnEnded)))
            [asked] = story.of(Asked)
            assert target.read_text() == "old\n"
            await story.send(Answer(request_id=asked.request_id, choice="once"))
            assert await turn == TurnEnded("done")
    assert asked.request.action == RunCommand(command, str(home.work))
    assert asked.request.why.endswith(f"; it could also read and change {target}"), asked.request.why
    assert target.read_text() == "kept\n"


async def test_a_session_can_move_to_a_folder_of_the_real_tmp(home: Home) -> None:
    with TemporaryDirectory(prefix="hermes-story-", dir="/tmp") as folder:
        (Path(folder) / "there.txt").write_text("there\n")
        script = [call("terminal", command="cat there.txt > made.txt"), FINE]
        async with ModelServer(script) as server:
            home.use(server.base_url)
            async with tell(home) as story:
                with pytest.raises(UserError, match="is not there"):
                    await story.session.world.move(f"{folder}/nowhere")
                await story.session.world.move(folder)
                assert await story.say("go") == TurnEnded("done")
        assert (Path(folder) / "made.txt").read_text() == "there\n"
        assert list(home.work.iterdir()) == []


async def test_without_bubblewrap_one_line_says_what_is_weaker(home: Home) -> None:
    programs = home.work.parent / "programs"
    programs.mkdir()
    for name in ("bash", "cat", "echo", "true", "git", "env", "rm", "mkdir", "sleep"):
        for folder in ("/usr/bin", "/bin"):
            if os.path.exists(f"{folder}/{name}") and not (programs / name).exists():
                (programs / name).symlink_to(f"{folder}/{name}")
    script = [call("terminal", command="true"), call("terminal", command="true"), FINE]
    async with ModelServer(script) as server:
        home.use(server.base_url)
        ran = await ended(home.start("-z", "go", environ={"PATH": str(programs)}))
    assert (ran.code, ran.err.count("install bubblewrap")) == (0, 1), ran


async def test_a_turn_without_a_command_loads_and_makes_nothing_of_the_sandbox(home: Home) -> None:
    loaded = "import sys; from hermes.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    script = [call("write_file", path="a.txt", content="a\n"), call("read_file", path="a.txt"), FINE]
    async with ModelServer(script) as server:
        home.use(server.base_url)
        argv = [sys.executable, "-c", loaded, "-z", "go"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(argv, env=home.environ, cwd=home.work, stdout=pipe, stderr=pipe, text=True)
        ran = await ended(process)
    modules = {name for name in ran.err.split() if name.startswith("hermes.safety.sandbox.")}
    assert (ran.out, modules) == ("fine\n", {"hermes.safety.sandbox.local"}), ran.err
    assert not (home.home / "sandbox").exists()
