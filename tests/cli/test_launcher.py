"""`./hermes`: the first start sets the tree up, every other one only starts Python."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
MAIN = """
import os, sys

def main():
    print(os.getpid(), sys.prefix, *sys.argv[1:])
    return 0
"""


@dataclass(frozen=True)
class FirstStarts:
    """A tree whose first start was killed with -9, after which two starts came at once."""

    tree: Path
    stamp_after_kill: str
    starts: list[tuple[int, str, str]]


@pytest.fixture(scope="module")
def first_starts(tmp_path_factory: pytest.TempPathFactory) -> FirstStarts:
    """Set up once for the whole module: making an environment takes seconds."""
    tree = new_tree(tmp_path_factory.mktemp("launcher") / "tree")
    killed = subprocess.Popen([tree / "hermes"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert killed.stderr is not None
    with killed.stderr:
        while "installing what Hermes needs" not in killed.stderr.readline():
            assert killed.poll() is None
        os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    (tree / ".venv" / "half-installed").touch()
    stamp_after_kill = (tree / ".venv" / "hermes-stamp").read_text()
    both = [
        subprocess.Popen([tree / "hermes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    outputs = [process.communicate() for process in both]
    starts = [(process.returncode, *output) for process, output in zip(both, outputs, strict=True)]
    return FirstStarts(tree, stamp_after_kill, starts)


@pytest.fixture(scope="module")
def tree(first_starts: FirstStarts) -> Path:
    """A small tree, set up: this repository's launcher, nothing to install, a program that says who it is."""
    return first_starts.tree


@pytest.fixture
def copy(tree: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tree, tmp_path / "copy", symlinks=True))


def new_tree(folder: Path) -> Path:
    (folder / "scripts").mkdir(parents=True)
    (folder / "requirements").mkdir()
    (folder / "src" / "hermes").mkdir(parents=True)
    for name in ("hermes", "setup-hermes.sh", "install.sh", "scripts/set_up.py"):
        shutil.copy(TREE / name, folder / name)
    (folder / "requirements" / "base.txt").write_text("# nothing to install\n")
    (folder / "src" / "hermes" / "__init__.py").touch()
    (folder / "src" / "hermes" / "__main__.py").write_text(MAIN)
    return folder


