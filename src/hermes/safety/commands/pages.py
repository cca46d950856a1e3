"""Programs that fetch pages: a public page is reading; a body, a key or an unknown part of the address asks."""

import re
from urllib.parse import urlsplit

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

RULE = "sends-data"

_HERE = Pattern(r"localhost|127(\.\d+){3}|0\.0\.0\.0|\[?::1\]?|[\w-]+\.localhost|host\.docker\.internal")
_METADATA = Pattern(r"169\.254\.169\.254|metadata\.google\.internal|fd00:ec2::254|100\.100\.100\.200|169\.254\.170\.2")
_KEY_HEADER = Pattern(
    r"(authorization|proxy-authorization|cookie|x-api-key|x-auth-token|private-token|api-key|token)\s*:", re.I
)
_CURL_VALUES = listed(
    "-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --data --data-raw "
    "--data-binary --data-urlencode --data-ascii --json --form --form-string --header --output --request --user "
    "--user-agent --cookie --cookie-jar --max-time --connect-timeout --retry --retry-delay --retry-max-time --proxy "
    "--cacert --cert --key --resolve --interface --limit-rate --range --referer --write-out --upload-file --config "
    "--unix-socket --url --dump-header --max-redirs --output-dir --dns-servers --doh-url --connect-to --ciphers "
    "--proto --stderr --trace --trace-ascii --compressed-ssh --max-filesize --speed-limit --speed-time --aws-sigv4 "
    "--oauth2-bearer --netrc-file --variable --quote"
)
_CURL_SENDS = listed(
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string -T --upload-file"
)
_EMPTIES = Pattern(r"/_(delete_by_query|all|shutdown|flushall)\b|/(shutdown|drop_all|purge|wipe)\b")
_CURL_FILLS = Pattern(r"--(expand-|variable)")
_WGET_VALUES = listed(
    "-O -o -a -i -P -t -T -w -e -U -Q -A -R -D -I -X -l --output-document --output-file --directory-prefix --tries "
    "--timeout --wait --user-agent --header --post-data --post-file --method --body-data --body-file --user "
    "--password --level --accept --reject --domains --execute --input-file --referer --limit-rate --load-cookies "
    "--save-cookies"
)


