"""What every row stands on: a home and a working folder of the bench's own, the model server, the commands."""

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from bench.cost import Cost, Failed, run

TREE = Path(__file__).resolve().parent.parent
LAUNCHER = TREE / "hermes"
PYTHON = TREE / ".venv" / "bin" / "python"
PROGRAMS = Path(__file__).parent / "programs"
A = TypeVar("A")
B = TypeVar("B")


class Stage:
    """Opened once for all rows. The home lies in the tree's own .cache, because a commit on a tmpfs costs nothing; the
    working folder lies outside, where no project's rules are found."""

    def __init__(self, *, quick: bool = False) -> None:
        self.quick = quick

    def __enter__(self) -> Self:
        cache = TREE / ".cache" / "bench"
        cache.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(dir=cache))
        self.work = Path(tempfile.mkdtemp(prefix="hermes-bench-"))
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.log = self.folder / "requests.jsonl"
        self.log.touch()
        self.env = {"HOME": str(self.folder), "HERMES_HOME": str(self.home), "PATH": os.environ["PATH"]}
        # PYTHONDONTWRITEBYTECODE may be set, so this is said outright.
        compileall.compile_dir(TREE / "src", quiet=1)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "bench.answers", str(self.log)], stdout=subprocess.PIPE, text=True, cwd=TREE
        )
        assert self._server.stdout is not None
        url = self._server.stdout.readline().strip()
        if not url:
            raise Failed("the model server did not start")
        self.base_url = f"{url}/v1"
        model = f"{{provider: custom, name: echo, base_url: {self.base_url}}}"
        (self.home / "config.yaml").write_text(f"model: {model}\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.communicate()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.work)

    def scale(self, full: A, quick: A) -> A:
        """How much of it: enough for figures that hold, or just enough to see that it works."""
        return quick if self.quick else full

    def alternate(self, times: int, ours: Callable[[], A], floor: Callable[[], B]) -> tuple[list[A], list[B]]:
        """Run both in turn, so that a busy machine slows both; once before that, for caches and first-time work."""
        if not self.quick:
            ours()
            floor()
        pairs = [(ours(), floor()) for _ in range(self.scale(times, 1))]
        return [first for first, _ in pairs], [second for _, second in pairs]

    def say(self, text: str) -> None:
        print(f"bench: {text}", file=sys.stderr, flush=True)

    def hermes(self, *args: str) -> Cost:
        """Hermes as people start it."""
        return run([LAUNCHER, *args], env=self.env, cwd=self.work)

    def program(self, name: str, *args: str | Path) -> Cost:
        """One of the bench's programs, with the interpreter that Hermes has."""
        return run([PYTHON, "-E", "-s", PROGRAMS / f"{name}.py", *args], env=self.env, cwd=self.work)

    def fresh(self, name: str) -> Path:
        """A folder that nobody has used."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def requests(self, after: int = 0) -> list[dict[str, Any]]:
        """What the server received, without the first so many; a request that a provider would refuse is an error."""
        requests = [msgspec.json.decode(line) for line in self.log.read_bytes().splitlines()[after:]]
        for request in requests:
            if request["violation"]:
                raise Failed(f"the model server refused a request: {request['violation']}")
        return requests

    def bodies(self, after: int = 0) -> list[dict[str, Any]]:
        """The bodies of the model requests among them."""
        return [request["body"] for request in self.requests(after) if request["dialect"]]
