import os
import subprocess
import time

import pytest

from hermes.terminals.table import from_proc, from_ps, process


def test_a_process_is_described_by_its_parent_group_session_and_start() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        row = process(child.pid)
        assert row is not None
        assert (row.pid, row.parent, row.group, row.session, row.dead) == (
            child.pid,
            os.getpid(),
            child.pid,
            child.pid,
            False,
        )
        uptime = time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")
        assert 0 <= uptime - row.started < 1000
        child.kill()


def test_a_process_that_has_ended_is_dead_until_it_is_reaped_and_then_gone() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    row = process(child.pid)
    assert row is not None
    assert row.dead
    child.wait()
    assert process(child.pid) is None


def test_a_name_with_brackets_and_spaces_confuses_nobody(tmp_path: os.PathLike[str]) -> None:
    program = os.path.join(tmp_path, "a) R 1 (b")
    os.symlink("/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as child:
        row = process(child.pid)
        assert row is not None
        assert row.parent == os.getpid()
        child.kill()


@pytest.mark.needs("ps")
def test_ps_tells_the_same_as_proc() -> None:
    ours = next(row for row in from_proc() if row.pid == os.getpid())
    same = next(row for row in from_ps() if row.pid == os.getpid())
    assert (same.parent, same.group, same.dead) == (ours.parent, ours.group, ours.dead)
    assert same.session == ours.group
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    assert abs(same.started - booted - ours.started / os.sysconf("SC_CLK_TCK")) < 2
