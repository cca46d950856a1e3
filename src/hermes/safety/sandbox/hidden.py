"""Which places of this machine no command may look into: keys, logins, what was typed, and ways to other programs."""

import os
import stat
from collections.abc import Iterable, Iterator

from hermes.safety.keys import CREDENTIALS, PERSONAL, SYSTEM_CREDENTIALS
from hermes.safety.places import Places, inside
from hermes.safety.sandbox.folders import Folders, Listing

# Whoever reaches such a socket can have commands run outside of every bound.
SOCKETS = (".docker/run", ".docker/desktop", ".colima", ".lima", ".1password")
IN_HOMES = (*CREDENTIALS, *PERSONAL, *SOCKETS)
IN_SYSTEM = (
    *SYSTEM_CREDENTIALS,
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
)
# A project's own .npmrc says where its packages come from; npm cannot work without it.
IN_PROJECTS = tuple(name for name in CREDENTIALS if name != ".npmrc")


def hidden(places: Places, work: Listing, folders: Folders) -> Iterator[tuple[str, bool]]:
    """The places there are now, without links: Hermes' home, keys in every home that can be read and in the workspace.

    Each with whether it is a folder.
    """
    for path in folders.lately("hidden", lambda: _elsewhere(places, folders)):
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            continue  # it has gone since
        yield path, stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(path))
    for path in _ends(work.those(IN_PROJECTS)):
        yield path, os.path.isdir(path)


def _elsewhere(places: Places, folders: Folders) -> Iterator[str]:
    yield places.home
    yield from (os.path.realpath(path) for path in IN_SYSTEM if os.access(path, os.R_OK))
    for folder in homes(places.user_home):
        yield from _ends(folders.look(folder).those(IN_HOMES))


def homes(user_home: str) -> list[str]:
    """This person's home, and whichever others this process may look into."""
    try:
        others = [entry.path for entry in os.scandir("/home") if entry.is_dir(follow_symlinks=False)]
    except OSError:
        others = []
    readable = [path for path in ("/root", *others) if os.access(path, os.R_OK | os.X_OK)]
    return list(dict.fromkeys([user_home, *readable]))


def _ends(paths: Iterable[str]) -> Iterator[str]:
    """Where paths lead to. A link out of every home (to /dev/null, say) is left alone: hiding its end would hide too much."""
    for path in paths:
        end = os.path.realpath(path)
        if end == path or not any(inside(end, place) for place in ("/dev", "/proc", "/sys")):
            yield end
