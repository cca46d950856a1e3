"""Which paths may be read and written without a question."""

import os
from pathlib import Path

import pytest

from hermes.protocol.actions import ReadPath, Verdict, WritePath
from hermes.safety.places import Follower, Places, followed, places_of, reading, writing
from tests.safety.scene import NOBODY, OWN, PLACES, WORKSPACE, decide, make_gate

READS = {
    "allow": [
        f"{WORKSPACE}/a.py",
        f"{WORKSPACE}/.env",
        f"{WORKSPACE}/auth.json",
        f"{WORKSPACE}/.git/config",
        f"{NOBODY}/.bashrc",
        f"{NOBODY}/notes.txt",
        f"{OWN}/config.yaml",
        f"{OWN}/skills/x/SKILL.md",
        f"{OWN}/profiles/work/config.yaml",
        "/etc/hosts",
        "/proc/cpuinfo",
        "/dev/null",
        f"{WORKSPACE}/myssh/x",
        f"{WORKSPACE}/.sshx",
        f"{WORKSPACE}/id_rsa_notes.md",
        f"{WORKSPACE}/tests/server.pem",
        f"{WORKSPACE}/.bundle/config",
        "/etc/ssl/certs/ca.pem",
        "/proc/self/status",
    ],
    "ask": [
        f"{NOBODY}/.ssh",
        f"{NOBODY}/.ssh/id_ed25519",
        f"{NOBODY}/.SSH/config",
        f"{NOBODY}/.aws/credentials",
        f"{NOBODY}/.gnupg/x",
        f"{NOBODY}/.kube/config",
        f"{NOBODY}/.netrc",
        f"{NOBODY}/.pgpass",
        f"{NOBODY}/.config/gh/hosts.yml",
        f"{NOBODY}/.docker/config.json",
        f"{WORKSPACE}/.npmrc",
        f"{WORKSPACE}/.pypirc",
        f"{WORKSPACE}/keys/id_rsa",
        "/home/other/.ssh/authorized_keys",
        "/etc/shadow",
        "/etc/sudoers.d/x",
        "/dev/sda",
        "/dev/mem",
        f"{NOBODY}/.bash_history",
        f"{NOBODY}/.config/rclone/rclone.conf",
        f"{NOBODY}/.config/hub",
        f"{NOBODY}/.config/BraveSoftware/Default/Cookies",
        f"{NOBODY}/.mozilla/firefox/x.default/logins.json",
        "/home/other/.zsh_history",
        "/home/me/.claude/.credentials.json",
        "/Users/other/Library/Cookies/x",
        f"{NOBODY}/server.pem",
        "/srv/wallet.dat",
        *(f"/proc/42/{link}/etc/hosts" for link in ("root", "cwd")),
        "/proc/42/fd/7",
    ],
    "block": [
        f"{OWN}/.env",
        f"{NOBODY}/.HERMES/.env",
        f"{OWN}/Profiles/work/AUTH.json",
        f"{OWN}/auth.json",
        f"{OWN}/mcp-tokens",
        f"{OWN}/mcp-tokens/server.json",
        f"{OWN}/profiles/work/.env",
        f"{OWN}/profiles/work/mcp-tokens/x",
        "/proc/1/environ",
        "/proc/42/task/43/environ",
        "/proc/42/mem",
    ],
}

WRITES = {
    "allow": [
        f"{WORKSPACE}/a.py",
        f"{WORKSPACE}/deep/er/a.py",
        f"{WORKSPACE}/.env",
        f"{WORKSPACE}/.gitignore",
        f"{WORKSPACE}/Makefile",
        f"{WORKSPACE}/.github/ISSUE_TEMPLATE.md",
        f"{WORKSPACE}/.vscode/extensions.json",
        f"{WORKSPACE}/gitx/hooks",
    ],
    "ask": [
        "/tmp/scratch/a.py",
        "/dev/shm/x",
        f"{WORKSPACE}/.git/hooks/pre-commit",
        f"{WORKSPACE}/.git/config",
        f"{WORKSPACE}/.git",
        f"{WORKSPACE}/.Git/Hooks/x",
        f"{WORKSPACE}/sub/.git/config",
        f"{WORKSPACE}/.github/workflows/ci.yml",
        f"{WORKSPACE}/.gitlab-ci.yml",
        f"{WORKSPACE}/.envrc",
        f"{WORKSPACE}/.vscode/tasks.json",
        f"{WORKSPACE}/.husky/pre-commit",
        f"{WORKSPACE}/Jenkinsfile",
        f"{WORKSPACE}/.npmrc",
        f"{WORKSPACE}x/a.py",
        f"{NOBODY}/a.py",
        f"{NOBODY}/.bashrc",
        f"{NOBODY}/.config/systemd/user/x.service",
        f"{NOBODY}/.ssh/authorized_keys",
        f"{OWN}/config.yaml",
        f"{OWN}/.env",
        f"{OWN}/hooks/x/handler.py",
        f"{OWN}/skills/x/SKILL.md",
        f"{OWN}/workspace/a.txt",
        "/etc/hosts",
        "/usr/bin/ls",
        "/tmp",
        "/",
    ],
    "block": ["/proc/sys/kernel/x", "/sys/power/state", "/dev/sda", "/dev/null", "/boot/grub.cfg"],
}


