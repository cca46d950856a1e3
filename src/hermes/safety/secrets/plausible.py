"""Whether a value can be a secret at all, or only stands where one would: a placeholder, a variable, a word, a type."""

import re
from itertools import pairwise

from hermes.safety.patterns import Pattern


def words(text: str) -> tuple[str, ...]:
    """The words of a text, for a list that is long and read often."""
    return tuple(text.split())


# Words that people write into an example. None is likely to appear in random text by chance.
_STAND_IN = Pattern(
    r"(?i)example|placeholder|change.?me|change.?this|changeit|your[-_ ]|^your|yourkey|yourtoken|replace.?(me|with|this)|"
    r"redacted|masked|dummy|sample|insert.?(your|key|token)|xxxx|\*{3}|\.{3}|…|•{3}|foobar|lorem|not.?(a.)?real|"
    r"(key|token|secret|password|value)[-_ ]?(goes[-_ ])?here|^fake|[-_ ]fake|fake[-_ ]|^<.*>$|^\[.*\]$|^x+$"
)
_VARIABLE = Pattern(
    r"^\$\{?[A-Za-z_]|^\$\(|^`|\$\{|\{\{|^\{|^%[({A-Za-z]|^%[sd]$|#\{|^&|^\*[A-Za-z]|^!(vault|Ref|Sub|GetAtt|secret|env)\b|"
    r"^(vault|ssm|arn|op|env|file|keyring|secret|secretref|awskms|gcpkms|doppler|bws|sops|projects)[:/](?!.*@)|^@Microsoft|"
    r"^ENC\[|^https?://|^data:|process\.env|os\.environ|getenv|^env\."
)
_HASH = Pattern(
    r"(?i)^\$(2[abxy]?|1|5|6|y|argon2\w*|scrypt|pbkdf2[\w-]*)\$|^(sha\d+|md5|blake\w+|pbkdf2|scrypt|bcrypt)[-:_$(]"
)
_CODE = Pattern(
    r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$|^[A-Z]\w*[a-z](Key|Token|Secret|Password)$|^[A-Za-z_]\w*(::|->)|^[A-Za-z_][\w.]*\[|^(lambda|new|await|async)$|[aA]-[zZ]|0-9|\\[dwsb]"
)
_PATH = Pattern(
    r"^(~|\.{1,2})?(/[\w.@ -]{1,24}){1,12}/?$|^[A-Za-z]:\\|^[\w.-]+/[\w./-]+\.(pem|key|json|txt|ya?ml|crt|env|toml)$"
)
_TYPE = Pattern(
    r"(?i)^(optional|option|maybe|str|string|bytes?|text|int|integer|bool|boolean|float|number|object|any|char|varchar\w*|"
    r"secretstr|list|dict|array|null|none|nil|undefined|true|false|required|optional|hidden|unset|empty|never|unknown)\b[\s!?\[\]<>|;,\w()]*$"
)
_MEASURE = Pattern(r"^[\d.,:/_+-]+\s?(%|[a-zA-Z]{1,7})?$|^\d{4}-\d\d-\d\d([T ].*)?$|^v?\d+(\.\d+)+[\w.+-]*$")
_USUAL = frozenset(
    words(
        "password passwd passphrase pass pwd pw secret secrets token tokens key apikey api_key api-key user username "
        "usr login admin root guest postgres mysql redis mongo rabbitmq test testing tests foo bar baz qux value "
        "string name none null localhost default required public private basic bearer digest oauth oauth2 x xx xxx "
        "abc hello p u s3cr3t s3cret passw0rd"
    )
)
_TELLING = words("password secret token admin postgres default test user root mysql value required")
# What the first letters do not tell, the rest will not.
_ENOUGH = 400
_WORDS = Pattern(r"[a-z]+([-_. ][a-z]+)+")
_SAME_CASE = Pattern(r"[A-Z]+|[a-z]+|[^A-Za-z]+")


def stands_in(value: str) -> bool:
    """Whether a value is written where a secret would be: a placeholder, a variable, a reference, a hash."""
    value = value[:_ENOUGH]
    lowered = value.lower()
    # What costs least first: a page may hold thousands of such names.
    return (
        len(set(lowered)) < (7 if len(value) >= 16 else 4)
        or lowered in _USUAL
        or bool(_STAND_IN.search(value) or _VARIABLE.search(value) or _HASH.search(value))
    )


def changes(value: str) -> int:
    """How often letters and digits take turns, or small letters give way to large ones: seldom in words and names."""
    count = 0
    for one, two in pairwise(value):
        if (one.isalpha() and two.isdigit()) or (one.isdigit() and two.isalpha()) or (one.islower() and two.isupper()):
            count += 1
    return count


def is_random(value: str, least: int = 16) -> bool:
    """Whether a value looks like a machine made it."""
    if len(value) < least:
        return False
    value = value[:_ENOUGH]
    turns = changes(value)
    if sum(char.isdigit() for char in value) < 2:
        return turns >= (0.22 if len(value) >= 20 else 0.3) * len(value)
    return turns >= max(3, 0.12 * len(value))


def is_token(value: str) -> bool:
    """Whether what is assigned to a name such as token, secret or api_key is one."""
    if stands_in(value):
        return False
    if len(value) >= 20 and " " not in value and changes(value[:_ENOUGH]) >= 0.3 * len(value[:_ENOUGH]):
        return True
    if _CODE.search(value) or _TYPE.match(value) or _MEASURE.match(value) or _PATH.match(value):
        return False
    if " " in value.strip():
        return False
    return is_random(value) or (len(value) >= 8 and _is_mixed(value)) or _is_scrambled(value)


def is_password(value: str) -> bool:
    """Whether what is assigned to a name such as password is one, which a person may have thought up."""
    if len(value) < 6 or stands_in(value) or _CODE.search(value) or _TYPE.match(value) or _PATH.match(value):
        return False
    if _MEASURE.match(value):
        return False
    if " " in value.strip():
        return bool(re.fullmatch(r"[a-z]{3,9}( [a-z]{3,9}){3,}", value))
    letters = any(char.isalpha() for char in value)
    if any(char.isdigit() for char in value) or any(char in "!@#$%^&*?+=~" for char in value[:-1]):
        return letters
    if _WORDS.fullmatch(value):
        return len(re.split(r"[-_. ]", value)) >= 4 and not _USUAL.intersection(re.split(r"[-_. ]", value))
    return is_random(value, 20) or _is_scrambled(value)


def is_word_password(value: str) -> bool:
    """Whether a plain word is a password and not a stand-in, where nothing but a value can stand, as in DB_PASSWORD=word."""
    return (
        bool(re.fullmatch(r"[a-z]{8,40}", value))
        and not stands_in(value)
        and not any(word in value for word in _TELLING)
    )


def is_login_password(value: str) -> bool:
    """Whether the text between `user:` and `@` is a real password; there even a plain word can be one."""
    return len(value) >= 3 and not stands_in(value) and not _TYPE.match(value) and value[0] not in "<{[$%("


def _is_mixed(value: str) -> bool:
    """Whether a shorter value mixes letters and digits as names do not."""
    pieces = re.split(r"[^A-Za-z0-9]+", value)
    named = all(re.fullmatch(r"[A-Za-z]*\d{0,4}", piece) for piece in pieces)
    return not named and changes(value) >= 3 and sum(char.isdigit() for char in value) >= 2


def _is_scrambled(value: str) -> bool:
    """Whether letters are large and small by chance and few of them vowels: no name in code is like that."""
    if not 10 <= len(value) <= _ENOUGH or not value.isalnum():
        return False
    runs = _SAME_CASE.findall(value)
    vowels = sum(char in "aeiouAEIOU" for char in value)
    return (
        any(run.isupper() and len(run) > 1 for run in runs)
        and len(runs) >= 0.42 * len(value)
        and vowels <= 0.3 * len(value)
        and not value.isupper()
    )
