"""Which files may be read and written without a question: a verdict for each path."""

import os
import re
from functools import cache

from msgspec import Struct

from hermes.protocol.actions import Verdict
from hermes.safety.keys import CREDENTIALS, KEY_FILE, PERSONAL, PUBLIC, SYSTEM_CREDENTIALS

ALLOW, ASK, BLOCK = "allow", "ask", "block"

# What a machine runs by itself later: git hooks, the shell's and the desktop's start-up, editors' tasks, CI.
STARTS_BY_ITSELF = (
    ".git",
    ".githooks",
    ".husky",
    ".pre-commit-config.yaml",
    ".gitconfig",
    ".config/git",
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    ".drone.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    ".envrc",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".devcontainer",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    "library/launchagents",
)

OWN_SECRETS = frozenset({".env", "auth.json", "mcp-tokens"})
_MEMORY_OF_A_PROCESS = re.compile(r"/proc/[^/]+(/task/[^/]+)?/(environ|mem)")
# On this machine such a path was followed already, unless the system forbade it.
_THROUGH_A_PROCESS = re.compile(r"/proc/(?!self/)[^/]+(/task/[^/]+)?/(root|cwd|fd|map_files)(/.*)?")
_HARMLESS_DEVICES = frozenset({"/dev/null", "/dev/zero", "/dev/stdin", "/dev/tty", "/dev/urandom", "/dev/random"})
_KERNEL = ("/proc", "/sys", "/dev", "/boot")
_HOMES = ("/home", "/Users")
TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp")
# Where a command may send what it says, though they are no files to write.
SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


class Places(Struct, frozen=True, kw_only=True):
    """Hermes' own home with all its profiles, the person's, and the home of the profile in use if it is one of them;
    all absolute and without links."""

    home: str
    user_home: str
    profile: str = ""

    @property
    def own(self) -> str:
        """The home whose settings and skills are in use."""
        return self.profile or self.home


def places_of(home: str | os.PathLike[str], user_home: str | os.PathLike[str]) -> Places:
    """The places of a home, which may be that of a profile: then what is protected is the whole of which it is a part."""
    own, person = os.path.realpath(home), os.path.realpath(user_home)
    above, name = os.path.split(os.path.dirname(own))
    if name == "profiles":
        return Places(home=above, user_home=person, profile=own)
    return Places(home=own, user_home=person)


def followed(path: str) -> str:
    """A path with its links followed; one that leads through what nobody may look into stays as it is written."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return os.path.normpath(path)


class Follower:
    """Follows the links in the paths of one command; most lie in the same few folders, which are followed once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        folder, name = os.path.split(os.path.normpath(path))
        if not name or name == ".." or not folder:
            return followed(path)
        if folder not in self._folders:
            self._folders[folder] = followed(folder)
        real = os.path.join(self._folders[folder], name)
        return followed(path) if "\0" in real or os.path.islink(real) else real


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it; nothing lies in the empty path."""
    return bool(folder) and (path == folder or path.startswith(folder.rstrip("/") + "/"))


def names_one_of(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns stands in the path as whole names; case does not count, as on some file systems."""
    alone, joined = _split(patterns)
    padded = "/" + path.casefold().strip("/") + "/"
    return not alone.isdisjoint(padded.split("/")) or any(pattern in padded for pattern in joined)


