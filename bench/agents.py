"""The agents that are put side by side: how each is installed, pointed at a model server and asked, and how large it is."""

import re
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.cost import Failed
from bench.stage import LAUNCHER, TREE

PEERS = TREE / ".cache" / "peers"


class Size(Struct, frozen=True):
    """Bytes on disk with everything that was installed for it, and lines of Python of its own."""

    disk: int
    lines: int


class Agent(Struct, frozen=True, kw_only=True):
    """A program that answers a question; `settle` points it at a model server, by a file in the home it is given."""

    name: str
    command: Path
    question: tuple[str, ...]
    settle: Callable[[Path, str], None]
    size: Callable[[], Size]


def hermes() -> Agent:
    def settle(home: Path, base_url: str) -> None:
        (home / "config.yaml").write_text(f"model: {{provider: custom, name: echo, base_url: {base_url}}}\n")

    def size() -> Size:
        required = (TREE / "requirements" / "base.txt").read_text()
        names = {_plain(name) for name in re.findall(r"^([\w.-]+)==", required, re.MULTILINE)}
        packages = [package for package in distributions() if _plain(package.name) in names]
        own = [path for path in (TREE / "src").rglob("*") if path.is_file()]
        return Size(_bytes(own) + sum(_bytes(_files(package)) for package in packages), _lines(own))

    return Agent(name="Hermes", command=LAUNCHER, question=("-z", "hi"), settle=settle, size=size)


def hermes_agent() -> Agent:
    """`hermes -z` answers once; a server of one's own is the provider `custom` in config.yaml of HERMES_HOME."""

    def settle(home: Path, base_url: str) -> None:
        model = {"provider": "custom", "default": "echo", "base_url": base_url, "api_key": "none"}
        (home / "config.yaml").write_bytes(msgspec.json.encode({"model": model}))

    environment = _environment("hermes-agent", "0.19.0")
    return Agent(
        name="hermes-agent 0.19.0",
        command=environment / "bin" / "hermes",
        question=("-z", "hi"),
        settle=settle,
        size=lambda: _installed(environment, "hermes-agent"),
    )


def nanobot() -> Agent:
    """`nanobot agent -m` answers once; .nanobot/config.json of the home has a provider `custom` with an apiBase."""

    def settle(home: Path, base_url: str) -> None:
        settings = {
            "agents": {"defaults": {"model": "echo", "provider": "custom"}},
            "providers": {"custom": {"apiKey": "none", "apiBase": base_url}},
        }
        (home / ".nanobot").mkdir()
        (home / ".nanobot" / "config.json").write_bytes(msgspec.json.encode(settings))

    environment = _environment("nanobot-ai", "0.3.5")
    return Agent(
        name="nanobot-ai 0.3.5",
        command=environment / "bin" / "nanobot",
        question=("agent", "-m", "hi"),
        settle=settle,
        size=lambda: _installed(environment, "nanobot-ai"),
    )


MAKERS: dict[str, Callable[[], Agent]] = {
    "Hermes": hermes,
    "hermes-agent 0.19.0": hermes_agent,
    "nanobot-ai 0.3.5": nanobot,
}


def _environment(package: str, version: str) -> Path:
    """An environment with this package, made once; the last act is to write its stamp."""
    environment = PEERS / f"{package}-{version}"
    stamp = environment / "bench-stamp"
    if stamp.exists():
        return environment
    print(f"peers: installing {package} {version} into {environment.relative_to(TREE)}", file=sys.stderr, flush=True)
    venv.create(environment, clear=True, with_pip=True)
    command = [environment / "bin" / "python", "-I", "-m", "pip", "install", f"{package}=={version}"]
    if subprocess.run(command, stdout=sys.stderr).returncode:
        raise Failed(f"pip could not install {package} {version}")
    stamp.touch()
    return environment


def _installed(environment: Path, package: str) -> Size:
    [libraries] = environment.glob("lib/python*/site-packages")
    packages = {_plain(found.name): _files(found) for found in distributions(path=[str(libraries)])}
    needed = [path for name, files in packages.items() if name not in ("pip", "setuptools") for path in files]
    return Size(_bytes(needed), _lines(packages[package]))


def _plain(name: str) -> str:
    """A package's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(package: Distribution) -> list[Path]:
    paths = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return [path for path in paths if path.is_file()]


def _bytes(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def _lines(files: Sequence[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in files if path.suffix == ".py")
