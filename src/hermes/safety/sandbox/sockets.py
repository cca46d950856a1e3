"""Ways to other programs that are no files: whoever reaches one may have commands run beyond all bounds.

A key agent, a container engine, an editor or the screen listens on a socket, by a path or by a name that lies in no folder.
A read-only place does not keep anybody from connecting to what lies there.
"""

import logging
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from hermes.safety.sandbox import landlocked

log = logging.getLogger(__name__)

TABLE = "/proc/net/unix"
SINCE = 6
"""The version of Landlock that knows of names that lie in no folder: Linux 6.12."""


def paths() -> Iterator[str]:
    """Where sockets lie now, as far as they have a path from the root on that has no link in it."""
    try:
        with open(TABLE, errors="surrogateescape") as table:
            found = {fields[7].rstrip("\n") for line in table if len(fields := line.split(maxsplit=7)) > 7}
    except OSError:
        return
    for path in sorted(found):
        if path.startswith("/") and _is_socket(path):
            yield path


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode) and os.path.realpath(path) == path
    except OSError:
        return False


class Scoped:
    """Starts programs from a thread that can reach no nameless socket but those of programs that it has started."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[Callable[[], subprocess.Popen[bytes]] | None] = SimpleQueue()
        self._started: SimpleQueue[subprocess.Popen[bytes] | Exception] = SimpleQueue()
        self._turn = Lock()
        # One thread for the whole life of a session: programs that die with their parent die with the thread.
        Thread(target=self._run, name="scoped", daemon=True).start()

    def popen(self, *args: Any, **options: Any) -> subprocess.Popen[bytes]:
        with self._turn:
            self._asked.put(partial(subprocess.Popen[bytes], *args, **options))
            started = self._started.get()
        if isinstance(started, Exception):
            raise started
        return started

    def close(self) -> None:
        self._asked.put(None)

    def _run(self) -> None:
        try:
            landlocked.scope()
        except OSError as error:
            log.warning("commands can reach sockets that have no file: %s", error)
        while (start := self._asked.get()) is not None:
            try:
                self._started.put(start())
            except Exception as error:
                self._started.put(error)  # it is raised where somebody waits for it


def can_scope(program: str) -> bool:
    """Whether a program can be started so; one with the rights of its owner would lose them."""
    return landlocked.version() >= SINCE and not os.stat(program).st_mode & stat.S_ISUID
