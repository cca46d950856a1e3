"""Give this tree its own Python environment, holding exactly what requirements/base.txt names, then start Hermes.

`./hermes` runs this with the system's Python when `.venv` is missing, unfinished or behind the requirements. The
stamp in `.venv` says how far it came: none (an environment that somebody else made: completed, not replaced),
"unfinished" (a set-up that was killed: made anew) or the first line of the requirements that are installed.
"""

import fcntl
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

TREE = Path(__file__).resolve().parent.parent
REQUIREMENTS = TREE / "requirements" / "base.txt"
VENV = TREE / ".venv"
TRASH = TREE / ".venv.trash"
LOCK = TREE / ".venv.lock"
PYTHON = VENV / "bin" / "python"
COMMAND = VENV / "bin" / "hermes"
STAMP = VENV / "hermes-stamp"
LOG = VENV / "set-up.log"
UNFINISHED = "unfinished"
CLEAR_LINE = "\r\x1b[K"


class SetupFailed(Exception):
    """Says what went wrong and what to do."""


class Progress:
    """Says on stderr what is going on: one moving line on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self.moving = sys.stderr.isatty()
        self.started = time.monotonic()
        self.text = ""

    def seconds(self) -> str:
        return f"{time.monotonic() - self.started:.0f} s"

    def say(self, text: str) -> None:
        self.text = text
        if self.moving:
            self.redraw()
        else:
            print(f"hermes: {text}", file=sys.stderr, flush=True)

    def redraw(self) -> None:
        """Let the seconds pass, so that a long step is seen to live."""
        if self.moving:
            width = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
            line = f"hermes: {self.text} ({self.seconds()})"
            print(f"{CLEAR_LINE}{line[:width]}", end="", file=sys.stderr, flush=True)

    def end(self, line: str) -> None:
        """Replace the moving line by one that stays."""
        print(f"{CLEAR_LINE if self.moving else ''}hermes: {line}", file=sys.stderr, flush=True)


def main() -> NoReturn:
    progress = Progress()
    try:
        with only_one_at_a_time(progress) as lock:
            set_up(progress, lock)
    except KeyboardInterrupt:
        progress.end("set-up stopped; the next start takes it up again")
        sys.exit(130)
    except SetupFailed as failure:
        progress.end(str(failure))
        sys.exit(1)
    except OSError as error:
        progress.end(f"cannot set up {TREE}: {error}; make it writable, with 300 MB free, and start again")
        sys.exit(1)
    os.execv(PYTHON, [str(PYTHON), "-I", str(COMMAND), *sys.argv[1:]])


@contextmanager
def only_one_at_a_time(progress: Progress) -> Iterator[int]:
    """Hold the lock of this tree. Every child inherits it, so an orphan of a killed set-up is waited for."""
    with LOCK.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say("another start is setting Hermes up; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def set_up(progress: Progress, lock: int) -> None:
    """Bring `.venv` to what the requirements say; the stamp is the last thing written."""
    wanted = REQUIREMENTS.read_text().partition("\n")[0]
    before = STAMP.read_text() if STAMP.exists() else None
    usable = is_usable()
    if usable and before == wanted:
        return
    shutil.rmtree(TRASH, ignore_errors=True)
    if not usable or before == UNFINISHED:
        before = UNFINISHED
        create(progress, lock)
    write_stamp(UNFINISHED)
    try:
        install(progress, lock)
    except SetupFailed:
        # pip changes nothing before it has fetched everything, and takes back what it cannot finish.
        write_stamp(before)
        raise
    connect()
    progress.say("compiling")
    # PYTHONDONTWRITEBYTECODE may be set, so this is said outright; a package's broken example file is no failure.
    run([PYTHON, "-I", "-m", "compileall", "-q", "-j0", TREE / "src", site_packages()], progress, lock)
    write_stamp(wanted)
    progress.end(f"set up in {progress.seconds()}")


def is_usable() -> bool:
    """Say whether `.venv` has a Python that can be given packages."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([PYTHON, "-I", "-c", probe], capture_output=True).returncode == 0
    except OSError:
        return False


