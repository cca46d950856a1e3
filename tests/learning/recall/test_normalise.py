"""Text becomes terms in one way, whoever wrote it."""

import pytest

from hermes.learning.recall.normalise import terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where did we move the nightly backups?", ["move", "nightli", "backup"]),
        ("getUserName", ["user", "name", "getusername"]),
        ("HTTPServer2", ["http", "server", "2", "httpserver2"]),
        ("read_file", ["read", "file", "readfile"]),
        ("src/hermes/store.py", ["src", "herm", "store", "py"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("茶", ["茶"]),
        ("用Python写代码", ["用", "python", "写代", "代码"]),
        ("Café CAFÉ cafe\u0301 ｃａｆｅ", ["cafe"] * 4),
        ("Straße ΣΟΦΌΣ", ["strass", "σοφοσ"]),
        ("you may ask in May, or 5²", ["ask", "mai", "52"]),
        ("", []),
        ("the and of it", []),
    ],
)
def test_a_text_has_these_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_no_term_has_anything_in_it_that_the_index_would_split() -> None:
    text = "a\"b'c;d--e/*f*/ OR NOT NEAR(x, 2) ^col:val* {y} \x00 \ud83d\ude00 ﷽ 🙂 x" + "y" * 100
    text = text.encode("utf-16", "surrogatepass").decode("utf-16")
    for term in terms(text):
        assert 0 < len(term) <= 40
        assert all(char.isalnum() or ord(char) > 127 for char in term)
        assert not any(char.isspace() for char in term)


def test_words_keep_what_terms_leave_out() -> None:
    assert words("To be, or NOT to be: Café 東京") == ["to", "be", "or", "not", "to", "be", "cafe", "東", "京"]
