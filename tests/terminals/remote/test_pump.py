"""Whatever a program reads and prints behind a screen comes through as it is, however it is cut on the way."""

from hypothesis import given
from hypothesis import strategies as st

from hermes.terminals.remote import pump


def unpack(data: bytes, sizes: list[int]) -> tuple[bytes, bytes, list[bytes], int | None]:
    """What arrives on the two outputs, what is answered, and the code, if the bytes come in pieces of these sizes."""
    output, errors, answers = bytearray(), bytearray(), list[bytes]()
    unpacked = pump.Unpacked("mark", output.extend, errors.extend, answers.append)
    while data:
        size = sizes.pop() if sizes else len(data)
        unpacked.feed(data[:size])
        data = data[size:]
    return bytes(output), bytes(errors), answers, unpacked.code


@given(st.lists(st.tuples(st.sampled_from("or"), st.binary(min_size=1))), st.lists(st.integers(1, 9), max_size=50))
def test_both_outputs_are_told_apart_wherever_they_are_cut(parts: list[tuple[str, bytes]], sizes: list[int]) -> None:
    there = b"$ exec sh\r\nmark\n" + b"".join(b"%s %d\n%s" % (name.encode(), len(data), data) for name, data in parts)
    assert unpack(there + b"x 7\n", sizes) == (
        b"".join(data for name, data in parts if name == "o"),
        b"".join(data for name, data in parts if name == "r"),
        [f"{name}\n".encode() for name, _ in parts],
        7,
    )


def test_nothing_counts_before_the_mark_or_before_it_is_whole() -> None:
    assert unpack(b"o 3\nabc\nmar", [1]) == (b"", b"", [], None)
    assert unpack(b"mark\no 3\nab", []) == (b"ab", b"", [], None)
    assert unpack(b"mark\nx 1", []) == (b"", b"", [], None)


async def test_input_is_asked_for_when_it_has_come_and_when_it_was_taken() -> None:
    unpacked = pump.Unpacked("mark", lambda data: None, lambda data: None, lambda line: None)
    unpacked.feed(b"mark\ng\n")
    assert (unpacked.begun.is_set(), unpacked.come.is_set(), unpacked.taken.is_set()) == (True, True, False)
    unpacked.feed(b"i\n")
    assert unpacked.taken.is_set()
    assert pump.packed(b"a\nb") == b"d 3\na\nb"
    assert [pump.is_input(line) for line in (b"d 3\na\nb", b"o\n", pump.NO_MORE)] == [True, False, False]
