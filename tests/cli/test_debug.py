"""`hermes debug`: one file for a bug report, with nothing in it that is not for strangers."""

import re
import stat
import zipfile
from pathlib import Path

from tests.cli.command import Hermes, Ran

SECRET = "sk-or-v1-0123456789abcdef0123456789abcdef"


def test_the_file_holds_what_it_says_and_no_secrets(tmp_path: Path) -> None:
    hermes = Hermes(tmp_path)
    hermes.write_config("timezone: UTC\n")
    (hermes.home / ".env").write_text(f"OPENROUTER_API_KEY={SECRET}\n")
    (hermes.home / "logs").mkdir()
    (hermes.home / "logs" / "agent.log").write_text("".join(f"line {n} {SECRET} {tmp_path}/x\n" for n in range(600)))
    target = tmp_path / "report.zip"
    ran = hermes("debug", "share", "--output", str(target))
    assert (ran.code, ran.err, stat.S_IMODE(target.stat().st_mode)) == (0, "", 0o600)
    with zipfile.ZipFile(target) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert list(texts) == ["version.txt", "doctor.txt", "dump.txt", "agent.log"]
    assert ran.out.splitlines()[1:] == [f"  {name:<12} {len(text.splitlines())} lines" for name, text in texts.items()]
    assert not any(SECRET in text or str(tmp_path) in text for text in texts.values())
    assert len(texts["agent.log"].splitlines()) == 500 and texts["agent.log"].startswith("line 100 ")
    assert "timezone: UTC" in texts["dump.txt"] and re.search(r"^ok +python ", texts["doctor.txt"], re.MULTILINE)


def test_files_in_the_home_are_removed_again_and_others_stay(tmp_path: Path) -> None:
    hermes = Hermes(tmp_path)
    assert hermes("debug", "share", "--lines", "0").code == 0
    [made] = (hermes.home / "debug").iterdir()
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    (made.parent / "mine.zip").touch()
    assert hermes("debug", "delete") == Ran(0, f"removed 1 file from {made.parent}\n")
    assert [path.name for path in made.parent.iterdir()] == ["mine.zip"]
    assert hermes("debug", "delete").out == f"there is nothing in {made.parent} to remove\n"


def test_what_cannot_be_done_is_one_line(tmp_path: Path) -> None:
    hermes = Hermes(tmp_path)
    ran = hermes("debug", "share", "-o", str(tmp_path / "no" / "x.zip"))
    assert (ran.code, ran.err.count("\n"), ran.err.startswith("hermes: cannot write ")) == (2, 1, True)
    assert hermes("debug", "share", "--lines", "-1").code == 2
    assert hermes("debug").code == 2
