"""Porter's algorithm (1980, with its author's later -bly and -logy): English words that mean the same get the same stem."""

from itertools import pairwise

VOWELS = "aeiou"

STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
)
STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
# Of "ion" only where s or t stands before it.
_endings = "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize"
STEP_4 = tuple(_endings.split())


def stem(word: str) -> str:
    """The stem of a word in lower-case ASCII letters; one of one or two letters is its own."""
    if len(word) <= 2:
        return word
    word = _step_1(word)
    word = _replace(_replace(word, STEP_2), STEP_3)
    return _step_5(_step_4(word))


def _is_consonant(word: str, at: int) -> bool:
    letter = word[at]
    if letter == "y":
        return at == 0 or not _is_consonant(word, at - 1)
    return letter not in VOWELS


def _measure(word: str) -> int:
    """How often vowels are followed by consonants."""
    shape = [_is_consonant(word, at) for at in range(len(word))]
    return sum(1 for before, now in pairwise(shape) if now and not before)


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, at) for at in range(len(word)))


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant, the last not w, x or y."""
    if len(word) < 3 or word[-1] in "wxy":
        return False
    end = len(word)
    return _is_consonant(word, end - 1) and not _is_consonant(word, end - 2) and _is_consonant(word, end - 3)


def _step_1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _measure(word[:-3]) > 0 else word
    elif word.endswith("ed") and _has_vowel(word[:-2]):
        word = _mended(word[:-2])
    elif word.endswith("ing") and _has_vowel(word[:-3]):
        word = _mended(word[:-3])
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mended(word: str) -> str:
    """A word whose -ed or -ing was taken away, as it would be without it."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _replace(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    fitting = [pair for pair in endings if word.endswith(pair[0])]
    if not fitting:
        return word
    ending, instead = max(fitting, key=lambda pair: len(pair[0]))
    before = word[: -len(ending)]
    return before + instead if _measure(before) > 0 else word


def _step_4(word: str) -> str:
    fitting = [ending for ending in STEP_4 if word.endswith(ending)]
    if not fitting:
        return word
    ending = max(fitting, key=len)
    before = word[: -len(ending)] + (ending[0] if ending in ("sion", "tion") else "")
    return before if _measure(before) > 1 else word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        before = word[:-1]
        measure = _measure(before)
        if measure > 1 or (measure == 1 and not _ends_short(before)):
            word = before
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
