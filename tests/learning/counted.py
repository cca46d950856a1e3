"""Tokens as a real tokenizer counts them."""

import warnings
from functools import cache
from typing import Any


@cache
def _tokenizer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its way to open its own files is an old one
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base")


def tokens(text: str) -> int:
    return len(_tokenizer().encode(text))
