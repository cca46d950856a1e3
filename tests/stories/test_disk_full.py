"""No space left on a disk of 8 MB: one clear error, nothing truncated, and all goes on when there is space again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.protocol.errors import DiskFull
from hermes.protocol.events import Notice, TurnEnded
from hermes.protocol.items import Text
from hermes.protocol.ops import Say
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Reply, call
from tests.stories.disk import Disk, mounted
from tests.stories.stage import Home, Story, ended, is_sound, stored, tell, words_in

FULL = "no space left"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Where Hermes keeps its own things."""
    with mounted(tmp_path / "home") as disk:
        yield disk


@pytest.fixture
def home(tmp_path: Path, disk: Disk) -> Home:
    return Home(tmp_path)


def is_one_clear_line(text: str) -> bool:
    return text.startswith("hermes: ") and text.count("\n") == 1 and FULL in text.lower()


def heard(story: Story) -> str:
    """What a person was told went wrong."""
    return " ".join([ended.error for ended in story.of(TurnEnded)] + [notice.text for notice in story.of(Notice)])


# The command


async def test_the_command_says_so_in_one_line_and_works_again_later(home: Home, disk: Disk):
    async with ModelServer() as server:
        home.use(server.base_url)
        assert (await ended(home.start("-z", "one"))).out == "one\n"
        before = await stored(home)
        disk.fill()
        ran = await ended(home.start("-z", "two"))
        assert (ran.code, ran.out, is_one_clear_line(ran.err)) == (1, "", True), ran
        assert len(server.requests) == 1
        disk.free()
        assert is_sound(home.database) and await stored(home) == before
        assert (await ended(home.start("--resume", "one", "-z", "three"))).out == "three\n"
    assert server.violations == []


async def test_earlier_sessions_can_be_read_all_the_same(home: Home, disk: Disk):
    async with ModelServer() as server:
        home.use(server.base_url)
        assert (await ended(home.start("-z", "one"))).out == "one\n"
    disk.fill()
    listed, shown = home.ask("sessions", "list"), home.ask("sessions", "show", "one")
    assert (listed.code, len(listed.out.splitlines()), listed.err) == (0, 1, "")
    assert (shown.code, shown.err) == (0, "")


def test_settings_are_not_truncated(home: Home, disk: Disk):
    home.use("http://127.0.0.1:9/v1")
    before = home.config.read_bytes()
    disk.fill()
    ran = home.ask("config", "set", "timezone", "Europe/Berlin")
    assert (ran.code != 0, is_one_clear_line(ran.err)) == (True, True), ran
    assert home.config.read_bytes() == before
    disk.free()
    assert home.ask("config", "set", "timezone", "Europe/Berlin").code == 0


async def test_the_command_ends_when_the_disk_fills_up_amid_its_turn(home: Home, disk: Disk):
    async with ModelServer(filling(disk)) as server:
        home.use(server.base_url)
        ran = await ended(home.start("--yolo", "-z", "fill it"), seconds=20)
        assert (ran.code, ran.out, is_one_clear_line(ran.err)) == (1, "", True), ran
        assert not (home.work / "effect").exists()
        disk.free()
        assert is_sound(home.database)
        assert (await ended(home.start("-c", "-z", "go on"))).out == "fine\n"
    assert server.violations == []


# A session that is open meanwhile


def filling(disk: Disk):
    """A model in whose first answer the disk fills up, before its call can run."""

    def answer(request: Request) -> Reply:
        if request.user_text != "fill it":
            return Reply("fine")
        disk.fill()
        return call("terminal", command="touch effect")

    return answer


async def test_an_open_session_refuses_what_it_cannot_keep_and_goes_on_later(home: Home, disk: Disk):
    async with ModelServer() as server:
        home.use(server.base_url)
        async with tell(home) as story:
            assert await story.say("one") == TurnEnded("done")
            disk.fill()
            for _ in range(2):
                with pytest.raises(DiskFull, match=FULL):
                    await story.send(Say(parts=(Text("two"),)))
            assert len(server.requests) == 1
            disk.free()
            assert await story.say("three") == TurnEnded("done")
            assert (story.answers(), words_in(story.bodies)) == (["one", "three"], ["one", "three"])
    assert is_sound(home.database)
    assert server.violations == []


async def test_a_turn_whose_disk_fills_up_ends_and_the_person_hears_of_it(home: Home, disk: Disk):
    async with ModelServer(filling(disk)) as server:
        home.use(server.base_url, approvals={"mode": "off"})
        async with tell(home) as story:
            await story.send(Say(parts=(Text("fill it"),)))
            await story.until(lambda: FULL in heard(story).lower(), seconds=10)
            assert not (home.work / "effect").exists()
            disk.free()
            assert await story.say("go on") == TurnEnded("done")
            assert story.answers() == ["fine"]
    assert is_sound(home.database)
    assert server.violations == []


# The folder to work in


async def test_a_file_that_does_not_fit_is_left_as_it_was_and_the_model_is_told(tmp_path: Path):
    with mounted(tmp_path / "work") as disk:
        home = Home(tmp_path)
        (home.work / "a.txt").write_text("old\n")
        script = [call("write_file", path="a.txt", content="new\n" * 9000), Reply("It did not fit.")]
        async with ModelServer(script) as server:
            home.use(server.base_url)
            async with tell(home) as story:
                disk.fill()
                assert await story.say("go") == TurnEnded("done")
                assert [item.status for item in story.calls()] == ["failed"]
                assert FULL in "".join(server.last.results.values()).lower()
                assert (home.work / "a.txt").read_text() == "old\n"
                assert sorted(path.name for path in home.work.iterdir()) == ["a.txt", "filler"]
        assert server.violations == []
