from hypothesis import given
from hypothesis import strategies as st

from hermes.terminals.output import Kept, Ring, decoded, plain


def kept(cap: int, *pieces: bytes) -> tuple[str, int]:
    one = Kept(cap)
    for piece in pieces:
        one.add(piece)
    return one.text()


def test_short_output_is_kept_whole() -> None:
    assert kept(10, b"hello", b"world") == ("helloworld", 0)


def test_of_long_output_two_fifths_of_the_head_and_three_fifths_of_the_tail_are_kept() -> None:
    whole = bytes(range(ord("A"), ord("Z") + 1))
    expected = ("ABCD\n[... 16 bytes left out ...]\nUVWXYZ", 16)
    assert kept(10, whole) == expected
    assert kept(10, *(whole[i : i + 1] for i in range(26))) == expected
    assert kept(10, whole[:3], whole[3:22], whole[22:]) == expected


def test_a_character_is_not_cut_in_two() -> None:
    text, omitted = kept(10, "aaaéxxxxxxxxxéaaaaa".encode())
    assert text == "aaa\n[... 13 bytes left out ...]\naaaaa"
    assert omitted == 13


def test_bytes_that_are_not_text_show_as_replacement_signs() -> None:
    assert kept(10, b"a\xff\xfeb") == ("a\ufffd\ufffdb", 0)


@given(st.lists(st.binary(max_size=40)), st.integers(1, 30))
def test_what_is_kept_does_not_depend_on_how_it_came(pieces: list[bytes], cap: int) -> None:
    assert kept(cap, *pieces) == kept(cap, b"".join(pieces))


def test_plain_text_has_no_colours_titles_links_or_carriage_returns_before_newlines() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b(B\x1b7\r\n") == (
        "red link\n"
    )
    assert plain("50%\r100%\n") == "50%\r100%\n"


def test_a_ring_holds_the_newest_bytes_and_knows_their_offsets() -> None:
    ring = Ring(10)
    ring.add(b"0123456789")
    ring.add(b"abc")
    assert (ring.start, ring.end) == (3, 13)
    assert ring.read(0, None, final=True) == ("3456789abc", 13)
    assert ring.read(11, None, final=True) == ("bc", 13)
    assert ring.read(4, 2, final=True) == ("45", 6)
    assert ring.read(99, None, final=True) == ("", 13)


def test_a_ring_keeps_half_a_character_back_until_the_rest_has_come() -> None:
    ring = Ring(10)
    ring.add("aé".encode()[:2])
    assert ring.read(0, None, final=False) == ("a", 1)
    ring.add("aé".encode()[2:])
    assert ring.read(1, None, final=False) == ("é", 3)


def test_a_ring_that_has_dropped_half_a_character_begins_with_a_whole_one() -> None:
    ring = Ring(4)
    ring.add("aéé€".encode())
    assert ring.read(0, None, final=True) == ("€", 8)


def test_text_is_handed_on_without_splitting_characters() -> None:
    heard: list[str] = []
    tell = decoded(heard.append)
    for byte in "a€\xffb".encode() + b"\xff\xe2":
        tell(bytes([byte]), False)
    tell(b"", True)
    assert heard == ["a", "€", "\xff", "b", "\ufffd", "\ufffd"]
