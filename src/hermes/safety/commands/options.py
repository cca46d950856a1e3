"""Single words that turn a harmless program into something else: it starts others, removes, stays, listens or tells keys."""

from functools import cache

from hermes.protocol.actions import Verdict
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import ask
from hermes.safety.patterns import Pattern

_RUNS = ("hidden-code", "{} {} names a program or code to run")
_DESTROYS = ("destroys", "{} {} removes what was there before")
_KEYS = ("credentials", "{} {} hands out or uses keys")
_LISTENS = ("way-in", "{} {} opens a way in")
_ENDS = ("kills", "{} {} ends what others have running")
_REMOTE = ("remote-state", "{} {} changes something on other machines or services")
_SENDS = ("sends-data", "{} {} sends something away")
_SYSTEM = ("system", "{} {} changes this machine")
_CODE = ("code", "{} {} runs code that is not looked into")
_RECORDS = ("records", "{} {} records the screen, the camera or the microphone")

# The programs, a pattern for one whole argument of theirs, and what is the matter with it.
_TURNS: tuple[tuple[str, str, tuple[str, str]], ...] = (
    ("sort", r"--compress-prog.*", _RUNS),
    ("split gsplit", r"--filter.*", _RUNS),
    ("fzf sk", r".*\b(execute|execute-silent|become|reload|transform\w*)\b.*|--listen.*", _RUNS),
    ("dc", r"(?s).*![^<>=].*", _RUNS),
    ("gnuplot", r"(?s).*(\b(system|shell)\b|`|(^|;)\s*!|['\"][<|]).*", _RUNS),
    ("gdb lldb", r"(?s)(?!.*\.\w+$).*(\b(shell|python|script|make|source|pipe|call|platform)\b|!).*", _RUNS),
    ("blender", r"--python-expr|--python-console", _CODE),
    ("soffice libreoffice", r"(macro|vnd\.sun\.star\.\w+):.*|--accept=.*", _CODE),
    ("tensorboard", r"--bind_all", _LISTENS),
    ("wmctrl", r"-[cCrRaxst]", _ENDS),
    ("xprop", r"-set|-remove|-spy", _SYSTEM),
    ("ctags etags", r"--options(-maybe)?=.*|--_?(interactive|xcmd).*|--[\w-]*cmd.*", _RUNS),
    ("bat batcat delta", r"--pager(=(?!less|cat|never).*)?", _RUNS),
    ("gcc g++ cc c++ clang clang++ gfortran", r"-wrapper|-fplugin(=.*)?|-specs=.*|-load|-fpass-plugin=.*", _RUNS),
    ("ld ar", r"--?plugin(=.*)?", _RUNS),
    ("rustc", r"(-C)?linker=.*|--sysroot.*", _RUNS),
    ("go", r"--?(toolexec|exec|vettool)(=.*)?", _RUNS),
    ("pandoc", r"--pdf-engine=.*/.*", _RUNS),
    ("gs ghostscript", r"-sOutputFile=[%|].*|-dNOSAFER", _RUNS),
    ("exiftool", r"-config", _RUNS),
    ("exiftool", r"-overwrite_original.*|-delete_original!?", _DESTROYS),
    ("zip", r"-[a-zA-Z0-9]*m[a-zA-Z0-9]*|--move", _DESTROYS),
    ("7z 7za 7zz 7zr", r"-sdel", _DESTROYS),
    ("aria2c", r"--on-.*|--hook.*", _RUNS),
    ("yt-dlp youtube-dl", r"--exec.*|--config-loc.*|--downloader(=.*)?|--use-postprocessor.*|--plugin-dirs.*", _RUNS),
    ("yt-dlp youtube-dl", r"--cookies-from-browser.*|--netrc.*|--username|--password", _KEYS),
    ("wget wget2", r"--load-cookies.*|--certificate=.*|--private-key.*", _KEYS),
    ("code codium code-insiders cursor", r"--(un)?install-extension.*|--force", ("fetched-code", "{} {} changes code")),
    ("code codium code-insiders cursor", r"tunnel|serve-web|serve", _LISTENS),
    ("nmap", r"--script.*|-sC|-A|-O", ("attack", "{} {} looks for ways in")),
    ("strace ltrace", r"-p\d*|--attach.*", ("process-memory", "{} {} looks into another program")),
    ("hash", r"-p", _RUNS),
    ("ss", r"-K|--kill", _ENDS),
    ("arp", r"-[sd]|--set|--delete", _SYSTEM),
    ("getent", r"g?shadow", _KEYS),
    ("lastlog", r"-[CS]|--clear|--set", ("traces", "{} {} changes the record of who was here")),
    ("nvidia-smi", r"-r|--gpu-reset|-pm|-pl|-ac|-lgc|-lmc|-e|-c|-mig|drain", _SYSTEM),
    ("sensors", r"-s|--set", _SYSTEM),
    (
        "ffmpeg",
        r"x11grab|avfoundation|v4l2|video4linux2|alsa|pulse|gdigrab|dshow|kmsgrab|fbdev|/dev/video\d+",
        _RECORDS,
    ),
    ("ffmpeg", r"(rtmps?|tcp|udp|srt|rtp|rist|s?ftp|icecast|amqp|zmq|gopher|tls)://.*", _SENDS),
    ("sox", r"-d|--default-device", _RECORDS),
    ("jupyter jupyter-lab jupyter-notebook", r".*(token|password|password_required)=('|\"|False|$).*", _LISTENS),
    ("rails", r"runner|r|console|c|db|dbconsole|destroy|d|credentials:\w+|encrypted:\w+", _CODE),
    ("flask django-admin", r"shell|shell_plus|dbshell|runscript|createsuperuser|changepassword", _CODE),
    ("mix", r"-e|--eval", _CODE),
    ("php", r"tinker|--execute(=.*)?", _CODE),
    ("hardhat forge cast truffle anchor", r"--broadcast|send|publish|deploy|create", _REMOTE),
    ("hardhat truffle", r"--network(=.*)?", _REMOTE),
    (
        "pio platformio arduino-cli west idf.py",
        r"upload|flash|erase_flash|erase-flash|burn-bootloader|bootloader",
        _SYSTEM,
    ),
    ("electron-builder", r"-p|--publish.*", _SENDS),
    ("cypress", r"--record.*|--key.*", _SENDS),
    ("xcrun", r"altool|notarytool|erase|delete|stapler", _REMOTE),
    ("terraform tofu terragrunt", r"--?(migrate-state|force-copy|lock=false)", _REMOTE),
    ("kubectl oc", r"--raw(=true)?|--flatten", _KEYS),
    ("gh", r"--show-token", _KEYS),
    ("dnf yum", r"undo|rollback|redo", _SYSTEM),
    ("zypper", r"verify|ve", _SYSTEM),
    ("dbt", r"--full-refresh|run-operation|-f", ("database", "{} {} throws tables away, or runs what nobody sees")),
    ("mlflow", r"gc|delete|delete-\w+|restore|deployments", _REMOTE),
    ("celery", r"control|amqp|multi|call", ("outside-effect", "{} {} commands workers elsewhere")),
    ("kustomize helm", r"--enable-(exec|alpha-plugins|helm-exec)|--post-renderer.*", _RUNS),
    ("ansible-inventory ansible-doc", r"--playbook-dir.*", _RUNS),
    ("npm yarn pnpm", r"scripts\.((pre|post)?install|prepare|prepublish\w*|(pre|post)pack)=.*", _RUNS),
    ("rebar3", r"get-deps|upgrade|unlock|hex", _CODE),
    ("lein dub lake pio platformio arduino-cli", r"deps|add|fetch|update|upgrade|install|uninstall", _CODE),
    ("xrandr", r"--(output|off|mode|setprovider\w*|newmode|rmmode|delmode|addmode)", _SYSTEM),
    ("docker docker-compose podman", r"https?://.*\.ya?ml", ("fetched-code", "{} {} runs what others say")),
    ("nginx apachectl", r"-s|-g|start|stop|restart|graceful.*", _SYSTEM),
    ("trivy grype syft", r"--(upload|server|plugin).*", _SENDS),
)
# Whatever the program: it goes on by itself, or lets everybody in.
_STAYS = Pattern(r"--(daemon|daemonize|detach|background|fork|daemon-mode)(=(true|yes|1))?|daemon_mode=\w+")
_THROWS_AWAY = Pattern(
    r"--(force-reset|accept-data-loss|drop|drop-all|drop-db|wipe|nuke|destroy|delete-all|reset-db|clean-db|erase-all|purge)"
)
_EVERYBODY = Pattern(r"--?[\w.-]*(ip|host|bind|address|listen|interface|origins?|allow-hosts)=(\*|'\*'|\"\*\"|\.\*)")


@cache
def _patterns() -> dict[str, list[tuple[Pattern, tuple[str, str]]]]:
    found: dict[str, list[tuple[Pattern, tuple[str, str]]]] = {}
    for names, pattern, matter in _TURNS:
        compiled = Pattern(pattern)
        for name in names.split():
            found.setdefault(name, []).append((compiled, matter))
    return found


def turned(step: Step) -> Verdict | None:
    """Why one of a program's arguments makes it ask, whatever it does else, or None."""
    for pattern, (rule, why) in _patterns().get(step.name, ()):
        for arg in step.args:
            if pattern.fullmatch(arg):
                return ask(rule, why.format(step.name, arg.replace(UNKNOWN, "…")))
    return None


def goes_on(step: Step) -> Verdict | None:
    """Why a program that is work by itself would stay behind, or let everybody in; or None."""
    if step.name == "git":
        return None
    for arg in step.args:
        if _THROWS_AWAY.fullmatch(arg):
            return ask("database", f"{arg} throws data away")
        if _STAYS.fullmatch(arg):
            return ask("stays-behind", f"with {arg} it goes on running")
        if _EVERYBODY.fullmatch(arg):
            return ask("way-in", f"with {arg} it listens to everybody")
    return None
