"""Programs that reach other machines: fetching a public page is reading, sending anything asks."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.handed import ssh_command
from hermes.safety.commands.patterns import Pattern
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask

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


def _host(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    except ValueError:
        return ""


def _is_here(urls: list[str]) -> bool:
    return bool(urls) and all(_HERE.fullmatch(_host(url)) for url in urls)


def _bad_url(step: Step, ground: Ground, urls: list[str]) -> Verdict | None:
    for url in urls:
        if _METADATA.search(url):
            return ask("credentials", "it asks the cloud's metadata service, which hands out keys")
        scheme = url.partition("://")[0].lower() if "://" in url else "http"
        if scheme == "file" and (verdict := ground.reading(step, [url.partition("://")[2]])):
            return verdict
        if scheme not in ("http", "https", "file", "ftp") and UNKNOWN not in scheme:
            return ask("outside-effect", f"{scheme} is not a plain way to fetch something")
        if UNKNOWN in url and not _HERE.fullmatch(_host(url)):
            return ask(RULE, "the address holds something that only running it will tell, and may carry it away")
        if "@" in url.partition("://")[2].partition("/")[0]:
            return ask("credentials", "the address carries a password")
    return None


def curl(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    urls = [*operands(args, _CURL_VALUES), *([url] if (url := value_of(args, "--url")) else [])]
    if verdict := _bad_url(step, ground, urls):
        return verdict
    if value_of(args, "-K", "--config") or value_of(args, "--unix-socket", "--abstract-unix-socket"):
        return ask("hidden-code", "curl is told elsewhere what to do, or speaks to a service of this machine")
    if any(_CURL_FILLS.match(arg) for arg in args) or any(
        value.startswith("@") for value in (value_of(args, "-H", "--header") or "", value_of(args, "--url-query") or "")
    ):
        return ask(RULE, "curl sends what is in a file or a variable")
    if value_of(args, "-Q", "--quote", "--postquote", "--prequote"):
        return ask(RULE, "curl commands the other machine")
    if (proxy := value_of(args, "-x", "--proxy", "--preproxy", "--socks5", "--socks5-hostname")) and not _is_here(
        [proxy]
    ):
        return ask(RULE, f"everything would go through {proxy}")
    if _carries(step, urls):
        return ask(RULE, "it may carry away what only running it will tell")
    method = (value_of(args, "-X", "--request") or "GET").upper()
    sends = [option for option in _CURL_SENDS if value_of(args, option) is not None]
    if has(args, "-G", "--get") and not any("@" in (value_of(args, option) or "") for option in sends):
        sends = []
    if method not in ("GET", "HEAD", "OPTIONS") or sends:
        if not _is_here(urls) or method in ("DELETE", "PURGE") or _EMPTIES.search(" ".join(urls)):
            return ask(RULE, f"curl {method if method != 'GET' else sends[0]} sends something")
        if verdict := ground.reading(step, pieces(value_of(args, option) or "" for option in sends)):
            return verdict
    keys = [
        value
        for at, value in enumerate(args)
        if args[max(at - 1, 0)] in ("-H", "--header") and _KEY_HEADER.match(value)
    ]
    named = has(args, "-n", "--netrc", "--netrc-optional", "--oauth2-bearer", "--negotiate", "--aws-sigv4")
    if (keys or named or value_of(args, "-u", "--user", "-b", "--cookie", "-E", "--cert")) and not _is_here(urls):
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


def _carries(step: Step, urls: list[str]) -> bool:
    """Whether something that only running it will tell goes to another machine."""
    return UNKNOWN in "".join(step.args) and not _is_here(urls)


def wget(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    urls = operands(args, _WGET_VALUES)
    if verdict := _bad_url(step, ground, urls):
        return verdict
    if _carries(step, urls):
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
    urls = [word for word in words if not word.isupper()][:1]
    sends = any(word in ("POST", "PUT", "PATCH", "DELETE") for word in words) or any(
        re.search(r"\w(:?=|@)", word) and "://" not in word and "==" not in word for word in words
    )
    if sends and ("DELETE" in words or not _is_here(urls)):
        return ask(RULE, f"{step.name} sends something")
    return _bad_url(step, ground, urls) or READS


def copies_away(step: Step, ground: Ground) -> Verdict:
    """scp, rsync, rclone: between places of this machine it is a copy, to or from elsewhere it asks unless it fetches."""
    args = list(step.args)
    if step.name not in ("scp", "rsync", "rclone"):
        return ask(RULE, f"{step.name} moves files to or from another machine")
    if has(args, "-n", "--dry-run") and step.name in ("rsync", "rclone"):
        return READS
    if (
        value_of(args, "-e", "--rsh", "--rsync-path", "-S")
        and step.name == "rsync"
        and re.search(r"sh -c|;|\|", " ".join(args))
    ):
        return ask("hidden-code", "rsync is told here what to run")
    words = operands(
        args, ("-e", "--rsh", "--exclude", "--include", "--filter", "-f", "-P", "-i", "-o", "-F", "-l", "-c")
    )
    if step.name == "rclone":
        looks = words[:1] and words[0] in (
            "ls",
            "lsd",
            "lsl",
            "lsf",
            "size",
            "listremotes",
            "version",
            "about",
            "check",
            "tree",
        )
        return READS if looks else ask(RULE, "rclone copies to or from other machines")
    if not words:
        return ask(RULE, f"nobody can tell what {step.name} copies")
    *sources, target = words
    if re.match(r"[\w.@\[\]-]*:", target) or UNKNOWN in target or target.startswith("rsync://"):
        return ask(RULE, f"{step.name} sends files to another machine")
    if any(re.match(r"[\w.@-]+:", source) for source in sources):
        return ask("outside-effect", f"{step.name} reaches another machine with your keys")
    if has(args, "--delete", "--delete-before", "--delete-after", "--delete-excluded", "--remove-source-files"):
        return ask("destroys", f"{step.name} deletes what is only in one of the two places")
    return ground.reading(step, sources) or ground.searching(step, sources) or ground.writing(step, [target]) or WORKS


def connects(step: Step, ground: Ground) -> Verdict:
    """nc, socat, telnet: a look whether a port is open is reading, anything more is a line to elsewhere."""
    if step.name in ("nc", "ncat", "netcat") and has(step.args, "-z") and not has(step.args, "-e", "-c", "-l"):
        return READS
    return ask("way-in", f"{step.name} opens a line to or from another machine")


def names(step: Step, ground: Ground) -> Verdict:
    """dig, host, ping: a name that is made of data carries it away."""
    if UNKNOWN in "".join(step.args) and step.name != "ping":
        return ask(RULE, "a name that is made of data carries it to whoever answers for the name")
    if step.name == "ping" and (has(step.args, "-f", "-p") or UNKNOWN in "".join(step.args)):
        return ask(RULE, "this ping floods or carries data")
    return READS


def openssl(step: Step, ground: Ground) -> Verdict:
    verb = step.args[:1]
    if (
        verb == ("s_client",)
        and not (step.input.text == "" and step.input.files)
        and step.input.programs not in (("echo",), ("true",))
    ):
        return ask("way-in", "openssl s_client opens a line to another machine")
    if verb and verb[0] in ("s_server", "engine"):
        return ask("way-in", "openssl s_server opens a way in")
    out = value_of(step.args, "-out", "-keyout")
    return (
        ground.reading(step, pieces(step.args))
        or (ground.writing(step, [out]) if out else None)
        or (WORKS if out else READS)
    )


def ssh(step: Step, ground: Ground) -> Verdict:
    """What it runs there is judged on its own; here only the line itself."""
    if has(step.args, "-V") or "-G" in step.args or "-Q" in step.args:
        return READS
    if step.input.programs or step.input.files or step.input.text != "":
        return ask(RULE, "ssh sends what it is fed to another machine")
    if "-T" in step.args and re.fullmatch(r"git@[\w.-]+", step.args[-1]):
        return READS
    if any(re.match(r"-\w*[RLDfNWw]", arg) for arg in step.args):
        return ask("way-in", "ssh opens a tunnel")
    if any(re.search(r"(proxycommand|localcommand|permitlocal|knownhostscommand)", arg, re.I) for arg in step.args):
        return ask("hidden-code", "ssh is told here what to run")
    return READS if ssh_command(list(step.args)) else ask("outside-effect", "it opens a shell on another machine")


def loads(step: Step, ground: Ground) -> Verdict:
    """ab, wrk, hey: this machine may be put under load, others not without a question."""
    urls = [arg for arg in step.args if "://" in arg]
    far = [url for url in urls if not _HERE.fullmatch(_host(url))]
    return ask("attack", f"{step.name} puts {_host(far[0])} under load") if far else WORKS


def browses(step: Step, ground: Ground) -> Verdict:
    """lynx, w3m, links: showing a page is reading."""
    words = operands(step.args)
    if any(re.match(r"-(post_data|cmd_script|post|o|eval)", arg) for arg in step.args):
        return ask(RULE, f"{step.name} is told to send something")
    pages = [word for word in words if "://" in word]
    return _bad_url(step, ground, pages) or ground.reading(step, [word for word in words if word not in pages]) or READS


def downloads(step: Step, ground: Ground) -> Verdict:
    target = value_of(step.args, "-d", "--dir", "-o", "--output", "-P", "--paths", "-O", "--out")
    if _carries(step, []) and any(UNKNOWN in arg and "://" in arg for arg in step.args):
        return ask(RULE, "the address may carry away what only running it will tell")
    return ground.writing(step, [target or "."]) or WORKS


def _asks(rule: str, why: str) -> Callable[[Step, Ground], Verdict]:
    return lambda step, ground: ask(rule, why.format(step.name))


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    "curl": curl,
    **dict.fromkeys(("wget", "wget2"), wget),
    **dict.fromkeys(("http", "https", "xh", "xhs"), http),
    **dict.fromkeys(
        ("scp", "rsync", "rclone", "sftp", "lftp", "ftp", "ncftpput", "tftp", "smbclient", "s3cmd", "croc"), copies_away
    ),
    **dict.fromkeys(("nc", "ncat", "netcat", "socat", "telnet", "websocat", "cryptcat", "pwncat"), connects),
    **dict.fromkeys(
        ("dig", "host", "nslookup", "drill", "ping", "ping6", "traceroute", "tracepath", "mtr", "whois"), names
    ),
    "openssl": openssl,
    "ssh": ssh,
    "autossh": _asks("way-in", "autossh keeps a tunnel open"),
    "sshpass": _asks("credentials", "sshpass hands a password to ssh"),
    "mosh": _asks("outside-effect", "it opens a shell on another machine"),
    **dict.fromkeys(
        ("mail", "mailx", "sendmail", "mutt", "msmtp", "swaks", "ssmtp", "s-nail"), _asks(RULE, "{} sends mail")
    ),
    **dict.fromkeys(("aria2c", "axel", "youtube-dl", "yt-dlp", "gallery-dl"), downloads),
    **dict.fromkeys(("ab", "wrk", "hey", "vegeta", "k6", "locust", "bombardier", "oha", "siege", "autocannon"), loads),
    **dict.fromkeys(("lynx", "w3m", "links", "elinks", "html2text"), browses),
    **dict.fromkeys(
        ("transfer", "wormhole", "magic-wormhole", "pastebinit", "termbin", "ix", "onionshare"),
        _asks(RULE, "{} sends files away"),
    ),
    "transmission-cli": _asks("outside-effect", "{} shares files with others"),
    **dict.fromkeys(("dns2tcp", "iodine", "dnscat"), _asks("way-in", "{} hides a tunnel")),
}