@cache
def _split(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Those of one name, and those of several with slashes around them: each is asked about for every path."""
    return frozenset(one for one in patterns if "/" not in one), tuple(f"/{one}/" for one in patterns if "/" in one)


def is_credential(path: str) -> bool:
    return names_one_of(path, CREDENTIALS) or any(inside(path, place) for place in SYSTEM_CREDENTIALS)


def is_personal(path: str, places: Places) -> bool:
    """Whether a path is one of those, in a person's home, that hold logins or what was typed."""
    parts = path.split("/")
    homes = (
        (places.user_home, "/root", "/".join(parts[:3]) if "/" + parts[1] in _HOMES else "") if len(parts) > 1 else ()
    )
    return any(inside(path, home) and _begins_with_one_of(path[len(home) :], PERSONAL) for home in homes)


def _begins_with_one_of(rest: str, patterns: tuple[str, ...]) -> bool:
    padded = rest.casefold().strip("/") + "/"
    return any(padded.startswith(pattern) for pattern in _by_top(patterns).get(padded.partition("/")[0], ()))


@cache
def _by_top(patterns: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pattern in patterns:
        found.setdefault(pattern.casefold().partition("/")[0], []).append(f"{pattern.casefold()}/")
    return found


def is_own_secret(path: str, places: Places) -> bool:
    """Whether a path is one of the files where Hermes keeps keys, in its home or that of a profile."""
    if not _inside_whatever_case(path, places.home):
        return False
    names = path[len(places.home.rstrip("/")) + 1 :].split("/")
    if names[0].casefold() == "profiles":
        names = names[2:]
    return bool(names) and names[0].casefold() in OWN_SECRETS


def holds_credentials(folder: str, places: Places, *, local: bool) -> bool:
    """Whether a search through this folder would come across keys: Hermes' own, a home's, the system's, or its own.

    On this machine (`local`) the folder itself is looked at too, but not those in it.
    """
    secrets = [*SYSTEM_CREDENTIALS, "/proc", *(os.path.join(places.user_home, pattern) for pattern in CREDENTIALS)]
    if any(inside(place, folder) for place in secrets) or inside(folder, "/proc"):
        return True
    if folder in ("/root", *_HOMES) or os.path.dirname(folder) in _HOMES:
        return True
    if places.home and (inside(places.home, folder) or _holds_own_secrets(folder, places)):
        return True
    return local and any(os.path.lexists(os.path.join(folder, pattern)) for pattern in CREDENTIALS)


def _holds_own_secrets(folder: str, places: Places) -> bool:
    profiles = os.path.join(places.home, "profiles")
    return folder == profiles or os.path.dirname(folder) == profiles


def reading(path: str, places: Places, workspace: str = "") -> Verdict:
    if is_own_secret(path, places):
        return Verdict(BLOCK, "own-secrets", f"{path} holds Hermes' own keys; the person can look at it themselves")
    if _MEMORY_OF_A_PROCESS.fullmatch(path):
        return Verdict(BLOCK, "process-memory", f"{path} shows the keys of a running program")
    if _THROUGH_A_PROCESS.fullmatch(path):
        return Verdict(ASK, "process-memory", f"{path} leads to what another program has open")
    if is_credential(path):
        return Verdict(ASK, "credentials", f"{path} is a place where keys are kept")
    if is_personal(path, places):
        return Verdict(ASK, "credentials", f"{path} is where logins are kept, or what was typed")
    if not inside(path, workspace) and not path.startswith(PUBLIC) and KEY_FILE.fullmatch(path):
        return Verdict(ASK, "credentials", f"{path} is a key by its name")
    if inside(path, "/dev") and path not in _HARMLESS_DEVICES and not inside(path, "/dev/fd"):
        return Verdict(ASK, "device", f"{path} is a device")
    return Verdict(ALLOW, "read")


def writing(path: str, workspace: str, places: Places) -> Verdict:
    if any(inside(path, place) for place in _KERNEL) and not inside(path, "/dev/shm"):
        return Verdict(BLOCK, "kernel", f"{path} is part of the running system, not a file to write")
    if _is_own(path, workspace, places):
        return Verdict(ASK, "own-files", f"{path} decides how Hermes itself behaves")
    if is_credential(path):
        return Verdict(ASK, "credentials", f"{path} is a place where keys are kept")
    if names_one_of(path, STARTS_BY_ITSELF):
        return Verdict(ASK, "starts-by-itself", f"{path} is run later without anybody asking for it")
    if workspace != "/" and inside(path, workspace):
        return Verdict(ALLOW, "workspace")
    where = f"the working folder {workspace}" if workspace else "a working folder"
    return Verdict(ASK, "outside", f"{path} is outside {where}")


def _is_own(path: str, workspace: str, places: Places) -> bool:
    """Everything in Hermes' home, but for a working folder that lies in its `workspace/`."""
    desk = os.path.join(places.own, "workspace")
    return _inside_whatever_case(path, places.home) and not (inside(workspace, desk) and inside(path, workspace))


def _inside_whatever_case(path: str, folder: str) -> bool:
    """The same as inside where a file system does not tell small letters from capitals."""
    return len(path) >= len(folder) and inside(path[: len(folder)].casefold() + path[len(folder) :], folder.casefold())
