"""A terminal in the sandbox: ends, grants, temporary files, what carries over, and what people are told."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from hermes.protocol.errors import UserError
from hermes.protocol.safety import NO_GRANTS, Grants, granted
from hermes.protocol.terminals import Ran, Search
from hermes.safety.sandbox.local import LocalSandbox, Wanted
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.files import LocalFiles
from tests.safety.sandbox.conftest import CANARY, Kind, Scene
from tests.terminals.conftest import sleepers, until


async def run(terminal: LocalTerminal, command: str, grants: Grants = NO_GRANTS) -> Ran:
    token = granted.set(grants)
    try:
        return await terminal.run(command, timeout=20)
    finally:
        granted.reset(token)


# Ends


@pytest.mark.parametrize(
    "command",
    [
        "sleep {0}",
        "trap '' TERM; setsid sleep {0} & sleep {0}",
        "(env -i setsid sleep {0} </dev/null >/dev/null 2>&1 &); sleep {0}",
    ],
    ids=["a child", "a setsid child that ignores SIGTERM", "an orphan without environment"],
)
async def test_row_18_an_interrupt_ends_the_whole_tree(scene: Scene, held: Kind, nap: str, command: str) -> None:
    terminal = scene.terminal(held)
    task = asyncio.create_task(terminal.run(command.format(nap), timeout=60))
    await until(lambda: sleepers(nap))
    began = time.monotonic()
    task.cancel()
    await asyncio.wait([task])
    assert (sleepers(nap), time.monotonic() - began < 1.0) == ([], True)


@pytest.mark.needs("bwrap")
async def test_what_a_command_leaves_running_ends_with_it(scene: Scene, nap: str) -> None:
    await run(scene.terminal("bubblewrap"), f"setsid sleep {nap} >/dev/null 2>&1 & sleep 0.1")
    await until(lambda: not sleepers(nap))


async def test_a_background_process_lives_on_until_it_is_killed(scene: Scene, held: Kind, nap: str) -> None:
    terminal = scene.terminal(held)
    process = await terminal.start(f"echo up; sleep {nap}")
    await until(lambda: "up" in process.output(0)[0])
    await run(terminal, "true")
    assert sleepers(nap)
    await process.kill()
    assert not sleepers(nap)


async def test_a_pseudo_terminal_has_job_control(scene: Scene, held: Kind) -> None:
    command = "test -t 0 && echo typed > /dev/tty; set -m; sleep 0.01 & fg && echo controlled"
    process = await scene.terminal(held).start(command, pty=True)
    await process.wait(10)
    output = process.output(0)[0]
    assert [line for line in output.split() if line in ("typed", "controlled")] == ["typed", "controlled"]


async def test_exit_codes_come_through(scene: Scene, held: Kind) -> None:
    terminal = scene.terminal(held)
    assert [(await run(terminal, command)).code for command in ("exit 7", "kill -9 $$", "no-such-program")] == [
        7,
        137,
        127,
    ]


# Grants


async def test_a_granted_key_can_be_read_and_no_other(scene: Scene, held: Kind) -> None:
    (scene.home / ".ssh/other").write_text("other-secret")
    read = "cat ~/.ssh/id_rsa ~/.ssh/other"
    ran = await run(scene.terminal(held), read, Grants(paths=(str(scene.home / ".ssh/id_rsa"),)))
    assert CANARY in ran.output
    assert "other-secret" not in ran.output


async def test_a_granted_file_can_be_written_replaced_and_removed(scene: Scene, held: Kind) -> None:
    terminal = scene.terminal(held)
    letter, new = scene.home / "letter.txt", scene.home / "new.txt"
    ran = await run(
        terminal, "sed -i s/was/is/ ~/letter.txt && echo new > ~/new.txt", Grants(paths=(str(letter), str(new)))
    )
    assert (ran.code, letter.read_text(), new.read_text()) == (0, "as it is\n", "new\n")
    assert (await run(terminal, "rm ~/letter.txt", Grants(paths=(str(letter),)))).code == 0
    assert (await run(terminal, "rm ~/new.txt")).code != 0
    assert (letter.exists(), new.exists()) == (False, True)


async def test_a_command_let_out_entirely_can_do_everything(scene: Scene, held: Kind) -> None:
    ran = await run(scene.terminal(held), "echo more >> ~/.bashrc; cat ~/.ssh/id_rsa", Grants(everything=True))
    assert (ran.code, ran.output) == (0, CANARY)
    assert (scene.home / ".bashrc").read_text() == "as it was\nmore\n"


async def test_what_sandboxed_commands_left_does_not_steer_one_that_is_let_out(scene: Scene, held: Kind) -> None:
    terminal = scene.terminal(held)
    trap = (
        f"cat() {{ rm -rf ~/letter.txt; }}; export -f cat; export PATH={scene.work}:$PATH WORD=kept; mkdir sub; cd sub"
    )
    await run(terminal, trap)
    ran = await run(terminal, "cat ~/letter.txt; export OUT=yes; pwd", Grants(everything=True))
    assert ran.output == f"as it was\n{scene.work}/sub\n"
    assert (await run(terminal, "echo $WORD${OUT-}")).output == "kept\n"


async def test_paths_that_the_person_opened_are_open_to_every_command(scene: Scene, held: Kind) -> None:
    (scene.home / "data").mkdir()
    terminal = scene.terminal(held, paths=("~/data", "~/.netrc"))
    ran = await run(terminal, "echo x > ~/data/x && cat ~/.netrc")
    assert (ran.output, (scene.home / "data/x").read_text()) == (CANARY, "x\n")


# Temporary files and the rest of the machine


@pytest.mark.needs("bwrap")
async def test_temporary_files_are_the_sessions_own_and_gone_at_its_end(scene: Scene) -> None:
    name = f"hermes-test-{os.urandom(4).hex()}"
    box = scene.sandbox(Wanted("bubblewrap"))
    terminal = LocalTerminal(str(scene.work), scene.env, sandbox=box)
    await run(terminal, f"echo one > /tmp/{name}; echo two > /var/tmp/{name}")
    assert (await run(terminal, f"cat /tmp/{name} /var/tmp/{name}")).output == "one\ntwo\n"
    outside = Path(box.outside(f"/tmp/{name}"))
    assert (outside.read_text(), outside.stat().st_uid, Path(f"/tmp/{name}").exists()) == ("one\n", os.getuid(), False)
    assert box.outside(str(scene.work / "x")) == str(scene.work / "x")
    await terminal.close()
    assert not outside.parent.parent.exists()


@pytest.mark.needs("bwrap")
async def test_one_can_go_into_a_temporary_folder_and_stay_there(scene: Scene) -> None:
    terminal = scene.terminal("bubblewrap")
    name = f"hermes-test-{os.urandom(4).hex()}"
    ran = await run(terminal, f"mkdir -p /tmp/{name}/deep && cd /tmp/{name}/deep && echo one > file")
    assert (ran.cwd, (await run(terminal, "cat file; pwd")).output) == (f"/tmp/{name}/deep", f"one\n/tmp/{name}/deep\n")


@pytest.mark.needs("bwrap")
async def test_a_yes_that_names_a_temporary_file_opens_no_other(scene: Scene) -> None:
    terminal = scene.terminal("bubblewrap")
    own, real, other = (Path(f"/tmp/hermes-test-{os.urandom(4).hex()}") for _ in range(3))
    await run(terminal, f"echo own > {own}")
    real.write_text("real\n")
    other.write_text("other\n")
    try:
        ran = await run(terminal, f"cat {own} {real}; cat {other}; echo new > {real}", Grants((str(own), str(real))))
        assert (ran.output.splitlines()[:2], "No such file" in ran.output) == (["own", "real"], True)
        assert (real.read_text(), own.exists()) == ("new\n", False)
    finally:
        real.unlink()
        other.unlink()


@pytest.mark.needs("bwrap")
async def test_file_tools_find_what_commands_put_where_they_see_it(scene: Scene) -> None:
    """Their /tmp and their caches are folders of their own, and links between those lead where commands would go."""
    box = scene.sandbox(Wanted("bubblewrap"))
    terminal = LocalTerminal(str(scene.work), scene.env, sandbox=box)
    scene.terminals.append(terminal)
    files = LocalFiles(lambda: terminal.cwd, scene.env, box.outside, box.named)
    name = f"/tmp/hermes-test-{os.urandom(4).hex()}"
    await run(terminal, f"mkdir {name}; echo one > {name}/one; ln -s {name} /var/tmp/way; ln -s /var/tmp/way/one link")
    await run(terminal, "mkdir -p ~/.cache/tool; echo two > ~/.cache/tool/two; ln -s ~/.ssh/id_rsa /tmp/key")
    seen = [await files.read(await files.resolve(path), 10) for path in (f"{name}/one", "link", "~/.cache/tool/two")]
    assert seen == [b"one\n", b"one\n", b"two\n"]
    assert await files.resolve("/tmp/key") == str(scene.home / ".ssh/id_rsa")
    assert await files.resolve("link") == f"{name}/one"
    [found] = await files.search(Search(pattern="one", path=name), 10)
    assert (found.path, found.text) == (f"{name}/one", "one")
    await files.write(f"{name}/deep/three", b"three")
    assert (await run(terminal, f"cat {name}/deep/three")).output == "three"
    await run(terminal, f"cd {name}/deep")
    assert await files.read(await files.resolve("three"), 10) == b"three"
    assert not Path(name).exists()


async def test_what_lies_beside_the_workspace_can_be_read(scene: Scene, held: Kind) -> None:
    assert (await run(scene.terminal(held), "cat ../beside.txt ~/letter.txt")).output == "as it was\nas it was\n"


async def test_skills_can_be_read_though_the_rest_of_the_home_is_hidden(scene: Scene, held: Kind) -> None:
    assert (await run(scene.terminal(held), "cat ~/.hermes/skills/one.md")).output == CANARY


async def test_a_key_that_is_a_link_is_hidden_where_it_really_lies(scene: Scene, held: Kind) -> None:
    (scene.home / "dotfiles").mkdir()
    (scene.home / ".ssh").rename(scene.home / "dotfiles/ssh")
    (scene.home / ".ssh").symlink_to("dotfiles/ssh")
    ran = await run(scene.terminal(held), "cat ~/.ssh/id_rsa ~/dotfiles/ssh/id_rsa")
    assert CANARY not in ran.output


# What people are told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cp a.txt ~/b.txt", "it could also read and change {home}/b.txt"),
        ("cp a.txt b.txt", ""),
        ("cp a.txt /tmp/hermes-no-such-file", ""),
        ("sudo cp a.txt /etc", "it would run outside of the sandbox"),
    ],
)
async def test_what_a_yes_would_open_is_told_in_words(scene: Scene, command: str, told: str) -> None:
    (scene.work / "a.txt").touch()
    said = [scene.sandbox(Wanted(kind)).opens(command, str(scene.work)) for kind in ("auto", "off")]
    assert said == [told.format(home=scene.home), ""]


async def test_a_weaker_sandbox_is_said_once(scene: Scene) -> None:
    terminal = scene.terminal("landlock")
    await run(terminal, "true")
    await run(terminal, "true")
    assert len(scene.told) == 1
    assert "install bubblewrap" in scene.told[0]


@pytest.mark.needs("bwrap")
async def test_the_full_sandbox_and_none_by_wish_say_nothing(scene: Scene) -> None:
    for kind in ("bubblewrap", "off"):
        await run(scene.terminal(kind), "true")
    assert scene.told == []


async def test_without_bubblewrap_the_kernel_holds_commands(scene: Scene) -> None:
    scene.env["PATH"] = str(scene.work)
    assert scene.sandbox(Wanted("auto")).kind == "landlock"
    with pytest.raises(UserError, match="not installed"):
        scene.sandbox(Wanted("bubblewrap")).wrap(("/bin/true",), scene.env, str(scene.work), NO_GRANTS)


@pytest.mark.needs("bwrap")
async def test_bubblewrap_is_the_first_choice_and_nothing_is_made_before_it_is_used(scene: Scene) -> None:
    box: LocalSandbox = scene.sandbox(Wanted("auto"))
    assert not (scene.own / "sandbox").exists()
    assert (box.kind, box.notice) == ("bubblewrap", "")


async def test_a_key_that_an_approved_command_has_made_is_hidden_from_the_next(scene: Scene, held: Kind) -> None:
    terminal = scene.terminal(held)
    key = scene.home / ".pypirc"
    await run(terminal, f"cat {key}")
    made = await run(terminal, f"printf {CANARY} > {key}", Grants((str(key),)))
    seen = await run(terminal, f"cat {key}")
    assert (made.code, key.read_text(), CANARY in seen.output) == (0, CANARY, False)


async def test_a_key_that_has_gone_since_the_last_command_stops_nothing(scene: Scene, held: Kind) -> None:
    terminal = scene.terminal(held)
    await run(terminal, "true")
    (scene.home / ".netrc").unlink()
    (scene.home / ".ssh/id_rsa").unlink()
    (scene.home / ".ssh").rmdir()
    assert (await run(terminal, "echo still here")).output == "still here\n"


@pytest.mark.needs("bwrap")
async def test_what_comes_and_goes_between_commands_moves_their_bounds(scene: Scene) -> None:
    """Most commands find everything as the one before did; each of these does not."""
    terminal = scene.terminal("bubblewrap")
    netrc, skill = scene.work / ".netrc", scene.own / "skills/two.md"
    look = "cat .netrc ~/.netrc ~/.hermes/skills/two.md 2>/dev/null"
    assert (await run(terminal, look)).output == ""
    netrc.write_text(CANARY)
    skill.write_text("two")
    assert (await run(terminal, look)).output == "two"
    netrc.unlink()
    (scene.home / ".netrc").unlink()
    (scene.home / ".netrc").mkdir()
    (scene.home / ".netrc/inside").write_text(CANARY)
    assert (await run(terminal, "cat ~/.netrc/inside 2>/dev/null; echo x > .netrc && cat .netrc")).output == "x\n"
    (scene.work / "sub").mkdir()
    assert (await run(terminal, "cd sub && pwd")).output == f"{scene.work}/sub\n"
    assert (await run(terminal, "pwd; cat ../.netrc 2>/dev/null")).output == f"{scene.work}/sub\n"


@pytest.mark.needs("bwrap")
async def test_what_starts_by_itself_is_protected_as_soon_as_it_is_there(scene: Scene) -> None:
    terminal = scene.terminal("bubblewrap")
    for _ in range(2):
        assert (await run(terminal, "ls -A")).code == 0
    for name in (".envrc", ".bashrc"):
        (scene.work / name).write_text("as it was\n")
        assert (await run(terminal, f"echo more >> {name}")).code != 0
        assert (await run(terminal, f"mv {name} other")).code != 0
        assert (scene.work / name).read_text() == "as it was\n"
    (scene.work / ".envrc").unlink()
    assert (await run(terminal, "echo new > .envrc")).code == 0
    scene.boxes[-1].look_after()
    assert [text.partition(":")[0] for text in scene.told] == ["a command made .envrc"]


@pytest.mark.needs("bwrap")
async def test_a_command_that_sets_back_the_time_of_the_folder_is_told_of_all_the_same(scene: Scene) -> None:
    terminal = scene.terminal("bubblewrap")
    await asyncio.sleep(2.1)  # a folder that changed just now is read again anyway
    await run(terminal, "true")
    box = scene.boxes[-1]
    box.look_after()
    await run(terminal, "touch -r . /tmp/before; echo true > .envrc; touch -r /tmp/before .")
    box.look_after()
    assert [text.partition(":")[0] for text in scene.told] == ["a command made .envrc"]
