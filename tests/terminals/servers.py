"""Real servers for the terminals of this folder: an sshd, a podman with an image of its own, and the docker API on it."""

import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

IMAGE = "localhost/hermes-test"

SSHD = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/client.pub
PidFile {folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
MaxSessions {sessions}
PrintMotd no
SetEnv SHLVL=2
"""
"""The shell's level keeps bash from reading the .bashrc of whoever runs the tests, which may take its time."""

CONTAINERS = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 1
"""

STORAGE = """\
[storage]
driver = "vfs"
graphroot = "{folder}/images"
runroot = "{folder}/running"
"""


class Sshd:
    """An sshd on a port of its own, with keys of its own."""

    def __init__(self, folder: Path, sessions: int = 10) -> None:
        self.folder = folder
        self.key = folder / "client"
        for name in ("host", "client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        self.port = free_port()
        (folder / "config").write_text(SSHD.format(port=self.port, folder=folder, sessions=sessions))
        host = (folder / "host.pub").read_text().split()[:2]
        self.known = folder / "known"
        self.known.write_text(f"[127.0.0.1]:{self.port} {' '.join(host)}\n")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def options(self) -> list[str]:
        return [f"UserKnownHostsFile={self.known}", "GlobalKnownHostsFile=/dev/null"]

    def start(self) -> None:
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        assert program
        os.makedirs("/run/sshd", exist_ok=True)
        self._process = subprocess.Popen([program, "-D", "-e", "-f", self.folder / "config"], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.01)
        raise AssertionError("sshd did not start")

    def stop(self) -> None:
        """End the one that listens; connections that are open stay."""
        if self._process:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def cut(self) -> None:
        """End every connection, as a router that was switched off and on again."""
        assert self._process
        for name in os.listdir("/proc"):
            if name.isdigit() and parent_of(name) == self._process.pid:
                os.kill(int(name), 9)


def parent_of(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Podman:
    """A podman whose images and containers lie in a folder of their own; `env` leads a client there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "containers.conf").write_text(CONTAINERS)
        (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CONTAINERS_CONF": f"{folder}/containers.conf",
            "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
            "XDG_RUNTIME_DIR": str(folder),
        }

    def __call__(self, *words: str | Path) -> str:
        done = subprocess.run(["podman", *words], env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def make_image(self) -> None:
        """An image with busybox, and with nothing else."""
        write_image(self.folder / "image.tar")
        self("import", self.folder / "image.tar", IMAGE)

    @contextmanager
    def service(self) -> Iterator[dict[str, str]]:
        """The docker API; the environment leads docker to it."""
        address = f"unix://{self.folder}/api"
        words = ["podman", "system", "service", "--time=0", address]
        with subprocess.Popen(words, env=self.env, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 10
            while not (self.folder / "api").exists():
                assert time.monotonic() < deadline, "the docker API did not start"
                time.sleep(0.02)
            yield {"PATH": os.environ["PATH"], "HOME": str(self.folder), "DOCKER_HOST": address}
            process.terminate()

    def _watchers(self) -> list[int]:
        """The processes that watch over a container or a program in one, and stay for a while behind it."""
        found: list[int] = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if b"conmon" in words and os.fsencode(self.folder) in words:
                found.append(int(name))
        return found

    def remove(self) -> None:
        self("rm", "--all", "--force", "--time", "0")
        for pid in self._watchers():
            os.kill(pid, 9)
        # Under root, the folder of images holds a mount.
        subprocess.run(["umount", f"{self.folder}/images"], capture_output=True)


def write_image(path: Path) -> None:
    """The root folder of a machine that has busybox only."""
    busybox = shutil.which("busybox")
    assert busybox
    names = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    with tarfile.open(path, "w") as archive:
        for folder in ("bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "var", "var/tmp"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if "tmp" in folder else 0o755
            archive.addfile(entry)
        passwd = b"root:x:0:0::/root:/bin/sh\n"
        entry = tarfile.TarInfo("etc/passwd")
        entry.size = len(passwd)
        archive.addfile(entry, BytesIO(passwd))
        archive.add(os.path.realpath(busybox), "bin/busybox")
        for name in names:
            if name != "busybox":
                entry = tarfile.TarInfo(f"bin/{name}")
                entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
                archive.addfile(entry)


def short_folder() -> Path:
    """A folder with a short name: the name of a socket in it must not be longer than 100 bytes."""
    return Path(tempfile.mkdtemp(prefix="hermes-test-", dir="/tmp" if sys.platform == "linux" else None))
