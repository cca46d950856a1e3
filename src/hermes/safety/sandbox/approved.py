"""What a person's yes to a command opens: the places that it names, or everything if its work lies out of bounds.

A person approves what they read, and so a command that names no place out of bounds stays within them. One whose whole point
is to reach other programs, other machines with the person's keys, or the system, runs without bounds.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hermes.protocol.safety import Grants

if TYPE_CHECKING:
    from hermes.safety.commands.read import Reading

_OUT_OF_BOUNDS = """
sudo doas su pkexec systemctl service journalctl loginctl crontab at batch mount umount modprobe sysctl iptables nft ufw
apt apt-get dpkg dnf yum rpm pacman zypper apk snap flatpak brew nix-env useradd usermod userdel groupadd passwd chpasswd
docker podman nerdctl buildah kubectl helm k9s minikube vagrant virsh kill pkill killall tmux screen
ssh scp sftp rsync ssh-add ssh-keygen ssh-copy-id gpg gpg2 pass op secret-tool gh glab aws gcloud gsutil az doctl flyctl
heroku vercel netlify terraform tofu pulumi ansible ansible-playbook rclone twine hermes xdg-open notify-send
pipx rustup nvm pyenv asdf mise conda mamba
"""
OUT_OF_BOUNDS = frozenset(_OUT_OF_BOUNDS.split())
# Of these programs, the parts that speak to somebody else with the person's keys, or install for the whole home or machine.
PARTS_OUT_OF_BOUNDS = {
    "git": frozenset({"push", "pull", "fetch", "clone", "ls-remote", "submodule", "remote", "credential"}),
    "npm": frozenset({"publish", "login", "logout", "adduser", "token", "unpublish", "deprecate", "-g", "--global"}),
    "pnpm": frozenset({"publish", "login", "-g", "--global"}),
    "yarn": frozenset({"publish", "login", "global"}),
    "pip": frozenset({"--user", "--break-system-packages"}),
    "pip3": frozenset({"--user", "--break-system-packages"}),
    "cargo": frozenset({"publish", "login", "logout", "yank", "owner", "install"}),
    "go": frozenset({"install"}),
    "gem": frozenset({"push", "signin", "yank", "install"}),
    "poetry": frozenset({"publish"}),
    "uv": frozenset({"publish", "tool"}),
}


def grants_of(reading: "Reading", folder: str, user_home: str) -> Grants:
    """What a person's yes to a command opens."""
    steps = reading.steps
    argvs = [argv for step in steps for argv in ((*step.before, *step.argv, *step.writes), step.argv)]
    understood = len(steps) == len(reading.found) and all(step.plain for step in steps)
    return grants_for(argvs, folder, user_home, understood=understood)


def grants_for(commands: Iterable[Sequence[str]], cwd: str, user_home: str, *, understood: bool = True) -> Grants:
    """The grants for a command that a person approved, by the words of each simple command in it.

    `understood` says whether these words are all that will run.
    """
    argvs = [tuple(argv) for argv in commands if argv]
    if not understood or any(map(_reaches_out, argvs)):
        return Grants(everything=True)
    paths = (path for argv in argvs for word in argv[1:] for path in _paths(word, cwd, user_home))
    return Grants(paths=tuple(dict.fromkeys(paths)))


def notice(grants: Grants) -> str:
    """What the question to the person should say about the sandbox."""
    if grants.everything:
        return "it would run outside of the sandbox"
    return f"it could also read and change {', '.join(grants.paths)}" if grants.paths else ""


def beyond(grants: Grants, workspace: str) -> Grants:
    """The same without what lies in the workspace anyway."""
    root = workspace.rstrip("/") + "/"
    return Grants(tuple(path for path in grants.paths if not path.startswith(root)), grants.everything)


def _reaches_out(argv: tuple[str, ...]) -> bool:
    program = os.path.basename(argv[0])
    parts = PARTS_OUT_OF_BOUNDS.get(program, frozenset())
    return program in OUT_OF_BOUNDS or any(word in parts for word in argv[1:])


def _paths(word: str, cwd: str, user_home: str) -> Iterator[str]:
    """The places that a word can mean: as it stands, and behind a `=` as in --prefix=/opt."""
    for text in (word, word.partition("=")[2]):
        if text == "~" or text.startswith("~/"):
            text = user_home + text[1:]
        if "\0" in text or not (text.startswith("/") or ".." in text or os.path.lexists(os.path.join(cwd, text))):
            continue
        path = os.path.realpath(os.path.join(cwd, text))
        if text and path != "/" and os.path.isdir(os.path.dirname(path)):
            yield path