def start(
    launcher: Path | str,
    *arguments: str,
    cwd: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run([launcher, *arguments], capture_output=True, text=True, cwd=cwd, env=environment)


def spoken(result: subprocess.CompletedProcess[str]) -> tuple[int, list[str], str]:
    """The exit code, what the program said without its pid, and stderr."""
    return result.returncode, result.stdout.split()[1:], result.stderr


def stamp(tree: Path) -> str:
    return (tree / ".venv" / "hermes-stamp").read_text()


def test_a_set_up_that_was_killed_is_repaired_by_the_next_start(first_starts: FirstStarts) -> None:
    assert first_starts.stamp_after_kill == "unfinished"
    assert [code for code, _, _ in first_starts.starts] == [0, 0]
    assert stamp(first_starts.tree) == "# nothing to install"
    assert not (first_starts.tree / ".venv" / "half-installed").exists()


def test_of_two_first_starts_one_waits_for_the_other(first_starts: FirstStarts) -> None:
    waiting = ["another start is setting Hermes up" in errors for _, _, errors in first_starts.starts]
    creating = ["creating a Python environment" in errors for _, _, errors in first_starts.starts]
    assert (sorted(waiting), creating) == ([False, True], [not waits for waits in waiting])


def test_set_up_says_nothing_on_stdout(first_starts: FirstStarts) -> None:
    prefix = str(first_starts.tree / ".venv")
    assert [output.split()[1:] for _, output, _ in first_starts.starts] == [[prefix], [prefix]]


def test_it_starts_from_another_folder_with_its_arguments(tree: Path, tmp_path: Path) -> None:
    result = start(tree / "hermes", "-z", "two words", cwd=tmp_path)
    assert spoken(result) == (0, [str(tree / ".venv"), "-z", "two", "words"], "")


def test_it_starts_by_a_relative_path_and_by_name(tree: Path) -> None:
    by_path = start("./hermes", cwd=tree)
    by_name = start("sh", "hermes", cwd=tree)
    assert [spoken(by_path), spoken(by_name)] == [(0, [str(tree / ".venv")], "")] * 2


def test_it_starts_through_absolute_and_relative_symlinks(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "first").symlink_to(tree / "hermes")
    (tmp_path / "bin" / "hermes").symlink_to("../first")
    result = start("hermes", cwd=tmp_path, environment={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert spoken(result) == (0, [str(tree / ".venv")], "")


def test_a_module_in_the_current_folder_or_on_pythonpath_is_not_taken(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "hermes.py").write_text("raise SystemExit('the wrong hermes')")
    result = start(tree / "hermes", cwd=tmp_path, environment={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert spoken(result) == (0, [str(tree / ".venv")], "")


def test_a_second_start_runs_no_program_but_python(tree: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (tree / ".venv").rglob("*")}
    result = start(tree / "hermes", environment={"PATH": str(tmp_path)})
    assert spoken(result) == (0, [str(tree / ".venv")], "")
    assert {path: path.stat().st_mtime_ns for path in (tree / ".venv").rglob("*")} == before


def test_the_program_takes_the_place_of_the_launcher(tree: Path) -> None:
    process = subprocess.Popen([tree / "hermes"], stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate()
    assert int(output.split()[0]) == process.pid


def test_a_tree_that_was_moved_still_starts(copy: Path) -> None:
    assert spoken(start(copy / "hermes")) == (0, [str(copy / ".venv")], "")


def test_new_requirements_are_installed_into_the_same_environment(copy: Path) -> None:
    (copy / ".venv" / "kept").touch()
    (copy / "requirements" / "base.txt").write_text("# newer\n")
    result = start(copy / "hermes")
    assert (result.returncode, stamp(copy), (copy / ".venv" / "kept").exists()) == (0, "# newer", True)


def test_an_environment_that_somebody_else_made_is_completed_not_replaced(copy: Path) -> None:
    (copy / ".venv" / "hermes-stamp").unlink()
    (copy / ".venv" / "kept").touch()
    result = start(copy / "hermes")
    assert (result.returncode, stamp(copy)) == (0, "# nothing to install")
    assert (copy / ".venv" / "kept").exists()


def test_requirements_that_cannot_be_fetched_give_one_line_and_leave_the_environment(copy: Path) -> None:
    (copy / "requirements" / "base.txt").write_text(f"# newer\nabsent==1 --hash=sha256:{'0' * 64}\n")
    nowhere = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1"}
    result = start(copy / "hermes", environment={"PATH": os.environ["PATH"], **nowhere})
    assert (result.returncode, result.stdout, stamp(copy)) == (1, "", "# nothing to install")
    assert result.stderr.splitlines()[-1].startswith("hermes: no package index can be reached; check the network")


def fake_python(folder: Path, body: str) -> dict[str, str]:
    """A PATH on which `python3` is a script of ours and no other Python exists."""
    (folder / "python3").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "python3").chmod(0o755)
    uname = shutil.which("uname")
    assert uname
    (folder / "uname").symlink_to(uname)
    return {"PATH": str(folder)}


def test_a_python_without_venv_gives_one_line_that_says_what_to_install(tmp_path: Path) -> None:
    tree = new_tree(tmp_path / "tree")
    code = "import sys; sys.modules['ensurepip'] = None; exec(sys.argv[3])"
    result = start(tree / "hermes", environment=fake_python(tmp_path, f'exec "{sys.executable}" -c "{code}" "$@"'))
    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        "hermes: this Python has no venv module; install it (Debian, Ubuntu: apt install python3-venv) and start again\n",
    )
    assert not (tree / ".venv").exists()


@pytest.mark.parametrize("body", ["exit 127", "exit 3"], ids=["none", "old"])
def test_no_python_that_is_new_enough_gives_one_line(tmp_path: Path, body: str) -> None:
    result = start(new_tree(tmp_path / "tree") / "hermes", environment=fake_python(tmp_path, body))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("hermes: Python 3.11 or newer is needed; install it")
    assert result.stderr.count("\n") == 1


def test_native_windows_gives_one_line_that_names_wsl2(tmp_path: Path) -> None:
    tree = new_tree(tmp_path / "tree")
    (tmp_path / "uname").write_text("#!/bin/sh\necho MINGW64_NT-10.0\n")
    (tmp_path / "uname").chmod(0o755)
    result = start(tree / "hermes", environment={"PATH": str(tmp_path)})
    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        "hermes: native Windows is not supported; install WSL2 and start Hermes inside it\n",
    )


def test_setup_hermes_links_the_command_into_the_users_bin(copy: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    for _ in range(2):
        assert start(copy / "setup-hermes.sh", environment=environment).returncode == 0
    assert spoken(start(tmp_path / ".local/bin/hermes")) == (0, [str(copy / ".venv")], "")


def test_setup_hermes_does_not_overwrite_a_command_of_the_user(copy: Path, tmp_path: Path) -> None:
    mine = tmp_path / ".local/bin/hermes"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    result = start(copy / "setup-hermes.sh", environment={"HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    assert (result.returncode, mine.read_text()) == (1, "mine")
    assert result.stderr == f"setup-hermes: {mine} exists and is no link; move it away and start again\n"


def test_install_puts_the_command_on_the_path_once(copy: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "SHELL": "/bin/zsh"}
    for _ in range(2):
        assert start(copy / "install.sh", environment=environment).returncode == 0
    assert (tmp_path / ".zshrc").read_text().count('export PATH="$HOME/.local/bin:$PATH"') == 1


@pytest.mark.needs("git")
def test_install_outside_a_clone_says_that_it_needs_the_repository(tmp_path: Path) -> None:
    script = (TREE / "install.sh").read_text()
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    result = subprocess.run(["sh"], input=script, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        "install: set HERMES_REPO to the address of the Hermes repository and start again\n",
    )
