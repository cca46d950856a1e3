"""Signs of theft in commands and code: keys that are read, and data that is sent out."""

from hermes.learning.skills.signs import KEYS, PRIVATE, READ, SEND, WHOLE_ENVIRONMENT, Sign

_HERE = r"(?:localhost|127\.0\.0\.1|\[::1\])"
_CATCHERS = (
    r"webhook\.site|requestbin|pipedream\.net|interact\.sh|\boast\.(?:fun|pro|live|me|site)|burpcollaborator|requestcatcher|beeceptor"
    r"|transfer\.sh|\b0x0\.st|file\.io\b|termbin|bashupload|dnslog\.cn|canarytokens"
)
_POSTBOXES = (
    r"discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot|hooks\.slack\.com/services|ngrok(?:-free)?\.(?:io"
    r"|app)|pastebin\.com|paste\.ee"
)

THEFT = (
    # Sends out what it should not
    Sign(
        "sends-keys",
        "dangerous",
        "sends keys or passwords to another machine",
        rf"(?:{SEND})[^\n]*(?:{KEYS})|(?:{KEYS})[^\n]*\|[^\n]*(?:{SEND})",
    ),
    Sign(
        "sends-keys",
        "dangerous",
        "sends a private file to another machine",
        rf"(?:{SEND})[^\n]*(?:@|<|cat\s|open\()[^\n]*(?:{PRIVATE})"
        rf"|(?:{READ})[^\n]*(?:{PRIVATE})[^\n]*\|[^\n]*(?:{SEND})",
    ),
    Sign(
        "sends-environment",
        "dangerous",
        "sends the whole environment to another machine",
        rf"(?:{SEND})[^\n]*(?:{WHOLE_ENVIRONMENT}|\$\((?:env|printenv|set)\b|`(?:env|printenv)\b)"
        rf"|(?:{WHOLE_ENVIRONMENT})[^\n]*(?:{SEND})",
    ),
    Sign(
        "sends-value",
        "caution",
        "puts a key into what it sends",
        r"(?:-d|--data[\w-]*|-F|--form|--json)\s[^\n]*\$\{?\w*(?:KEY|TOKEN|SECRET|PASS(?:WORD)?)\b"
        r"|https?://[^\s\"']*[?&/=]\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD)",
    ),
    Sign(
        "sends-value",
        "caution",
        "puts a value into an address that it opens",
        r"https?://[^\n\"'`\s]*(?:[\"'`]\s*\+|\$\{|\{)\s*(?:process\.env|os\.environ|ENV\[)|\b(?:curl|wget|urlopen"
        r"|get|fetch)\b[^\n]*https?://[^\s\"']*[?&]\w+=(?:[\"']\s*\+|\$\(|\{(?!\{))",
    ),
    Sign(
        "shows-keys",
        "dangerous",
        "prints keys where others can read them",
        r"toJSON\(\s*secrets\s*\)|(?:echo|printf|print|console\.log)\b[^\n]*\$\{\{\s*secrets\.",
    ),
    Sign(
        "shows-keys",
        "caution",
        "prints a key",
        r"(?:\becho|\bprintf|\bprint\(|console\.log\()[^\n]{0,40}(?:\$\{?|environ\W{1,3}|process\.env\.)\w*(?:KEY"
        r"|TOKEN|SECRET|PASSWORD)\b",
    ),
    Sign(
        "sends-output",
        "caution",
        "sends what a command says to another machine",
        rf"(?:{SEND})[^\n]*(?:\$\(|@-|@/|@~)|\|\s*(?:curl|nc|ncat|wget)\b(?![^\n]*{_HERE})",
    ),
    Sign(
        "sends-by-name",
        "dangerous",
        "hides data in the names that it looks up",
        r"\b(?:dig|nslookup|host|ping|drill)\s[^\n]*(?:\$\(|\$\{?\w+\}?\.)[^\n]*\.\w{2,}|gethostbyname\([^\n)]*(?:\+"
        r"|\{|%|format)",
    ),
    Sign(
        "catcher",
        "dangerous",
        "sends to an address that collects whatever comes in",
        rf"(?:{SEND}|\b(?:curl|wget|fetch|POST)\b)[^\n]*(?:{_CATCHERS})|(?:{_CATCHERS})[^\n]*(?:{SEND})",
    ),
    Sign("catcher", "caution", "names an address that collects whatever comes in", rf"{_CATCHERS}|{_POSTBOXES}"),
    Sign(
        "bare-address",
        "caution",
        "talks to a machine by its number",
        r"(?:https?|ftp|tcp)://(?!127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d"
        r"|3[01])\.)\d{1,3}(?:\.\d{1,3}){3}|https?://0x[0-9a-f]{8}|https?://\d{8,10}\b",
    ),
    # Reads keys
    Sign(
        "reads-keys",
        "dangerous",
        "reads keys, passwords or tokens",
        rf"(?:{READ}|\b(?:read|open|print|show|paste)\b)[^\n]{{0,120}}(?:{KEYS})|curl[^\n]*169\.254\.169\.254"
        rf"|requests\.get\([^\n]*169\.254",
    ),
    Sign(
        "reads-keys",
        "dangerous",
        "takes keys or passwords out of where they are kept",
        r"security\s+(?:find-(?:generic|internet)-password|dump-keychain)|secret-tool\s+(?:lookup|search)"
        r"|gpg\b[^\n]*--export-secret|mimikatz|lsadump|laZagne|\bunshadow\b|reg\s+save\s+hklm\\+s(?:am|ecurity)"
        r"|gcore\s|/proc/\S+/mem\b|chrome[_-]?decrypt|CryptUnprotectData",
    ),
    Sign(
        "reads-keys",
        "caution",
        "prints a token that a tool keeps",
        r"gh auth token|gcloud auth print-(?:access|identity)-token|aws configure (?:get|export-credentials)"
        r"|az account get-access-token|kubectl (?:get|describe) secrets?\b|vault (?:kv )?(?:read|get)"
        r"|git credential fill|op (?:item get|read)\b|doppler secrets|heroku config\b",
    ),
    Sign("reads-keys", "caution", "names a file with keys in it", rf"{KEYS}"),
    Sign(
        "reads-private",
        "caution",
        "reads a file that often has passwords in it",
        rf"(?<!@)(?:\b(?:cat|less|more|head|tail|cp|tar|zip|base64|xxd|strings|grep|rg|awk|sed|find)\b|open\("
        rf"|read_text|readFile)[^\n]{{0,80}}(?:{PRIVATE})",
    ),
    Sign("reads-environment", "caution", "reads the whole environment", WHOLE_ENVIRONMENT),
)
