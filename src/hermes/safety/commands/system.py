"""Programs that change the machine: services, users, disks, network, schedules, processes. Looking at them is free."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.machine import ALWAYS, VERBS, WHY
from hermes.safety.commands.steps import FORK_BOMB, Step
from hermes.safety.commands.verbs import judge_verbs
from hermes.safety.commands.verdicts import READS, WORKS, ask


def _when(
    *options: str, empty: bool = False, rule: str = "system", why: str = WHY
) -> Callable[[Step, Ground], Verdict]:
    """A program that only looks as long as one of these options is set, or (`empty`) nothing is."""

    def judged(step: Step, ground: Ground) -> Verdict:
        if (empty and not step.args) or (options and has(step.args, *options)):
            return READS
        return ask(rule, why.format(step.name))

    return judged


def verbs(step: Step, ground: Ground) -> Verdict:
    if has(step.args, "--display", "--list", "--query", "--get-selections") and step.name == "update-alternatives":
        return READS
    if step.name == "firewall-cmd" and any(re.match(r"--(list|get|state|query|info)", arg) for arg in step.args):
        return READS
    if step.name == "resolvectl" and len(operands(step.args)) > 2 and "query" not in step.args:
        return ask("system", "resolvectl changes whom this machine asks for names")
    return judge_verbs(step.name, VERBS[step.name], step.args)


def always(step: Step, ground: Ground) -> Verdict:
    rule, why = ALWAYS[step.name]
    return ask(rule, why.format(step.name))


def sudo(step: Step, ground: Ground) -> Verdict:
    looks = step.args and all(arg in ("-l", "-v", "-k", "-K", "-n", "-ll", "-V", "-nv", "-U") for arg in step.args)
    return READS if looks else always(step, ground)


def service(step: Step, ground: Ground) -> Verdict:
    looks = step.args[-1:] == ("status",) or step.args == ("--status-all",)
    return READS if looks else ask("system", "service starts or ends a service")


def sysctl(step: Step, ground: Ground) -> Verdict:
    sets = has(step.args, "-w", "-p", "--write", "--load", "--system") or any("=" in arg for arg in step.args)
    return ask("system", "sysctl changes the kernel's settings") if sets else READS


def iptables(step: Step, ground: Ground) -> Verdict:
    looks = has(step.args, "-L", "-S", "--list", "--list-rules", "-C") and not has(
        step.args, "-F", "-A", "-D", "-I", "-P"
    )
    return (
        READS
        if looks or (step.name.endswith("-save") and not step.writes)
        else ask("firewall", f"{step.name} changes the firewall")
    )


def ip(step: Step, ground: Ground) -> Verdict:
    changes = listed("add del delete set flush change replace up down exec append")
    return ask("system", "ip changes the network") if changes & set(step.args) else READS


def few_words(step: Step, ground: Ground) -> Verdict:
    """ifconfig, route, hostname, ulimit: with a name or less they show, with more they set."""
    most = 1 if step.name == "ifconfig" else 0
    return READS if len(operands(step.args)) <= most else ask("system", WHY.format(step.name))


def date(step: Step, ground: Ground) -> Verdict:
    words = [word for word in operands(step.args, ("-d", "--date", "-r", "-f", "-v", "-j")) if not word.startswith("+")]
    sets = (
        has(step.args, "--set") or any(arg.startswith("-s") for arg in step.args) or (words and "-j" not in step.args)
    )
    return ask("system", "date sets the clock") if sets else READS


def journalctl(step: Step, ground: Ground) -> Verdict:
    erases = any(re.match(r"--(vacuum|rotate|flush|sync|relinquish|setup)", arg) for arg in step.args)
    return ask("traces", "it removes logs") if erases else READS


def crontab(step: Step, ground: Ground) -> Verdict:
    looks = has(step.args, "-l") and not has(step.args, "-r", "-e")
    return READS if looks else ask("schedule", "crontab changes what this machine runs by itself")


def at(step: Step, ground: Ground) -> Verdict:
    looks = has(step.args, "-l", "-c", "-q") or step.name == "atq"
    return READS if looks else ask("schedule", "at has this machine run something later")


def kill(step: Step, ground: Ground) -> Verdict:
    """One process that the command names is fair; many, by name or unknown, are not."""
    words = [arg for number, arg in enumerate(step.args) if not arg.startswith("-") or (number and arg[1:].isdecimal())]
    if has(step.args, "-l", "-L") or (len(step.args) > 1 and step.args[0] == "-0"):
        return READS
    words = words[1:] if step.args[:1] in (("-s",), ("-n",)) else words
    fair = words and all(re.fullmatch(r"%[\w+-]*|[1-9]\d+", word) for word in words)
    return WORKS if fair else ask("kills", "nobody can tell which programs this ends")


def pkill(step: Step, ground: Ground) -> Verdict:
    if has(step.args, "-0", "-l", "--list") and not has(step.args, "-9"):
        return READS
    return ask("kills", f"{step.name} ends every program that is called so")


def mount(step: Step, ground: Ground) -> Verdict:
    return READS if not operands(step.args, ("-t",)) else ask("disks", "mount changes which disks are where")


def history(step: Step, ground: Ground) -> Verdict:
    erases = has(step.args, "-c", "-d", "-w", "-r")
    return ask("traces", "it changes the record of what was typed") if erases else READS


def hermes(step: Step, ground: Ground) -> Verdict:
    """Hermes itself: looking at it is free, telling it how to behave asks."""
    words = operands(step.args)
    looks = [
        ["version"],
        ["config", "show"],
        ["config", "get"],
        ["config", "path"],
        ["sessions", "list"],
        ["sessions", "show"],
        ["policy", "explain"],
        ["policy", "redact"],
        ["model", "list"],
        ["prompt-size"],
        ["auth", "list"],
        ["replay"],
        ["doctor"],
        ["status"],
        ["sessions", "export"],
        ["checkpoints", "list"],
        ["mcp", "list"],
        ["skills", "list"],
    ]
    if not has(step.args, "--yolo") and any(words[: len(look)] == look for look in looks):
        return READS
    return ask("own-policy", "it changes how Hermes itself behaves, or starts another one")


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(VERBS, verbs),
    **dict.fromkeys(ALWAYS, always),
    FORK_BOMB: lambda step, ground: ask("fork-bomb", "it starts itself again and again"),
    "sudo": sudo,
    "service": service,
    "sysctl": sysctl,
    **dict.fromkeys(("iptables", "ip6tables", "ebtables", "arptables", "iptables-save", "ip6tables-save"), iptables),
    **dict.fromkeys(
        ("iptables-restore", "ipset", "pfctl"), _when("-s", "-L", rule="firewall", why="{} changes the firewall")
    ),
    "ip": ip,
    **dict.fromkeys(("ifconfig", "route", "hostname", "domainname"), few_words),
    "date": date,
    "journalctl": journalctl,
    "dmesg": lambda step, ground: (
        ask("traces", "it clears the kernel's log") if has(step.args, "-C", "-c", "--clear") else READS
    ),
    "crontab": crontab,
    **dict.fromkeys(("at", "atq", "atrm"), at),
    "kill": kill,
    **dict.fromkeys(("pkill", "killall", "xkill", "fuser", "killall5"), pkill),
    "mount": mount,
    "fdisk": _when("-l", "--list", rule="disks"),
    "parted": _when("-l", "--list", rule="disks"),
    "mdadm": _when("--detail", "-D", "--examine", "-E", rule="disks"),
    "hdparm": _when("-I", "-i", rule="disks"),
    "smartctl": _when("-a", "-i", "-H", "-A", "-x", "--all", "--info", "--health", rule="disks"),
    "ldconfig": _when("-p", "-v"),
    "chkconfig": _when("--list"),
    "apt-mark": _when(),
    "apt-key": _when(),
    "add-apt-repository": _when(),
    "ssh-add": _when("-l", "-L", rule="credentials", why="{} hands keys to other programs"),
    "ssh-keygen": _when("-l", "-F", "-B", rule="credentials", why="{} makes or changes keys"),
    "gpg": _when(
        "--verify",
        "--list-keys",
        "--list-secret-keys",
        "-K",
        "--version",
        "--list-packets",
        "-k",
        "--fingerprint",
        rule="credentials",
        why="{} uses or changes keys",
    ),
    "history": history,
    "fc": history,
    "hermes": hermes,
    "screen": _when("-ls", "-list", rule="stays-behind", why="{} leaves something running"),
    "act": _when("-l", "--list", "-n", "--dryrun", rule="containers", why="{} runs jobs in containers"),
    "swapon": _when("--show", "-s", rule="disks"),
    "tcpdump": _when("-r", "--version", "-D", rule="attack", why="{} listens to the network"),
    "nmap": lambda step, ground: (
        READS
        if all(re.match(r"localhost|127\.", w) for w in operands(step.args, ("-p", "-oN")))
        else ask("attack", "it searches other machines for ways in")
    ),
}
