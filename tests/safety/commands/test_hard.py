"""What never runs is told from what merely looks like it."""

import time

import pytest

from hermes.safety.commands import hard
from hermes.safety.commands.hard import Disaster
from hermes.safety.commands.read import read
from hermes.safety.places import Places

HOME = "/home/me"
CWD = "/home/me/project"

NEVER = {
    "hard-remove": [
        "rm -rf /",
        "rm -r /",
        "rm -fr //",
        "rm -rf --no-preserve-root /",
        "rm --recursive --force /",
        "rm --recurs /",
        "rm -rf /*",
        "rm -rf / tmp/x",
        "rm -rf /.",
        "rm -rf /etc",
        "rm -rf /etc/",
        "rm -R /usr/bin",
        "rm -rf /h*",
        "rm -rf /{usr,var}",
        "rm -rf /home",
        "rm -rf /home/other",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf ~/.*",
        "rm -rf ~other",
        'rm -rf "$HOME"',
        "rm -rf ${HOME}/",
        "rm -rf ${HOME:?}/*",
        "rm -rf /home/me",
        "rm -rf ..",
        "rm -rf ../../..",
        "rm -rf /tmp/../etc",
        "cd / && rm -rf *",
        "cd; rm -rf .",
        "cd -P; rm -rf .",
        "cd -P -- /; rm -rf *",
        "cd .. && rm -rf ./*",
        "sudo rm -rf /",
        "sudo -u root -- rm -rf /",
        "env A=b rm -rf /",
        "env -S 'rm -rf /'",
        "nohup nice -n 5 rm -rf / &",
        "timeout -k 1 5 rm -rf /",
        "command rm -rf /",
        "/bin/rm -rf /",
        "\\rm -rf /",
        "'rm' -rf /",
        'r""m -rf "/"',
        "rm -r\\f /",
        "rm\t-rf\t/",
        "rm${IFS}-rf${IFS}/",
        "rm$IFS-rf$IFS$9/",
        "ls; rm -rf /",
        "true && rm -rf / || true",
        "if true; then rm -rf /; fi",
        "(rm -rf /)",
        "{ rm -rf /; }",
        "echo $(rm -rf /)",
        "echo `rm -rf /`",
        "cat <(rm -rf /)",
        "bash -c 'rm -rf /'",
        "sh -xc 'cd /tmp; sudo rm -rf /'",
        "bash -c \"bash -c 'rm -rf /'\"",
        "su root -c 'rm -rf /'",
        "eval rm -rf /",
        "eval 'rm -rf /'",
        "echo 'rm -rf /' | sh",
        "bash <<< 'rm -rf /'",
        "bash <<EOF\nrm -rf /\nEOF",
        "cat <<EOF | bash\nrm -rf /\nEOF",
        "echo / | xargs rm -rf",
        "xargs rm -rf / < x",
        "x=/; rm -rf $x",
        "export D=/etc; rm -rf $D",
        "a=rm; $a -rf /",
        "find / -delete",
        "find ~ -type f -delete",
        "find / -exec rm -rf {} +",
        "ｒｍ -rf /",
        "rm -rf /\u200b",
        "\x1b[31mrm -rf /",
    ],
    "hard-format": ["mkfs.ext4 /dev/sdb1", "mkfs -t ext4 disk.img", "sudo mkfs.xfs /dev/x", "/sbin/mke2fs x"],
    "hard-disk": [
        "dd if=/dev/zero of=/dev/sda",
        "dd of=/dev/nvme0n1 if=x bs=1M",
        "cat x > /dev/sda",
        "echo x >> /dev/sda1",
        "cat x | sudo tee /dev/vda",
        "cp image.iso /dev/mmcblk0",
        "> /dev/sda",
        "shred -n 1 /dev/sdb",
        "dd if=x of=/dev/../dev/sda",
        "dd if=x of=/dev/disk/by-id/ata-1",
    ],
    "hard-fork-bomb": [":(){ :|:& };:", ":() { : | : & } ; :", "bomb(){ bomb|bomb& };bomb", "bash -c ':(){ :|:& };:'"],
    "hard-kill": ["kill -9 -1", "kill -1", "kill -KILL -1", "kill -s TERM -1", "kill -- -1", "sudo kill -15 -1"],
    "hard-power": [
        "shutdown now",
        "shutdown -h +5",
        "sudo reboot",
        "reboot -f",
        "halt",
        "poweroff",
        "/sbin/poweroff",
        "init 0",
        "telinit 6",
        "sudo init 6",
        "systemctl poweroff",
        "systemctl --force reboot",
        "sleep 5; reboot",
        "echo b > /proc/sysrq-trigger",
    ],
}