def host_of(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    except ValueError:
        return ""


def is_here(urls: list[str]) -> bool:
    return bool(urls) and all(_HERE.fullmatch(host_of(url)) for url in urls)


def bad_url(step: Step, ground: Ground, urls: list[str]) -> Verdict | None:
    for url in urls:
        if _METADATA.search(url):
            return ask("credentials", "it asks the cloud's metadata service, which hands out keys")
        scheme = url.partition("://")[0].lower() if "://" in url else "http"
        if scheme == "file" and (verdict := ground.reading(step, [url.partition("://")[2]])):
            return verdict
        if scheme not in ("http", "https", "file", "ftp") and UNKNOWN not in scheme:
            return ask("outside-effect", f"{scheme} is not a plain way to fetch something")
        if UNKNOWN in url and not _HERE.fullmatch(host_of(url)):
            return ask(RULE, "the address holds something that only running it will tell, and may carry it away")
        if "@" in url.partition("://")[2].partition("/")[0]:
            return ask("credentials", "the address carries a password")
    return None


def curl(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    urls = [*operands(args, _CURL_VALUES), *([url] if (url := value_of(args, "--url")) else [])]
    if verdict := bad_url(step, ground, urls):
        return verdict
    if value_of(args, "-K", "--config") or value_of(args, "--unix-socket", "--abstract-unix-socket"):
        return ask("hidden-code", "curl is told elsewhere what to do, or speaks to a service of this machine")
    if any(_CURL_FILLS.match(arg) for arg in args) or any(
        value.startswith("@") for value in (value_of(args, "-H", "--header") or "", value_of(args, "--url-query") or "")
    ):
        return ask(RULE, "curl sends what is in a file or a variable")
    if value_of(args, "-Q", "--quote", "--postquote", "--prequote"):
        return ask(RULE, "curl commands the other machine")
    if (proxy := value_of(args, "-x", "--proxy", "--preproxy", "--socks5", "--socks5-hostname")) and not is_here(
        [proxy]
    ):
        return ask(RULE, f"everything would go through {proxy}")
    if carries(step, urls):
        return ask(RULE, "it may carry away what only running it will tell")
    method = (value_of(args, "-X", "--request") or "GET").upper()
    sends = [option for option in _CURL_SENDS if value_of(args, option) is not None]
    if has(args, "-G", "--get") and not any("@" in (value_of(args, option) or "") for option in sends):
        sends = []
    if method not in ("GET", "HEAD", "OPTIONS") or sends:
        if not is_here(urls) or method in ("DELETE", "PURGE") or _EMPTIES.search(" ".join(urls)):
            return ask(RULE, f"curl {method if method != 'GET' else sends[0]} sends something")
        if verdict := ground.reading(step, pieces(value_of(args, option) or "" for option in sends)):
            return verdict
    keys = [
        value
        for at, value in enumerate(args)
        if args[max(at - 1, 0)] in ("-H", "--header") and _KEY_HEADER.match(value)
    ]
    named = has(args, "-n", "--netrc", "--netrc-optional", "--oauth2-bearer", "--negotiate", "--aws-sigv4")
    if (keys or named or value_of(args, "-u", "--user", "-b", "--cookie", "-E", "--cert")) and not is_here(urls):
        return ask("credentials", "curl sends a key or a password along")
    outputs = [
        value
        for option in ("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--output-dir", "--trace")
        if (value := value_of(args, option)) and value != "-"
    ]
    if verdict := ground.writing(step, outputs):
        return verdict
    if has(args, "-O", "--remote-name", "--remote-name-all"):
        return ground.writing(step, ["."]) or WORKS
    return WORKS if outputs else READS


def carries(step: Step, urls: list[str]) -> bool:
    """Whether something that only running it will tell goes to another machine."""
    return UNKNOWN in "".join(step.args) and not is_here(urls)


def wget(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    urls = operands(args, _WGET_VALUES)
    if verdict := bad_url(step, ground, urls):
        return verdict
    if carries(step, urls):
        return ask(RULE, "it may carry away what only running it will tell")
    if any(
        value_of(args, option) for option in ("--post-data", "--post-file", "--body-data", "--body-file", "--method")
    ):
        return ask(RULE, "wget sends something")
    if any(_KEY_HEADER.match(arg.removeprefix("--header=")) for arg in args) or value_of(
        args, "--password", "--http-password"
    ):
        return ask("credentials", "wget sends a key or a password along")
    if value_of(args, "-e", "--execute", "--use-askpass", "--config"):
        return ask("hidden-code", "wget is told elsewhere what to do")
    output = value_of(args, "-O", "--output-document") or ""
    if (
        has(args, "--spider")
        or output in ("-", "/dev/null", "/dev/stdout")
        or re.search(r"^-\w*O-$", " ".join(args), re.M)
    ):
        return READS
    target = value_of(args, "-P", "--directory-prefix")
    return ground.writing(step, [output or target or "."]) or WORKS


def http(step: Step, ground: Ground) -> Verdict:
    """httpie and xh: a method or a field makes it send."""
    words = operands(step.args)
    method = words.pop(0).upper() if len(words) > 1 and words[0].isalpha() else "GET"
    urls = [f"localhost{url}" if url.startswith(":") else url for url in words[:1]]
    sends = method in ("POST", "PUT", "PATCH", "DELETE") or any(
        re.search(r"\w(:?=|@)", word) and "://" not in word and "==" not in word for word in words
    )
    if sends and (method == "DELETE" or not is_here(urls)):
        return ask(RULE, f"{step.name} sends something")
    return bad_url(step, ground, urls) or READS
