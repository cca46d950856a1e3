"""Porter's stems, against the pairs of his paper and against the stemmer that SQLite brings."""

import apsw
import pytest

from hermes.learning.recall.porter import stem

PAPER = """
caresses caress ponies poni ties ti cats cat feed feed agreed agre plastered plaster bled bled motoring motor sing sing
conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz failing fail
filing file happy happi sky sky relational relat conditional condit rational ration digitizer digit conformabli conform
vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis hopefulness hope
sensibiliti sensibl triplicate triplic formative form electrical electr goodness good revival reviv allowance allow
inference infer airliner airlin gyroscopic gyroscop adjustable adjust defensible defens irritant irrit replacement replac
adoption adopt homologou homolog effective effect bowdlerize bowdler probate probat rate rate cease ceas controll control
roll roll
"""

MORE = """
configuration configured configuring databases migrations generously generalization oscillators relying crying dying agencies
tables tabling national nationality hesitancy vileness argument arguments arguing connection connections connective quickly
happily running runner ran swimming beautiful beautifully houses housing syzygy yes yelling played playing player toys
employment department dependency independent possibly possibility reliable reliability searching searched indexes indices biology psychologies
"""

PAIRS, WORDS = PAPER.split(), MORE.split()


@pytest.mark.parametrize(("word", "expected"), list(zip(PAIRS[::2], PAIRS[1::2], strict=True)))
def test_a_word_of_the_paper_has_its_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_words_of_one_or_two_letters_stay() -> None:
    assert [stem(word) for word in ("is", "as", "s", "by")] == ["is", "as", "s", "by"]


def test_sqlites_own_stemmer_agrees() -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter ascii')")
    db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(texts, instance)")
    words = [word for word in (*PAIRS, *WORDS) if len(word) > 2]
    for word in words:
        db.execute("INSERT INTO texts VALUES (?)", (word,))
    theirs = {int(str(doc)): str(term) for doc, term in db.execute("SELECT doc, term FROM stems")}
    assert [stem(word) for word in words] == [theirs[number] for number in range(1, len(words) + 1)]
