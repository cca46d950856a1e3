"""The log files and `hermes logs`: private, masked, bounded, and shared by many processes."""

import asyncio
import logging
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes.cli.logfiles import LogFile, LogFiles, files_of, logging_to_files, use
from hermes.cli.logs import since
from hermes.config import LogSettings
from tests.cli.command import Hermes, Ran
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error

SECRET = "abcdef-0123456789-my-very-own"


def log(hermes: Hermes, *records: tuple[int, str, str], session: str = "") -> None:
    """Write records as a process of this home would."""
    handler = LogFiles(lambda: hermes.home)
    handler.session = session
    for level, name, text in records:
        handler.emit(logging.LogRecord(name, level, "", 0, text, (), None))
    handler.close()


def write(hermes: Hermes, text: str, name: str = "agent.log") -> None:
    (hermes.home / "logs").mkdir(parents=True, exist_ok=True)
    (hermes.home / "logs" / name).write_text(text)


# Writing


def test_nothing_is_opened_before_something_is_logged(hermes: Hermes) -> None:
    assert hermes("version").code == 0
    assert not hermes.home.exists()


def test_files_are_private_and_secrets_masked(hermes: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(hermes.home))
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    log(hermes, (logging.INFO, "hermes.models.x", f"sent {SECRET}"), (logging.ERROR, "hermes.mcp", "bad\nworse"))
    folder = hermes.home / "logs"
    assert [oct(path.stat().st_mode & 0o777) for path in (hermes.home, folder, folder / "agent.log")] == [
        "0o700",
        "0o700",
        "0o600",
    ]
    agent, errors = (folder / "agent.log").read_text(), (folder / "errors.log").read_text()
    assert SECRET not in agent
    assert re.fullmatch(r"\S+ ERROR mcp \[\d+\] bad\n    worse\n", errors)
    assert agent.endswith(errors) and agent.startswith(errors[:10])


def test_an_unforeseen_error_is_in_the_log_with_its_place(hermes: Hermes) -> None:
    code = (
        "import hermes.cli.version as v, sys\n"
        "async def run(args): raise ZeroDivisionError('oh')\n"
        "v.run = run\n"
        "from hermes.cli.main import run\n"
        "sys.exit(run(['version']))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=hermes.environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "hermes: internal error: ZeroDivisionError: oh (hermes logs errors shows where; please report it)\n",
    )
    shown = hermes("logs", "errors").out
    assert "ERROR cli.main" in shown and "    ZeroDivisionError: oh" in shown


def test_a_log_that_cannot_be_written_stops_nothing(hermes: Hermes) -> None:
    hermes.home.mkdir()
    (hermes.home / "logs").write_text("in the way")
    log(hermes, (logging.ERROR, "hermes.x", "one"), (logging.ERROR, "hermes.x", "two"))
    assert (hermes.home / "logs").read_text() == "in the way"


def test_a_line_with_wrong_arguments_is_logged_as_it_is(hermes: Hermes) -> None:
    handler = LogFiles(lambda: hermes.home)
    handler.emit(logging.LogRecord("hermes.x", logging.ERROR, "", 0, "%s of %s", ("one",), None))
    handler.close()
    assert "%s of %s ('one',)" in hermes("logs").out


def test_a_large_file_is_renamed_and_three_older_ones_stay(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "agent.log", largest=100)
    for number in range(60):
        file.write(f"{number:>19}\n")
    file.close()
    assert [path.name for path in files_of(tmp_path, "agent.log")] == [
        "agent.log.3",
        "agent.log.2",
        "agent.log.1",
        "agent.log",
    ]
    kept = "".join(path.read_text() for path in files_of(tmp_path, "agent.log")).split()
    assert kept == [str(number) for number in range(40, 60)]


async def test_the_settings_say_from_which_level_on_a_session_logs(hermes: Hermes) -> None:
    busy = error("overloaded", headers={"retry-after": "0"})
    async with ModelServer([busy, Reply("one"), busy, Reply("two")]) as server:
        model = f"model: {{provider: custom, name: x, base_url: {server.base_url}}}\n"
        hermes.write_config(model + "logging: {level: ERROR}\n")
        assert (await asyncio.to_thread(hermes.process, "-z", "hi")).out == "one\n"
        assert not (hermes.home / "logs").exists()
        hermes.write_config(model)
        assert (await asyncio.to_thread(hermes.process, "-z", "hi")).out == "two\n"
        assert (hermes.home / "logs" / "agent.log").exists()


def test_the_settings_say_how_much_is_logged_and_kept(hermes: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(hermes.home))
    with logging_to_files():
        logging.getLogger("hermes.x").debug("before")
        use(LogSettings(level="DEBUG", max_size_mb=0.0005, backup_count=1))
        for number in range(40):
            logging.getLogger("hermes.x").debug("line %d", number)
    folder = hermes.home / "logs"
    assert [path.name for path in files_of(folder, "agent.log")] == ["agent.log.1", "agent.log"]
    shown = "".join(path.read_text() for path in files_of(folder, "agent.log"))
    assert shown.endswith("line 39\n") and "before" not in shown and len(shown) < 2 * 600


