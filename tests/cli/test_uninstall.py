"""`hermes uninstall`: exactly what is Hermes's goes, and only after it was shown."""

import os
import subprocess
from pathlib import Path

import pytest

import hermes as package
from hermes.cli.removal import ADDED, home_part, program_parts
from hermes.cli.uninstall import has_changes
from hermes.protocol.errors import UserError
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore
from tests.cli.command import Hermes, Ran

TREE = Path(package.__file__).resolve().parents[2]
STAYS = f"the program is your own clone: {TREE}\n"


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    made = Hermes(tmp_path)
    made.write_config("timezone: UTC\n")
    (made.home / "logs").mkdir()
    return made


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def installed(hermes: Hermes, person: Path) -> list[Path]:
    """What the installer and the commands put around Hermes."""
    link = person / ".local/bin/hermes"
    link.parent.mkdir(parents=True)
    link.symlink_to(TREE / "hermes")
    assert hermes("profile", "create", "work").code == 0
    bash = person / ".local/share/bash-completion/completions/hermes"
    write(bash, hermes("completion", "bash").out)
    write(person / ".zfunc/_hermes", hermes("completion", "zsh").out)
    write(person / ".config/fish/completions/hermes.fish", hermes("completion", "fish").out)
    line = 'export PATH="$HOME/.local/bin:$PATH"'
    write(person / ".bashrc", f"alias ll='ls -l'\n\n{ADDED}\n{line}\nexport A=b\n")
    write(person / ".config/fish/conf.d/hermes.fish", f"\n{ADDED}\nfish_add_path ~/.local/bin\n")
    return [link, person / ".local/bin/work", bash, person / ".zfunc/_hermes"]


def test_what_the_installer_made_goes_and_the_home_stays(hermes: Hermes, tmp_path: Path) -> None:
    gone = installed(hermes, tmp_path)
    shown = hermes("uninstall", "--dry-run")
    assert all(str(path) in shown.out for path in gone) and all(os.path.lexists(path) for path in gone)
    ran = hermes("uninstall", "-y")
    assert (ran.code, ran.err) == (0, "")
    assert f"removed 7 things\nyour home stays: {hermes.home} (hermes uninstall --all" in ran.out
    assert not any(os.path.lexists(path) for path in gone)
    assert (tmp_path / ".bashrc").read_text() == "alias ll='ls -l'\nexport A=b\n"
    assert not (tmp_path / ".config/fish/conf.d/hermes.fish").exists()
    assert hermes.config.exists() and (TREE / "hermes").exists()
    assert hermes("uninstall", "-y").out.startswith("there is nothing here that the installer made\n")


def test_nothing_goes_that_is_not_ours(hermes: Hermes, tmp_path: Path) -> None:
    kept = [
        write(tmp_path / ".local/bin/hermes", "#!/bin/sh\n"),
        write(tmp_path / ".local/bin/work", "#!/bin/sh\n"),
        write(tmp_path / ".zfunc/_hermes", "# of another program\n"),
        write(tmp_path / ".bashrc", "export A=b\n"),
    ]
    assert hermes("uninstall", "-y") == Ran(
        0,
        "there is nothing here that the installer made\n"
        f"your home stays: {hermes.home} (hermes uninstall --all removes it too; hermes backup keeps a copy)\n{STAYS}",
    )
    assert all(path.exists() for path in kept)
    other = tmp_path / "elsewhere"
    write(other / "hermes", "#!/bin/sh\n")
    (tmp_path / ".local/bin/hermes").unlink()
    (tmp_path / ".local/bin/hermes").symlink_to(other / "hermes")
    assert program_parts(TREE, hermes.home, hermes.environ) == []


def test_all_of_the_home_goes_only_if_all_of_it_is_ours(hermes: Hermes, tmp_path: Path) -> None:
    write(hermes.home / "thesis.tex", "years of work")
    assert hermes("uninstall", "--all", "-y") == Ran(
        2,
        "",
        f"hermes: {hermes.home} is not removed: it also holds thesis.tex"
        " (hermes uninstall without --all; remove the rest by hand)\n",
    )
    (hermes.home / "thesis.tex").unlink()
    ran = hermes("uninstall", "--all", "-y")
    assert (ran.code, ran.err, hermes.home.exists(), tmp_path.exists()) == (0, "", False, True)


def test_a_home_that_is_the_persons_own_folder_or_a_link_stays(hermes: Hermes, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it is your own folder"):
        home_part(hermes.home, {"HOME": str(hermes.home)}, hermes.home)
    link = tmp_path / "link"
    link.symlink_to(hermes.home)
    with pytest.raises(UserError, match="is a link"):
        home_part(link, hermes.environ, link)


def test_no_is_no_and_nobody_is_asked_in_a_pipe(hermes: Hermes, tmp_path: Path) -> None:
    ran = hermes.terminal("uninstall", "--all", typed=[("Remove 1 thing? [y/N] ", "n\n")])
    assert (ran.code, ran.out.endswith("nothing was removed\n"), hermes.config.exists()) == (1, True, True)
    assert hermes("uninstall", "--all").code == 2 and hermes.config.exists()


async def test_a_home_in_which_a_session_is_open_stays(hermes: Hermes) -> None:
    async with SqliteStore(hermes.home / "state.db") as store:
        row = SessionRow(id="busy", source="cli", model="m", cwd="/", started=1.0)
        await store.create(row, Batch(), this_process())
        ran = await hermes.beside("uninstall", "--all", "-y")
    assert ran == Ran(2, "", f"hermes: {hermes.home} is in use (end these sessions first: busy)\n")


@pytest.mark.needs("git")
def test_the_clone_of_the_installer_is_a_part_and_any_other_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    clone = home / "hermes-agent"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    environ = {"HOME": str(tmp_path)}
    assert [part.path for part in program_parts(clone, home, environ)] == [clone]
    assert program_parts(clone, tmp_path / "other", environ) == []
    assert home_part(home, environ, clone) is not None
    with pytest.raises(UserError, match="it also holds hermes-agent"):
        home_part(home, environ, home)


@pytest.mark.needs("git")
async def test_a_clone_with_work_of_ones_own_is_known(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    person = ["-c", "user.name=a", "-c", "user.email=a@b"]

    def git(where: Path, *words: str) -> None:
        subprocess.run(["git", "-C", str(where), *person, *words], env=environ, check=True, capture_output=True)

    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    write(origin / "file", "one\n")
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "first")
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    assert not await has_changes(clone, environ)
    write(clone / "file", "mine\n")
    assert await has_changes(clone, environ)
    git(clone, "commit", "-q", "-a", "-m", "mine")
    assert await has_changes(clone, environ)
    assert await has_changes(tmp_path, environ)  # git cannot tell
