"""Whether Hermes may fetch a URL for a model: judged by every address that it leads to, redirects included."""

import ipaddress
import re
import unicodedata
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urljoin

from msgspec import Struct

from hermes.protocol.actions import Verdict
from hermes.safety.addresses import Address, spelled_address, why_not_address, why_not_name
from hermes.safety.secrets.plausible import words
from hermes.safety.secrets.redact import Redactor

LookUps = Mapping[str, Sequence[Sequence[str]]]
"""For each host what the first look-up answers, then the second, and so on."""

MOST_REDIRECTS = 20
_LONGEST = 32_768

# The ports that browsers refuse, because something other than a web server listens there.
_BAD_PORTS = frozenset(
    int(port)
    for port in words(
        "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 "
        "123 135 137 139 143 161 179 389 427 445 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 "
        "989 990 993 995 1719 1720 1723 2049 2375 2376 2379 3306 3659 4045 4190 5060 5061 5432 6000 6379 6566 6665 "
        "6666 6667 6668 6669 6679 6697 10080 11211 27017"
    )
)
_START = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_DOTS = str.maketrans("\u3002\uff0e\uff61\u2024", "....")
_INVISIBLE = re.compile(r"[\u00ad\u034f\u180b-\u180f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_LIKE_A_HOST = re.compile(r"[.:\[\]%\\/?#\s]|^localhost$|[^\x21-\x7e]")


class BadURL(Exception):
    """A URL that must not be fetched; the rule's name, and why in one line."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule = rule


class Target(Struct, frozen=True):
    """Where a URL leads: a name or an address without brackets, and the port."""

    scheme: str
    host: str
    port: int
    address: Address | None


class URLPolicy(Struct, frozen=True, kw_only=True):
    """What the settings say about URLs: own networks allowed or not, domains that are never visited, secrets to keep in."""

    allow_private: bool = False
    blocked: tuple[str, ...] = ()
    redactor: Redactor = Redactor()

    def check(self, url: str) -> Target:
        """Where a URL leads, if everything but its addresses is in order; else BadURL."""
        target = parse(url)
        if self.redactor.leaks(url) or self.redactor.leaks(unquote(url)):
            raise BadURL("secret-in-url", "the URL would carry a secret away")
        name = target.host
        for domain in self.blocked:
            domain = domain.strip().lower().lstrip("*").strip(".")
            if domain and (name == domain or name.endswith("." + domain)):
                raise BadURL("blocklist", f"{domain} is on the list of websites that are not visited")
        if target.address is not None:
            self.check_address(target.address)
        elif why := why_not_name(name, allow_private=self.allow_private):
            raise BadURL("private-name", why)
        return target

    def check_address(self, address: Address) -> None:
        """Nothing if the address may be dialled, else BadURL."""
        if why := why_not_address(address, allow_private=self.allow_private):
            raise BadURL("private-address", why)

    def check_answers(self, host: str, answers: Sequence[str]) -> list[Address]:
        """The addresses of one look-up, if each of them may be dialled; else BadURL."""
        if not answers:
            raise BadURL("no-address", f"{host} has no address")
        addresses = [_answer(host, answer) for answer in answers]
        for address in addresses:
            self.check_address(address)
        return addresses


def judge_url(
    url: str, resolve: LookUps | None = None, redirects: Sequence[str] = (), policy: URLPolicy | None = None
) -> Verdict:
    """The verdict on a URL and its redirects, by the answers in `resolve`; a host without any is judged by its name."""
    policy = policy or URLPolicy()
    known = {_key(host): answers for host, answers in (resolve or {}).items()}
    try:
        if len(redirects) > MOST_REDIRECTS:
            raise BadURL("redirects", f"more than {MOST_REDIRECTS} redirects")
        here = url
        for hop in (url, *redirects):
            here = hop if here is url and hop is url else joined(here, hop)
            _judge_hop(here, known, policy)
    except BadURL as bad:
        return Verdict("block", bad.rule, str(bad))
    return Verdict("allow", "public-url")


def _judge_hop(url: str, known: LookUps, policy: URLPolicy) -> None:
    target = policy.check(url)
    if target.address is not None:
        return
    look_ups = known.get(target.host)
    if look_ups is None:
        if spelled := spelled_address(target.host):
            policy.check_address(spelled)
        return
    # A name that is public at first and private when asked again is an attack, though Hermes dials what it checked.
    nested = [[answers] if isinstance(answers, str) else answers for answers in look_ups]
    for answers in nested or [[]]:
        policy.check_answers(target.host, answers)


def joined(base: str, location: str) -> str:
    """The URL that a redirect leads to."""
    location = location.strip()
    if _START.match(location) or location.startswith(("//", "\\", "/\\")):
        scheme = _START.match(base)
        return f"{scheme[1]}:{location}" if location[0] in "/\\" and scheme else location
    try:
        return urljoin(base, location)
    except ValueError as error:
        raise BadURL("malformed", "the redirect cannot be read") from error


def parse(url: str) -> Target:
    """Where a URL leads, read as browsers do; BadURL where another reader could see another host."""
    url = url.strip("\x00\t\n\r\x0b\x0c ")
    if len(url) > _LONGEST:
        raise BadURL("malformed", "the URL is too long")
    if any(ord(char) < 32 or ord(char) == 127 for char in url):
        raise BadURL("malformed", "the URL has control characters in it")
    start = _START.match(url)
    if start is None or start[1].lower() not in ("http", "https"):
        raise BadURL("scheme", "only http:// and https:// URLs are fetched")
    scheme, rest = start[1].lower(), start[2]
    if not rest.startswith("//") or rest[2:3] in ("/", "\\", ""):
        raise BadURL("malformed", "the URL has no host")
    authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0]
    if "\\" in authority or re.search(r"\s", authority):
        raise BadURL("malformed", "the host has a sign in it that programs read differently")
    _check_other_reading(rest[2 + len(authority) :])
    login, at, place = authority.rpartition("@")
    if at and (":" in login or "@" in login or _LIKE_A_HOST.search(unquote(login))):
        raise BadURL("login-in-url", "the URL has a login in front of its host")
    host, port = _split_port(place, scheme)
    if port in _BAD_PORTS:
        raise BadURL("port", f"port {port} is not one where web servers listen")
    name, address = _host(host)
    return Target(scheme, name, port, address)


def _split_port(place: str, scheme: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d*))?", place, re.ASCII)
    if found is None:
        raise BadURL("malformed", "the host or its port cannot be read")
    port = int(found[2]) if found[2] and len(found[2]) <= 8 else (0 if found[2] else {"http": 80, "https": 443}[scheme])
    if port > 65535:
        raise BadURL("malformed", "there is no such port")
    return found[1], port


def _host(host: str) -> tuple[str, Address | None]:
    """A host in its plainest spelling, and its address if it is one."""
    if host.startswith("["):
        return _ipv6(host[1:-1])
    name = _plain(host)
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(name)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadURL("malformed", "the host is not a name")
    return name, None


def _ipv6(text: str) -> tuple[str, Address]:
    if "%" in text:
        raise BadURL("private-address", "an address with a zone belongs to this machine's network")
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError as error:
        raise BadURL("malformed", "the host is not an address") from error
    return str(address), address


def _ipv4(name: str) -> tuple[str, Address]:
    """Only four plain numbers are an address; octal, hexadecimal, short and long numbers hide one."""
    try:
        address = ipaddress.IPv4Address(name)
    except ValueError as error:
        raise BadURL("disguised-address", f"{name[:60]} is an address in disguise") from error
    return str(address), address


def _plain(host: str) -> str:
    """A name as it is looked up: unescaped, small, in ASCII, without the dot at its end."""
    try:
        name = unquote(host, errors="strict") if "%" in host else host
    except UnicodeDecodeError as error:
        raise BadURL("malformed", "the host is not a name") from error
    if not name.isascii():
        name = unicodedata.normalize("NFKC", _INVISIBLE.sub("", name.translate(_DOTS))).translate(_DOTS)
        name = unicodedata.normalize("NFKC", name.lower())
    name = name.lower().removesuffix(".")
    if name.isascii():
        return name
    try:
        return ".".join(
            label if label.isascii() else "xn--" + label.encode("punycode").decode() for label in name.split(".")
        )
    except UnicodeError as error:
        raise BadURL("malformed", "the host is not a name") from error


def _check_other_reading(rest: str) -> None:
    """Refuse http://a.com#@b/ and the like where b is private: some programs take b for the host."""
    if rest[:1] not in ("?", "#"):
        return
    before = rest.split("/", 1)[0]
    if "@" not in before:
        return
    try:
        host, address = _host(_split_port(before.rpartition("@")[2], "http")[0])
    except BadURL as bad:
        if bad.rule == "malformed":
            return
        raise
    if why := why_not_address(address) if address else why_not_name(host):
        raise BadURL("login-in-url", why)


def _answer(host: str, answer: str) -> Address:
    try:
        return ipaddress.ip_address(answer.strip().strip("[]"))
    except ValueError as error:
        raise BadURL("no-address", f"{host} leads to {answer[:60]!r}, which is not an address") from error


def _key(host: str) -> str:
    """A host of the look-ups as `parse` spells it."""
    try:
        return _host(host)[0]
    except BadURL:
        return host.lower()
