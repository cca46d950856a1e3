"""Installing a skill: scanned, pinned, put in place as a whole, and undone without loss."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from hermes.learning.skills import hub
from hermes.learning.skills.lock import Lock
from hermes.learning.skills.tree import hash_folder
from hermes.protocol.errors import UserError
from tests.learning.skills.corpus import PLANTED, lay_out

GOOD = "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  hermes-category: documents\n---\n\nUse pdftotext.\n"
ODD = GOOD.replace("Use pdftotext.", "Run `sudo apt install poppler-utils`.")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def lock(tmp_path: Path) -> Lock:
    return Lock(tmp_path / "skills")


def bring(lock: Lock, folder: Path, *, trusted: bool = False, force: bool = False, discard: bool = False) -> None:
    with hub.quarantined(lock) as room:
        candidate = hub.take_in(room, folder, source=str(folder), trust="trusted" if trusted else "community")
        hub.install(lock, candidate, force=force, discard=discard)


def visible(lock: Lock) -> list[str]:
    return sorted(path for path in hub.skills_in(lock.root) if not path.startswith("."))


def actions(lock: Lock) -> list[str]:
    lines = (lock.hub / "audit.log").read_bytes().splitlines()
    return [msgspec.json.decode(line)["action"] for line in lines]


def test_a_good_skill_is_installed_and_pinned_by_its_hash(lock: Lock, tmp_path: Path) -> None:
    bring(lock, lay_out(tmp_path / "source", {"SKILL.md": GOOD, "scripts/a.py": "print()\n"}))
    assert visible(lock) == ["documents/pdf"]
    assert lock.hashes() == {"pdf": hash_folder(lock.root / "documents/pdf")}
    assert hub.state_of(lock, lock.read()["pdf"]) == "ok"
    assert list((lock.hub / "quarantine").iterdir()) == []
    assert actions(lock) == ["installed"]


def test_changed_bytes_are_seen(lock: Lock, tmp_path: Path) -> None:
    bring(lock, lay_out(tmp_path / "source", {"SKILL.md": GOOD}))
    (lock.root / "documents/pdf/extra.md").write_text("more")
    assert hub.state_of(lock, lock.read()["pdf"]) == "changed"


@pytest.mark.parametrize("planted", sorted(PLANTED.iterdir()), ids=lambda folder: folder.name)
def test_a_dangerous_skill_is_never_installed_by_force_or_trust(planted: Path, lock: Lock) -> None:
    with pytest.raises(UserError, match="dangerous"):
        bring(lock, planted, trusted=True, force=True)
    assert (visible(lock), lock.read(), actions(lock)) == ([], {}, ["refused"])


def test_an_odd_skill_needs_force_or_a_trusted_source(lock: Lock, tmp_path: Path) -> None:
    source = lay_out(tmp_path / "source", {"SKILL.md": ODD})
    with pytest.raises(UserError, match="something odd"):
        bring(lock, source)
    bring(lock, source, force=True)
    hub.uninstall(lock, "pdf")
    bring(lock, source, trusted=True)
    assert actions(lock) == ["refused", "installed", "uninstalled", "installed"]


def test_an_update_takes_the_place_of_the_old_files_but_not_of_ones_own_changes(lock: Lock, tmp_path: Path) -> None:
    source = lay_out(tmp_path / "source", {"SKILL.md": GOOD, "references/old.md": "old"})
    bring(lock, source)
    (source / "references/old.md").unlink()
    lay_out(source, {"references/new.md": "new"})
    bring(lock, source)
    assert sorted(path.name for path in (lock.root / "documents/pdf/references").iterdir()) == ["new.md"]
    (lock.root / "documents/pdf/mine.md").write_text("mine")
    with pytest.raises(UserError, match="was changed here"):
        bring(lock, source)
    bring(lock, source, discard=True)
    assert (lock.root / ".archive/pdf.1/mine.md").read_text() == "mine"
    assert visible(lock) == ["documents/pdf"]


def test_a_skill_of_ones_own_is_not_overwritten(lock: Lock, tmp_path: Path) -> None:
    lay_out(lock.root / "mine/pdf", {"SKILL.md": GOOD})
    with pytest.raises(UserError, match="there is already a skill pdf"):
        bring(lock, lay_out(tmp_path / "source", {"SKILL.md": GOOD}), force=True)
    with pytest.raises(UserError, match="was not installed"):
        hub.uninstall(lock, "pdf")


def test_a_skill_with_a_link_is_refused(lock: Lock, tmp_path: Path) -> None:
    source = lay_out(tmp_path / "source", {"SKILL.md": GOOD})
    (source / "key").symlink_to("/etc/hostname")
    with pytest.raises(UserError, match="no plain file"):
        bring(lock, source)


def test_a_category_cannot_lead_out_of_the_folder(lock: Lock, tmp_path: Path) -> None:
    source = lay_out(tmp_path / "source", {"SKILL.md": GOOD.replace("documents", "../../elsewhere")})
    with pytest.raises(UserError, match="cannot be the name"):
        bring(lock, source)


def test_the_skill_that_is_meant_is_found_by_path_or_name(tmp_path: Path) -> None:
    for place in ("a/pdf", "a/csv", "b/csv", ".git/hidden"):
        lay_out(tmp_path / place, {"SKILL.md": GOOD})
    assert hub.pick(tmp_path, "pdf") == tmp_path / "a/pdf"
    assert hub.pick(tmp_path, "b/csv") == tmp_path / "b/csv"
    with pytest.raises(UserError) as several:
        hub.pick(tmp_path, "")
    assert several.value.hint == "name one of csv, csv, pdf"


@pytest.mark.parametrize(
    ("room", "pinned", "shown"),
    [
        ("checked", True, ["documents/pdf"]),
        ("before", True, ["documents/pdf"]),
        ("checked", False, []),
        ("staged", True, []),
    ],
)
def test_a_pin_whose_files_wait_in_quarantine_is_fulfilled_and_nothing_else(
    room: str, pinned: bool, shown: list[str], lock: Lock, tmp_path: Path
) -> None:
    """As a process leaves it that is killed between its pin and its rename, or between two renames."""
    bring(lock, lay_out(tmp_path / "source", {"SKILL.md": GOOD}))
    left = lock.hub / "quarantine/0123" / room / "pdf"
    left.parent.mkdir(parents=True)
    (lock.root / "documents/pdf").rename(left)
    if not pinned:
        lock.write({})
    with lock.holding():
        hub.sweep(lock)
    assert visible(lock) == shown
    assert list((lock.hub / "quarantine").iterdir()) == []


def test_nothing_is_half_installed_after_kill_9(lock: Lock, tmp_path: Path) -> None:
    dice = random.Random(6)
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.learning.skills.hub_child", str(lock.root)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(dice.random() * 0.15)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        pins = lock.read()
        for place in visible(lock):
            assert hash_folder(lock.root / place) == pins["pdf"].hash
        with lock.holding():
            hub.sweep(lock)
        assert visible(lock) == [pin.place for pin in lock.read().values()]
        assert all(hub.state_of(lock, pin) == "ok" for pin in lock.read().values())
        assert list((lock.hub / "quarantine").iterdir()) == []
    assert not (lock.root / ".archive").exists()


def test_the_quarantine_of_a_living_process_is_left_alone(lock: Lock) -> None:
    with hub.quarantined(lock) as room:
        with lock.holding():
            hub.sweep(lock)
        assert room.is_dir()
    assert not room.exists()
