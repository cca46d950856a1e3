"""`hermes backup` and `hermes import`: the home in one file and back, with the database as it was at one moment."""

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import apsw
import pytest

from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore
from tests.cli.command import Hermes, Ran

WRITER = """
import asyncio, sys
from pathlib import Path
from hermes.protocol.store import Batch, SessionRow
from hermes.store.sqlite import SqliteStore

async def main():
    async with SqliteStore(Path(sys.argv[1])) as store:
        for n in range(100_000):
            row = SessionRow(id=f"s{n}", source="cli", model="m", cwd="/", started=float(n))
            await store.create(row, Batch(), "somewhere:1:1:x")
            if n == 20: print("begun", flush=True)

asyncio.run(main())
"""


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    made = Hermes(tmp_path)
    made.home.mkdir(mode=0o700)
    files = {
        "config.yaml": "# mine\ntimezone: UTC\n",
        ".env": "A_KEY=secret\n",
        "auth.json": "{}",
        "mcp-tokens/a.json": "{}",
        "memories/MEMORY.md": "remember",
        "skills/x/SKILL.md": "skill",
        "checkpoints/store/HEAD": "ref",
        "logs/agent.log": "log",
        "models/big.gguf": "weights",
        "profiles/work/config.yaml": "timezone: UTC\n",
        "profiles/work/.env": "B_KEY=secret\n",
        ".config.yaml.lock": "",
        "half.part": "",
    }
    for name, text in files.items():
        (made.home / name).parent.mkdir(parents=True, exist_ok=True)
        (made.home / name).write_text(text)
    database = apsw.Connection(str(made.home / "state.db"))
    database.execute(
        "PRAGMA journal_mode=WAL; CREATE TABLE sessions(id, owner, beat); INSERT INTO sessions VALUES('one', '', 0)"
    ).fetchall()
    database.close()
    return made


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as zipped:
        return sorted(zipped.namelist())


PLAIN = [
    "checkpoints/store/HEAD",
    "config.yaml",
    "hermes-backup.json",
    "memories/MEMORY.md",
    "profiles/work/config.yaml",
]
PLAIN += ["skills/x/SKILL.md", "state.db"]
SECRETS = [".env", "auth.json", "mcp-tokens/a.json", "profiles/work/.env"]


def test_a_backup_has_everything_but_secrets_and_what_can_be_fetched_again(hermes: Hermes, tmp_path: Path) -> None:
    target = tmp_path / "b.zip"
    ran = hermes("backup", "-o", str(target))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{target}: 6 files, ") and ran.out.endswith("without keys and logins\n")
    assert (names(target), target.stat().st_mode & 0o777) == (PLAIN, 0o600)
    told = hermes("backup", "-o", str(target), "--secrets").out
    assert "with your keys and logins: keep it to yourself" in told
    assert names(target) == sorted(PLAIN + SECRETS)
    assert hermes("backup", "-q", "-o", str(target)).code == 0
    assert names(target) == [name for name in PLAIN if not name.startswith("checkpoints")]


def test_a_backup_comes_back_whole(hermes: Hermes, tmp_path: Path) -> None:
    archive = tmp_path / "b.zip"
    assert hermes("backup", "-o", str(archive), "--secrets").code == 0
    other = Hermes(tmp_path / "other")
    (tmp_path / "other").mkdir()
    ran = other("import", str(archive))
    assert (ran.code, ran.err, ran.out.startswith(f"{other.home} has 10 files of ")) == (0, "", True)
    assert other.config.read_text() == "# mine\ntimezone: UTC\n"
    assert [path.stat().st_mode & 0o777 for path in (other.home, other.home / ".env", other.home / "state.db")] == [
        0o700,
        0o600,
        0o600,
    ]
    database = apsw.Connection(str(other.home / "state.db"))
    assert database.execute("SELECT id FROM sessions").fetchall() == [("one",)]
    database.close()
    assert not list(other.home.glob(".import*"))


def test_a_home_that_has_something_is_replaced_only_with_force_and_kept(hermes: Hermes, tmp_path: Path) -> None:
    archive = tmp_path / "b.zip"
    hermes("backup", "-o", str(archive))
    hermes.config.write_text("timezone: Europe/Berlin\n")
    assert hermes("import", str(archive)) == Ran(
        2,
        "",
        f"hermes: {hermes.home} has state.db and config.yaml already (-f replaces them, and keeps a backup of them)\n",
    )
    ran = hermes("import", str(archive), "-f")
    assert (ran.code, hermes.config.read_text()) == (0, "# mine\ntimezone: UTC\n")
    assert "keys and logins were not in it" in ran.out and (hermes.home / ".env").read_text() == "A_KEY=secret\n"
    [before] = (hermes.home / "backups").iterdir()
    with zipfile.ZipFile(before) as zipped:
        assert zipped.read("config.yaml") == b"timezone: Europe/Berlin\n"


