"""Tools of people's trades, from other version controls to servers and data sets: which of their verbs look, which work."""

from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.steps import Step
from hermes.safety.commands.verbs import Verbs, judge_verbs
from hermes.safety.commands.verdicts import READS, ask

_REMOTE = ("remote-state", "{} changes something on other machines or services")
_DATA = ("database", "{} changes or throws away what is stored")
_HISTORY = ("git-history", "{} changes history, or what is elsewhere")
_CODE = ("fetched-code", "{} fetches code from elsewhere and may run it")
_MACHINE = ("system", "{} changes this machine")

# Name, verbs that look, verbs that work here, and what is the matter with the rest.
_ROWS: tuple[tuple[str, str, str, tuple[str, str]], ...] = (
    (
        "hg",
        "status st log diff cat annotate blame summary heads tip branches bookmarks tags files identify id paths grep root",
        "add commit ci update up pull clone init branch merge rename mv copy graft shelve unshelve addremove tag forget",
        _HISTORY,
    ),
    (
        "svn",
        "status st log diff info list ls cat blame annotate praise propget pg proplist help",
        "add update up checkout co cleanup resolve resolved move mv copy cp mkdir switch patch export changelist",
        _HISTORY,
    ),
    (
        "jj",
        "log st status diff show op.log evolog file.show file.list bookmark.list branch.list config.list help root",
        "new describe desc commit git.fetch git.clone git.init edit squash rebase split bookmark.create next prev undo",
        _HISTORY,
    ),
    (
        "fossil",
        "status timeline diff info ls changes extras branch finfo",
        "add commit update open addremove",
        _HISTORY,
    ),
    (
        "dvc",
        "status diff dag list metrics plots params doctor version config remote.list root data.status",
        "add repro pull fetch init checkout import get run stage exp.run exp.show exp.list",
        _REMOTE,
    ),
    (
        "kaggle",
        "datasets.list competitions.list kernels.list models.list config.view datasets.files",
        "datasets.download competitions.download kernels.pull",
        _REMOTE,
    ),
    ("huggingface-cli", "whoami env scan-cache", "download", _REMOTE),
    ("hf", "whoami env cache.scan cache.ls", "download", _REMOTE),
    ("wandb", "status", "offline online", _REMOTE),
    ("adb", "devices logcat version get-state help", "", _REMOTE),
    ("fastboot", "devices getvar", "", _REMOTE),
    ("skaffold", "diagnose version render schema", "build test init", _REMOTE),
    ("flux", "get check tree logs events version", "build diff", _REMOTE),
    ("istioctl", "analyze version proxy-status ps describe", "", _REMOTE),
    ("velero", "version get describe backup.get backup.describe backup.logs restore.get", "", _REMOTE),
    ("linkerd", "check viz version diagnostics", "", _REMOTE),
    ("k9s", "version info", "", _REMOTE),
    ("serverless", "info print", "package offline", _REMOTE),
    ("sls", "info print", "package offline", _REMOTE),
    ("sam", "validate list", "build local init", _REMOTE),
    ("cdk", "ls list diff doctor metadata docs", "synth synthesize init", _REMOTE),
    ("cdktf", "list diff", "synth get init", _REMOTE),
    ("amplify", "status env.list", "", _REMOTE),
    ("eb", "status health events logs list printenv", "", _REMOTE),
    ("copilot", "app.ls env.ls svc.ls svc.status svc.logs version", "", _REMOTE),
    ("railway", "status logs list whoami variables", "", _REMOTE),
    ("render", "services logs whoami", "", _REMOTE),
    ("supabase", "status projects.list db.diff migration.list functions.list", "init gen start", _REMOTE),
    ("stripe", "version logs.tail products.list customers.list", "listen", _REMOTE),
    ("twilio", "profiles:list", "", _REMOTE),
    ("atlas", "schema.inspect migrate.status migrate.lint migrate.validate version", "migrate.diff schema.fmt", _DATA),
    ("flyway", "info validate version", "", _DATA),
    ("liquibase", "status validate history diff", "", _DATA),
    ("goose", "status version validate", "create", _DATA),
    ("dbmate", "status", "new", _DATA),
    ("migrate", "version", "create", _DATA),
    ("prisma", "validate version studio", "generate format init", _DATA),
    ("drizzle-kit", "check", "generate", _DATA),
    ("sqlc", "version vet", "generate compile diff", _DATA),
    ("mysqladmin", "status ping version processlist extended-status variables", "", _DATA),
    (
        "rabbitmqctl",
        "status list_queues list_exchanges list_users list_connections cluster_status version list_bindings",
        "",
        _DATA,
    ),
    ("rabbitmq-diagnostics", "status ping check_running memory_breakdown", "", _DATA),
    ("etcdctl", "get member.list endpoint.health endpoint.status version watch", "", _DATA),
    ("influx", "query ping bucket.list org.list version", "", _DATA),
    ("nodetool", "status info ring tpstats describecluster version netstats compactionstats", "", _DATA),
    ("pg_ctl", "status", "", _DATA),
    ("datasette", "inspect plugins", "serve", _DATA),
    ("sqlite-utils", "tables views schema rows indexes analyze-tables", "", _DATA),
    ("busctl", "list status tree introspect", "", _MACHINE),
    ("gsettings", "get list-schemas list-keys list-recursively describe range writable", "", _MACHINE),
    ("dconf", "read list dump", "", _MACHINE),
    ("gio", "info list cat tree mime version", "", _MACHINE),
    ("buildah", "images containers info inspect version", "build bud", ("containers", "{} changes containers")),
    ("skopeo", "inspect list-tags", "", _REMOTE),
    (
        "crictl",
        "ps images pods info inspect inspecti inspectp logs stats version",
        "",
        ("containers", "{} changes containers"),
    ),
    ("promtool", "check query test", "", _REMOTE),
    ("knex", "migrate:list migrate:status migrate:currentVersion", "migrate:make seed:make", _DATA),
    ("tmutil", "listbackups status destinationinfo latestbackup listlocalsnapshots version", "", _MACHINE),
    ("log", "show stats help", "", _MACHINE),
    ("zoxide", "query", "", _MACHINE),
    ("airflow", "dags.list tasks.list version info config.list", "tasks.test dags.test standalone", _DATA),
    ("dagster", "job.list asset.list", "dev", _DATA),
    ("solana", "balance address config.get block-height", "", _REMOTE),
    ("restic", "snapshots ls stats find diff check list version cat", "", _DATA),
    ("borg", "list info check diff", "", _DATA),
    ("kopia", "snapshot.list repository.status policy.show", "", _DATA),
    ("pactl", "list info stat get-sink-volume", "", _MACHINE),
    ("twine", "check", "", ("sends-data", "{} uploads a package")),
    ("ansible-config", "list dump view", "init", _MACHINE),
    ("ansible-vault", "", "", ("credentials", "{} opens or changes secrets")),
    ("certbot", "certificates plugins", "", _MACHINE),
    ("fail2ban-client", "status ping version get", "", ("firewall", "{} changes whom this machine lets in")),
    ("chronyc", "tracking sources sourcestats activity ntpdata", "", _MACHINE),
    ("coredumpctl", "list info", "", _MACHINE),
    (
        "systemd-analyze",
        "time blame critical-chain verify plot dot calendar security cat-config unit-paths",
        "",
        _MACHINE,
    ),
    ("udevadm", "info monitor", "", _MACHINE),
    ("rfkill", "list", "", _MACHINE),
    ("iw", "dev list phy reg.get", "", _MACHINE),
    ("fwupdmgr", "get-devices get-updates get-history", "", _MACHINE),
    ("bootctl", "status list", "", _MACHINE),
    ("bpftool", "prog.list prog.show map.list map.show version feature", "", _MACHINE),
    ("tc", "qdisc.show class.show filter.show", "", _MACHINE),
    ("direnv", "status version export show_dump hook", "", ("starts-by-itself", "{} lets a folder run code by itself")),
    ("sdk", "list current version", "use", _CODE),
    ("jenv", "versions version which", "local shell", _CODE),
    ("volta", "list which", "", _CODE),
    ("pixi", "list info tree search", "", _CODE),
    ("rye", "list show version", "build fmt lint test lock", _CODE),
    ("changeset", "status", "add version init", ("sends-data", "{} publishes packages")),
    ("goreleaser", "check healthcheck", "build", ("sends-data", "{} publishes a release")),
    ("earthly", "ls doc", "", ("containers", "{} runs what a file says in containers")),
    ("devcontainer", "read-configuration", "", ("containers", "{} starts containers")),
)
VERBS: dict[str, Verbs] = {
    name: Verbs(reads=reads, works=works, rule=rule, why=why, valued="-n --namespace --context --cwd -R -s -H -C")
    for name, reads, works, (rule, why) in _ROWS
}
# These only look as long as one of their options says so; with no word at all too, if there is a "." among them, and with
# no option, if there is a "*".
_LOOKS_WITH: dict[str, str] = {
    "ansible-inventory": "--list --graph --host",
    "ansible-doc": "-l --list -t -s .",
    "nginx": "-t -T -v -V",
    "apachectl": "configtest -t -S -M -v -V",
    "apache2ctl": "configtest -t -S -M -v -V",
    "httpd": "-t -S -M -v -V",
    "haproxy": "-c -v -vv",
    "sshd": "-t -T",
    "kubectx": "-c --current .",
    "kubens": "-c --current .",
    "nix-env": "-q --query",
    "nix-store": "-q --query",
    "visudo": "-c",
    "postconf": "-n -d .",
    "mailq": ".",
    "logrotate": "-d --debug",
    "chage": "-l --list",
    "passwd": "-S --status",
    "auditctl": "-l -s",
    "losetup": "-a -l --list -j .",
    "efibootmgr": "-v .",
    "ethtool": "-i -k -S -a -g *",
    "ntpq": "-p -pn",
    "ntpdate": "-q",
    "dmsetup": "ls info status table",
    "softwareupdate": "-l --list",
    "xcode-select": "-p --print-path -v",
    "plutil": "-p -lint",
    "codesign": "-d -dv -dvv -dvvv -v --verify --display",
    "scutil": "--dns --proxy --get --nwi",
    "pmset": "-g",
    "dscacheutil": "-q",
    "networksetup": "-listallnetworkservices -listallhardwareports -getinfo -getdnsservers",
    "kafka-topics": "--list --describe",
    "kafka-topics.sh": "--list --describe",
    "kafka-consumer-groups": "--list --describe",
    "kafka-consumer-groups.sh": "--list --describe",
    "hdfs": "-ls -cat -du -df -count -stat -tail -head -test -help -text -find",
    "hadoop": "-ls -cat -du -df -count -stat -tail -head -test -help -text -find",
    "keytool": "-list -printcert",
    "jarsigner": "-verify",
    "dpkg-deb": "-c -I -f --contents --info",
    "apt-config": "dump",
    "gpgconf": "--list-components --list-dirs",
    "pg_restore": "-l --list",
    "pg_lsclusters": ".",
    "upower": "-i -e -d",
    "postqueue": "-p",
    "iwconfig": ".",
    "iftop": "-t",
    "e2fsck": "-n",
    "fsck": "-n -N",
    "tune2fs": "-l",
    "wipefs": "-n --no-act .",
    "sfdisk": "-l --list -d --dump",
    "gdisk": "-l",
    "sgdisk": "-p --print",
    "pacman-key": "-l --list-keys",
}


