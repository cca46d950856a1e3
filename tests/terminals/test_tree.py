import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from hermes.terminals.marks import call_mark, terminal_mark
from hermes.terminals.table import Process, from_ps, process
from hermes.terminals.tree import Tree, adopt_orphans, reap_adopted


def made(pid: int, parent: int, session: int, started: int = 10, dead: bool = False) -> Process:
    return Process(pid, parent, session, session, started, dead)


ME = os.getpid()
ABOVE = (made(1, 0, 0), Process(ME, os.getppid(), os.getpgrp(), os.getsid(0), 5, False))
SHELL = made(100, ME, 100)


def members(tree: Tree) -> list[int]:
    return sorted(row.pid for row in tree.members())


def test_the_session_of_the_shell_and_all_descendants_belong() -> None:
    rows = [
        *ABOVE,
        SHELL,
        made(101, 100, 100),
        made(102, 101, 102),
        made(103, 102, 103),
        made(104, 1, 100),
        made(200, ME, 200),
        made(201, 200, 200),
    ]
    assert members(Tree("", SHELL, table=lambda: rows)) == [100, 101, 102, 103, 104]


def test_what_was_seen_to_belong_still_does_when_its_parents_have_gone() -> None:
    rows = [*ABOVE, SHELL, made(101, 100, 100), made(102, 101, 102)]
    tree = Tree("", SHELL, table=lambda: rows)
    assert members(tree) == [100, 101, 102]
    rows[:] = [*ABOVE, made(102, ME, 102), made(103, 102, 103), made(101, ME, 101, started=20)]
    assert members(tree) == [102, 103]


def test_a_number_given_to_a_new_process_is_not_the_old_one() -> None:
    rows = [*ABOVE, made(100, ME, 100, started=20), made(101, 100, 100, started=20)]
    assert members(Tree("", SHELL, table=lambda: rows)) == []


def test_what_is_older_than_the_shell_does_not_belong() -> None:
    rows = [*ABOVE, SHELL, made(50, 100, 50, started=9)]
    assert members(Tree("", SHELL, table=lambda: rows)) == [100]


def test_no_process_belongs_to_no_shell_and_no_mark() -> None:
    rows = [*ABOVE, made(2, 0, 0), SHELL, made(300, 1, 0)]
    assert members(Tree("", table=lambda: rows)) == []
    assert members(Tree(terminal_mark(), table=lambda: rows)) == []


def test_neither_we_nor_what_we_descend_from_ever_belong() -> None:
    parent = os.getppid()
    rows = [made(1, 0, 0), made(parent, 1, parent), made(ME, parent, parent), made(7, ME, os.getsid(0))]
    assert members(Tree("", made(parent, 1, parent), table=lambda: rows)) == []


@pytest.fixture
def stubborn() -> Iterator[subprocess.Popen[bytes]]:
    script = "trap '' TERM; sleep 60 & echo ready; wait; wait; sleep 60"
    with subprocess.Popen(["bash", "-c", script], start_new_session=True, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        yield child
        child.kill()


@pytest.mark.needs("ps")
def test_where_there_is_no_proc_the_tree_is_found_through_ps(stubborn: subprocess.Popen[bytes]) -> None:
    root = next(row for row in from_ps() if row.pid == stubborn.pid)
    tree = Tree("", root, spare={stubborn.pid}, table=from_ps)
    assert {row.parent for row in tree.members()} >= {ME, stubborn.pid}
    assert tree.end()
    assert stubborn.wait() == -9


def test_somebody_elses_child_is_ended_but_left_for_him_to_reap(stubborn: subprocess.Popen[bytes]) -> None:
    tree = Tree("", process(stubborn.pid), spare={stubborn.pid})
    assert tree.end()
    row = process(stubborn.pid)
    assert row is not None
    assert row.dead
    assert stubborn.wait() == -9


def test_an_end_that_cannot_be_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*ABOVE, made(2**22 + 5, ME, 2**22 + 5)]
    monkeypatch.setattr("hermes.terminals.tree.PATIENCE", 0.05)
    assert not Tree(call_mark(terminal_mark()), rows[-1], table=lambda: rows).end()


def until_dead(pid: int) -> None:
    """Wait until a process has ended and nobody has reaped it."""
    deadline = time.monotonic() + 20
    while (row := process(pid)) is None or not row.dead:
        assert row is not None and time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to us")
def test_an_orphan_is_reaped_and_a_child_that_somebody_waits_for_is_not() -> None:
    adopt_orphans()
    spared = subprocess.Popen(["true"], start_new_session=True)
    waited_for = subprocess.Popen(["true"], start_new_session=True)
    script = "(sleep 0.02; exit 5) >&2 & echo $!"
    orphan = int(subprocess.run(["sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE).stdout)
    for pid in (spared.pid, waited_for.pid, orphan):
        until_dead(pid)
    reap_adopted(terminal_mark(), {spared.pid})
    assert process(orphan) is None
    assert (spared.wait(), waited_for.wait()) == (0, 0)
