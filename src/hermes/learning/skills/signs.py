"""Signs that give a harmful skill away: what one is, and the words that several of them share."""

import re
from functools import cache
from typing import Literal

from msgspec import Struct

Severity = Literal["caution", "dangerous"]


class Sign(Struct, frozen=True):
    """A pattern, how bad it is where it stands, and what it means in words for a person."""

    rule: str
    severity: Severity
    what: str
    pattern: str


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, made ready once somebody scans: all of them take a quarter of a second."""
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


# What nobody but its owner should read. `~/.ssh/config` and public keys are no secrets.
KEYS = (
    r"\.ssh/(?!config\b|known_hosts|authorized_keys|[\w.-]*\.pub\b)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)|\.aws/(?:credentials|sso)"
    r"|/etc/(?:g?shadow|sudoers)\b|\.gnupg\b|\.git-credentials|\.config/(?:gh/hosts|gcloud|op)\b|application_default_credentials"
    r"|Login Data|cookies\.sqlite|logins\.json|key[34]\.db|wallet\.dat|\.electrum|metamask|keychain-db|/proc/(?:self|\$?\w+|\*)/environ"
    r"|[\"'/]\.(?:ssh|aws|gnupg)[\"']|system-connections|toJSON\(\s*secrets\s*\)|mcp-tokens|\.hermes/(?:auth\.json|\.env)|169\.254\.169\.254|metadata\.google\.internal|\.password-store|\.vault-token|\.kdbx\b"
)
PRIVATE = (
    r"(?<![\w])\.env\b(?!\.(?:example|sample|template|dist))|\.netrc|\.npmrc|\.pypirc|\.kube/config|\.docker/config\.json|/etc/passwd"
    r"|\.(?:bash|zsh|python|psql|mysql)_history|\.pgpass|\.my\.cnf|terraform\.tfstate|\.p12\b|\.pem\b"
)
WHOLE_ENVIRONMENT = (
    r"\b(?:dict|str|dumps|list|repr)\(\s*os\.environ\b|os\.environ\.(?:copy|items)\(|JSON\.stringify\(\s*process\.env\s*\)"
    r"|\bENV\.to_h\b|(?:^|[\s;|&($`])(?:printenv|env|set|export -p|declare -x)\s*(?:\||>|\)|`)"
)
SEND = (
    r"curl\b[^\n]*?\s(?:-[a-z]*[dFT]\b|--data[\w-]*|--form|--upload-file|--json|-X\s*(?:POST|PUT))|wget\b[^\n]*--(?:post|body)-(?:data|file)"
    r"|(?:requests|httpx2?|session|client)\.(?:post|put|request)\(|axios(?:\.post|\.put|\()|fetch\([^\n]*(?:POST|PUT|body)|urlopen\("
    r"|\b(?:nc|ncat|netcat|socat|telnet)\s+(?!-z)[-\w$]|\.connect\(\s*\(|\bsmtplib\b|\b(?:sendmail|mailx?|mutt)\s+-|\bscp\s|\brsync\b[^\n]*\w:"
    r"|\b(?:aws s3|gsutil|rclone|mc) (?:cp|sync|copy)\b|Invoke-(?:WebRequest|RestMethod)[^\n]*-(?:Body|InFile)|http\.client|gh gist create|[\"'](?:curl|wget|nc|scp)[\"']\s*,"
)
READ = (
    r"(?:\b(?:cat|less|more|head|tail|cp|mv|tar|zip|gzip|base64|xxd|strings|grep|rg|awk|sed|find|dd|type"
    r"|Get-Content)\b|open\(|read_text|read_bytes|readFile|Path\(|@)"
)
SHELL = (
    r"(?:sudo\s+(?:-\w+\s+)*)?(?:/(?:usr/)?bin/)?(?:env\s+)?(?:ba|z|da|k|fi)?sh\b|python[\d.]*\b|perl\b|ruby\b"
    r"|node\b|source\b"
)
NETWORK = (
    rf"{SEND}|\b(?:curl|wget)\b|\b(?:requests|urllib|httpx2?|aiohttp|socket|ftplib|paramiko)\b|fetch\("
    rf"|XMLHttpRequest|Net::HTTP|https?\.(?:get|request)\("
)
