"""What every command does with a command line and with streams that are not as they should be."""

import subprocess
import sys

import pytest

from tests.cli.command import Hermes, Ran

HUGE = "99999999999999999999"


def shell(hermes: Hermes, script: str, *args: str) -> Ran:
    """A script in which "$@" is the command."""
    done = subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, "-m", "hermes", *args],
        env=hermes.environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_a_number_that_no_database_can_hold_does_no_harm(hermes: Hermes) -> None:
    assert hermes("sessions", "list", "--limit", HUGE) == hermes("sessions", "list")
    assert [hermes("memory", verb, HUGE) for verb in ("why", "history", "undo")] == 3 * [
        Ran(2, "", f"hermes: '{HUGE}' is not the number of an entry (hermes memory show lists them)\n")
    ]
    told = f"'{HUGE}' is not a number from 1 to 1,000,000,000"
    assert hermes("--max-turns", HUGE, "-z", "hi") == Ran(
        2, "", f"hermes: argument --max-turns: {told} (hermes --help shows what there is)\n"
    )
    assert hermes("logs", "-n", HUGE).err == (
        f"hermes: argument -n/--lines: {told} (hermes logs --help shows what there is)\n"
    )


@pytest.mark.parametrize("words", [[], ["sessions"]])
def test_help_is_a_word_too(hermes: Hermes, words: list[str]) -> None:
    ran = shell(hermes, '"$@"', "help", *words)
    assert (ran.code, ran.out[:6]) == (0, "usage:")
    assert ran == shell(hermes, '"$@"', *words, "--help")


@pytest.mark.parametrize("args", [["sessions", "show"], ["replay"], ["insights", "--source"], ["-z", "hi", "-r"]])
def test_an_argument_that_is_no_text_is_one_line(hermes: Hermes, args: list[str]) -> None:
    hermes.write_config("model: {provider: custom, name: a, base_url: http://127.0.0.1:9/v1}\n")
    assert hermes(*args, "caf\udce9") == Ran(2, "", "hermes: 'caf\\udce9' is not text (write it in UTF-8)\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("config", "set", "LAB_API_KEY"), "no value for LAB_API_KEY was given (nothing was changed)"),
        (
            ("setup", "agent"),
            "the input has ended (what was answered is kept; hermes setup asks for the rest)",
        ),
    ],
)
def test_nobody_answers_on_a_closed_stdin(hermes: Hermes, args: tuple[str, ...], told: str) -> None:
    ran = shell(hermes, '"$@" <&-', *args)
    assert (ran.code, ran.err.splitlines()[-1]) == (2, f"hermes: {told}")


def test_what_is_opened_never_takes_the_place_of_a_closed_stream(hermes: Hermes) -> None:
    command = '"$@" <&- >&- 2>&-'
    assert shell(hermes, command, "config", "set", "timezone", "UTC") == Ran(0, "")
    assert shell(hermes, command, "sessions", "list") == Ran(0, "")
    assert shell(hermes, command, "frobnicate") == Ran(2, "")
    assert hermes.config.read_text() == "timezone: UTC\n"
    assert (hermes.home / "state.db").read_bytes()[:15] == b"SQLite format 3"
