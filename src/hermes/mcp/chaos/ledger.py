"""What the fault server has seen and done, countable from outside and after its death."""

import os
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

Kind = Literal[
    "request",  # a JSON-RPC request or notification, by method; GET and DELETE by that name
    "run",  # a tool was executed, by tool
    "key",  # the tool count was executed, by key
    "fault",  # a fault was played, by its number in the order of arming
    "cancelled",  # a request was cancelled, by its id
    "session",  # a session was opened, by id
    "ended",  # a session was dropped or deleted, by id
    "opened",  # a connection came
    "closed",  # a connection went
    "process",  # a process started, by pid
]


class Counts(Struct, frozen=True, kw_only=True):
    """All that can be counted; `connections` and `sessions` are those alive, `opened` all sessions there ever were."""

    requests: dict[str, int] = {}
    runs: dict[str, int] = {}
    keys: dict[str, int] = {}
    cancelled: int = 0
    faults: int = 0
    opened: int = 0
    sessions: int = 0
    connections: int = 0
    processes: tuple[int, ...] = ()

    @property
    def initializations(self) -> int:
        return self.requests.get("initialize", 0)

    @property
    def discoveries(self) -> int:
        return self.requests.get("server/discover", 0)


class Ledger:
    """Notes events; with a folder they are lines of its log, which holds those of earlier processes too."""

    def __init__(self, folder: Path | None = None) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._log = -1
        if folder:
            self._seen = _read(folder)
            self._log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, kind: Kind, name: str = "") -> None:
        self._seen[kind, name] += 1
        if self._log >= 0:
            os.write(self._log, msgspec.json.encode((kind, name)) + b"\n")

    def count(self, kind: Kind, name: str) -> int:
        return self._seen[kind, name]

    @property
    def counts(self) -> Counts:
        return _counts(self._seen)

    def close(self) -> None:
        if self._log >= 0:
            os.close(self._log)
            self._log = -1


def read_counts(folder: Path) -> Counts:
    """The counts of every process that has used this folder."""
    return _counts(_read(folder))


def _read(folder: Path) -> Counter[tuple[str, str]]:
    log = folder / "log"
    lines = log.read_bytes().splitlines() if log.exists() else []
    return Counter(msgspec.json.decode(line, type=tuple[str, str]) for line in lines)


def _counts(seen: Counter[tuple[str, str]]) -> Counts:
    def by_name(kind: Kind) -> dict[str, int]:
        return {name: number for (k, name), number in seen.items() if k == kind}

    def total(kind: Kind) -> int:
        return sum(by_name(kind).values())

    return Counts(
        requests=by_name("request"),
        runs=by_name("run"),
        keys=by_name("key"),
        cancelled=total("cancelled"),
        faults=total("fault"),
        opened=total("session"),
        sessions=total("session") - total("ended"),
        connections=total("opened") - total("closed"),
        processes=tuple(int(pid) for pid in by_name("process")),
    )
