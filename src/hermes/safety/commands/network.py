"""Programs that reach other machines: looking is reading, copying, connecting and sending ask."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.handed import ssh_command
from hermes.safety.commands.pages import RULE, bad_url, carries, curl, host_of, http, is_here, wget
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask


def copies_away(step: Step, ground: Ground) -> Verdict:
    """scp, rsync, rclone: between places of this machine it is a copy, to or from elsewhere it asks unless it fetches."""
    args = list(step.args)
    if step.name not in ("scp", "rsync", "rclone"):
        return ask(RULE, f"{step.name} moves files to or from another machine")
    if has(args, "-n", "--dry-run", "--list-only") and step.name in ("rsync", "rclone"):
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
    far = [url for url in urls if not is_here([url])]
    return ask("attack", f"{step.name} puts {host_of(far[0])} under load") if far else WORKS


def browses(step: Step, ground: Ground) -> Verdict:
    """lynx, w3m, links: showing a page is reading."""
    words = operands(step.args)
    if any(re.match(r"-(post_data|cmd_script|post|o|eval)", arg) for arg in step.args):
        return ask(RULE, f"{step.name} is told to send something")
    pages = [word for word in words if "://" in word]
    return bad_url(step, ground, pages) or ground.reading(step, [word for word in words if word not in pages]) or READS


def downloads(step: Step, ground: Ground) -> Verdict:
    target = value_of(step.args, "-d", "--dir", "-o", "--output", "-P", "--paths", "-O", "--out")
    if carries(step, []) and any(UNKNOWN in arg and "://" in arg for arg in step.args):
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
        ("dig", "host", "nslookup", "drill", "ping", "ping6", "traceroute", "tracepath", "mtr", "whois", "ssh-keyscan"),
        names,
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
