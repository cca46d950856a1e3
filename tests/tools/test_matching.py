import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.tools.matching import Found, find, nearest_lines, unescaped

CODE = """\
class Cart:
    def add(self, item):
        self.items.append(item)...
        return self  # "chains"

    def total(self):
        prices = [item.price for item in self.items]
        return sum(prices)
""".replace("...", "   ")

QUOTES = [
    ("exact", ["append(item)"], "append(item)"),
    (
        "ignoring trailing space",
        ["        self.items.append(item)", '        return self  # "chains"'],
        '        self.items.append(item)   \n        return self  # "chains"',
    ),
    (
        "at another indentation",
        ["def total(self):", "    prices = [item.price for item in self.items]", ""],
        "    def total(self):\n        prices = [item.price for item in self.items]\n",
    ),
    (
        "ignoring indentation",
        ["def total(self):", "prices = [item.price for item in self.items]"],
        "    def total(self):\n        prices = [item.price for item in self.items]",
    ),
    ("ignoring spacing", ["return  sum(prices)"], "        return sum(prices)"),
    ("unescaped", ["def total(self):\\n        prices"], "def total(self):\n        prices"),
    ("ignoring typographic punctuation", ["# “chains”"], '# "chains"'),
    (
        "by its first and last line",
        ["def add(self, item):", "    self.items.append(thing)", '    return self  # "chains"'],
        '    def add(self, item):\n        self.items.append(item)   \n        return self  # "chains"',
    ),
    (
        "by likeness",
        [
            "def total(self):",
            "    prices = [item.price for item in self.items]",
            "    return sum(prizes)",
            "",
        ],
        "    def total(self):\n        prices = [item.price for item in self.items]\n        return sum(prices)\n",
    ),
]


@pytest.mark.parametrize(("strategy", "quote", "stands"), QUOTES, ids=[row[0] for row in QUOTES])
def test_each_strategy_finds_what_the_stricter_ones_cannot(strategy, quote, stands):
    start = CODE.index(stands)
    assert find(CODE, "\n".join(quote)) == Found(strategy, ((start, start + len(stands)),))


@settings(deadline=None)
@given(
    st.text(alphabet="ab \n", min_size=1, max_size=3),
    st.lists(st.text(alphabet="ab \n", max_size=3), min_size=2),
)
def test_an_exact_quote_is_found_exactly_wherever_it_stands(quote, pieces):
    text = quote.join(pieces)
    spans = tuple((at, at + len(quote)) for at in range(len(text)) if text.startswith(quote, at))
    assert find(text, quote) == Found("exact", spans)


@settings(deadline=None)
@given(st.text(alphabet="ab\\n \t\n", max_size=12), st.text(alphabet="ab\\n \t\n", max_size=30))
def test_what_is_found_lies_within_the_text(quote, text):
    if quote and (found := find(text, quote)):
        assert all(0 <= start <= end <= len(text) for start, end in found.spans)


def test_a_blank_quote_matches_no_other_blank():
    assert find("a\n\nb\n", "   ") is None


def test_no_guess_is_made_where_many_could_be():
    block = "begin\n  one = {0}\n  two = 2\n  three = 3\nend\n"
    quote = block.format("x")
    assert find(block.format("1"), quote) == Found("by its first and last line", ((0, 42),))
    assert find("".join(block.format(number) for number in range(21)), quote) is None


def test_a_search_in_vain_through_a_large_file_is_quick():
    text = "".join(f"{{\n  call({number});\n}}\n" for number in range(6000))
    quote = "{\n" + "".join(f"  nothing_of_this({number})\n" for number in range(150)) + "}\n"
    began = time.process_time()
    assert find(text, quote) is None
    assert time.process_time() - began < 3


def test_something_else_is_not_found():
    assert find(CODE, "def remove(self, item):\n    self.items.remove(item)\n    return None\n") is None


def test_escapes_are_undone_once():
    assert unescaped(r"a\n\tb\"\'\\n") == "a\n\tb\"'\\n"


def test_the_nearest_lines_are_numbered_as_read_file_does():
    assert nearest_lines(CODE, "    def totals(self):", context=1) == (
        "5|\n6|    def total(self):\n7|        prices = [item.price for item in self.items]"
    )
    assert nearest_lines(CODE, "zzz") == ""
