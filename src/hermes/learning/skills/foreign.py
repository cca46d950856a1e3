"""Signs of foreign code: what is fetched and run, opens a way in, takes powers, or cannot be read."""

from hermes.learning.skills.signs import SHELL, Sign

# What a tool chain's own page tells people to run; still somebody else's code.
_INSTALLERS = (
    r"(?:sh\.rustup\.rs|astral\.sh/uv|bun\.sh|deno\.land|get\.docker\.com|install\.python-poetry\.org"
    r"|raw\.githubusercontent\.com/(?:nvm-sh|Homebrew)/)"
)

FOREIGN = (
    # Code from elsewhere
    Sign(
        "remote-code",
        "caution",
        "runs a tool chain's installer as it is fetched",
        rf"(?:curl|wget)\b[^\n|]*{_INSTALLERS}[^\n|]*\|\s*(?:{SHELL})",
    ),
    Sign(
        "remote-code",
        "dangerous",
        "runs code as it is fetched",
        rf"(?:curl|wget|fetch"
        rf"|http)\b(?![^\n]*{_INSTALLERS})[^\n]*\|\s*(?:tee\s+\S+\s*\|\s*)?(?:{SHELL})(?![^\n]*\s-m\s+json\.tool)(?!\s+-c\b)"
        rf"|(?:{SHELL}|eval|\.)\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget)|(?:exec"
        rf"|eval)\([^\n]*(?:requests\.get|urlopen|urllib|httpx)|\b(?:iex|Invoke-Expression)\b[^\n]*(?:iwr|irm"
        rf"|DownloadString|Invoke-|http)|(?:iwr|irm)\b[^\n]*\|\s*iex|importlib[^\n]*https?://"
        rf"|load_module\([^\n]*http|regsvr32[^\n]*/i:http|mshta\s+http|(?:curl|wget|xh)\b[^\n]*(?:&&"
        rf"|;)\s*(?:sudo\s+)?(?:chmod\s+\+x|(?:ba|z)?sh\s|python[\d.]*\s+\S)",
    ),
    Sign(
        "remote-code",
        "caution",
        "installs something from an address of its own",
        r"(?:pip|uv|pipx|uvx)\b[^\n]*(?:--(?:extra-)?index-url|-i\s+http|git\+|https?://\S+\.(?:whl|tar\.gz|zip))"
        r"|(?:npm|pnpm|yarn|npx|bun)\b[^\n]*(?:https?://|git\+|--registry)|gem\s+install[^\n]*--source|go\s+(?:run"
        r"|install)\s+\S+@(?!latest\b|v\d)|cargo\s+install\s+--git|deno\s+run\s+[^\n]*https?://"
        r"|curl[^\n]*\s-[a-zA-Z]*[oO]\b[^\n]*\.(?:sh|py|exe|bin|dmg|deb|rpm|msi|AppImage)\b"
        r"|docker\s+run[^\n]*(?:docker\.sock)",
    ),
    Sign(
        "remote-code",
        "dangerous",
        "runs a container that has the whole machine",
        r"docker\s+run[^\n]*(?:--privileged|-v\s+/:|--pid[= ]host)|nsenter\b[^\n]*-t\s*1\b",
    ),
    Sign(
        "remote-shell",
        "dangerous",
        "gives somebody else a shell",
        r"/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat)\b[^\n]*\s(?:-\w*[ec]\w*\s+(?:/bin/)?\w*sh\b|--exec|--sh-exec)"
        r"|mkfifo[^\n]*(?:nc|openssl|telnet)|socat\b[^\n]*(?:exec|system):|os\.dup2\(\s*\w+\.fileno|pty\.spawn\("
        r"|bash\s+-i\s*>&|fsockopen\([^\n]*exec|TCPSocket\.(?:new|open)[^\n]*exec|\bmsfvenom\b|meterpreter"
        r"|ssh\b[^\n]*\s-\w*R\s*\d+:|(?:ngrok|cloudflared|bore)\s+(?:tcp|tunnel|http)|chisel\s+client",
    ),
    Sign(
        "privileges",
        "dangerous",
        "makes a program run as somebody else",
        r"chmod\s+(?:[ug]*\+s|[2467][0-7]{3})\b|setcap\s+cap_|setenforce\s+0|ufw\s+disable|iptables\s+-F"
        r"|csrutil\s+disable|Set-MpPreference[^\n]*-Disable|spctl\s+--master-disable|systemctl\s+(?:stop"
        r"|disable)\s+\S*(?:auditd|firewalld|apparmor|falcon|defender)",
    ),
    Sign(
        "privileges",
        "caution",
        "gives somebody all rights",
        r"cluster-?admin|clusterrolebinding|AdministratorAccess|roles/owner|\bGRANT\s+ALL\b|\bSET\s+\w*(?:role|admin"
        r"|privilege)\w*\s*=|with administrator privileges",
    ),
    Sign(
        "no-check",
        "caution",
        "keeps a checker from speaking up",
        r"#\s*nosec\b|nosemgrep|gitleaks:allow|trivy:ignore|checkov:skip",
    ),
    Sign("privileges", "caution", "asks for the powers of root", r"(?:^|[\s;&|`(])(?:sudo|doas|pkexec)\s+[\w/-]"),
    Sign(
        "no-check",
        "caution",
        "turns off a check",
        r"StrictHostKeyChecking[= ]+no|verify\s*=\s*False|NODE_TLS_REJECT_UNAUTHORIZED|http\.sslVerify\s+false"
        r"|curl\b[^\n]*\s(?:-\w*k\w*\s|--insecure)|--trusted-host|--no-check-certificate|--no-verify\b"
        r"|_create_unverified_context|--allow-unauthenticated|--no-sandbox\b",
    ),
    Sign(
        "miner",
        "dangerous",
        "mines coins",
        r"\bxmrig\b|stratum\+(?:tcp|ssl)|\b(?:cgminer|minerd|nbminer|t-rex|ethminer|cpuminer)\b|moneroocean|nicehash"
        r"|coinhive",
    ),
    Sign(
        "keylogger",
        "dangerous",
        "listens to keys, screen or microphone",
        r"\bpynput\b|keyboard\.on_press|\bkeylog|xinput\s+test|GetAsyncKeyState|logkeys|(?:screencapture|scrot"
        r"|import\s+-window)[^\n]*(?:while|loop|cron|curl)|arecord[^\n]*\|",
    ),
    # Hides what it does
    Sign(
        "hidden-code",
        "dangerous",
        "runs code that nobody can read",
        rf"base64\s+(?:-\w*[dD]\w*|--decode)[^\n]*\|[^\n]*(?:{SHELL})|(?:{SHELL}|eval)\s+(?:-\w+\s+)*[\"']?(?:<\("
        rf"|\$\(|`)[^\n]*(?:base64|xxd|rev\b|printf|openssl)|xxd\s+-r[^\n]*\|\s*(?:{SHELL})"
        rf"|\|\s*rev\s*\|\s*(?:{SHELL})|\|\s*tr\s[^\n]*\|\s*(?:{SHELL})|(?:gunzip|zcat|gzip\s+-d\w*)[^\n]*\|\s*(?:ba"
        rf"|z)?sh\b|openssl\s+enc\s+-d[^\n]*\|\s*(?:{SHELL})|(?:exec|eval|compile)\s*\([^\n]*(?:b64decode|b32decode"
        rf"|a85decode|fromhex|unhexlify|decompress|marshal|rot_?13|codecs\.decode|\[::-1\]|chr\(|atob|Buffer\.from"
        rf"|fromCharCode)|(?:marshal|pickle|dill)\.loads\([^\n]*(?:b64|decompress|http|requests)"
        rf"|powershell[^\n]*\s-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{{16,}}|new\s+Function\([^\n]*(?:atob"
        rf"|fromCharCode)",
    ),
    Sign(
        "hidden-code",
        "dangerous",
        "puts the name of a program together from pieces",
        r"getattr\(\s*(?:os|__builtins__|builtins|__import__\([^)]*\))\s*,[^\n)]*(?:\+|\[::-1\]|chr|join|decode)"
        r"|__import__\(\s*[^\n)]*(?:\+|\[::-1\]|chr|join|decode)|\$'(?:\\x[0-9a-f]{2}|\\[0-7]{3}){4,}'"
        r"|(?:\bchr\(\d+\)\s*[+,]\s*){4,}|\$\{\w+:\d+:\d+\}\$\{\w+:\d+:\d+\}|\$\{IFS\}",
    ),
    Sign(
        "hidden-code",
        "caution",
        "builds code while it runs",
        r"(?<![\w.])(?:exec|eval)\s*\(\s*(?![\"')])|(?:^|[;&|]\s*)eval\s+[\"'$]|__import__\(|globals\(\)\["
        r"|\bbase64\s+(?:-\w*[dD]\b|--decode)|rot_?13|codecs\.decode\(|['\"]A-Za-z['\"]\s+['\"]N-ZA-Mn-za-m"
        r"|marshal\.loads|pickle\.loads?\(",
    ),
    Sign("inline-shell", "caution", "runs a command when the skill is opened", r"(?:^|\s)!`[^`\n]+`"),
)
