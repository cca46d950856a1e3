import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from hermes.terminals.marks import VARIABLE, call_mark, limit, marks_of, terminal_mark
from tests.terminals.conftest import until


def test_a_name_always_gives_the_same_mark_and_no_name_a_new_one() -> None:
    assert terminal_mark("session") == terminal_mark("session") != terminal_mark("other")
    assert terminal_mark() != terminal_mark()
    mark = terminal_mark("session")
    assert call_mark(mark).startswith(mark)
    assert len(call_mark(mark)) == 15


@contextmanager
def sleeping(script: str, mark: str) -> Iterator[int]:
    with subprocess.Popen(["bash", "-c", script], env={VARIABLE: mark, "PATH": os.defpath}) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def test_a_process_shows_the_mark_in_its_environment_and_in_its_limit() -> None:
    mark, other = call_mark(terminal_mark()), call_mark(terminal_mark())
    with sleeping(f"ulimit -SR {limit(other)}; exec sleep 60", mark) as pid:
        await until(lambda: marks_of(pid) == (mark, other))
    with sleeping(f"ulimit -SR {limit(other)}; exec env -i sleep 60", mark) as pid:
        await until(lambda: marks_of(pid) == (other,))


def test_a_mark_that_somebody_else_made_up_does_not_count() -> None:
    with sleeping("sleep 60", "a") as pid:
        assert marks_of(pid) == ()


def test_a_process_that_is_not_there_has_no_marks() -> None:
    assert marks_of(2**22 + 1) == ()
