"""`hermes profile` and -p: homes beside each other that share nothing but their root."""

import subprocess
from pathlib import Path

import pytest

from hermes import config
from hermes.protocol.errors import UserError
from tests.cli.command import Hermes, Ran


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    made = Hermes(tmp_path)
    made.write_config("timezone: UTC\n")
    made.home.chmod(0o700)
    (made.home / ".env").write_text("A_KEY=secret\n")
    return made


def rows(hermes: Hermes) -> list[list[str]]:
    return [line.split("\t")[:3] for line in hermes("profile").out.splitlines()]


def test_a_profile_has_settings_of_its_own(hermes: Hermes) -> None:
    assert hermes("profile", "create", "work", "--no-alias") == Ran(
        0, f"work is in {hermes.home}/profiles/work: hermes -p work\n"
    )
    assert (hermes.home / "profiles" / "work").stat().st_mode & 0o777 == 0o700
    assert hermes("-p", "work", "config", "set", "timezone", "Asia/Tokyo").code == 0
    assert hermes("-p", "work", "config", "get", "timezone").out == "Asia/Tokyo\n"
    assert hermes("config", "get", "timezone").out == "UTC\n"
    assert hermes("-p", "work", "config", "get", "A_KEY").code == 2


def test_use_holds_until_another_is_used_and_a_flag_comes_first(hermes: Hermes) -> None:
    hermes("profile", "create", "work", "--no-alias")
    assert hermes("profile", "use", "work").code == 0
    assert hermes("config", "path").out == f"{hermes.home}/profiles/work/config.yaml\n"
    assert hermes("-p", "default", "config", "path").out == f"{hermes.config}\n"
    assert rows(hermes) == [["default", "", ""], ["work", "yes", ""]]
    assert hermes("profile", "use", "default").code == 0
    assert hermes("config", "path").out == f"{hermes.config}\n"


def test_a_clone_takes_settings_and_keys_and_clone_all_everything(hermes: Hermes) -> None:
    (hermes.home / "memories").mkdir()
    (hermes.home / "memories" / "MEMORY.md").write_text("known")
    assert hermes("profile", "create", "a", "--clone", "--no-alias").code == 0
    assert hermes("profile", "create", "b", "--clone-all", "--no-alias").code == 0
    assert hermes("profile", "create", "c", "--clone-from", "b", "--no-alias").code == 0
    homes = {name: hermes.home / "profiles" / name for name in "abc"}
    files = {
        name: sorted(
            str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and ".lock" not in path.name
        )
        for name, home in homes.items()
    }
    assert files == {
        "a": [".env", "config.yaml"],
        "b": [".env", "config.yaml", "memories/MEMORY.md"],
        "c": [".env", "config.yaml"],
    }
    assert (homes["a"] / ".env").stat().st_mode & 0o777 == 0o600


def test_an_alias_is_a_command_that_starts_the_profile(hermes: Hermes, tmp_path: Path) -> None:
    ran = hermes("profile", "create", "my-work-profile", "--clone")
    command = tmp_path / ".local" / "bin" / "my-work-profile"
    assert ran.out.splitlines()[-1] == f"its command is {command}"
    done = subprocess.run(
        [command, "config", "path"], env={"PATH": hermes.environ["PATH"]}, capture_output=True, text=True
    )
    assert done.stdout == f"{hermes.home}/profiles/my-work-profile/config.yaml\n", done.stderr
    assert hermes("profile", "alias", "my-work-profile", "--as", "ls").err.startswith(
        "hermes: there is a command ls already"
    )
    assert hermes("profile", "rename", "my-work-profile", "play").code == 0
    assert not command.exists() and command.with_name("play").exists()
    assert hermes("profile", "alias", "play", "--remove") == Ran(0, f"removed {command.with_name('play')}\n")


def test_rename_and_delete_carry_the_choice_along(hermes: Hermes) -> None:
    hermes("profile", "create", "work", "--no-alias")
    hermes("profile", "use", "work")
    assert hermes("profile", "rename", "work", "play").code == 0
    assert hermes("config", "path").out == f"{hermes.home}/profiles/play/config.yaml\n"
    refused = hermes("profile", "delete", "play")
    assert (refused.code, (hermes.home / "profiles" / "play").exists()) == (2, True)
    assert hermes("profile", "delete", "play", "-y") == Ran(0, "play is removed\n")
    assert hermes("config", "path").out == f"{hermes.config}\n"


