"""The ground that a command stands on: which of the paths that it names may be read and written without a question."""

import os
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch

from msgspec import Struct

from hermes.protocol.actions import Verdict
from hermes.safety.commands.names import Names
from hermes.safety.commands.steps import Step, path_from
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import ask
from hermes.safety.keys import CREDENTIALS, SYSTEM_CREDENTIALS
from hermes.safety.patterns import Pattern
from hermes.safety.places import (
    ALLOW,
    OWN_SECRETS,
    SINKS,
    TEMPORARY,
    Places,
    followed,
    holds_credentials,
    inside,
)

MOST_NAMES = 3000

OnPath = Callable[[str], Verdict]

_OUTPUTS = Pattern(r"/dev/(null|stdout|stderr|tty|fd/.*)|/proc/self/fd/\d+")
_PATTERN = Pattern(r"[*?\[]")
_REMOTE = Pattern(r"[\w.@-]+:(?!//)|\w+://")
_JOINTS = Pattern(r"file://|[=@:,]")


class Ground(Struct, frozen=True):
    """Where a command runs, what settles whether a path may be read or written, and whether ssh finds no keys there."""

    workspace: str
    places: Places
    local: bool
    read: OnPath
    write: OnPath
    real: Callable[[str], str] = followed
    hides_keys: Callable[[], bool] = lambda: False

    def paths(self, step: Step, text: str) -> list[str]:
        """The real paths that a word may stand for, one for each folder that the command may be in."""
        if "\0" in text:
            return []
        real = self.real if self.local and UNKNOWN not in text else os.path.normpath
        return [real(_through_links(path_from(cwd, text), step.links)) for cwd in step.cwds]

    def is_inside(self, step: Step, text: str) -> bool:
        """Whether a word names something in the working folder and nothing else."""
        if self.workspace in ("", "/") or UNKNOWN in text or "\0" in text or _REMOTE.match(text):
            return False
        return all(inside(path, self.workspace) for path in self.paths(step, text))

    def is_temporary(self, step: Step, text: str) -> bool:
        """Whether a word names, from the root on, something in the folder for temporary files, but not all of it.

        A home may lie there too; what is in it is not temporary.
        """
        return (
            text.startswith(TEMPORARY)
            and UNKNOWN not in text
            and all(
                any(inside(path, place) and path != place for place in TEMPORARY)
                and not any(inside(kept, path) for kept in (self.workspace, self.places.user_home, self.places.home))
                and not any(inside(path, home) for home in (self.places.user_home, self.places.home))
                for path in self.paths(step, text)
            )
        )

    def reading(self, step: Step, texts: Iterable[str]) -> Verdict | None:
        """Why one of these may not be read without a question, or None."""
        for text in dict.fromkeys(texts):
            for path in self._matches(step, text):
                if (verdict := self.read(path)).decision != ALLOW:
                    return verdict
                if path in ("/proc/kcore", "/proc/kmem", "/proc/kmsg"):
                    return ask("process-memory", f"{path} is the memory of the whole machine")
        return None

    def searching(self, step: Step, texts: Iterable[str]) -> Verdict | None:
        """The same for whole folders, where keys may lie somewhere in them."""
        for text in texts:
            for path in self.paths(step, text):
                if holds_credentials(path, self.places, local=self.local):
                    return ask("credentials", f"{step.name} would look through {path}, where keys are kept")
        return None

    def writing(self, step: Step, texts: Iterable[str]) -> Verdict | None:
        """Why one of these may not be written without a question, or None."""
        for text in texts:
            if text in SINKS or _OUTPUTS.fullmatch(text):
                continue
            if text.startswith(UNKNOWN) or not text:
                return ask("unknown-target", f"nobody can tell where {step.name or 'it'} would write")
            for path in self.paths(step, text):
                verdict = self.write(path)
                if verdict.decision != ALLOW and not (verdict.rule == "outside" and self._is_new_scratch(step, text)):
                    return verdict
        return None

    def _is_new_scratch(self, step: Step, text: str) -> bool:
        """Whether this makes a new temporary file: nothing of anybody's is lost, and nothing runs it."""
        return (self.is_temporary(step, text) or self._went_to_scratch(step, text)) and not (
            self.local and any(map(os.path.lexists, self.paths(step, text)))
        )

    def _went_to_scratch(self, step: Step, text: str) -> bool:
        """Whether a word is temporary behind a `cd /tmp/x`, and in the working folder if that `cd` fails."""
        paths = {path_from(cwd, text) for cwd in step.cwds}
        there = {path for path in paths if not inside(path, self.workspace)}
        begun = any(cwd.startswith(TEMPORARY) and not inside(cwd, self.workspace) for cwd in step.cwds)
        return begun and all(self.is_temporary(step, path) for path in there)

    def _matches(self, step: Step, text: str) -> Iterator[str]:
        """What a word or a pattern stands for; of patterns also the places of keys that it would match."""
        yield from self.paths(step, text)
        if not _PATTERN.search(text):
            return
        names = Names(MOST_NAMES if self.local else 0)
        for path in (path_from(cwd, text) for cwd in step.cwds):
            yield from map(self.real, names.matching(path, "/") or ())
            yield from (place for place in self._secrets() if _may_match(place, path))

    def _secrets(self) -> Iterator[str]:
        yield from SYSTEM_CREDENTIALS
        yield from (os.path.join(self.places.user_home, name) for name in CREDENTIALS)
        yield from (os.path.join(self.places.user_home, ".ssh", name) for name in CREDENTIALS if name.startswith("id_"))
        homes = {self.places.home, self.places.own}
        yield from (os.path.join(home, name) for home in homes for name in OWN_SECRETS)


def _through_links(path: str, links: Iterable[tuple[str, str]]) -> str:
    """A path as it will be once the links exist that the same command makes."""
    for link, target in links:
        if inside(path, link):
            path = target + path[len(link) :]
    return path


def _may_match(place: str, pattern: str) -> bool:
    return place.count("/") == pattern.count("/") and fnmatch(place, pattern)


def pieces(args: Iterable[str]) -> list[str]:
    """Everything in arguments that may name a file, behind `=`, `@` and `:` as well."""
    found: list[str] = []
    for arg in args:
        found += [arg, *_JOINTS.split(arg)]
        if arg.startswith("-"):
            found.append(arg[2:])
    return [piece for piece in dict.fromkeys(found) if piece and not piece.startswith("-")]