def test_a_damaged_database_is_put_aside_by_the_backup_that_replaces_it(hermes: Hermes, tmp_path: Path) -> None:
    archive = tmp_path / "b.zip"
    hermes("backup", "-o", str(archive))
    (hermes.home / "state.db").write_bytes(b"no database at all" * 500)
    failed = hermes("backup", "-o", str(tmp_path / "c.zip"))
    assert (failed.code, failed.err.count("\n"), (tmp_path / "c.zip").exists()) == (1, 1, False)
    assert hermes("import", str(archive), "-f").code == 0
    assert (hermes.home / "state.db").read_bytes().startswith(b"SQLite format 3")
    assert len(list((hermes.home / "backups").glob("state.db.damaged-*"))) == 1


def test_the_copy_of_the_database_is_sound_while_others_write(hermes: Hermes, tmp_path: Path) -> None:
    (hermes.home / "state.db").unlink()
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(hermes.home / "state.db")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout and child.stdout.readline() == "begun\n"
        for n in range(3):
            assert hermes("backup", "-q", "-o", str(tmp_path / f"{n}.zip")).code == 0
            time.sleep(0.05)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()  # pyright: ignore[reportOptionalMemberAccess]
    counts: list[int] = []
    for n in range(3):
        with zipfile.ZipFile(tmp_path / f"{n}.zip") as zipped:
            zipped.extract("state.db", tmp_path / str(n))
        database = apsw.Connection(str(tmp_path / str(n) / "state.db"))
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        counts += [int(str(row[0])) for row in database.execute("SELECT count(*) FROM sessions").fetchall()]
        database.close()
    assert 20 < counts[0] <= counts[1] <= counts[2]


def test_an_archive_that_leads_out_of_the_home_is_refused_and_nothing_is_written(
    hermes: Hermes, tmp_path: Path
) -> None:
    archive = tmp_path / "bad.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("hermes-backup.json", '{"version":"1","made":1,"secrets":false}')
        zipped.writestr("config.yaml", "timezone: X\n")
        zipped.writestr("../escaped", "x")
    ran = hermes("import", str(archive), "-f")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "'../escaped'" in ran.err and not (tmp_path / "escaped").exists()
    assert hermes.config.read_text() == "# mine\ntimezone: UTC\n"
    assert not list(hermes.home.glob(".import*"))


def test_files_that_are_no_backup_are_one_line(hermes: Hermes, tmp_path: Path) -> None:
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as zipped:
        zipped.writestr("a", "b")
    assert hermes("import", str(plain), "-f") == Ran(
        2, "", f"hermes: {plain} is no backup of Hermes (hermes backup makes one)\n"
    )
    (tmp_path / "text").write_text("text")
    assert hermes("import", str(tmp_path / "text"), "-f").code == 1
    assert hermes("import", str(tmp_path / "none")).code == 2
    assert hermes("import").code == 2
    assert hermes("backup", "-o", str(tmp_path / "no" / "where.zip")).err.startswith("hermes: cannot write ")


def test_the_home_of_nobody_is_an_ordinary_name(hermes: Hermes) -> None:
    hermes.write_config("timezone: UTC\n")
    assert hermes("backup", "-o", "~no-such-person/x.zip") == Ran(
        2, "", "hermes: cannot write ~no-such-person/x.zip: No such file or directory (choose another file with -o)\n"
    )
    assert hermes("import", "~no-such-person").err == "hermes: there is no file ~no-such-person (hermes import FILE)\n"


def test_without_a_home_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    hermes = Hermes(tmp_path)
    assert hermes("backup") == Ran(
        2, "", f"hermes: there is no home {hermes.home} to back up (hermes setup makes one)\n"
    )


async def test_a_home_that_a_session_has_open_is_not_replaced(hermes: Hermes, tmp_path: Path) -> None:
    archive = tmp_path / "b.zip"
    assert (await hermes.beside("backup", "-o", str(archive))).code == 0
    (hermes.home / "state.db").unlink()
    async with SqliteStore(hermes.home / "state.db") as store:
        row = SessionRow(id="busy", source="cli", model="m", cwd="/", started=1.0)
        await store.create(row, Batch(), this_process())
        ran = await hermes.beside("import", str(archive), "-f")
    assert ran == Ran(2, "", f"hermes: {hermes.home} is in use (end these sessions first: busy)\n")


def test_backups_are_listed_and_other_files_are_not(
    hermes: Hermes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    assert hermes("backup", "--list").err == "hermes: there are no backups here (hermes backup makes one)\n"
    with zipfile.ZipFile(work / "other.zip", "w") as zipped:
        zipped.writestr("a", "b")
    (work / "broken.zip").write_text("no zip")
    assert hermes("backup", "-o", "one.zip", "--secrets").code == 0
    (hermes.home / "backups").mkdir()
    assert hermes("backup", "-o", str(hermes.home / "backups" / "two.zip")).code == 0
    listed = [line.split("\t") for line in hermes("backup", "-l").out.splitlines()]
    assert [(row[0], row[4]) for row in listed] == [(str(hermes.home / "backups" / "two.zip"), ""), ("one.zip", "yes")]
