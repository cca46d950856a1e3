"""The `hermes` command as a test runs it: in this process, as one of its own, or at a terminal."""

import asyncio
import contextlib
import fcntl
import io
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from hermes.cli.main import run


class Ran(Struct, frozen=True):
    """What a command gave."""

    code: int
    out: str
    err: str = ""


class Hermes:
    """The command with a home of its own and nothing else in its environment."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.environ = {"HERMES_HOME": str(self.home), "HOME": str(folder), "PATH": os.environ["PATH"]}

    @property
    def config(self) -> Path:
        return self.home / "config.yaml"

    def write_config(self, text: str) -> None:
        self.home.mkdir(exist_ok=True)
        self.config.write_text(text)

    def __call__(self, *args: str, stdin: str = "", **environ: str) -> Ran:
        """In this process: quick, and the same from the arguments on."""
        out, err = io.StringIO(), io.StringIO()
        with _environment(self.environ | environ), _stdin(stdin):
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run(list(args))
        return Ran(code, out.getvalue(), err.getvalue())

    async def beside(self, *args: str, **environ: str) -> Ran:
        """In a thread, beside a server that runs in the test's own loop."""
        return await asyncio.to_thread(self, *args, **environ)

    def process(self, *args: str, stdin: str = "", **environ: str) -> Ran:
        """As a program of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "hermes", *args],
            env=self.environ | environ,
            input=stdin,
            cwd=self.environ["HOME"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def terminal(self, *args: str, typed: Sequence[tuple[str, str]] = (), columns: int = 80, **environ: str) -> Ran:
        """At a terminal: each of `typed` is a prompt to wait for and what is typed then."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen(
            [sys.executable, "-m", "hermes", *args],
            env=self.environ | environ,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.environ["HOME"],
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        seen, waiting = "", list(typed)
        try:
            while piece := _read(ours):
                seen += piece
                if waiting and waiting[0][0] in seen:
                    os.write(ours, waiting.pop(0)[1].encode())
        finally:
            os.close(ours)
            code = child.wait(timeout=30)
        return Ran(code, seen.replace("\r\n", "\n"))


def _read(terminal: int) -> str:
    """What is on the screen; "" once the last program has left the terminal, which Linux tells as an error."""
    try:
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:
        return ""


@contextlib.contextmanager
def _environment(environ: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _stdin(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before
