"""Files that Hermes writes, and the checkpoints that lead back."""

import os

from hermes.app.world import LocalWorld
from hermes.protocol.events import TurnEnded
from tests.services.model_server import ModelServer
from tests.services.script import Call, Reply, call
from tests.stories.stage import Home, ended, tell

NAMES = ("a.txt", "b.txt", "c.txt", "d.txt")
TOGETHER = Reply(calls=tuple(Call("write_file", {"path": name, "content": "new\n"}) for name in NAMES))


async def test_files_written_together_are_all_written_and_undone_together(home: Home):
    for name in NAMES:
        (home.work / name).write_text("old\n")
    async with ModelServer([TOGETHER, Reply("done")]) as server:
        home.use(server.base_url)
        async with tell(home) as story:
            assert await story.say("go") == TurnEnded("done")
            assert [(call.status, call.result) for call in story.calls() if call.status != "done"] == []
            assert {(home.work / name).read_text() for name in NAMES} == {"new\n"}

            world = story.session.world
            assert isinstance(world, LocalWorld) and world.checkpoints is not None
            assert len(await world.checkpoints.list(str(home.work))) == 1
            restored = await world.checkpoints.restore(str(home.work), 1)
            assert sorted(restored.written) == list(NAMES)
            assert {(home.work / name).read_text() for name in NAMES} == {"old\n"}
    assert server.violations == []


async def test_a_sweep_that_cannot_be_done_now_disturbs_nobody(home: Home):
    """A killed Hermes may leave a sweep of its checkpoints running, and git lets only one at a time."""
    write = [call("write_file", path="a.txt", content="a"), Reply("written")]
    async with ModelServer([*write, *write]) as server:
        home.use(server.base_url)
        assert (await ended(home.start("-z", "go"))).out == "written\n"
        store = home.home / "checkpoints" / "store"
        (store / "gc.pid").write_text(f"{os.getpid()} {os.uname().nodename}")
        (store / "swept").unlink(missing_ok=True)
        ran = await ended(home.start("-z", "go"))
        assert (ran.code, ran.out, ran.err) == (0, "written\n", "")
    assert server.violations == []


async def test_a_first_checkpoint_that_lasts_is_told_on_stderr_while_the_person_waits(home: Home):
    (home.work / "a.txt").write_text("old\n")
    slow = home.home / "slow" / "git"
    slow.parent.mkdir()
    wait = 'case "$*" in *update-index*) sleep 1.5;; esac'
    slow.write_text(f'#!/bin/sh\n{wait}\nPATH={home.environ["PATH"]} exec git "$@"\n')
    slow.chmod(0o755)
    async with ModelServer([call("write_file", path="a.txt", content="new\n"), Reply("written")]) as server:
        home.use(server.base_url)
        ran = await ended(home.start("-z", "go", environ={"PATH": f"{slow.parent}:{home.environ['PATH']}"}))
    line = f"hermes: taking the first checkpoint of {home.work.resolve()}: 1 file, once\n"
    assert (ran.code, ran.out, ran.err) == (0, "written\n", line)
    assert (home.work / "a.txt").read_text() == "new\n"
