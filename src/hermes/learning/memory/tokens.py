"""How many tokens a text has, without a tokenizer: for what must stay below a bound in any script."""

import re

_word = re.compile(r"[A-Za-z]+")
_number = re.compile(r"\d{1,3}")


def tokens(content: str) -> int:
    """How many tokens a text has, guessed high: a word is one and more if it is long, and so is every other character."""
    without_words, words = _word.subn(" ", content)
    long = (len(content) - len(without_words)) // 6
    without_numbers, numbers = _number.subn(" ", without_words)
    rest = "".join(without_numbers.split())
    return words + long + numbers + sum(3 if char > "\uffff" else 1 for char in rest) + content.count("\n") + 1
