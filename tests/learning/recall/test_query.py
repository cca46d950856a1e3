"""A question's words, phrases and refusals; nothing else in it is syntax."""

from hermes.learning.recall.query import Query, parse


def test_words_are_any_of_phrases_must_be_there_and_a_minus_must_not() -> None:
    assert parse('moved "nightly backups" -disk -"old server" to Lisbon') == Query(
        any=("move", "nightli", "backup", "lisbon"),
        every=("nightli", "backup"),
        phrases=(("nightly", "backups"),),
        without=(("disk",), ("old", "server")),
    )


def test_a_hyphen_inside_a_word_and_an_open_quote_are_nothing_special() -> None:
    assert parse('well-known "half').without == ()
    assert parse('well-known "half').phrases == ()


def test_a_phrase_is_within_one_message_and_whole_words() -> None:
    query = parse('"rounding bug"')
    assert query.fits(["the Rounding  BUG, again"])
    assert not query.fits(["rounding", "bug"])
    assert not query.fits(["rounding bugs"])
    assert not parse("bug -rounding").fits(["a bug", "of rounding"])


def test_a_phrase_is_not_bound_to_the_capital_of_a_month() -> None:
    assert parse('"the May report"').every == ("report",)
    assert parse('"the May report"').fits(["see the may report"])


def test_a_phrase_of_cjk_characters_is_found_inside_a_sentence() -> None:
    assert parse('"茶馆"').fits(["明天我们在上海的茶馆见面"])
    assert not parse('"馆茶"').fits(["明天我们在上海的茶馆见面"])