LOOKS_LIKE_IT = [
    "echo 'rm -rf /'",
    "echo rm -rf /",
    "git commit -m 'rm -rf / and reboot'",
    "grep -rn 'rm -rf /' docs",
    "# rm -rf /",
    "ls # rm -rf /",
    "cat <<EOF > notes.md\nrm -rf /\nshutdown now\nEOF",
    "printf 'reboot\\n' > howto.txt",
    "echo ':(){ :|:& };:'",
    "rm -rf build",
    "rm -rf ./node_modules",
    "rm -rf /tmp/x",
    "rm -rf /tmp/*",
    "rm -rf ~/project/build",
    "rm -rf ~/*.log",
    "rm -rf /home/me/project",
    "rm -rf *",
    "rm -rf .",
    "rm /etc/hosts",
    "rm -f /etc/hosts",
    "./rm -rf /",
    "rm -rf '/tmp/a b'",
    "find . -delete",
    "find / -name '*.pyc' -delete",
    "kill -1 1234",
    "kill -HUP 1",
    "kill 1234",
    "kill -9 4321",
    "pkill python",
    "shutdown -c",
    "shutdown --help",
    "./shutdown now",
    "man reboot",
    "which mkfs",
    "mkfs.ext4 --help",
    "grep shutdown /var/log/syslog",
    "sudo grep reboot /var/log/syslog",
    "systemctl status reboot.target",
    "systemctl restart nginx",
    "init",
    "npm init 0",
    "git init 6",
    "dd if=/dev/sda of=backup.img",
    "dd if=/dev/zero of=disk.img",
    "cp /dev/sda backup.img",
    "echo x > /dev/null",
    "cat /dev/sda | head -c 10",
    "docker run --rm -it alpine",
    "python3 -c 'print(1)'",
    "for f in *; do echo $f; done",
]


def disaster(command: str, cwd: str, home: str) -> Disaster | None:
    return hard.disaster(read(command, cwd, Places(home=f"{home}/.hermes", user_home=home)).steps, home)


@pytest.mark.parametrize(("rule", "command"), [(rule, each) for rule, found in NEVER.items() for each in found])
def test_a_disaster_is_seen(rule: str, command: str) -> None:
    found = disaster(command, CWD, HOME)
    assert found is not None and found.rule == rule


@pytest.mark.parametrize("command", LOOKS_LIKE_IT)
def test_what_only_looks_like_a_disaster_is_none(command: str) -> None:
    assert disaster(command, CWD, HOME) is None


def test_the_folder_counts_for_what_is_removed() -> None:
    assert disaster("rm -rf *", "/", HOME) is not None
    assert disaster("rm -rf .", HOME, HOME) is not None
    assert disaster("rm -rf .", CWD, HOME) is None


def test_a_home_in_an_unusual_place_is_a_home() -> None:
    assert disaster("rm -rf /data/people/me", "/", "/data/people/me") is not None
    assert disaster("rm -rf /data/people", "/", "/data/people/me") is not None
    assert disaster("rm -rf /data/people/me/x", "/", "/data/people/me") is None


def test_shells_in_shells_come_to_an_end() -> None:
    command = "rm -rf /"
    for _ in range(6):
        command = "eval " + "'" + command.replace("'", "'\\''") + "'"
    assert disaster(command, CWD, HOME) is not None
    assert disaster("eval " * 5000 + "rm", CWD, HOME) is None


@pytest.mark.parametrize(
    "piece", ["a", "$(", "`", "'", '"', "\\", "<<a ", "{a,", "a=b ", "(){", "cd x;", "sudo ", "eval '"]
)
def test_a_hostile_text_is_read_in_no_time(piece: str) -> None:
    began = time.process_time()
    disaster(piece * (30_000 // len(piece)), CWD, HOME)
    assert time.process_time() - began < 5