def test_fewer_older_files_stay_when_the_settings_want_fewer(tmp_path: Path) -> None:
    for kept in (4, 2):
        file = LogFile(tmp_path / "agent.log", largest=100, kept=kept)
        for number in range(60):
            file.write(f"{number:>19}\n")
        file.close()
        assert [path.name for path in files_of(tmp_path, "agent.log")] == [
            *(f"agent.log.{number}" for number in range(kept, 0, -1)),
            "agent.log",
        ]


def test_many_processes_lose_no_line_and_tear_none(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from hermes.cli.logfiles import LogFile\n"
        "file = LogFile(Path(sys.argv[1]), largest=20_000)\n"
        "for n in range(200): file.write(f'{sys.argv[2]}-{n} ' + 'x' * 80 + '\\n')"
    )
    path = tmp_path / "agent.log"
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(4)]
    assert [child.wait(30) for child in children] == [0] * 4
    lines = "".join(one.read_text() for one in files_of(tmp_path, "agent.log")).splitlines()
    # 4 x 200 lines of 90 bytes are 72 KB: they fit into what is kept.
    assert len(lines) == len(set(lines)) == 800
    assert all(re.fullmatch(r"\d-\d+ x{80}", line) for line in lines)


async def test_a_session_logs_to_its_file_and_with_v_to_the_screen_too(hermes: Hermes) -> None:
    async with ModelServer([error("overloaded"), Reply("yes")]) as server:
        hermes.write_config(f"model: {{provider: custom, name: a, base_url: {server.base_url}}}\n")
        ran = await asyncio.to_thread(hermes.process, "-v", "-z", "hi")
    session = (await hermes.beside("sessions", "list")).out.split("\t")[0]
    shown = (await hermes.beside("logs", "--session", session, "--component", "models")).out
    assert (ran.code, ran.out) == (0, "yes\n")
    assert "INFO hermes.models.retry: " in ran.err
    assert re.search(rf"INFO models\.retry \[\d+ {session}\] ", shown)


# Showing


def test_lines_are_chosen_by_level_component_session_and_number(hermes: Hermes) -> None:
    log(hermes, (logging.INFO, "hermes.models.retry", "one"), (logging.ERROR, "hermes.mcp.pump", "two"), session="s-1")
    log(hermes, (logging.WARNING, "hermes.modelsx", "three"), session="s-2")

    def shown(*flags: str) -> list[str]:
        ran = hermes("logs", *flags)
        assert (ran.code, ran.err) == (0, "")
        return [line.split()[-1] for line in ran.out.splitlines()]

    assert shown() == ["one", "two", "three"]
    assert shown("errors") == ["two", "three"]
    assert shown("--level", "error") == ["two"]
    assert shown("--component", "models") == ["one"]
    assert shown("--session", "s-1", "-n", "1") == ["two"]
    assert shown("--since", "1h") == ["one", "two", "three"]
    assert shown("--since", "2199-01-01") == []


def test_older_parts_come_first_and_a_traceback_stays_with_its_line(hermes: Hermes) -> None:
    write(hermes, "2026-01-01T00:00:00+0000 INFO a [1] old\n    more\n", "agent.log.1")
    write(hermes, "2026-01-02T00:00:00+0000 INFO a [1] new \x1b[2J\n")
    assert hermes("logs", "-n", "2").out == (
        "2026-01-01T00:00:00+0000 INFO a [1] old\n    more\n2026-01-02T00:00:00+0000 INFO a [1] new \ufffd[2J\n"
    )
    assert hermes("logs", "-n", "1").out.count("\n") == 1


def test_no_log_yet_is_said(hermes: Hermes) -> None:
    assert hermes("logs") == Ran(
        0, "", f"hermes: nothing was logged yet: there is no {hermes.home / 'logs' / 'agent.log'}\n"
    )


def test_following_shows_what_comes_across_a_rename_and_ends_with_ctrl_c(hermes: Hermes) -> None:
    write(hermes, "2026-01-01T00:00:00+0000 INFO a [1] first\n")
    child = subprocess.Popen(
        [sys.executable, "-m", "hermes", "logs", "-f"], env=hermes.environ, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline().endswith("first\n")
    path = hermes.home / "logs" / "agent.log"
    with path.open("a") as file:
        file.write("2026-01-01T00:00:01+0000 INFO a [1] second\n")
    assert child.stdout.readline().endswith("second\n")
    path.rename(path.with_name("agent.log.1"))
    path.write_text("2026-01-01T00:00:02+0000 INFO a [1] third\n")
    assert child.stdout.readline().endswith("third\n")
    os.kill(child.pid, signal.SIGINT)
    assert child.wait(10) == 130
    child.stdout.close()


@pytest.mark.parametrize("flags", [["-n", "0"], ["--level", "loud"], ["--since", "soon"], ["other"], ["--what"]])
def test_bad_input_is_one_line_and_code_2(hermes: Hermes, flags: list[str]) -> None:
    ran = hermes("logs", *flags)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_a_time_is_a_span_or_a_date() -> None:
    assert abs(since("2h") - (time.time() - 7200)) < 2
    assert since("2026-11-16T00:00:00+00:00") == 1794787200
