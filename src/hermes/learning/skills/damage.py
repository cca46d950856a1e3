"""Signs of damage in commands and code: what destroys, and what stays behind to come back."""

from hermes.learning.skills.signs import Sign

_ROOTS = (
    r"(?:/(?:\s|$|\*|[;'\"|&)])|~/?(?:\s|$|\*|[;'\"|&)])|\$\{?HOME\}?/?(?:\s|$|\*|[;'\"|&)])|/(?:etc|usr|var|home"
    r"|boot|lib|opt|root|bin|Users|System)/?(?:\s|$|\*)|--no-preserve-root)"
)

DAMAGE = (
    # Stays behind
    Sign(
        "lets-in",
        "dangerous",
        "lets somebody else log in",
        r"(?:>>?|\btee\b|\becho\b|write|append|\badd\b|\bcat\b|\bcp\b)[^\n]*authorized_keys"
        r"|authorized_keys[^\n]*(?:write|append|['\"]a['\"])|NOPASSWD|\buseradd\b[^\n]*-o\b|\bchpasswd\b"
        r"|usermod\b[^\n]*\b(?:sudo|wheel|docker)\b",
    ),
    Sign("lets-in", "caution", "names the file of those who may log in", r"authorized_keys"),
    Sign(
        "stays",
        "dangerous",
        "comes back by itself with code from elsewhere",
        r"(?:crontab|/etc/cron|cron\.d|@reboot|\*/\d+ \* \* \* \*|\* \* \* \* \*)[^\n]*(?:curl|wget|\bnc\b|base64"
        r"|/dev/tcp|bash -[ci]|python[\d.]* -c)|(?:curl|wget|base64)[^\n]*\|\s*crontab",
    ),
    Sign(
        "stays",
        "dangerous",
        "loads itself into every program",
        r"ld\.so\.preload|DYLD_INSERT_LIBRARIES=|(?:>>?|tee)[^\n]*(?:sitecustomize|usercustomize)\.py",
    ),
    Sign(
        "stays",
        "caution",
        "changes what runs at start or on a schedule",
        r"\bcrontab\s+-(?!l)|\|\s*crontab\b|/etc/cron|systemctl\s+(?:--\w+\s+)*enable|launchctl\s+(?:load|bootstrap)"
        r"|LaunchAgents|LaunchDaemons|/etc/(?:rc\.local|profile\.d|systemd)|\.config/(?:autostart|systemd)|schtasks"
        r"|CurrentVersion\\+Run\b|LD_PRELOAD=|PROMPT_COMMAND=|\bat\s+now\b",
    ),
    Sign(
        "stays",
        "caution",
        "changes what a shell does when it starts",
        r"(?:>>?|\btee\b|echo|write|append|add|insert|put|edit)[^\n]{0,200}\.(?:bashrc|zshrc|bash_profile|zprofile"
        r"|zshenv|profile|config/fish)\b|\.(?:bashrc|zshrc|bash_profile|zprofile)\b[^\n]*(?:write|append|['\"]a['\"])",
    ),
    Sign(
        "stays",
        "caution",
        "adds code that runs when something is installed or built",
        r"[\"'](?:pre|post)install[\"']\s*:|cmdclass\s*=|build\.rs\b[^\n]*Command::new",
    ),
    Sign(
        "stays",
        "caution",
        "changes what git runs by itself",
        r"(?:>>?|cp|tee|mv|ln|write|add|install|chmod)[^\n]{0,100}\.git/hooks|core\.(?:hooksPath|fsmonitor"
        r"|sshCommand|pager|editor)\b|filter\.\w+\.(?:smudge|clean)|alias\.\w+\s+['\"]?!",
    ),
    Sign(
        "changes-hermes",
        "dangerous",
        "changes who Hermes is or what it may do",
        r"(?:>>?|\btee\b|echo|write|append|add|save|insert|put|edit|patch|replace|overwrite"
        r"|update)[^\n]{0,80}\b(?:SOUL|MEMORY|USER)\.md|hermes\s+config\s+set\s+(?:approvals|security"
        r"|command_allowlist|terminal\.sandbox|mcp_servers)|approvals\.mode[\s:=]+['\"]?(?:off|smart)"
        r"|command_allowlist|redact_secrets[\s:=]+false|HERMES_YOLO|--dangerously-skip-permissions"
        r"|hermes\b[^\n]*--yolo",
    ),
    Sign(
        "changes-hermes",
        "caution",
        "writes where agents take their orders from",
        r"(?:>>?|\btee\b|echo|write|append|add|save|insert|put)[^\n]{0,60}(?:AGENTS\.md|CLAUDE\.md|\.cursorrules"
        r"|\.hermes\.md|\.hermes/|copilot-instructions)",
    ),
    # Destroys
    Sign(
        "destroys",
        "dangerous",
        "removes a home or a system folder",
        rf"\brm\s+(?:-[\w-]+\s+)*-\w*[rf]\w*\s+(?:-[\w-]+\s+)*[\"']?{_ROOTS}|\bfind\s+{_ROOTS}[^\n]*-(?:delete"
        rf"|exec\s+(?:rm|shred))|rmtree\(\s*(?:[\"'](?:/|~)[\"']|Path\.home\(\)|os\.path\.expanduser\([\"']~[\"']\))"
        rf"|Remove-Item[^\n]*-Recurse[^\n]*(?:C:\\|\$HOME|~)|del\s+/[sfq]\s+[^\n]*C:\\|mv\s+(?:/|~"
        rf"|\$HOME)(?:/\*)?\s+/dev/null",
    ),
    Sign(
        "destroys",
        "dangerous",
        "overwrites a disk",
        r"\bmkfs(?:\.\w+)?\s|\bdd\b[^\n]*\bof=/dev/(?!null|zero|stdout)|>\s*/dev/(?:sd|nvme|hd|vd|disk|mmcblk)"
        r"|\bwipefs\b|\bblkdiscard\b|\bsgdisk\b[^\n]*--zap|cryptsetup\s+(?:luksFormat|erase)|diskutil\s+erase",
    ),
    Sign(
        "destroys",
        "dangerous",
        "stops the machine or everything on it",
        r":\s*\(\)\s*\{\s*:\s*\|\s*:|\bkill\s+-(?:9|KILL)\s+-1\b|\bkillall5\b|echo\s+[cb]\s*>\s*/proc/sysrq-trigger"
        r"|chmod\s+(?:-\w+\s+)*(?:000|777)\s+/(?:\s|$)|chown\s+-R\s+\S+\s+/(?:\s|$)",
    ),
    Sign(
        "destroys",
        "dangerous",
        "locks files away or shreds them",
        r"\bshred\b[^\n]*(?:~|\$HOME|/home|/\*|\.git\b|-u)|(?:openssl\s+enc|gpg\b[^\n]*(?:-c"
        r"|--symmetric))[^\n]*(?:&&|;)[^\n]*\b(?:rm|shred)\b|ransom",
    ),
    Sign(
        "destroys",
        "caution",
        "throws away what may not be made again",
        r"\brm\s+-\w*r\w*f?\w*\s+[^\n]*(?:\*|\.\.|\$\w+|\.git\b)|git\s+push\s+[^\n]*(?:--force(?!-with-lease)|-f\b"
        r"|--mirror|--delete)|git\s+(?:reset\s+--hard|clean\s+-\w*[fdx]\w*|filter-branch|reflog\s+expire)"
        r"|\bDROP\s+(?:DATABASE|SCHEMA|TABLE)\b|\bTRUNCATE\s+TABLE\b|DELETE\s+FROM\s+\w+\s*;|FLUSHALL"
        r"|terraform\s+destroy|kubectl\s+delete\s+(?:ns|namespace|all|pv)|docker\s+(?:system|volume)\s+prune"
        r"|aws\s+s3\s+(?:rb|rm)\b[^\n]*(?:--force|--recursive)|gh\s+repo\s+delete|vssadmin\s+delete|\bshred\b"
        r"|dropdb\b",
    ),
    Sign(
        "traces",
        "dangerous",
        "hides what was done",
        r"history\s+-c\b|unset\s+HISTFILE|HISTFILE=/dev/null|HISTSIZE=0|set\s+\+o\s+history"
        r"|>\s*~?/?[\w/.]*_history\b|journalctl\s+--vacuum|wevtutil\s+cl\b|auditctl\s+-(?:D|e\s*0)"
        r"|rm\s+[^\n]*(?:/var/log|\.hermes/logs|state\.db|audit\.log)|truncate\s+[^\n]*/var/log",
    ),
)
