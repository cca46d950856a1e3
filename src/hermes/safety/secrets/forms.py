"""Secrets that are told by the form around them: private keys, headers, cookies, logins in URLs, password files, webhooks."""

import base64
import re
from collections.abc import Callable, Iterator
from functools import cache

from msgspec import Struct

from hermes.safety.patterns import Pattern
from hermes.safety.secrets.marks import Marks
from hermes.safety.secrets.plausible import is_login_password, is_password, is_random, is_token, stands_in
from hermes.safety.secrets.shapes import Span, occurrences


class Form(Struct, frozen=True):
    """A form with one group, the secret. It starts with one of the marks (small letters, `|` between), and `real` must hold for the group.

    `reach` is how far it looks ahead over other words: two of its marks that are nearer are tried as one.
    """

    marks: str
    pattern: str
    real: Callable[[str], bool]
    reach: int = 1
    flags: int = re.IGNORECASE


def _always(value: str) -> bool:
    return not stands_in(value)


def _bearer(value: str) -> bool:
    return is_token(value) or is_random(value, 12)


def _login(value: str) -> bool:
    """Whether base64 holds a name and a password."""
    letters = value.rstrip("=")
    return b":" in base64.b64decode(letters[: len(letters) // 4 * 4])


def _seed(value: str) -> bool:
    return len(set(value.split())) >= 8


def _cookie(value: str) -> bool:
    return is_random(value, 12) and not stands_in(value)


def _has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _no_words(value: str) -> bool:
    """Whether four times four letters were drawn by a machine: words have more vowels."""
    return sum(char in "aeiou" for char in value) <= 5


def _keypair(value: str) -> bool:
    return all(int(number) < 256 for number in re.findall(r"\d+", value))


_BODY = r"(?:[A-Za-z0-9+/=]|\\+[nr]|\s|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)[^\n]{0,200}\n){16,32000}+"
_LINE_END = r"(?:\\+[nr]|[\s>|#*;\"'+,])"
_QUOTE = r"\\{0,3}[\"']"

_LOGIN = is_login_password
_SETTING = r"[^\s;,()&<>|'\"]{1,200}"
_TOTP = r"[\w ./-]{0,20}?(?:secret|seed|key)(?:[ _-]?key)?\W{1,4}(?:is )?((?:[A-Z2-7]{4}[ -]?){4,16}={0,6})"
_WORDS = r"[^\n:=]{0,40}?[\"']?\s{0,3}(?::|=|\bis\b)\s{0,4}[\"'(\[]?((?:[a-z]{3,8}[\s,\"']{1,3}){11,24}(?:[a-z]{3,8})?)"
_SAID = (
    r"(?: for [^\n.,:;]{1,40}?)?\s+"
    r"(?:(?:(?:was |has been |is )?(?:now )?(?:changed|reset|set|updated|rotated) )?to|is|was|ist|es|est|lautet)(?: now)?"
    r":?\s{1,2}[`\"'“]?((?=[^\s`\"'”]{0,200}[0-9!@#$%^&*])[^\s`\"'”]{6,200}?)(?=[`\"'”,;]?(?:\.?\s|\.?$))"
)

FORMS: tuple[Form, ...] = (
    Form(
        "-----begin",
        rf"-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----(?:\\+[nr]|\s|\d{{1,6}}\t)*+({_BODY})",
        _always,
    ),
    # Quoted in a mail or put together of strings in code: signs stand at the ends of its lines.
    Form(
        "-----begin",
        rf"-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----{_LINE_END}*+((?:[A-Za-z0-9+/=]{{24,}}{_LINE_END}{{1,60}}+){{1,400}}+)",
        _always,
    ),
    Form("---- begin ssh2", rf"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----({_BODY})", _always),
    Form("private-lines:", r"Private-Lines: \d+\s+((?:[A-Za-z0-9+/=]{1,80}\s+)+)", _always),
    Form("private-mac:", r"Private-MAC: ([0-9a-f]{40,64})", _always),
    # headers
    Form("bearer", r"bearer(?:\s{1,4}|%20|\+|:\s{0,4})([A-Za-z0-9._~+/=|:-]{12,})", _bearer),
    Form(
        "authorization",
        rf"authorization{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?basic\s+([A-Za-z0-9+/=_-]{{8,}})",
        _always,
    ),
    Form(
        "authorization",
        rf"authorization{_QUOTE}?\s{{0,3}}[:=,]\s{{0,3}}{_QUOTE}?"
        r"(?:[A-Za-z][A-Za-z-]{1,20}(?: ?key)?[\s:=]{1,3})?(?:[a-z]{2,10}=)?[\"']?([A-Za-z0-9._~+/=:-]{16,})",
        is_token,
    ),
    Form("x-honeycomb-team", r"x-honeycomb-team\W{1,5}(\w{22,})", _always),
    Form("signature=", r"signature=([0-9a-f]{64}|[A-Za-z0-9%+/=_-]{27,})", _cookie),
    Form("?sig=|&sig=|;sig=", r".sig=([A-Za-z0-9%+/=]{40,})", _always),
    Form("response=", r"response=\"([0-9a-f]{32})\"", _always),
    # logins in URLs: user:password@host, :password@host, token@host
    Form("://", r"://[^\s/:@\"'<>\\?#]{0,120}:([^\s/@\"'<>\\]{1,200})@[^\s@/]", _LOGIN),
    Form("://", r"://[^\s/:@\"'<>\\?#]{0,120}:([^\s@\"'<>\\]{1,80})@[\w.-]{1,253}[:/]", is_password),
    Form("://", r"://([A-Za-z0-9_.-]{20,200})@[^\s@/]", _cookie),
    # logins among other settings: host=h user=u password=p, Server=s;Uid=u;Pwd=p;, jdbc:oracle:thin:user/password@
    Form(
        "host=|user=|uid=|server=",
        rf"[a-z ]{{3,8}}={_SETTING}[\s;]{{1,2}}(?:[\w ]{{2,30}}={_SETTING}[\s;]{{1,2}}){{0,8}}?(?:password|pwd)=['\"]?({_SETTING})",
        _LOGIN,
        8,
    ),
    Form(
        "password=|pwd=",
        rf"(?:(?<=[?&])\w+=|\w+=(?=['\"]?{_SETTING}['\"]?[\s;]{{1,2}}(?:host|user|port|dbname|sslmode)=\w))['\"]?({_SETTING})",
        _LOGIN,
    ),
    # and in code: auth=("user", "password"), Client("AC…", "token")
    Form(
        "auth=(|auth = (|basicauth(",
        r"\w+ ?=? ?\(\s{0,20}[\"'][^\"'\n]{1,80}[\"'],\s{0,20}[\"']([^\"'\n]{4,200})[\"']",
        _LOGIN,
    ),
    Form("client(", r"Client\([\"']AC[0-9a-f]{32}[\"'],\s{0,3}[\"']([0-9a-f]{32})[\"']", _always),
    Form("jdbc:oracle:", r"jdbc:oracle:\w+:[\w$#]{1,60}/\"?([^\s@\"'/]{3,200})\"?@", _LOGIN),
    Form("sqlplus ", r"sqlplus\s+(?:-\w+\s+){0,4}[\"']?[\w$#]{1,60}/([^\s@\"'/]{3,200})@", _LOGIN),
    # links that are keys
    Form("hooks.slack", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{20,})", _always),
    Form("/webhooks/", r"/webhooks/\d{5,25}/([\w-]{20,})", _always),
    Form("/webhook/|/webhookb2/", r"/webhook(?:b2)?/([\w@/-]{60,})", _always),
    Form("hooks.zapier", r"hooks\.zapier\.com/hooks/(?:catch|standard)/(\d+/\w+)", _always),
    Form("maker.ifttt", r"maker\.ifttt\.com/(?:use/|trigger/[\w-]+/(?:json/)?with/key/)([\w-]{16,})", _always),
    Form("hook.", r"hook\.(?:eu\d?|us\d?|integromat)\.(?:make\.)?com/([a-z0-9]{20,})", _always),
    Form(
        "chat.googleapis",
        r"chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?[^\s\"']{0,200}?token=([\w%=-]{20,})",
        _always,
    ),
    Form("prod:|dev:", r"\w+:[a-z0-9-]{3,40}\|([A-Za-z0-9+/]{40,}={0,2})", _always),
    Form("alchemy", r"alchemy(?:api\.io|\.com)/v\d/([\w-]{20,})", _always),
    Form("infura.io/", r"infura\.io/(?:ws/)?v\d/([0-9a-f]{32})", _always),
    Form("/bot", r"/bot(\d{8,10}:[\w-]{30,})", _always),
    # second factors and wallets
    Form("otpauth", r"otpauth(?:-migration)?://[^\s\"'<>]{0,300}?(?:secret|data)=([A-Za-z0-9%+/=]{8,})", _always, 100),
    Form("totp|2fa|mfa|otp|authenticator|setup", r"\w{3,13}" + _TOTP, _always),
    Form(
        "mnemonic|seed|recovery|backup|wallet|secret",
        r"(?:mnemonic|(?:seed|recovery|backup|secret|wallet)[ _-]?(?:phrase|words?)|seed)" + _WORDS,
        _seed,
        20,
    ),
    Form("private|priv_key|privkey", r"priv(?:ate)?[ _-]?key[^\n]{0,20}?\W(?:0x)?([0-9a-f]{64})\b", _always),
    Form(
        "wif|bitcoin|btc|wallet|private key|privkey",
        r"[a-z ]{3,15}[^\n]{0,40}?(?<![A-Za-z0-9])((?-i:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KLc9][1-9A-HJ-NP-Za-km-z]{50,51}))(?![A-Za-z0-9])",
        _cookie,
        20,
    ),
    Form('"d"|"k"', r"\"[dk]\"\s{0,3}:\s{0,3}\"([\w-]{43}|[\w-]{86}|[\w-]{256,})\"", _cookie),
    Form("<d>", r"<D>([A-Za-z0-9+/=]{80,})</D>", _always),
    Form(
        "backup code|recovery code", r"\w+ codes?\W{1,4}((?:[a-z0-9]{4,6}-[a-z0-9]{4,6}\b[\s,]{0,3}){1,20})", _has_digit
    ),
    Form("[", r"\[\s?(\d{1,3}(?:,\s?\d{1,3}){63})\s?\]", _keypair),
    # files of passwords
    Form("machine", r"machine\s[^\n]{0,200}?\spassword\s+(\S{3,200})", _LOGIN, 60),
    Form("login ", r"login\s+[\w.@+-]{2,100}\s+password[ \t]+(\S{3,200})", _LOGIN),
    Form("password", r"password[ \t]+(\S{6,200})[ \t\r]*(?:\n|\Z)", is_password),
    Form("requirepass|masterauth", r"(?:requirepass|masterauth)[ \t]+[\"']?([^\s\"']{4,200})", _LOGIN),
    Form("secret_access_key|secretaccesskey", r"secret_?access_?key\W{1,12}([A-Za-z0-9/+]{40})(?![\w/+=])", _always),
    Form("password", r"password \| ([^\s|]{6,200})", is_password),
    Form(
        "creds|credentials|login",
        r"(?:creds|credentials|login)\W{1,3}[\w.@-]{2,40}(?:[:/]| / )([^\s/]{6,200})",
        is_password,
    ),
    Form("app", r"app(?:lication)?[ _-]?passwor[dt]\W{1,4}(?:is )?([a-z]{4}(?: [a-z]{4}){3})(?![a-z])", _no_words),
    Form("auth\"|auth'", r"auth[\"']\s{0,3}:\s{0,3}[\"']([A-Za-z0-9+/]{12,}={0,2})[\"']", _login),
    Form("_auth", r"_auth\s{0,2}=\s{0,2}\"?([A-Za-z0-9+/]{12,}={0,2})", _login),
    Form("private_key_id", r"private_key_id[\"']\s{0,3}:\s{0,3}[\"']([0-9a-f]{40})[\"']", _always),
    # command lines
    Form("sshpass", r"sshpass\s+-p\s{0,2}[\"']?([^\s\"']{3,200})", _LOGIN),
    Form(
        "curl",
        r"curl\b[^\n|;]{0,400}?\s(?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']{1,100}:([^\s\"']{3,200})",
        _LOGIN,
        100,
    ),
    # Some services take the key as the name, and anything as the password.
    Form("curl", r"curl\b[^\n|;]{0,400}?\s(?:-u|--user)[ =]?[\"']?([\w.-]{16,200}):[xX]?(?=[\"'\s])", is_token, 100),
    Form(
        "http ", r"https?\s(?:[^\n|;]{0,200}?\s)?(?:-a|--auth)[ =][\"']?[^\s:\"']{1,100}:([^\s\"']{3,200})", _LOGIN, 100
    ),
    Form(
        "mysql|mariadb",
        r"(?:mysql\w{0,12}|mariadb[\w-]{0,12})\s[^\n|;]{0,300}?(?<=\s)-p[\"']?([^\s\"']{4,200})",
        _LOGIN,
        100,
        0,
    ),
    Form("redis-cli", r"redis-cli\b[^\n|;]{0,200}?\s(?:-a|--pass)\s+[\"']?([^\s\"']{4,200})", _LOGIN, 100),
    Form(
        "docker|podman|helm|skopeo",
        r"\w+ (?:registry )?login\b[^\n|;]{0,200}?\s-p[ =]?[\"']?([^\s\"']{4,200})",
        _LOGIN,
        10,
    ),
    Form("login ", r"login\s+(?:--?[\w-]+[= ])?([A-Za-z0-9_.-]{32,})(?!\S)", is_token),
    Form("-pass", r"-pass(?:in|out)?\s+pass:([^\s\"']{4,200})", _LOGIN),
    Form(
        "echo |printf ",
        r"(?:echo|printf)\s+(?:-n\s+|'?%s'?\s+)?[\"']?([^\s\"'|]{4,200})[\"']?\s{0,4}\|\s{0,4}"
        r"(?:sudo\s+-\w*S|[^\n|;]{1,120}--password-stdin|[^\n|;]{1,40}(?:--passphrase-fd|--with-token))",
        _LOGIN,
    ),
    Form(
        "ldapsearch|ldapmodify|ldapwhoami",
        r"ldap[a-z]+\s[^\n|;]{0,300}?-w\s{0,2}[\"']?([^\s\"']{4,200})",
        _LOGIN,
        100,
        0,
    ),
    Form("cqlsh|influx|mongo", r"\w+\b[^\n|;]{0,200}?\s-p\s+[\"']?([^\s\"']{4,200})", is_password, 100, 0),
    Form("rabbitmqctl", r"rabbitmqctl\s+(?:add_user|change_password)\s+\S{1,60}\s+[\"']?([^\s\"']{4,200})", _LOGIN),
    Form("net use", r"net use\s[^\n]{0,200}?/user:\S{1,80}\s+[\"']?([^\s\"'/]{4,200})", _LOGIN),
    Form("xfreerdp", r"xfreerdp\w?\s[^\n|;]{0,200}?/p:[\"']?([^\s\"']{3,200})", _LOGIN, 100),
    Form("openssl ", r"openssl\s[^\n|;]{0,200}?\s-k\s+[\"']?([^\s\"']{4,200})", _LOGIN, 100, 0),
    Form("zip ", r"zip\s(?:[^\n|;]{0,200}?\s)?(?:-P\s{0,2}|--password[ =])[\"']?([^\s\"']{4,200})", _LOGIN, 100, 0),
    Form("7z |rar ", r"\w+\s[^\n|;]{0,200}?\s-p[\"']?([^\s\"']{4,200})", _LOGIN, 100, 0),
    Form("ssh-keygen", r"ssh-keygen\b[^\n|;]{0,200}?\s-[NP]\s{0,2}[\"']?([^\s\"']{4,200})", _LOGIN, 100, 0),
    Form("secret set", r"secret set\s[^\n|;]{0,200}?(?:-b|--body)[ =][\"']?([^\s\"']{8,400})", is_password),
    Form("securestring", r"SecureString\b[^\n|;]{0,200}?--value[ =][\"']?([^\s\"']{6,400})", is_password),
    Form("echo ", r"echo\s+[\"']?[\w.-]{1,60}:([^\s\"'|]{3,200})[\"']?\s{0,4}\|\s{0,4}(?:sudo\s+)?chpasswd", _LOGIN),
    Form("htpasswd", r"htpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+[\"']?([^\s\"']{4,200})", _LOGIN),
    Form("smbclient|rpcclient", r"\w+\b[^\n|;]{0,200}?-U\s+[\"']?[\w\\.-]{1,60}%([^\s\"']{3,200})", _LOGIN, 100, 0),
    Form("identified", r"identified\s+(?:with\s+\w+\s+)?by\s+(?:password\s+)?['\"]([^'\"\n]{3,200})['\"]", _LOGIN),
    Form("password '", r"password\s+'([^'\n]{3,200})'", _LOGIN),
    Form("convertto-securestring", r"ConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\"'\n]{3,200})[\"']", _LOGIN),
    # said in a sentence
    Form(
        "password|passwort|passphrase|passcode|contraseña",
        r"(?:password|passwort|passphrase|passcode|contraseña)" + _SAID,
        is_password,
    ),
    Form("pw is|pwd is|pass is|kennwort ist", r"(?<![a-z])(?:pwd?|pass|kennwort)" + _SAID, is_password),
    Form("token|secret|api key|apikey|api-key", r"(?:token|secret|api[ -]?key)" + _SAID, is_token),
)


def _by_mark() -> dict[str, list[int]]:
    forms: dict[str, list[int]] = {}
    for at, form in enumerate(FORMS):
        for mark in form.marks.split("|"):
            forms.setdefault(mark, []).append(at)
    return forms


_BY_MARK = _by_mark()
_MARKS = Marks(_BY_MARK)

# The password file of PostgreSQL has no word to start from.
_PGPASS = Pattern(r"^[\w.*-]{1,253}:(?:\d{2,5}|\*):[\w.*-]{1,63}:[\w.*@-]{1,63}:(\S{3,200})[ \t\r]*$", re.MULTILINE)
_PORTS = (":5432:", ":*:", ":5433:", ":6432:", ":3306:")

_COOKIES = Pattern(r"cookies?[\"']?\s{0,3}[:=,]\s{0,3}[\"']?([^\n\"']{4,8000})", re.IGNORECASE)
_CRUMB = Pattern(r"([\w.$-]{1,80})=([^;\s]{6,4000})")
_LOGGED_IN = Pattern(r"(?i)sess|sid|auth|token|jwt|login|remember|csrf|xsrf|connect\.|identity|secure|key|__host")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version"})


@cache
def _compiled(form: int) -> re.Pattern[str]:
    return re.compile(FORMS[form].pattern, FORMS[form].flags)


def find_forms(text: str, lowered: str) -> Iterator[Span]:
    """Where secrets stand that the form around them gives away. `lowered` is the text in small letters, as long as it is."""
    for mark in _MARKS.found(lowered):
        for at in _BY_MARK[mark]:
            yield from _find_form(text, lowered, at, mark)
    if any(port in text for port in _PORTS):
        yield from (found.span(1) for found in _PGPASS.finditer(text) if is_login_password(found[1]))
    if "cookie" in lowered:
        yield from _find_cookies(text, lowered)


def _find_form(text: str, lowered: str, at: int, mark: str) -> Iterator[Span]:
    form = FORMS[at]
    start = lowered.find(mark)
    while start >= 0:
        found = _compiled(at).match(text, start)
        if found and form.real(found[1]):
            yield found.span(1)
        start = lowered.find(mark, found.end(1) if found else start + max(form.reach, len(mark)))


def _find_cookies(text: str, lowered: str) -> Iterator[Span]:
    done = 0
    for at in occurrences(lowered, "cookie"):
        header = _COOKIES.match(text, at) if at >= done else None
        if header is None:
            continue
        done = header.end()
        for crumb in _CRUMB.finditer(text, *header.span(1)):
            name, value = crumb[1].lower(), crumb[2]
            if name in _ATTRIBUTES or stands_in(value):
                continue
            if _cookie(value) or (len(value) >= 8 and _LOGGED_IN.search(name) and is_password(value)):
                yield crumb.span(2)