def test_a_profile_goes_into_a_file_and_becomes_another_one(hermes: Hermes, tmp_path: Path) -> None:
    hermes("profile", "create", "work", "--clone", "--no-alias")
    archive = tmp_path / "w.zip"
    assert hermes("profile", "export", "work", "-o", str(archive)).out.endswith("without keys and logins\n")
    assert hermes("profile", "import", str(archive), "--name", "again").code == 0
    assert hermes("-p", "again", "config", "get", "timezone").out == "UTC\n"
    shown = hermes("profile", "show", "again").out
    assert f"home       {hermes.home}/profiles/again\n" in shown and "secrets    none\n" in shown
    bad = tmp_path / "bad.zip"
    bad.write_text("no zip")
    assert hermes("profile", "import", str(bad), "--name", "bad").code == 1
    assert not (hermes.home / "profiles" / "bad").exists()


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["-p", "none", "doctor"], 2, "there is no profile 'none'"),
        (["profile", "use", "none"], 2, "there is no profile 'none'"),
        (["profile", "create", "../x"], 2, "'../x' cannot be the name of a profile"),
        (["profile", "create", "Work"], 2, "'Work' cannot be the name of a profile"),
        (["profile", "create", "default"], 2, "there is a profile 'default' already"),
        (["profile", "delete", "default", "-y"], 2, "the plain home is no profile"),
        (["profile", "rename", "none", "other"], 2, "there is no profile 'none'"),
        (["profile", "create"], 2, "the following arguments are required: NAME"),
        (["profile", "import", "nowhere.zip"], 2, "there is no file nowhere.zip"),
    ],
)
def test_bad_input_is_one_line(hermes: Hermes, args: list[str], code: int, said: str) -> None:
    ran = hermes(*args)
    assert (ran.code, ran.out, ran.err.count("\n"), said in ran.err) == (code, "", 1, True)


def test_a_profile_that_is_gone_does_not_stop_choosing_another(hermes: Hermes) -> None:
    (hermes.home / "active_profile").write_text("gone\n")
    assert hermes("config", "path").code == 2
    assert rows(hermes) == [["default", "", ""]]
    assert hermes("profile", "use", "default").code == 0
    assert hermes("config", "path").code == 0


def test_the_environment_names_a_profile_too(tmp_path: Path) -> None:
    (tmp_path / "profiles" / "a").mkdir(parents=True)
    environ = {"HERMES_HOME": str(tmp_path)}
    assert config.find_home(environ | {"HERMES_PROFILE": "a"}) == tmp_path / "profiles" / "a"
    assert config.find_home(environ | {"HERMES_PROFILE": ""}) == tmp_path
    with pytest.raises(UserError):
        config.find_home(environ | {"HERMES_PROFILE": "b"})


def test_nobody_else_can_look_at_which_profiles_there_are(hermes: Hermes, tmp_path: Path) -> None:
    fresh = Hermes(tmp_path / "fresh")
    (tmp_path / "fresh").mkdir()
    assert fresh("profile", "create", "work", "--no-alias").code == 0
    assert hermes("profile", "export", "default", "-o", str(tmp_path / "default.zip")).code == 0
    other = Hermes(tmp_path / "other")
    (tmp_path / "other").mkdir()
    assert other("profile", "import", str(tmp_path / "default.zip"), "--name", "brought").code == 0
    made = [fresh.home, fresh.home / "profiles", fresh.home / "profiles" / "work"]
    made += [other.home, other.home / "profiles", other.home / "profiles" / "brought"]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 6


def test_a_profile_says_what_it_is_for(hermes: Hermes) -> None:
    assert hermes("profile", "create", "work", "--no-alias", "--description", "my  day job\n", "--no-skills").code == 0
    assert hermes("profile", "describe", "work") == Ran(0, "my day job\n")
    assert hermes("profile", "list").out.splitlines()[-1].endswith("\tmy day job")
    told = hermes("profile", "info", "work").out
    assert told == hermes("profile", "show", "work").out
    assert told.startswith("about      my day job\n")
    assert "skills     0 skills of its own, none of those that come with Hermes\n" in told
    assert hermes("profile", "describe", "work", "the", "evening", "one") == Ran(0, "the evening one\n")
    assert hermes("profile", "describe", "work", "") == Ran(0, "work is not described\n")
    assert hermes("profile", "describe", "work", "x" * 501).code == 2
    assert hermes("profile", "describe", "nobody").code == 2
    assert hermes("skills", "list", HERMES_PROFILE="work") == Ran(0, "")
