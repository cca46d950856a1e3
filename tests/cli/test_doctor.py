"""`hermes doctor`: each fault of a broken set-up by name with what to do, and what --fix mends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hermes.mcp.chaos.server import ChaosServer
from hermes.protocol.store import Batch, SessionRow
from hermes.protocol.terminals import ProcessInfo
from hermes.store.health import Health, examine
from hermes.store.schema import VERSION
from hermes.store.sqlite import SqliteStore
from hermes.terminals.table import process
from tests.cli.command import Hermes, Ran
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error
from tests.stories.disk import mounted

BROKEN = "model: [unclosed\n"


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    made = Hermes(tmp_path)
    made.home.mkdir(mode=0o700)
    return made


def look(hermes: Hermes, *flags: str, **environ: str) -> tuple[int, dict[str, list[str]]]:
    """The exit code, and what each check said: the state, the text and what to do in one line."""
    return told(hermes("doctor", "--json", *(flags or ("--offline",)), **environ))


def told(ran: Ran) -> tuple[int, dict[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for one in json.loads(ran.out):
        found.setdefault(one["check"], []).append(f"{one['state']}: {one['text']} ({one['do']})")
    return ran.code, found


def test_a_sound_home_is_all_well(hermes: Hermes) -> None:
    hermes.write_config("model: openai:gpt-6\n")
    hermes.config.chmod(0o600)
    ran = hermes("doctor", "--offline", OPENAI_API_KEY="k")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "all is well"
    assert {line.split()[0] for line in ran.out.splitlines()[:-1]} == {"ok"}


# Settings


def test_a_broken_config_stops_neither_doctor_nor_edit_nor_setup(hermes: Hermes) -> None:
    hermes.write_config(BROKEN)
    code, found = look(hermes)
    assert code == 1
    assert found["config.yaml"][0].startswith(f"fail: {hermes.config} line 1: ")
    assert found["config.yaml"][0].endswith("(mend it with: hermes config edit)")
    assert "python" in found and "terminal" in found
    mended = hermes("config", "edit", EDITOR="cp /dev/null")
    assert (mended.code, hermes.config.read_text()) == (0, "")
    hermes.write_config(BROKEN)
    made = hermes("setup", "agent", "--non-interactive")
    [aside] = hermes.home.glob("config.yaml.*")
    assert (made.code, aside.read_text(), look(hermes)[0]) == (0, BROKEN, 0)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00x", b"- a\n- b\n", b"just a word", b"agent: {max_turns: lots}\n"])
def test_whatever_stands_in_config_it_can_be_looked_at_and_edited(hermes: Hermes, content: bytes) -> None:
    hermes.config.write_bytes(content)
    code, found = look(hermes)
    assert (code, found["config.yaml"][0][:5]) == (1, "fail:")
    assert "hermes config edit" in found["config.yaml"][0] and "database" in found
    mended = hermes("config", "edit", EDITOR="cp /dev/null")
    assert (mended.code, hermes.config.read_bytes()) == (0, b"")


def test_a_folder_in_the_place_of_config_is_named_with_what_to_do(hermes: Hermes) -> None:
    hermes.config.mkdir()
    code, found = look(hermes)
    assert (code, found["config.yaml"][0]) == (
        1,
        f"fail: {hermes.config} is a folder (remove it: rm -r {hermes.config})",
    )
    assert "database" in found and hermes("config", "edit").err.count("\n") == 1


def test_a_wrong_value_and_an_unknown_key_are_named_with_their_line(hermes: Hermes) -> None:
    hermes.write_config("# mine\nagent:\n  max_turns: many\n")
    code, found = look(hermes)
    assert (code, found["config.yaml"][0].startswith("fail: line 3: agent.max_turns must be ")) == (1, True)
    hermes.write_config(
        "timezone: UTC\n\nagnet:\n  max_turns: 4\nmcp_servers:\n  a:\n    command: 'true'\n    timout: 4\n"
    )
    wrong = "mcp_servers.a.timout"
    assert look(hermes)[1]["config.yaml"][:2] == [
        "warn: line 4: there is no setting 'agnet'; did you mean agent? (hermes config unset agnet.max_turns)",
        f"warn: line 8: there is no setting '{wrong}'; did you mean mcp_servers.a.timeout? (hermes config unset {wrong})",
    ]


def test_files_that_cannot_be_read_each_have_a_line(hermes: Hermes) -> None:
    (hermes.home / ".env").write_bytes(b"A=\xff\n")
    (hermes.home / "auth.json").write_text("{")
    (hermes.home / "SOUL.md").write_bytes(b"\xff")
    code, found = look(hermes)
    assert (code, [found[check][-1].partition(":")[0] for check in (".env", "auth.json", "memory and skills")]) == (
        1,
        ["fail"] * 3,
    )


def test_fix_closes_what_others_could_read_and_removes_what_a_killed_process_left(hermes: Hermes) -> None:
    (hermes.home / ".env").write_text("OPENAI_API_KEY=k\n")
    (hermes.home / ".env").chmod(0o644)
    hermes.home.chmod(0o755)
    left = [hermes.home / name for name in (".config.yaml.4194305", "state.db.schema-1.backup.part", ".gone.lock")]
    for path in left:
        path.touch()
    _, before = look(hermes)
    assert [before[check][0].partition(":")[0] for check in ("home", ".env", "leftovers")] == ["warn"] * 3
    assert all(path.exists() for path in left)
    assert before["leftovers"][0].startswith("warn: nothing needs ")
    fixed = hermes("doctor", "--offline", "--fix")
    assert fixed.out.count("mended ") == 3 and "3 mended" in fixed.out
    assert [path.stat().st_mode & 0o777 for path in (hermes.home, hermes.home / ".env")] == [0o700, 0o600]
    assert not any(path.exists() for path in left)
    assert "leftovers" not in look(hermes)[1]


# The model


async def test_a_refused_key_and_an_address_where_nobody_listens_are_told_apart(hermes: Hermes) -> None:
    async with ModelServer([error("invalid_key"), Reply("yes")]) as server:
        hermes.write_config(f"model: {{provider: custom, name: a, base_url: {server.base_url}, api_key_env: A_KEY}}\n")
        code, found = told(await hermes.beside("doctor", "--json", A_KEY="bad"))
        assert code == 1 and found["model"][0].startswith("fail: the key was refused (A_KEY): ")
        assert found["model"][0].endswith("(set a good one: hermes config set A_KEY)")
        code, found = told(await hermes.beside("doctor", "--json", A_KEY="good"))
        assert code == 0 and found["model"][0].startswith("ok: custom:a answers in ")
    code, found = told(await hermes.beside("doctor", "--json", A_KEY="good"))
    assert code == 1 and found["model"][0].startswith(f"fail: {server.base_url} cannot be reached: ")


def test_a_missing_key_says_how_to_set_it(hermes: Hermes) -> None:
    hermes.write_config("model: openai:gpt-6\n")
    code, found = look(hermes)
    assert (code, found["model"]) == (
        1,
        [
            "fail: there is no key for OpenAI: OPENAI_API_KEY is not set (hermes config set OPENAI_API_KEY YOUR-KEY)",
        ],
    )


# The database and the disk


def database(hermes: Hermes, version: int = VERSION) -> apsw.Connection:
    connection = apsw.Connection(str(hermes.home / "state.db"))
    connection.execute(f"PRAGMA user_version={version}; CREATE TABLE t(x)").fetchall()
    (hermes.home / "state.db").chmod(0o600)
    return connection


@pytest.mark.parametrize(
    ("version", "said"), [(0, "warn: PATH is of an older Hermes"), (99, "fail: PATH was written by a newer Hermes")]
)
def test_a_database_of_another_version_is_named(hermes: Hermes, version: int, said: str) -> None:
    database(hermes, version).close()
    code, found = look(hermes)
    assert found["database"][0].startswith(said.replace("PATH", str(hermes.home / "state.db")))
    assert code == (1 if said.startswith("fail") else 0)


def test_a_damaged_database_is_not_touched_and_the_way_out_is_told(hermes: Hermes) -> None:
    path = hermes.home / "state.db"
    path.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    before = path.read_bytes()
    code, found = look(hermes, "--offline", "--fix")
    assert (code, path.read_bytes() == before) == (1, True)
    assert found["database"][0].startswith(f"fail: {path} is damaged: ") and "hermes import" in found["database"][0]


def test_a_database_that_a_hanging_process_holds_is_locked(hermes: Hermes) -> None:
    connection = database(hermes)
    connection.execute("BEGIN EXCLUSIVE")
    code, found = look(hermes)
    connection.close()
    assert (code, found["database"][0].startswith(f"fail: {hermes.home / 'state.db'} is held by another")) == (1, True)
    assert examine(hermes.home / "state.db").state == "ok"


def test_a_database_is_examined_without_being_made(tmp_path: Path) -> None:
    assert examine(tmp_path / "state.db") == Health("none")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with mounted(tmp_path / "home") as disk:
        hermes = Hermes(tmp_path)
        assert look(hermes)[1]["disk"][0].startswith("warn: only ")
        hermes("sessions", "list")
        disk.fill()
        code, found = look(hermes)
    assert (code, found["disk"]) == (
        1,
        [f"fail: the disk of {hermes.home} is full (free some space, or set HERMES_HOME to a larger disk)"],
    )
    database = hermes.home / "state.db"
    assert found["database"] == [f"fail: {database} cannot be opened while its disk is full (free some space)"]


def test_a_working_folder_that_is_gone_is_named_beside_the_rest(hermes: Hermes, tmp_path: Path) -> None:
    script = 'mkdir gone; cd gone; rmdir "$PWD"; "$@"'
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "hermes", "doctor", "--offline", "--json"]
    done = subprocess.run(command, env=hermes.environ, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    code, found = told(Ran(done.returncode, done.stdout))
    assert (code, found["sandbox"]) == (1, ["fail: the working folder is not there any more (go to another one)"])
    assert "programs" in found


# Programs, terminals, servers


def test_a_program_that_the_settings_need_and_that_is_missing_is_named(hermes: Hermes, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "bash").symlink_to("/bin/bash")
    hermes.write_config("terminal: {backend: podman}\nmcp_servers: {a: {command: no-such-program}, b: {}}\n")
    code, found = look(hermes, PATH=str(programs))
    assert code == 1
    assert found["programs"][:3] == [
        "warn: git is not installed: changes of files cannot be undone (install git)",
        "fail: podman is not installed: the terminal 'podman' cannot be used (install podman)",
        "warn: rg is not installed: searching files takes longer (install rg)",
    ]
    assert found["mcp"] == [
        "fail: a: the program 'no-such-program' is not there (install it, or hermes mcp remove a)",
        "fail: b has neither a command nor a URL (hermes config set mcp_servers.b.command PROGRAM)",
    ]


def test_a_terminal_that_nobody_has_is_named(hermes: Hermes) -> None:
    hermes.write_config("terminal: {backend: dokcer}\n")
    assert look(hermes, "--fix")[1]["terminal"][0].startswith("fail: there is no terminal 'dokcer'")


def test_a_server_that_does_not_start_is_named(hermes: Hermes) -> None:
    hermes.write_config(f"model: local\nmcp_servers: {{a: {{command: {sys.executable}, args: ['-c', 'exit(3)']}}}}\n")
    code, found = look(hermes, "--fix")
    assert (code, found["mcp"][0].startswith("fail: a: ")) == (1, True)
    assert found["mcp"][0].endswith("(hermes mcp test a shows where it fails)")


def test_wrong_usage_is_one_line_and_code_2(hermes: Hermes) -> None:
    assert hermes("doctor", "--fxi") == Ran(
        2, "", "hermes: unrecognized arguments: --fxi (hermes doctor --help shows what there is)\n"
    )


async def test_a_program_that_a_crashed_session_left_running_is_named(hermes: Hermes) -> None:
    child = subprocess.Popen(["sleep", "60"])
    row = process(child.pid)
    assert row is not None
    info = ProcessInfo(
        id="p", command="sleep 60", cwd="/", pid=child.pid, started=1.0, start_ticks=row.started, state="running"
    )
    async with SqliteStore(hermes.home / "state.db") as store:
        session = SessionRow(id="one", source="cli", model="m", cwd="/", started=1.0)
        await store.create(session, Batch(), f"{os.uname().nodename}:4194305:1:x")
        await store.save("one", info)
    _, found = told(await hermes.beside("doctor", "--json", "--offline"))
    child.kill()
    child.wait()
    [said] = found["processes"]
    assert said.startswith(f"warn: a crashed session left 'sleep 60' running, as process {child.pid} (kill {child.pid}")


async def test_servers_that_answer_are_told_from_those_that_do_not(hermes: Hermes) -> None:
    async with ChaosServer() as chaos:
        hermes.write_config(
            f"model: local\nmcp_servers: {{here: {{url: '{chaos.url}'}}, gone: {{url: 'http://127.0.0.1:9/mcp'}}}}\n"
        )
        code, found = told(await hermes.beside("doctor", "--json"))
    assert (code, found["mcp"][0], found["mcp"][1].startswith("fail: gone: ")) == (1, "ok: here: 12 tools ()", True)
