"""What a command may see and change: for each place of the file system the rule that is nearest to it.

/                      read
/tmp, /var/tmp         the session's own, removed at its end; of the real one only what leads to the places below
/run                   empty but for name resolution: the sockets there lead out
workspace              write
its .git               write, but for hooks and settings; what starts by itself: read
caches of build tools  folders of the sandbox's own in their place, kept from session to session
keys, Hermes' home     hidden; its skills: read
what was granted       write
"""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from hermes.protocol.safety import Grants
from hermes.safety.places import STARTS_BY_ITSELF, Places, inside
from hermes.safety.sandbox.folders import Folders
from hermes.safety.sandbox.git_programs import runs_later
from hermes.safety.sandbox.hidden import hidden
from hermes.safety.sandbox.repository import git_folders

TEMPORARY = ("/tmp", "/var/tmp")
# Files that a CI service runs do nothing on this machine, reach it only by a push, and change with every branch.
_CI = frozenset({".github/workflows", ".github/actions", ".gitlab-ci.yml", ".circleci", ".buildkite", ".travis.yml"})
_CI |= {".drone.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".git"}
PROTECTED = tuple(name for name in STARTS_BY_ITSELF if name not in _CI)
_SHOWN_OF_RUN = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/media",
    "/run/current-system",
    "/run/opengl-driver",
)

Kind = Literal["read", "write", "hide", "empty"]
"""What is hidden looks like an empty file, or like an empty folder."""


class Mount(Struct, frozen=True):
    """The rule for a place, and what is shown there if it is not what lies there."""

    path: str
    kind: Kind
    source: str = ""


class Bounds(Struct, frozen=True, kw_only=True):
    """What is settled for a session: `own` is its private folder; `caches` are rules too; `paths` the person has opened;
    in the folders of `programs` those lie that the person starts by their names."""

    workspace: str
    places: Places
    own: str
    folders: Folders
    caches: tuple[Mount, ...] = ()
    network: bool = True
    paths: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class Steering(Struct, frozen=True):
    """What in a workspace has other programs start something: git's folders, and files that they read by themselves."""

    stores: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Seen(Struct, frozen=True):
    """All that the bounds of one command depend on, as it lies there now: of `rules` for one place the last one counts."""

    rules: tuple[Mount, ...]
    writable: tuple[str, ...]
    steering: Steering


def steering(bounds: Bounds) -> Steering:
    """Look at the workspace for it."""
    work = bounds.folders.look(bounds.workspace)
    return Steering(tuple(git_folders(work, bounds.folders)), tuple(work.those(PROTECTED)))


def look(bounds: Bounds, cwd: str, grants: Grants) -> Seen:
    """Look at every place that decides what a command may see and change."""
    found = steering(bounds)
    work = bounds.folders.look(bounds.workspace)
    secret = dict(hidden(bounds.places, work, bounds.folders))
    writable = (*_writable(bounds), *found.stores, *bounds.paths)
    rules = (
        *bounds.folders.lately(f"around {bounds.workspace}", lambda: _around(bounds)),
        *_beyond(bounds, cwd, grants),
        *bounds.caches,
        *(Mount(path, "write") for path in writable),
        *(Mount(path, "empty" if is_folder else "hide") for path, is_folder in secret.items()),
        *_skills(bounds),
        *(Mount(path, "read") for path in _protected(bounds, found)),
        *(Mount(path, "write") for path in bounds.paths),
        *_granted(bounds, grants, secret),
    )
    return Seen(rules, writable, found)


def mounts(seen: Seen) -> list[Mount]:
    """The one rule for each place, outer places before inner ones."""
    rules = {mount.path: mount for mount in seen.rules}
    for path in _ways(rules, seen.writable):
        rules[path] = Mount(path, "write")
    return sorted(rules.values(), key=lambda mount: (mount.path.count("/"), mount.path))


def _around(bounds: Bounds) -> Iterator[Mount]:
    """What is the same for every command: temporary folders, and what is needed of /run."""
    yield from _temporary(bounds, _shown_of_tmp(bounds))
    yield from (Mount(path, "read") for path in _SHOWN_OF_RUN if os.path.lexists(path))


def _beyond(bounds: Bounds, cwd: str, grants: Grants) -> Iterator[Mount]:
    """What this one command sees of the real /tmp besides."""
    here = (cwd,) if cwd != bounds.workspace and shown(bounds, cwd) == cwd else ()
    if needed := (*here, *grants.paths):
        yield from (mount for mount in _temporary(bounds, needed) if not mount.source)


def _skills(bounds: Bounds) -> Iterator[Mount]:
    if os.path.isdir(skills := os.path.join(bounds.places.own, "skills")):
        yield Mount(skills, "read")


def _writable(bounds: Bounds) -> Iterator[str]:
    """The workspace. Of a whole home, what has no dot before its name: the rest steers programs."""
    workspace, home = bounds.workspace, bounds.places.user_home
    if not inside(home, workspace):
        yield workspace
    elif workspace == home:
        own = bounds.places.home
        yield from (
            entry.path
            for entry in os.scandir(home)
            if not entry.name.startswith(".") and not entry.is_symlink() and not inside(own, entry.path)
        )