def create(progress: Progress, lock: int) -> None:
    progress.say("first start: creating a Python environment in .venv")
    if VENV.is_symlink() or VENV.exists():
        # Renamed first: one that is half deleted must not look like an environment that somebody else made.
        VENV.rename(TRASH)
        shutil.rmtree(TRASH, ignore_errors=True)
    VENV.mkdir()
    write_stamp(UNFINISHED)
    # An upgrade of the system can make `python3` another version; `python3.11` disappears then, and that is noticed.
    python = Path(getattr(sys, "_base_executable", sys.executable))
    versioned = python.with_name(f"python{sys.version_info.major}.{sys.version_info.minor}")
    if run([versioned if versioned.exists() else python, "-I", "-m", "venv", VENV], progress, lock) != 0:
        raise failed("creating the environment", "install Python's venv (Debian: apt install python3-venv)")
    # Before 3.12 it comes with setuptools, whose .pth file makes every start import a module more (1 of 15 ms).
    run([PYTHON, "-I", "-m", "pip", "uninstall", "--yes", "setuptools"], progress, lock)


def install(progress: Progress, lock: int) -> None:
    lines = REQUIREMENTS.read_text().splitlines()
    names = [line.partition("==")[0] for line in lines if "==" in line]

    def follow(line: str) -> None:
        if found := re.search(r"base\.txt \(line (\d+)\)", line):
            name = lines[int(found[1]) - 1].partition("==")[0]
            progress.say(f"collecting {names.index(name) + 1} of {len(names)}: {name}")
        elif line.startswith("Installing collected packages"):
            progress.say(f"installing {line.count(',') + 1} packages")
        elif "Retrying (" in line:
            progress.say("no answer from the package index, trying again")

    progress.say("installing what Hermes needs")
    command = [PYTHON, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-user"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--requirement", REQUIREMENTS]
    if run(command, progress, lock, follow) == 0:
        return
    if "Retrying (" in LOG.read_text(errors="replace"):
        raise SetupFailed(
            "no package index can be reached; check the network and start again "
            "(a mirror or a proxy is set as for pip: PIP_INDEX_URL, PIP_PROXY)"
        )
    raise failed("installing packages", "mend what it names and start again")


def failed(step: str, advice: str) -> SetupFailed:
    tail = "\n".join(LOG.read_text(errors="replace").splitlines()[-8:])
    return SetupFailed(f"{step} failed:\n{tail}\nhermes: {advice}; the whole log is {LOG}")


def run(command: list[str | Path], progress: Progress, lock: int, follow: Callable[[str], object] = str) -> int:
    """Run a command with its output in the log, handing each line to `follow`; return its exit code."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[lock]
    )
    pending = b""
    with process, LOG.open("ab") as log:
        assert process.stdout is not None
        while True:
            if not select.select([process.stdout], [], [], 0.2)[0]:
                progress.redraw()
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                return process.wait()
            log.write(chunk)
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                follow(line.decode(errors="replace"))


def connect() -> None:
    """Put `src` on the environment's path and a `hermes` command beside its Python."""
    packages = site_packages()
    # Relative to the folder of the .pth file, so the tree can be moved.
    (packages / "hermes.pth").write_text(f"{os.path.relpath(TREE / 'src', packages)}\n")
    COMMAND.write_text(f"#!{PYTHON} -I\nimport sys\nfrom hermes.__main__ import main\nsys.exit(main())\n")
    COMMAND.chmod(0o755)


def site_packages() -> Path:
    return next(VENV.glob("lib/python3.*/site-packages"))


def write_stamp(text: str | None) -> None:
    if text is None:
        STAMP.unlink()
        return
    new = STAMP.with_suffix(".new")
    new.write_text(text)
    new.replace(STAMP)


if __name__ == "__main__":
    main()
