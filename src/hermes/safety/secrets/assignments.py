"""Secrets that are told by their name: password=, "token": , --api-key, API_KEY=, <secret>, in any file format."""

import re
from collections.abc import Iterator

from hermes.safety.patterns import Pattern
from hermes.safety.secrets.marks import Marks
from hermes.safety.secrets.plausible import is_password, is_random, is_token, is_word_password, stands_in, words
from hermes.safety.secrets.shapes import Span, occurrences

# Names end in one of these, each found by its first letters. First those that people think up, then those that machines make.
_CHOSEN = {
    "pass": r"pass(?:[_. -]?word|wort|wd|[_. -]?phrase|[_. -]?code)?",
    "pwd": r"pwd",
    "pw": r"(?<![a-z])pw",
    "psk": r"psk",
    **{word: word for word in words("contraseña kennwort senha wachtwoord lösenord hasło пароль 密码 パスワード")},
    "mot de passe": r"mot de passe",
}
_MADE = {
    "secret": r"secret(?:[_. -]?(?:access[_. -]?)?key(?:[_. -]?base)?|[_. -]?value|[_. -]?string)?",
    "token": r"token",
    "_pat": r"_pat",
    "key": r"key(?:[_. -]?secret|-data)?",
    "credential": r"credentials?",
    "jwt": r"jwt",
    "sess": r"sess(?:ion)?id",
    "salt": r"salt",
    "pepper": r"pepper",
}
_NAMES = {mark: Pattern(name + r"(?![a-z])\d{0,2}") for mark, name in (_CHOSEN | _MADE).items()}
_MARKS = Marks(_NAMES)
# Only some keys are secret: those that have one of these words in front.
_SECRET_KEY = words(
    "api secret access auth private signing encryption master account shared service client app admin license "
    "deploy storage session bot jwt hmac write rest webhook function functions subscription rpc cookie consumer crypt "
    "cipher aes ingest integration security project root x"
)
_ENV_KEY = Pattern(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9_]{1,60}_$")
# The word in front of the name that makes it harmless: public keys, tokens of a page or a parser and not of a person.
_HARMLESS = frozenset(
    words(
        "public publishable next prev previous page continuation continue sync eos bos pad unk sep cls mask stop "
        "start end special cancellation max min num primary foreign cache known idempotency partition sort input "
        "output prompt completion integrity checksum content file package release commit artifact image gpg asset "
        "object group lookup"
    )
)
_LAST_WORD = Pattern(r"(?:[A-Z]?[a-z]+|[A-Z]+)(?=[_. -]*$)")
# bypass, compass, surpass, trespass
_OTHER_PASS = words("by bi com sur tres")
_LOGINS = words("db user my smtp mail imap ftp ssh admin root redis mongo pg sql ldap svc proxy key store")
_ACCOUNTS = words("git github gitlab gh ghcr devops ext azure ado")
# From the end of the name to the value: a quote that closes, a separator, a quote that opens. Quotes may be escaped, for
# HTML and URLs too.
_ESCAPED_QUOTES = ("&quot;", "&#34;", "&#39;", "%22", "%27")
_QUOTE = rf"(?:\\{{0,3}}[\"'`]|{'|'.join(_ESCAPED_QUOTES)})"
_EQUALS = Pattern(
    r"[\"']\s{0,3}:\s{0,3}\{[^{}\n]{0,200}?[\"']value[\"']\s{0,3}:\s{0,3}(?P<inner>[\"'])"
    rf"|{_QUOTE}?\]?\)?\s{{0,4}}(?:===?|:=|=>|=|:|：|%3[DA]|</key>\s{{0,20}}<string>|\\u003d)\s{{0,8}}(?:[bfru@]{{0,2}})(?P<quote>{_QUOTE})?"
    r"|(?P<flag>[ |]\s?)(?P<open>[\"'])?"
    r"|>(?P<tag>)"
    r"|[\"'],?\s{1,20}(?:[\"']?value[\"']?)\s{0,3}[:=]\s{0,3}(?P<pair>[\"'])?"
    r"|\s{0,2}\n\s{1,20}value:\s{1,4}(?P<line>[\"'])?"
    r"|[\"'],\s{0,3}(?P<comma>[\"'])"
)
_BARE = Pattern(r"[^\s\"'`,;<>&(){}\[\]|\\]{1,4000}")
_TAGGED = Pattern(r"[^<\n]{1,4000}(?=</)")
_FLAG = Pattern(r"(?:^|[\s\"'=(\[])--?[\w-]*$")
_QUOTED = {
    quote: Pattern(rf"(?:(?!{re.escape(quote)})[^\n]){{1,4000}}(?={re.escape(quote)})")
    for quote in (*_ESCAPED_QUOTES, *(escape + mark for escape in ("", "\\", "\\\\", "\\\\\\") for mark in "\"'`"))
}


