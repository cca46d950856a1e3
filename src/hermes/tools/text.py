"""A text file as the tools see it: lines end in a plain newline; what the disk has besides is put back on writing."""

import codecs

from msgspec import Struct

NULS_WITHIN = 8192


class TextFile(Struct, frozen=True):
    """`text` with what was taken off it; bytes that are not UTF-8 stand in it as lone surrogates and survive."""

    text: str
    bom: bool = False
    crlf: bool = False
    utf8: bool = True


def decode(data: bytes) -> TextFile:
    bom = data.startswith(codecs.BOM_UTF8)
    data = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        text, utf8 = data.decode(), True
    except UnicodeDecodeError:
        text, utf8 = data.decode(errors="surrogateescape"), False
    crlf = 0 < text.count("\n") == text.count("\r\n")
    return TextFile(text.replace("\r\n", "\n") if crlf else text, bom, crlf, utf8)


def encode(file: TextFile) -> bytes:
    text = file.text.replace("\n", "\r\n") if file.crlf else file.text
    return (codecs.BOM_UTF8 if file.bom else b"") + text.encode(errors="surrogateescape")


def printable(text: str) -> str:
    """With a replacement character for each byte that is not UTF-8: lone surrogates cannot be sent or stored."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode(errors="replace")


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:NULS_WITHIN]


def lines_of(text: str) -> list[str]:
    """Lines with their newlines; unlike splitlines() it counts as editors, compilers and grep do."""
    *whole, rest = text.split("\n")
    return [line + "\n" for line in whole] + ([rest] if rest else [])


def count_lines(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
