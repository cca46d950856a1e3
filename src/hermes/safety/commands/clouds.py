"""Programs that command other machines and services: looking is free, and every change there asks."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.databases import sql
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import SECRET, SECRET_NAME, UNKNOWN
from hermes.safety.commands.verbs import Verbs, judge_verbs
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

RULE = "remote-state"
_REMOTE = "{} changes something on other machines or services"

_DOCKER = (
    "ps images image.ls image.list image.inspect image.history container.ls container.list container.inspect "
    "container.logs container.top container.stats container.port container.diff logs inspect version info stats top port "
    "diff history events search volume.ls volume.inspect network.ls network.inspect context.ls context.show context.inspect "
    "system.df system.info compose.ps compose.logs compose.config compose.images compose.top compose.ls compose.version "
    "compose.port compose.events manifest.inspect buildx.ls buildx.inspect buildx.version buildx.du node.ls service.ls "
    "service.ps service.logs stack.ls stack.ps stack.services secret.ls config.ls plugin.ls scan scout wait machine.list "
    "pod.ps pod.list"
)
_COMPOSE = "ps logs config images top ls version port events"
VERBS: dict[str, Verbs] = {
    "docker": Verbs(
        reads=_DOCKER,
        works="build image.build compose.build buildx.build compose.pull pull image.pull tag compose.create start "
        "compose.start compose.watch",
        valued="-H --host -c --context --config -f --file -p --project-name --profile --env-file --project-directory",
        rule="containers",
        why="{} starts, ends or changes containers, or what they keep",
    ),
    "docker-compose": Verbs(
        reads=_COMPOSE,
        works="build pull create start",
        valued="-f --file -p --project-name --profile --env-file",
        rule="containers",
        why="{} starts, ends or changes containers, or what they keep",
    ),
    "kubectl": Verbs(
        reads="get describe logs top explain version cluster-info api-resources api-versions diff events wait auth.can-i "
        "auth.whoami config.view config.get-contexts config.current-context config.get-clusters rollout.status "
        "rollout.history kustomize options plugin.list completion",
        works="port-forward",
        asks="--address",
        valued="-n --namespace --context --kubeconfig -s --server --cluster --user -l -o",
        rule=RULE,
        why=_REMOTE,
    ),
    "helm": Verbs(
        reads="list ls status get history show search template lint version env verify dependency.list repo.list "
        "get.values get.manifest diff plugin.list",
        works="create dependency.build dependency.update package",
        valued="-n --namespace --kube-context --kubeconfig",
        rule=RULE,
        why=_REMOTE,
    ),
    "terraform": Verbs(
        reads="plan validate show output version providers graph state.list state.show workspace.list workspace.show "
        "get metadata test",
        works="fmt init",
        rule=RULE,
        why=_REMOTE,
    ),
    "pulumi": Verbs(
        reads="preview stack.ls whoami about logs stack.output stack.history version", rule=RULE, why=_REMOTE
    ),
    "gh": Verbs(
        reads="pr.list pr.view pr.status pr.diff pr.checks issue.list issue.view issue.status run.list run.view run.watch "
        "repo.view repo.list release.list release.view workflow.list workflow.view auth.status search browse status gist.list "
        "gist.view label.list cache.list variable.list ruleset.list org.list alias.list extension.list config.list config.get "
        "project.list project.view secret.list",
        works="pr.checkout repo.clone release.download run.download",
        valued="-R --repo",
        rule=RULE,
        why=_REMOTE,
    ),
    "glab": Verbs(
        reads="mr.list mr.view mr.diff issue.list issue.view ci.list ci.view ci.status repo.view auth.status pipeline.list",
        works="mr.checkout",
        rule=RULE,
        why=_REMOTE,
    ),
    "heroku": Verbs(reads="logs ps apps apps:info releases status whoami version", rule=RULE, why=_REMOTE),
    "vercel": Verbs(reads="ls list inspect logs whoami dev", works="build dev", rule=RULE, why=_REMOTE),
    "netlify": Verbs(reads="status sites:list", works="build dev", rule=RULE, why=_REMOTE),
    "fly": Verbs(reads="status logs apps.list info releases version ping ips.list", rule=RULE, why=_REMOTE),
    "wrangler": Verbs(reads="whoami tail deployments.list", works="dev build types", rule=RULE, why=_REMOTE),
    "firebase": Verbs(reads="projects:list apps:list", works="emulators:start serve", rule=RULE, why=_REMOTE),
    "argocd": Verbs(reads="app.list app.get app.diff app.history version", rule=RULE, why=_REMOTE),
    "vault": Verbs(reads="status version policy.list policy.read auth.list secrets.list", rule=RULE, why=_REMOTE),
    "minikube": Verbs(reads="status ip logs profile.list service.list version", rule=RULE, why=_REMOTE),
    "ollama": Verbs(reads="list ls ps show", works="run", rule="fetched-code", why="{} fetches or changes models"),
    "kind": Verbs(reads="get version", rule=RULE, why=_REMOTE),
    "vagrant": Verbs(reads="status global-status box.list ssh-config validate version", rule=RULE, why=_REMOTE),
    "ansible-galaxy": Verbs(reads="list search info", rule=RULE, why=_REMOTE),
    "consul": Verbs(reads="members catalog kv.get info version", rule=RULE, why=_REMOTE),
    "nomad": Verbs(reads="status node.status job.status alloc.status job.plan version", rule=RULE, why=_REMOTE),
    "packer": Verbs(reads="validate inspect version", works="fmt init", rule=RULE, why=_REMOTE),
}
for _same, _as in (
    ("podman", "docker"),
    ("nerdctl", "docker"),
    ("oc", "kubectl"),
    ("k3s", "kubectl"),
    ("tofu", "terraform"),
    ("terragrunt", "terraform"),
    ("flyctl", "fly"),
    ("podman-compose", "docker-compose"),
):
    VERBS[_same] = VERBS[_as]

_LOOKS = Pattern(
    r"(list|ls|du|cat|stat|hash|describe|get|show|view|read|head|lookup|search|query|scan|check|validate|estimate|wait|tail|filter|"
    r"simulate|preview|explain|info|version|help|select|detect|test|batch-get|export-summary|what-if|status)(-.*)?"
)
_CHANGES = Pattern(
    r"(create|delete|remove|rm|rb|mb|mv|sync|update|put|set|add|attach|detach|start|stop|restart|reboot|terminate|run|"
    r"deploy|apply|destroy|purge|enable|disable|reset|revoke|grant|import|export|upload|publish|invoke|send|modify|cancel|"
    r"deregister|register|restore|scale|resize|patch|replace|write|configure|login|ssh|scp|cp|execute|assign|move|copy|"
    r"associate|disassociate|authorize|release|allocate|rotate|tag|untag|presign|failover|drop|kill|submit|promote)(-.*)?"
)
_KEYS = Pattern(
    r"get-secret-value|get-login-password|get-session-token|get-password-data|get-authorization-token|assume-role.*|"
    r"print-access-token|print-identity-token|get-access-token|get-federation-token|get-credentials|get-role-credentials|"
    r"list-keys|access-keys|keys|credentials?|kubeconfig|list-publishing-.*|list-connection-strings?|show-connection-string|get-user-access-keys|versions|secret|secrets|keyvault|get-token|get-parameters?|--with-decryption"
)


def by_verbs(step: Step, ground: Ground) -> Verdict:
    name, args = step.name, step.args
    words = operands(args, VERBS[name].valued.split())
    match name, words:
        case "gh", ["api", *_]:
            sends = has(args, "-X", "--method", "-f", "-F", "--field", "--raw-field", "--input")
            is_get = (value_of(args, "-X", "--method") or "").upper() == "GET"
            if (
                words[1:2] == ["graphql"]
                and not re.search(r"\bmutation\b|@", " ".join(args))
                and UNKNOWN not in "".join(args)
            ):
                return READS
            return ask(RULE, "gh api sends something") if sends and not is_get else READS
        case (("kubectl" | "oc"), ["get" | "describe", *rest]) if any(re.match(r"secrets?\b", word) for word in rest):
            return ask("credentials", "it shows secrets of the cluster") if has(args, "-o", "--output") else READS
        case (("helm" | "terraform"), _) if any(arg.startswith("--post-renderer") for arg in args):
            return ask("hidden-code", f"{name} is told here what to run")
        case (("docker" | "podman" | "nerdctl"), ["run", *_]):
            return docker_run(step, ground)
        case (("docker" | "podman"), ["compose", "up" | "run", *_]):
            return _compose_up(step)
        case (("docker-compose" | "podman-compose"), ["up" | "run", *_]):
            return _compose_up(step)
        case (("docker" | "podman" | "nerdctl"), ["build" | "buildx", *rest]) if rest and _REMOTE_SOURCE.match(
            rest[-1]
        ):
            return ask("fetched-code", f"{name} build would run what is fetched from elsewhere")
        case (("docker" | "podman"), ["build" | "buildx" | "image", *_]) if has(
            args, "--push"
        ) or "type=registry" in "".join(args):
            return ask("containers", "it pushes an image to a registry")
        case (("vault" | "consul"), ["kv" | "read", *_]):
            return ask("credentials", f"{name} shows secrets")
        case _:
            return judge_verbs(name, VERBS[name], args)


_REMOTE_SOURCE = Pattern(r"\w+://|git@|github\.com/")


def _compose_up(step: Step) -> Verdict:
    if has(step.args, "-d", "--detach", "--privileged", "-V", "--force-recreate"):
        return ask("stays-behind", f"{step.name} leaves containers running")
    return WORKS


_OPENS_THE_BOX = Pattern(
    r"--(privileged|cap-add|device|security-opt|pid|ipc|userns|uts|net|network|restart|detach|volumes-from|entrypoint-from)(=.*)?"
)


def docker_run(step: Step, ground: Ground) -> Verdict:
    """A container that is thrown away and sees only the working folder is work."""
    args = list(step.args)
    if refused := next((arg for arg in args if _OPENS_THE_BOX.fullmatch(arg)), ""):
        return ask("containers", f"{step.name} run {refused} opens the container, or leaves it behind")
    if not has(args[: args.index("run") + 4], "--rm") and "--rm" not in args:
        return ask("stays-behind", "it leaves a container behind")
    for at, arg in enumerate(args):
        mount = ""
        if arg in ("-v", "--volume", "--mount"):
            mount = args[at + 1] if at + 1 < len(args) else ""
        elif arg.startswith(("--volume=", "--mount=", "-v")):
            mount = arg.partition("=")[2] or arg[2:]
        source = next((part.partition("=")[2] for part in mount.split(",") if part.startswith(("source=", "src="))), "")
        folder = source or mount.partition(":")[0]
        if "/" in folder and not ground.is_inside(step, folder):
            return ask("containers", f"it gives {folder} to a container")
    if SECRET in "".join(args) or _passes_a_key(args):
        return ask("credentials", "it hands a key or a password to what is in the container")
    image, inner = _image(args[args.index("run") + 1 :])
    if "/" in image and not re.match(r"(docker\.io/)?library/|localhost[:/]", image):
        return ask("fetched-code", f"{image} is code that somebody else has made")
    mounted = has(args, "-v", "--volume", "--mount")
    if mounted and re.search(r"(^|[\s;&|/])(rm|shred|dd|mkfs\S*|chown|truncate)\s|-delete\b", " ".join(inner)):
        return ask("destroys", "it would remove or change files from inside of a container")
    if any(re.fullmatch(r"-[a-z]*d[a-z]*", arg) for arg in args[: args.index("run") + 6]):
        return ask("stays-behind", "it leaves a container running")
    return WORKS


_RUN_VALUES = listed(
    "-v --volume --mount -w --workdir -e --env --env-file -u --user -p --publish --name --entrypoint -h --hostname -l "
    "--label -m --memory --cpus --platform --pull --tmpfs --add-host --gpus --shm-size --ulimit --dns --network-alias "
    "--cidfile --log-driver --log-opt --stop-signal --stop-timeout --group-add --annotation --init-path"
)


def _image(args: list[str]) -> tuple[str, list[str]]:
    """The image that `docker run` starts, and the command in it."""
    words = iter(args)
    for word in words:
        if word in _RUN_VALUES:
            next(words, "")
        elif not word.startswith("-"):
            return word, list(words)
    return "", []


def _passes_a_key(args: list[str]) -> bool:
    """Whether a variable for keys is handed on by its name alone."""
    named = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-e", "--env")]
    return any(SECRET_NAME.fullmatch(name) for name in named)


def cloud(step: Step, ground: Ground) -> Verdict:
    """aws, gcloud, az and their like: the first word that is a verb decides."""
    name, args = step.name, list(step.args)
    words = operands(args, ("--profile", "--region", "--output", "--project", "--query", "-o", "--subscription"))
    if words[-1:] == ["help"]:
        return READS
    listing = {"list", "describe", "ls"} & set(words) and not {"keys", "credential", "credentials"} & set(words)
    if any(map(_KEYS.fullmatch, [*words, *args])) and not listing:
        return ask("credentials", f"{name} hands out keys or secrets")
    if name == "bq" and words[:1] == ["query"]:
        return sql(" ".join(words[1:]) or step.input.text or UNKNOWN, local=False)
    if name == "aws" and words[:1] == ["configure"]:
        plain = words[1:2] in (["list"], ["list-profiles"]) or (
            words[1:2] == ["get"] and not re.search(r"secret|token|key", " ".join(words[2:]))
        )
        return READS if plain else ask("credentials", "aws configure shows or changes keys")
    if name == "aws" and words[:2] in (["s3", "cp"], ["s3", "sync"]) and len(words) > 3:
        source, target = words[2:4]
        fetches = source.startswith("s3://") and not target.startswith("s3://")
        return ground.writing(step, [target]) or WORKS if fetches else ask("sends-data", "it copies files to a bucket")
    if name in ("gsutil", "gcloud") and "cp" in words and words[-1].startswith(("/", ".")) and "gs://" in words[-2]:
        return ground.writing(step, [words[-1]]) or WORKS
    # In front stands what the verb is about, and that may read like a verb: gcloud run services list.
    about = 1 if name in ("aws", "gcloud", "az", "doctl", "oci") and len(words) > 1 else 0
    for word in words[1:2] if name == "aws" else words[about:]:
        if _CHANGES.fullmatch(word):
            return ask(RULE, _REMOTE.format(" ".join([name, *words[:3]])))
        if _LOOKS.fullmatch(word):
            return ground.reading(step, pieces(args)) or READS
    if name == "gcloud" and words[:1] == ["config"]:
        return READS
    return ask(RULE, _REMOTE.format(" ".join([name, *words[:2]])))


def machines(step: Step, ground: Ground) -> Verdict:
    """ansible, puppet and their like bring other machines into a state."""
    return ask(RULE, f"{step.name} changes other machines")


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(VERBS, by_verbs),
    **dict.fromkeys(
        ("aws", "gcloud", "az", "gsutil", "bq", "doctl", "linode-cli", "oci", "ibmcloud", "hcloud", "eksctl", "s3api"),
        cloud,
    ),
    **dict.fromkeys(("ansible", "ansible-playbook", "salt", "puppet", "chef-client", "fab", "cap"), machines),
}
