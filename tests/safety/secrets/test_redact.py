"""What is masked in a text, and what is left alone."""

import base64
import json
import random
import string
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.safety.secrets.forms import FORMS
from hermes.safety.secrets.masks import MASK, has_mask
from hermes.safety.secrets.plausible import words
from hermes.safety.secrets.redact import Redactor
from hermes.safety.secrets.shapes import PREFIXES
from hermes.safety.secrets.stream import HOLD, StreamRedactor

# In the file each secret has a bar in it, so that programs that look for leaked keys do not find any.
ROWS = [
    json.loads(line.replace("¦", ""))
    for line in (Path(__file__).parents[1] / "corpora" / "secrets.jsonl").read_text().splitlines()
]
SECRETS = [row for row in ROWS if row["secrets"]]
HARMLESS = [row["text"] for row in ROWS if not row["secrets"]]
GITHUB = "gh" + "p_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"

# What the masking looks for, to be put together in any order.
WORDS = [
    *(mark for form in FORMS for mark in form.marks.split("|")),
    *(prefix for prefix, _ in PREFIXES),
    "\n",
    " ",
    *words(
        "password token api_key secret = : \" ' \\ AAAAAAAAAAAAA aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5 00112233445566778899aabbccddeeff"
    ),
    *words(
        "user:hunter2@host -u -p login password=Sommer2024 x1y2z3a4b5c6d7e8f9 …[masked] ABCD1234 , ; [ ] { } < > & ? @ / . - _ % ~"
    ),
]


def streamed(redactor: Redactor, text: str, size: int) -> str:
    stream = StreamRedactor(redactor)
    return "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.close()


def test_nearly_every_secret_of_the_corpus_is_masked():
    missed = [row for row in SECRETS if any(secret in Redactor().mask(row["text"]) for secret in row["secrets"])]
    assert len(missed) <= 0.02 * len(SECRETS), missed


def test_harmless_text_of_the_corpus_is_left_as_it_is():
    changed = [text for text in HARMLESS if Redactor().mask(text) != text]
    assert changed == []


def test_the_corpus_is_large_and_half_of_it_harmless():
    assert len(ROWS) >= 160
    assert 0.35 <= len(HARMLESS) / len(ROWS) <= 0.65


@pytest.mark.parametrize(
    "name", words("admin_password example.com_password backend_token profileToken ADMIN_TOKEN GITHUB_PAT")
)
def test_a_name_is_not_harmless_because_a_word_in_it_ends_like_one_that_is(name: str):
    # min, com, end and file are harmless in front of a token; admin, backend and profile are not.
    assert Redactor().mask(f"{name}=aB3dE5fG7hI9jK1l") == f"{name}={MASK}"


@pytest.mark.parametrize("name", words("nextPageToken page_token gcpPublicKey min_token compass BYPASS HOST_PAT"))
def test_names_that_only_sound_secret_are_left_alone(name: str):
    text = f"{name}=aB3dE5fG7hI9jK1l"
    assert Redactor().mask(text) == text


def test_letters_of_a_picture_are_no_key():
    token = "EA" + "A" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5" * 2
    picture = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5" * 2 + "/" + token
    assert Redactor().mask(picture) == picture
    assert Redactor().mask(token) == f"EAAa{MASK}"


def test_a_key_is_masked_when_it_is_wrapped_in_base64_or_hexadecimal():
    for wrapped in (base64.b64encode(GITHUB.encode()).decode(), GITHUB.encode().hex()):
        assert Redactor().mask(f"echo {wrapped} | decode") == f"echo {wrapped[:4]}{MASK} | decode"


def test_a_private_key_is_masked_when_it_is_quoted_or_put_together_of_strings():
    line = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    for text in (
        f"> {begin}\n> {line}\n> {line}\n> {end}",
        f'"{begin}\\n" +\n  "{line}\\n" +\n  "{line}\\n" +\n  "{end}"',
    ):
        assert line not in Redactor().mask(text)
    code = f'if "{begin}" in text and "{end}" in text: return "this is one of them"'
    assert Redactor().mask(code) == code


def test_a_mask_says_which_key_it_was_and_nothing_of_a_short_one():
    assert Redactor().mask(f"use {GITHUB} now") == f"use {GITHUB[:4]}{MASK} now"
    assert Redactor().mask("password: hunter2") == f"password: {MASK}"


def test_a_mask_is_known_again():
    assert has_mask(Redactor().mask(f"key {GITHUB}"))
    assert not has_mask("the value was [masked] by hand")


