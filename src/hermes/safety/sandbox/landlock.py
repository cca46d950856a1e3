"""The same bounds where there is no bubblewrap, as far as Landlock can draw them.

Landlock cannot put one folder over another or make an exception within what it permits. So temporary files and caches go
to the sandbox's folders by variables and the real /tmp is not writable; hooks in the workspace are; the names of hidden
files can be seen, though not what is in them; and who may read a file elsewhere can be changed, for it knows nothing of
modes. Processes are ended by their marks alone.
"""

import sys
from collections.abc import Mapping

from hermes.safety.places import inside
from hermes.safety.sandbox import landlocked
from hermes.safety.sandbox.bounds import Seen, mounts

WEAKER = (
    "commands are held by Landlock: git hooks in the working folder and modes of files elsewhere are not protected, and "
    "sockets of other programs can be reached; install bubblewrap for the full sandbox"
)
TCP_ONLY = "; of the network only TCP is cut off"
NO_NETWORK_RULES = "; this kernel's Landlock cannot cut off the network"


def notice(network: bool, abi: int) -> str:
    """What people should know about it."""
    return WEAKER + ("" if network else TCP_ONLY if abi >= 4 else NO_NETWORK_RULES)


def arguments(seen: Seen, argv: tuple[str, ...], extra: Mapping[str, str], *, network: bool) -> tuple[str, ...]:
    """The call of our launcher; `extra` are folders that variables lead to."""
    rules = mounts(seen)
    hidden = [mount.path for mount in rules if mount.kind in ("hide", "empty")]
    shown = [m.path for m in rules if m.kind == "read" and any(inside(m.path, place) for place in hidden)]
    writable = [mount.path for mount in rules if mount.kind == "write" and not mount.source]
    return (
        # -I and -S keep the working folder and the person's settings from deciding what is imported.
        *(sys.executable, "-I", "-S", landlocked.__file__),
        "on" if network else "off",
        *(f"+{path}" for path in dict.fromkeys([*writable, *extra.values()])),
        *(f"-{path}" for path in hidden),
        *(f"={path}" for path in shown),
        "--",
        *argv,
    )
