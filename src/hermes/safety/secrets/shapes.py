"""Keys that can be told by their looks: what each vendor puts in front of them, and what follows."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from hermes.safety.patterns import Pattern
from hermes.safety.secrets.marks import Marks
from hermes.safety.secrets.plausible import changes, stands_in
from hermes.safety.secrets.wrapped import WRAPPED

Span = tuple[int, int]
"""Where in a text a secret stands."""

_W = r"[A-Za-z0-9]"
_U = r"[A-Za-z0-9_-]"
_HEX = r"[a-f0-9]"

# In front of the key, then what follows as a regular expression. Only a prefix that is in the text costs more than a look.
PREFIXES: tuple[tuple[str, str], ...] = (
    # models
    ("sk-", rf"{_U}{{20,}}"),
    ("sk_", rf"(?:live_|test_|prod_)?{_W}{{20,}}"),
    ("rk_", rf"(?:live|test)_{_W}{{20,}}"),
    ("gsk_", rf"{_W}{{40,}}"),
    ("hf_", rf"{_W}{{30,}}"),
    ("api_org_", rf"{_W}{{30,}}"),
    ("xai-", rf"{_W}{{40,}}"),
    ("r8_", rf"{_W}{{30,}}"),
    ("pplx-", rf"{_W}{{32,}}"),
    ("nvapi-", rf"{_U}{{40,}}"),
    ("csk-", rf"{_W}{{32,}}"),
    ("fw_", rf"{_W}{{20,}}"),
    ("tgp_v1_", rf"{_U}{{30,}}"),
    ("tvly-", rf"{_U}{{20,}}"),
    ("fc-", rf"{_HEX}{{32}}"),
    ("BSA", rf"{_U}{{24,}}"),
    ("jina_", rf"{_U}{{40,}}"),
    ("pa-", rf"{_U}{{40,}}"),
    ("pcsk_", rf"{_U}{{40,}}"),
    ("e2b_", rf"{_HEX}{{30,}}"),
    ("dtn_", rf"{_W}{{40,}}"),
    ("ak-", rf"{_W}{{22,}}"),
    ("as-", rf"{_W}{{22,}}"),
    ("bb_live_", rf"{_U}{{20,}}"),
    ("lsv2_", rf"(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    ("esecret_", rf"{_W}{{20,}}"),
    ("wandb_v1_", rf"{_U}{{40,}}"),
    ("hch-", rf"{_U}{{20,}}"),
    ("AIza", rf"{_U}{{35}}"),
    ("AQ.Ab8", rf"{_U}{{40,}}"),
    # clouds
    ("AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("ABIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("ABSK", r"[A-Za-z0-9+/]{80,}={0,2}"),
    ("bedrock-api-key-", r"[A-Za-z0-9+/]{40,}={0,2}"),
    ("IQoJb3JpZ2lu", r"[A-Za-z0-9+/]{100,}={0,2}"),
    ("FwoGZXIvYXdz", r"[A-Za-z0-9+/]{100,}={0,2}"),
    ("GOCSPX-", rf"{_U}{{24,}}"),
    ("ya29.", r"[A-Za-z0-9_.-]{20,}"),
    ("1//0", rf"{_U}{{30,}}"),
    ("LTAI", rf"{_W}{{12,26}}(?!{_W})"),
    ("AKID", rf"{_W}{{32}}"),
    ("AQVN", rf"{_U}{{35,}}"),
    ("y0_", rf"{_U}{{40,}}"),
    ("y1_", rf"{_U}{{40,}}"),
    ("t1.", r"[A-Z0-9a-z_-]{40,}={0,2}\.[A-Z0-9a-z_-]{60,}={0,2}"),
    ("dop_v1_", rf"{_HEX}{{40,}}"),
    ("doo_v1_", rf"{_HEX}{{40,}}"),
    ("dor_v1_", rf"{_HEX}{{40,}}"),
    ("dapi", rf"{_HEX}{{32}}(?:-\d)?"),
    ("v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}"),
    ("cfut_", rf"{_U}{{30,}}"),
    ("cfat_", rf"{_U}{{30,}}"),
    ("HRKU-", rf"{_U}{{30,}}"),
    ("fm2_", r"[A-Za-z0-9+/=,_-]{40,}"),
    ("fo1_", rf"{_U}{{40,}}"),
    ("rnd_", rf"{_W}{{24,}}"),
    ("nfp_", rf"{_W}{{30,}}"),
    ("vcp_", rf"{_W}{{24,}}"),
    ("vck_", rf"{_W}{{24,}}"),
    ("vercel_blob_rw_", rf"{_W}{{10,}}_{_W}{{20,}}"),
    ("sbp_", rf"{_HEX}{{40}}"),
    ("sb_secret_", rf"{_U}{{20,}}"),
    ("napi_", rf"{_W}{{40,}}"),
    ("pscale_", r"(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    ("mdb_sa_sk_", rf"{_U}{{30,}}"),
    ("tskey-", r"(?:auth|api|client|webhook|scim)-[A-Za-z0-9-]{18,}"),
    # code and packages
    ("ghp_", rf"{_W}{{30,}}"),
    ("gho_", rf"{_W}{{30,}}"),
    ("ghu_", rf"{_W}{{30,}}"),
    ("ghs_", rf"{_W}{{30,}}"),
    ("ghr_", rf"{_W}{{30,}}"),
    ("github_pat_", r"\w{40,}"),
    ("glpat-", r"[A-Za-z0-9_.-]{20,}"),
    ("gldt-", rf"{_U}{{20,}}"),
    ("glrt-", rf"{_U}{{20,}}"),
    ("glptt-", rf"{_U}{{20,}}"),
    ("glcbt-", rf"{_U}{{20,}}"),
    ("glsoat-", rf"{_U}{{20,}}"),
    ("glft-", rf"{_U}{{20,}}"),
    ("glimt-", rf"{_U}{{20,}}"),
    ("glagent-", rf"{_U}{{40,}}"),
    ("gloas-", rf"{_HEX}{{40,}}"),
    ("GR1348941", rf"{_U}{{20,}}"),
    ("ATBB", rf"{_W}{{28,}}"),
    ("ATATT3xFf", r"[A-Za-z0-9_=-]{60,}"),
    ("ATCTT3xFf", r"[A-Za-z0-9_=-]{60,}"),
    ("npm_", rf"{_W}{{36}}"),
    ("pypi-", rf"{_U}{{50,}}"),
    ("rubygems_", rf"{_HEX}{{48}}"),
    ("cio", rf"{_W}{{32}}(?!{_W})"),
    ("oy2", r"[a-z0-9]{43}"),
    ("dckr_pat_", rf"{_U}{{24,}}"),
    ("dckr_oat_", rf"{_U}{{24,}}"),
    ("packagist_", rf"{_W}{{40,}}"),
    ("CLOJARS_", rf"{_HEX}{{60}}"),
    ("AKCp", rf"{_W}{{60,}}"),
    ("cmVmdGtu", rf"{_W}{{50,}}"),
    ("CCIPAT_", rf"{_W}{{20,}}_{_HEX}{{40}}"),
    ("CCIPRJ_", rf"{_W}{{20,}}_{_HEX}{{40}}"),
    ("bkua_", rf"{_HEX}{{40}}"),
    ("sqp_", rf"{_HEX}{{40}}"),
    ("squ_", rf"{_HEX}{{40}}"),
    ("sqa_", rf"{_HEX}{{40}}"),
    ("pul-", rf"{_HEX}{{40}}"),
    # Vault's tokens of old. Names of methods have no digits.
    ("s.", rf"(?=[A-Za-z]*\d[A-Za-z]*\d){_W}{{24}}(?!\w)"),
    ("hvs.", rf"{_U}{{20,}}"),
    ("hvb.", rf"{_U}{{20,}}"),
    ("hvr.", rf"{_U}{{20,}}"),
    ("dp.", rf"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_W}{{40,44}}"),
    ("ops_eyJ", rf"{_U}{{100,}}"),
    ("AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    ("PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("pnu_", rf"{_W}{{36}}"),
    ("pnb_", rf"{_W}{{36}}"),
    ("rdme_", r"[a-z0-9]{70}"),
    # mail, money, messages
    ("SG.", rf"{_U}{{16,32}}\.{_U}{{30,}}"),
    ("key-", rf"{_W}{{32}}(?!{_W})"),
    ("md-", rf"{_U}{{22}}(?!{_U})"),
    ("re_", rf"{_W}{{8}}_{_W}{{20,}}"),
    ("xkeysib-", rf"{_HEX}{{64}}-{_W}{{16}}"),
    ("xsmtpsib-", rf"{_HEX}{{64}}-{_W}{{16}}"),
    ("whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    ("sq0atp-", rf"{_U}{{22}}"),
    ("sq0csp-", rf"{_U}{{40,}}"),
    ("access_token$", rf"production\$[a-z0-9]{{16}}\${_HEX}{{32}}"),
    ("shpat_", rf"{_W}{{32}}"),
    ("shpss_", rf"{_W}{{32}}"),
    ("shpca_", rf"{_W}{{32}}"),
    ("shppa_", rf"{_W}{{32}}"),
    ("rzp_", rf"(?:live|test)_{_W}{{14,}}"),
    ("FLWSECK", rf"(?:_TEST|_LIVE)?-{_W}{{12,}}(?:-X)?"),
    ("access-", rf"(?:production|development|sandbox)-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("duffel_", rf"(?:live|test)_{_U}{{43}}"),
    ("pdl_", rf"(?:live|sdbx)_apikey_{_W}{{20,}}_{_W}{{20,}}(?:_{_W}{{3}})?"),
    ("polar_", rf"(?:oat|pat|rst|at|rt|cs|ci)_\w{{0,4}}{_W}{{32,}}"),
    ("AQE", r"[A-Za-z0-9+/]{40,}={0,2}-[A-Za-z0-9+/]{30,}={0,2}-[^\s\"'<]{10,}"),
    ("EZAK", rf"{_W}{{54}}"),
    ("EZTK", rf"{_W}{{54}}"),
    ("shippo_", rf"(?:live|test)_{_HEX}{{40}}"),
    ("SK", rf"{_HEX}{{32}}(?!{_W})"),
    ("xox", r"[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%/+=_-]{10,}"),
    ("xapp-", r"\d-[A-Z0-9]+-\d+-[A-Za-z0-9]{20,}"),
    ("EAA", rf"{_U}{{60,}}"),
    ("IGQV", rf"{_U}{{60,}}"),
    ("AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9]{1,80}%(?:2B|2F|3D)[A-Za-z0-9%]{20,}"),
    ("syt_", r"[A-Za-z0-9+/=]+_[A-Za-z]{10,}_[A-Za-z0-9]{6}"),
    ("mat_", rf"{_W}{{30,}}_{_W}{{6}}"),
    # the rest of the office
    ("ntn_", rf"{_W}{{40,}}"),
    ("secret_", rf"{_W}{{40,}}"),
    ("lin_api_", rf"{_W}{{32,}}"),
    ("lin_oauth_", rf"{_W}{{32,}}"),
    ("pat", rf"{_W}{{14}}\.{_HEX}{{64}}"),
    ("pat-", rf"(?:na|eu|ap)\d-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("figd_", rf"{_U}{{36,}}"),
    ("figo_", rf"{_U}{{36,}}"),
    ("sl.", rf"(?:u\.)?{_U}{{100,}}"),
    ("ATTA", rf"{_HEX}{{60,}}"),
    ("pk_", r"\d{6,12}_[A-Z0-9]{32}(?!\w)"),
    ("tfp_", rf"{_U}{{40,}}"),
    ("CFPAT-", rf"{_U}{{40,}}"),
    ("00D", rf"{_W}{{12,15}}![A-Za-z0-9._]{{60,}}"),
    ("NRAK-", rf"{_W}{{27}}"),
    ("NRII-", rf"{_U}{{32}}"),
    ("NRIQ-", rf"{_U}{{32}}"),
    ("glc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    ("glsa_", rf"{_W}{{32}}_{_HEX}{{8}}"),
    ("eyJrIjoi", r"[A-Za-z0-9+/]{60,}={0,2}"),
    ("sntrys_", r"[A-Za-z0-9+/=_-]{60,}"),
    ("sntryu_", rf"{_HEX}{{60,}}"),
    ("hcaik_", rf"{_W}{{50,}}"),
    ("ddp_", rf"{_W}{{30,}}"),
    ("sgp_", rf"{_W}{{40,}}"),
    ("phx_", rf"{_W}{{40,}}"),
    ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("dt0s16.", r"[A-Z0-9]{8}\.[A-Z0-9]{64}"),
    ("sdk-", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("api-", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("sk.eyJ", rf"{_U}{{20,}}\.{_U}{{20,}}"),
    ("fio-u-", rf"{_U}{{60,}}"),
    ("tk-us-", rf"{_U}{{48}}"),
    ("ops-", rf"{_W}{{40,}}"),
    ("xprv", r"[1-9A-HJ-NP-Za-km-z]{100,}"),
)

_STARTS = dict(PREFIXES + WRAPPED)
_MARKS = Marks(_STARTS)

# No vendor's word in front, but a form that nothing else has: a mark in it, how far before the mark it may start, the form.
FORMS: tuple[tuple[str, int, str], ...] = (
    ("eyJ", 0, rf"eyJ{_U}{{8,4000}}\.{_U}{{8,4000}}\.{_U}*(?:\.{_U}{{8,4000}}\.{_U}{{8,}})?"),
    ("eyJ", 0, rf"eyJ{_U}{{8,4000}}\.\.{_U}{{8,400}}\.{_U}{{8,4000}}\.{_U}{{8,}}"),
    (":AA", 10, r"\d{8,10}:AA[\w-]{32,34}"),
    (".atlasv1.", 14, rf"{_W}{{14}}\.atlasv1\.{_U}{{60,}}"),
    ("-us", 32, rf"{_HEX}{{32}}-us\d{{1,2}}"),
    ("Q~", 4, r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{30,}"),
    ("JQQJ99", 76, rf"{_W}{{52,76}}JQQJ99{_W}{{20,}}"),
    (":APA91b", 22, rf"{_U}{{11,22}}:APA91b{_U}{{100,}}"),
    ("AZDO", 80, rf"{_W}{{70,80}}AZDO{_W}{{4}}"),
)

_DISCORD = rf"[MNO]{_W}{{22,27}}\.{_U}{{6,7}}\.{_U}{{27,40}}"

# Public by design, though they look like the rest.
_PUBLIC = Pattern(r"^sk-(?:spinner|learn|circle|cube|fold|chase|bounce)\b")
_IDS = ("AKIA", "ASIA", "ABIA", "ACCA", "LTAI")

# A key also starts behind an escape in JSON, in a URL, or in a coloured terminal: \\nKEY, %3DKEY, ESC[32mKEY.
_BEFORE = Pattern(r"[^A-Za-z0-9]$|\\[nrt]$|%[0-9A-Fa-f]{2}$|\x1b\[[\d;]{1,8}m$")
# In a picture or a font that is written in base64 any letters come up.
_IN_BASE64 = Pattern(r"[A-Za-z0-9+/]{60}[+/]$")
_LEAST = 16
_LONG = Pattern(rf"[\w.+/=%:$!~|\\\x1b\[;,-]{{{_LEAST},}}")
_SOLID = Pattern(r"[A-Za-z0-9]{20,}")
_RUN = Pattern(r"[\w-]+")


def occurrences(text: str, mark: str, start: int = 0) -> Iterator[int]:
    """Where a mark stands in a text."""
    at = text.find(mark, start)
    while at >= 0:
        yield at
        at = text.find(mark, at + len(mark))


def starts(text: str, at: int) -> bool:
    """Whether a word can start here."""
    if at == 0 or not text[at - 1].isalnum():
        return text[at - 1 : at] not in ("+", "/") or not _IN_BASE64.match(text, max(0, at - 61), at)
    return bool(_BEFORE.search(text, max(0, at - 10), at))


@cache
def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


def find_keys(text: str) -> Iterator[Span]:
    """Where in a text keys stand that can be told by their looks alone.

    Only long words are looked at: two hundred searches through all of a large text would take too long.
    """
    places = list(_long_words(text))
    if not places:
        return
    words = "\n".join(text[start:end] for start, end in places)
    moved = list(accumulate((end - start + 1 for start, end in places), initial=0))
    for start, end in _keys_in(words):
        at = bisect_right(moved, start) - 1
        yield start - moved[at] + places[at][0], end - moved[at] + places[at][0]


def _long_words(text: str) -> Iterator[Span]:
    """Where the words stand that are long enough for a key. Most texts have few, so blanks are looked for first."""
    end = 0
    for word in [word for word in text.split() if len(word) >= _LEAST]:
        start = text.index(word, end)
        end = start + len(word)
        yield from (found.span() for found in _LONG.finditer(text, start, end))


def _keys_in(text: str) -> Iterator[Span]:
    for prefix in _MARKS.found(text):
        rest, done = _STARTS[prefix], 0
        for at in occurrences(text, prefix):
            if at < done or not starts(text, at):
                continue
            if found := _pattern(rest).match(text, at + len(prefix)):
                done = found.end()
                if _is_key(text[at:done], prefix):
                    yield at, done
    for found in _pattern(_DISCORD).finditer(text):
        if starts(text, found.start()) and not stands_in(found[0]):
            yield found.span()
    for mark, before, shape in FORMS:
        done = 0
        for at in occurrences(text, mark):
            if at < done:
                continue
            for begin in (at,) if not before else range(max(done, at - before), at):
                if starts(text, begin) and (found := _pattern(shape).match(text, begin)):
                    done = found.end()
                    if not stands_in(found[0]):
                        yield found.span()
                    break
            else:
                # Whoever starts later in the same run of letters fails as this one did.
                run = _RUN.match(text, at)
                done = run.end() if run else at + 1


def has_key(text: str) -> bool:
    """Whether a text holds a key that opens something by itself; the name of a key, as in signed links, does not."""
    return any(not text.startswith(_IDS, start) for start, _ in find_keys(text))


def _is_key(key: str, prefix: str) -> bool:
    body = key[len(prefix) :]
    if _PUBLIC.match(key) or stands_in(body):
        return False
    if prefix in _IDS:
        return any(char.isdigit() for char in body)
    body = body[:400]
    # Words with dashes between them have few digits; keys have many, or no dash for a long way.
    solid = any(any(char.isdigit() for char in piece) for piece in _SOLID.findall(body))
    return changes(body) >= 3 or solid or sum(char.isdigit() for char in body) >= 8