def _protected(bounds: Bounds, found: Steering) -> Iterator[str]:
    """Files in the workspace, and in git's stores that it writes to, that run by themselves later."""
    for folder in found.stores:
        # A folder that is not there cannot be protected, and git is content with an empty one.
        os.makedirs(os.path.join(folder, "hooks"), exist_ok=True)
        yield from runs_later(folder)
    if os.path.isfile(link := os.path.join(bounds.workspace, ".git")) and not os.path.islink(link):
        yield link
    yield from (path for path in found.files if os.path.realpath(path) == path)
    if bounds.workspace == bounds.places.user_home:
        yield from (path for path in bounds.programs if inside(path, bounds.workspace) and os.path.isdir(path))


def _shown_of_tmp(bounds: Bounds) -> tuple[str, ...]:
    """What commands see of the real /tmp if it lies there: their working folder, a home, and the Python that runs Hermes."""
    return bounds.workspace, bounds.places.user_home, sys.prefix


def _temporary(bounds: Bounds, needed: tuple[str, ...]) -> Iterator[Mount]:
    for path, name in zip(TEMPORARY, ("tmp", "var-tmp"), strict=True):
        if not os.path.isdir(path) or bounds.workspace == path:
            continue
        yield Mount(path, "write", os.path.join(bounds.own, name))
        for place in needed:
            if inside(place, path) and place != path and os.path.lexists(top := _first_below(path, place)):
                yield Mount(top, "read")


def shown(bounds: Bounds, path: str) -> str:
    """Where something really lies that has this path inside; what only the real /tmp has is taken from there.

    Whoever asks about what this gave gets the same again.
    """
    if inside(path, bounds.workspace):
        return path
    sources = (bounds.own, *(mount.source for mount in bounds.caches if mount.source))
    if any(inside(path, source) for source in sources):
        return path
    rules = [*bounds.caches, *_temporary(bounds, _shown_of_tmp(bounds))]
    nearest = max((rule for rule in rules if inside(path, rule.path)), key=lambda rule: len(rule.path), default=None)
    if nearest is None or not nearest.source:
        return path
    real = os.path.normpath(os.path.join(nearest.source, os.path.relpath(path, nearest.path)))
    return path if os.path.lexists(path) and not os.path.lexists(real) else real


def named(bounds: Bounds, path: str) -> str:
    """What something is called inside that really lies here."""
    for rule in (*bounds.caches, *_temporary(bounds, ())):
        if rule.source and inside(path, rule.source):
            return os.path.normpath(os.path.join(rule.path, os.path.relpath(path, rule.source)))
    return path


def _first_below(folder: str, path: str) -> str:
    return os.path.join(folder, os.path.relpath(path, folder).split("/")[0])


def _granted(bounds: Bounds, grants: Grants, secret: Iterable[str]) -> Iterator[Mount]:
    for path in _opened(bounds, grants, secret):
        yield Mount(path, "write")
        yield from (Mount(beside, "read") for beside in _beside(bounds, path, grants))


def _opened(bounds: Bounds, grants: Grants, secret: Iterable[str]) -> Iterator[str]:
    """A granted place, or the folder it lies in: most programs replace a file rather than write into it.

    What is hidden is granted by itself, never its folder with all that lies beside it, and so is what lies in the real
    /tmp. What the session has in its own place of that name needs no grant.
    """
    for path in grants.paths:
        if shown(bounds, path) != path:
            continue
        if os.path.dirname(path) in TEMPORARY or any(inside(path, place) for place in secret):
            if os.path.lexists(path):
                yield path
        elif os.path.isdir(folder := os.path.dirname(path)) and folder != "/":
            yield folder
        elif os.path.lexists(path):
            yield path


def _beside(bounds: Bounds, folder: str, grants: Grants) -> Iterator[str]:
    """What steers programs in a folder that is open for the sake of something else in it."""
    if folder in grants.paths:
        return
    if folder == bounds.places.user_home:
        found = (entry.path for entry in os.scandir(folder) if entry.name.startswith("."))
    else:
        found = bounds.folders.look(folder).those(PROTECTED)
    for path in found:
        if not any(inside(granted, path) for granted in grants.paths) and os.path.realpath(path) == path:
            yield path


def _ways(rules: dict[str, Mount], writable: tuple[str, ...]) -> list[str]:
    """The folders between a writable place and what is kept from being written in it.

    Only a folder that has a rule of its own cannot be renamed, with what is protected in it put back changed.
    """
    ways: list[str] = []
    kept = [mount.path for mount in rules.values() if mount.kind != "write"]
    for root in writable:
        for path in kept:
            folder = os.path.dirname(path) if path.startswith(root) else root
            while folder != root and inside(folder, root):
                if folder not in rules:
                    ways.append(folder)
                folder = os.path.dirname(folder)
    return ways
