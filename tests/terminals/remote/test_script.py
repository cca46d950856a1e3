"""A script arrives as it was written, and its end is known however its streams are cut."""

import asyncio
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.terminals.remote.script import MANY, ONE, Frame, Reply, line, quoted

MARK = "0123456789abcde"
SHELLS = [
    pytest.param(("sh",), id="sh"),
    pytest.param(("bash", "--posix"), id="bash"),
    pytest.param(("busybox", "sh"), id="busybox", marks=pytest.mark.needs("busybox")),
]


def frame(output: list[bytes], errors: list[bytes]) -> tuple[bytes, Frame]:
    """What comes out of two streams that arrive in these pieces."""

    async def feed() -> tuple[bytes, Frame]:
        taken = bytearray()
        one = Frame(MARK, taken.extend)
        for piece in errors:
            one.errors(piece)
        for piece in output:
            one.output(piece)
        one.rest()
        return bytes(taken), one

    return asyncio.run(feed())


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(st.binary(max_size=60), st.binary(max_size=20), st.integers(0, 255), st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_the_end_is_found_however_the_streams_are_cut(
    printed: bytes, said: bytes, code: int, first: int, second: int
) -> None:
    mark = MARK.encode()
    output = printed + b"\0" + mark + b"\0" + b"what a process left behind says later"
    errors = b"a banner\n\0" + mark + b" start\0" + said + b"\0" + mark + b" code " + str(code).encode() + b"\0"
    taken, one = frame(pieces(output, first), pieces(errors, second))
    assert (taken, one.over.done(), one.reply(), one.complaint) == (printed, True, Reply(code, said), b"a banner\n")


@given(st.binary(max_size=60), st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_a_stream_without_an_end_loses_nothing_and_is_not_over(printed: bytes, size: int) -> None:
    taken, one = frame(pieces(printed, size), [b"ssh: connection refused\n"])
    assert (taken, one.over.done(), one.started) == (printed, False, False)
    assert one.reply() == Reply(None, b"")


@pytest.mark.parametrize("shell", SHELLS)
@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
@settings(max_examples=25, deadline=None)
def test_any_text_arrives_as_it_was_written(shell: tuple[str, ...], text: str) -> None:
    program = shutil.which(shell[0])
    assert program
    sent = line(f"printf '%s' {quoted(text)}", MARK, lasting=False)
    done = subprocess.run([program, *shell[1:], *ONE[1:]], input=sent, capture_output=True)
    assert done.stdout == text.encode() + f"\0{MARK}\0".encode()
    assert done.stderr == f"\0{MARK} start\0\0{MARK} code 0\0".encode()


@pytest.mark.parametrize("shell", SHELLS)
def test_one_shell_takes_many_scripts_and_none_eats_the_next(shell: tuple[str, ...]) -> None:
    sent = line("cat; echo one; exit 3", MARK, lasting=True) + line("echo two", MARK, lasting=True)
    done = subprocess.run([*shell, *MANY[1:]], input=sent, capture_output=True)
    assert done.stdout == f"one\n\0{MARK}\0two\n\0{MARK}\0".encode()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_of_its_own_has_the_input_behind_it(shell: tuple[str, ...]) -> None:
    sent = line("cat", MARK, lasting=False) + b"bytes \xff\n"
    done = subprocess.run([*shell, *ONE[1:]], input=sent, capture_output=True)
    assert done.stdout == b"bytes \xff\n" + f"\0{MARK}\0".encode()
