"""The folders that the commands of a session get for their own: temporary files, and caches of build tools."""

import hashlib
import os
import stat
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hermes.safety.places import Places
from hermes.safety.sandbox import caches
from hermes.safety.sandbox.bounds import TEMPORARY, Bounds
from hermes.safety.sandbox.folders import Folders


class Prepared(Struct, frozen=True):
    """Bounds whose folders are made, and the variables that lead there."""

    bounds: Bounds
    variables: dict[str, str]


def prepare(
    session: str, places: Places, env: Mapping[str, str], *, paths: tuple[str, ...], network: bool, covers: bool
) -> Prepared:
    """Make the folders; `covers` says whether one can be put over another, or variables have to lead there."""
    own = _private_folder(session)
    for name in ("tmp", "var-tmp"):
        os.makedirs(os.path.join(own, name), mode=0o700, exist_ok=True)
    kept = os.path.join(places.home, "sandbox", "caches")
    home = places.user_home
    bounds = Bounds(
        workspace="",
        places=places,
        own=own,
        folders=Folders(),
        network=network,
        paths=opened(paths, places),
        programs=tuple(os.path.realpath(path) for path in env.get("PATH", "").split(":") if path),
    )
    if not covers:
        return Prepared(bounds, {**caches.moved(kept), "TMPDIR": os.path.join(own, "tmp")})
    rules, variables = caches.covered(home, env, kept)
    return Prepared(replace(bounds, caches=rules), variables)


def opened(paths: tuple[str, ...], places: Places) -> tuple[str, ...]:
    """The places that the settings open to every command, without `~` and links."""
    named = (path.replace("~", places.user_home, 1) if path.startswith("~/") else path for path in paths)
    return tuple(map(os.path.realpath, named))


def _private_folder(session: str) -> str:
    """A folder that only this person can look into; the same one when a session is resumed after a crash."""
    name = f"hermes-{os.getuid()}-{hashlib.sha256(session.encode()).hexdigest()[:12]}"
    path = os.path.join(TEMPORARY[0], name)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        seen = os.lstat(path)
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o077:
            import tempfile

            return tempfile.mkdtemp(prefix="hermes-", dir=TEMPORARY[0])
    return path