@pytest.mark.parametrize(
    "secret", ["Tr0ub4dor/&3", "tiny-6", "with space 7", 'quote"and\\slash9', "ünï-cödé+42", "two\nlines1"]
)
def test_a_configured_value_is_masked_in_every_spelling(secret: str):
    raw = secret.encode()
    spellings = [
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        quote(secret, safe="").lower() if secret.islower() else quote(secret),
        json.dumps(secret)[1:-1],
        raw.hex(),
        raw.hex().upper(),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        *(base64.b64encode(b"x" * before + raw + b"y" * after).decode() for before in range(4) for after in range(4)),
    ]
    redactor = Redactor([secret])
    for spelling in spellings:
        masked = redactor.mask(f"a {spelling} b")
        assert has_mask(masked), spelling
        assert spelling not in masked


def test_words_too_short_or_too_plain_are_not_looked_for():
    text = "true openai a b 1234567"
    assert Redactor(["true", "openai", "", " ", "1234567"]).mask(text) == text


def test_masking_twice_changes_nothing_more():
    for row in ROWS:
        once = Redactor().mask(row["text"])
        assert Redactor().mask(once) == once


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_secret_cut_in_pieces_is_masked_as_if_it_were_whole(size: int):
    redactor = Redactor()
    texts = [row["text"] for row in ROWS if len(row["text"]) < 200 * size]
    assert len(texts) > len(ROWS) / 2
    for text in texts:
        assert streamed(redactor, text, size) == redactor.mask(text)


def test_a_stream_gives_back_words_as_soon_as_they_are_certain():
    stream = StreamRedactor(Redactor())
    assert [stream.feed(piece) for piece in ("Hello wor", "ld, pass", "word: hun", "ter2 ok", "\n")] == [
        "Hello ",
        "world, ",
        "password: ",
        f"{MASK} ",
        "ok\n",
    ]
    assert stream.close() == ""


def test_a_configured_value_with_spaces_is_masked_in_a_stream():
    redactor = Redactor(["correct horse battery staple"])
    text = "x correct horse battery staple y"
    assert {streamed(redactor, text, size) for size in range(1, 40)} == {redactor.mask(text)}


def test_a_stream_holds_back_no_more_than_its_limit():
    stream = StreamRedactor(Redactor())
    given = sum(len(stream.feed("x" * 1000)) for _ in range(100))
    assert given >= 100_000 - HOLD - 1000
    assert given + len(stream.close()) == 100_000


@pytest.mark.parametrize(
    "piece",
    ["password=\"", "http://", "bearer ", "-----BEGIN PRIVATE KEY-----\n", "seed words is abcd ", "eyJaaaaaaaaaa.", "sk-", "curl -u ",
     "cookie: a=b;", "[1,2,3,", "otp secret ABCD ", ":", " ", "\n", "a", "a1", "M", "key=", "%2e", "machine x ", "xox", "eyJ-"],
)  # fmt: skip
def test_no_text_takes_more_than_linear_time(piece: str):
    def seconds(letters: int) -> float:
        text = piece * (letters // len(piece))
        start = time.process_time()
        Redactor().mask(text)
        return time.process_time() - start

    seconds(1000)
    assert seconds(100_000) < 2.5


def test_a_megabyte_of_ordinary_text_takes_a_fraction_of_a_second():
    source = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))
    text = (source * 20)[:1_000_000]
    redactor = Redactor([GITHUB, "Tr0ub4dor/&3"])
    redactor.mask(source[:10_000])
    start = time.process_time()
    redactor.mask(text)
    # Alone on a core it takes about 0.2 s.
    assert time.process_time() - start < 1.0


@given(st.text(max_size=300))
def test_any_text_can_be_masked_and_masked_again(text: str):
    redactor = Redactor(["Tr0ub4dor/&3"])
    once = redactor.mask(text)
    assert redactor.mask(once) == once


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_marks_and_pieces_of_secrets_in_any_order_can_be_masked_and_masked_again(parts: list[str]):
    once = Redactor().mask("".join(parts))
    assert Redactor().mask(once) == once


@given(st.text(alphabet="pasword=:\"' \nktenAKIA01-_./@\\", max_size=120))
def test_text_of_telling_letters_can_be_masked_and_masked_again(text: str):
    once = Redactor().mask(text)
    assert Redactor().mask(once) == once


@given(
    st.text(max_size=60),
    st.text(alphabet=string.ascii_letters + string.digits + "!/+&%", min_size=9, max_size=60),
    st.text(max_size=60),
)
def test_what_is_configured_is_never_in_the_output(before: str, secret: str, after: str):
    secret += "7x"
    redactor = Redactor([secret])
    assert secret not in redactor.mask(before + secret + after)
    assert secret not in streamed(redactor, before + secret + after, 7)


def test_random_hashes_and_ids_are_left_alone():
    random.seed(7)
    for _ in range(300):
        value = f"{random.getrandbits(160):040x}"
        text = f"commit {value}\nsha256:{random.getrandbits(256):064x} id={random.getrandbits(64)} {random.randbytes(30).hex()}"
        assert Redactor().mask(text) == text