def by_verb(step: Step, ground: Ground) -> Verdict:
    verdict = judge_verbs(step.name, VERBS[step.name], step.args)
    return (ground.reading(step, pieces(step.args)) or verdict) if verdict.decision == "allow" else verdict


def looks(step: Step, ground: Ground) -> Verdict:
    options = _LOOKS_WITH[step.name].split()
    told = any(arg.startswith("-") for arg in step.args) or len(step.args) > 1
    alone = (not step.args and "." in options) or (not told and "*" in options)
    if alone or has(step.args, *(option for option in options if option not in ".*")):
        return ground.reading(step, pieces(step.args)) or READS
    return ask("system", f"{step.name} changes this machine")


_HARMLESS_GDB = listed("bt where info list l print p x quit q thread threads frame f up down set.pagination backtrace")


def debugs(step: Step, ground: Ground) -> Verdict:
    """gdb and lldb on a program of the working folder, with commands that only look."""
    args = list(step.args)
    told = [
        args[at + 1]
        for at, arg in enumerate(args[:-1])
        if arg in ("-ex", "--eval-command", "-o", "-O", "-eval-command")
    ]
    attached = {"-p", "--pid", "--attach-pid"} & set(args) or any(arg.isdecimal() for arg in args)
    words = [arg for arg in args if not arg.startswith("-") and arg not in told]
    plain = all(
        (text.split() or [""])[0] in {*_HARMLESS_GDB, "run", "r", "break", "b"} and "!" not in text for text in told
    )
    if attached or not plain or {"-x", "--command", "-s", "--source"} & set(args) or not words:
        return ask("process-memory", f"{step.name} can look into and change other programs")
    if not all(ground.is_inside(step, word) for word in words if "/" in word):
        return ask("process-memory", f"{step.name} would start a program outside the working folder")
    return READS


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(VERBS, by_verb),
    **dict.fromkeys(_LOOKS_WITH, looks),
    **dict.fromkeys(("gdb", "lldb"), debugs),
}
