from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes.tools.text import TextFile, count_lines, decode, encode, is_binary, lines_of, printable


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xff", "é".encode()])).map(b"".join))
@example(b"\xef\xbb\xbfa\r\r\nb\r\n")
def test_any_file_comes_back_byte_for_byte(data):
    assert encode(decode(data)) == data


def test_marks_and_line_endings_are_taken_off():
    assert decode(b"\xef\xbb\xbfa\r\nb\r\n") == TextFile("a\nb\n", bom=True, crlf=True)
    assert decode(b"a\r\nb\n") == TextFile("a\r\nb\n")
    assert decode(b"caf\xe9\n") == TextFile("caf\udce9\n", utf8=False)


def test_what_is_not_utf8_can_be_shown():
    assert printable(decode(b"caf\xe9 \xc3\xa9").text) == "caf\ufffd é"


@settings(deadline=None)
@given(st.text(alphabet="a\n\r\x0c\u2028"))
def test_lines_are_cut_at_newlines_only(text):
    lines = lines_of(text)
    assert "".join(lines) == text
    assert len(lines) == count_lines(text)
    assert all(line.endswith("\n") for line in lines[:-1])
    assert all("\n" not in line[:-1] for line in lines)


def test_a_nul_makes_a_file_binary():
    assert is_binary(b"\x7fELF\0")
    assert not is_binary("naïve".encode())