def find_assigned(text: str, lowered: str) -> Iterator[Span]:
    """Where values stand that are assigned to a name that only secrets have. `lowered` is the text in small letters."""
    for mark in _MARKS.found(lowered):
        for at in occurrences(lowered, mark):
            name = _NAMES[mark].match(lowered, at)
            if name and _names_a_secret(text, lowered, at, mark):
                yield from _value(text, at, name.end(), chosen=mark in _CHOSEN)


def _names_a_secret(text: str, lowered: str, at: int, mark: str) -> bool:
    before = lowered[max(0, at - 16) : at].rstrip("_. -")
    if mark == "pass" and lowered[at + 4 : at + 8] != "word" and text[at - 1 : at].isalpha():
        # bypass, compass, minipass; but dbpass, userpass, dbPass and DBPASS.
        return before.endswith(_LOGINS) if text[at] == "p" else not before.endswith(_OTHER_PASS)
    if mark == "_pat":
        # A personal access token; elsewhere it is a pattern.
        return before.endswith(_ACCOUNTS)
    if mark == "sess":
        return before.endswith(("php", "j", "asp.net"))
    if mark == "key" and not before.endswith(_SECRET_KEY) and not _ENV_KEY.search(text, max(0, at - 64), at):
        return False
    last = _LAST_WORD.search(text, max(0, at - 16), at)
    return mark in _CHOSEN or last is None or last[0].lower() not in _HARMLESS


def _value(text: str, start: int, end: int, *, chosen: bool) -> Iterator[Span]:
    between = _EQUALS.match(text, end)
    if between is None:
        return
    quote = next(filter(None, map(between.group, ("inner", "quote", "open", "pair", "line", "comma"))), None)
    if between["tag"] is not None:
        found = _TAGGED.match(text, between.end())
    elif quote:
        found = _QUOTED[quote].match(text, between.end())
    else:
        found = _BARE.match(text, between.end())
    if found is None:
        return
    value, stop = found[0], found.end()
    if not quote and between["tag"] is None:
        # A call or an index is code, and what ends a sentence is not part of the value.
        if text[stop : stop + 1] in ("(", "[", "{") or (stop < len(text) and text[stop - 1 : stop + 1] in ("$(", "${")):
            return
        value = value.rstrip(".:") if not value.endswith("==") else value
        stop = found.start() + len(value)
    if between["flag"] is not None and not quote and not _FLAG.search(text, max(0, start - 40), start):
        # Only a space between name and value: `ENV API_TOKEN value`. In a sentence a word follows.
        if _is_strong(value) if chosen else is_random(value, 20) and is_token(value):
            yield found.start(), stop
    elif (between[0] == "=" and chosen and text[start:end].isupper() and is_word_password(value)) or _is_secret(
        value, chosen=chosen, quoted=bool(quote)
    ):
        yield found.start(), stop


def _is_secret(value: str, *, chosen: bool, quoted: bool) -> bool:
    if value.startswith("base64:"):
        value = value[7:]
    if len(value) > 400:
        return not stands_in(value) and is_random(value)
    if chosen:
        return is_password(value) or (quoted and is_token(value))
    return is_token(value) or (quoted and _is_strong(value))


def _is_strong(value: str) -> bool:
    """A value in quotes with letters, digits and signs, as generators of secrets make them."""
    return (
        len(value) >= 10
        and " " not in value
        and any(char in "!@#$%^&*?~" for char in value)
        and is_password(value)
        and any(char.isdigit() for char in value)
    )