@pytest.mark.parametrize(("decision", "path"), [(key, each) for key, paths in READS.items() for each in paths])
def test_reading(decision: str, path: str) -> None:
    assert decide(ReadPath(path)) == decision


@pytest.mark.parametrize(("decision", "path"), [(key, each) for key, paths in WRITES.items() for each in paths])
def test_writing(decision: str, path: str) -> None:
    assert decide(WritePath(path)) == decision


def test_deleting_asks_where_writing_would() -> None:
    assert decide(WritePath(f"{WORKSPACE}/a.py", delete=True)) == "allow"
    assert decide(WritePath(f"{NOBODY}/a.py", delete=True)) == "ask"


def test_nothing_is_inside_a_working_folder_that_is_the_whole_disk() -> None:
    assert writing("/usr/lib/x", "/", PLACES).decision == "ask"
    assert writing("/usr/lib/x", "", PLACES).decision == "ask"


def test_a_working_folder_inside_hermes_home_is_one() -> None:
    desk = f"{OWN}/workspace/site"
    assert writing(f"{desk}/index.html", desk, PLACES) == Verdict("allow", "workspace")
    assert writing(f"{OWN}/config.yaml", desk, PLACES).decision == "ask"
    assert writing(f"{OWN}/config.yaml", OWN, PLACES).decision == "ask"
    assert writing(f"{OWN}/config.yaml", NOBODY, PLACES).decision == "ask"


def test_own_keys_stay_shut_even_with_approvals_off() -> None:
    gate = make_gate(yolo=True)
    assert gate.policy.yolo
    assert decide(ReadPath(f"{OWN}/.env"), yolo=True) == "block"
    assert decide(ReadPath(f"{NOBODY}/.ssh/id_rsa"), yolo=True) == "allow"
    assert decide(WritePath("/proc/sys/x"), yolo=True) == "block"


def test_a_home_elsewhere_has_keys_too() -> None:
    places = Places(home="/data/h", user_home="/data/me")
    assert reading("/data/h/.env", places).decision == "block"
    assert reading("/data/h2/.env", places).decision == "allow"


def test_a_profile_is_protected_with_the_whole_that_it_is_a_part_of(tmp_path):
    root = tmp_path / ".hermes"
    (root / "profiles" / "work").mkdir(parents=True)
    places = places_of(root / "profiles" / "work", tmp_path)
    assert places == Places(home=str(root), user_home=str(tmp_path), profile=str(root / "profiles" / "work"))
    for path in (".env", "auth.json", "profiles/work/.env", "profiles/other/.env", "profiles/other/mcp-tokens/x.json"):
        assert reading(f"{root}/{path}", places).decision == "block", path
    for path in ("config.yaml", "profiles/work/config.yaml", "profiles/other/SOUL.md"):
        assert writing(f"{root}/{path}", "/elsewhere", places).decision == "ask", path


def test_links_are_followed_as_the_system_follows_them(tmp_path: Path) -> None:
    for name in ("real/deep/file", "other/file"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    for link, target in (("link", "real"), ("real/up", ".."), ("real/deep/out", "../../other"), ("loop", "loop")):
        (tmp_path / link).symlink_to(target)
    follow = Follower()
    for name in (
        "link/deep/file",
        "real/up/link/deep/out/file",
        "real/deep/out",
        "loop/x",
        "missing/x",
        ".",
        "..",
        "link/",
    ):
        path = f"{tmp_path}/{name}"
        assert follow(os.path.normpath(path)) == os.path.realpath(os.path.normpath(path)), name
    assert (follow("/"), follow("/a\0b/c"), followed("/a\0b/../c")) == ("/", "/a\0b/c", "/c")
