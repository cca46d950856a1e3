"""What can be made to go wrong, and which of it still waits for its request."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from hermes.mcp.chaos.ledger import Ledger

Kind = Literal[
    "expire",  # now: forget every session; `lost` says how their ids are then refused
    "refuse",  # now: for `seconds`, no connection is taken and none is left
    "storm",  # now: `times` notifications that the tools have changed
    "describe",  # now: the tool echo is described by `text`
    "schema",  # now: the tool echo takes another argument
    "wedge",  # now, stdio: nothing more is read
    "stderr",  # now, stdio: `size` bytes of stderr
    "orphan",  # now, stdio with a wrapper: the wrapper dies, the server lives on and outlives its stdin
    "status",  # HTTP: this `status`, with Retry-After if `seconds`
    "reset",  # HTTP: the connection is reset
    "exit",  # stdio: the process ends, with half a line written if `when` is midway
    "rpc",  # a JSON-RPC error with `code` and `text`
    "silent",  # no answer
    "garbage",  # an answer that is no JSON
    "oversize",  # an answer of `size` bytes
    "slow",  # `seconds` pass, then all goes on as usual
]

When = Literal["now", "unread", "before", "after", "midway"]
"""At once; before the body is read; before or after the request is executed; in the middle of its answer."""

Lost = Literal["404", "400", "bare-400", "rpc"]
"""How the id of a lost session is refused: 404; a 400 that names the session; one that does not; an error on a 200."""

AT_ONCE = frozenset({"expire", "refuse", "storm", "describe", "schema", "wedge", "stderr", "orphan"})
HTTP_ONLY = frozenset({"expire", "refuse", "status", "reset"})
STDIO_ONLY = frozenset({"wedge", "stderr", "orphan", "exit"})

LOST_TEXTS = (
    "Invalid or expired session",
    "Session expired",
    "Expired session",
    "Session not found",
    "Unknown session",
    "Session terminated",
)
"""The words in which servers say that a session is gone."""


class Fault(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One thing that goes wrong at the next `times` requests, of one `method` or `tool` if named."""

    kind: Kind
    when: When = "before"
    method: str = ""
    tool: str = ""
    times: int = 1
    status: int = 500
    seconds: float = 0
    code: int = -32000
    text: str = ""
    size: int = 4_000_000
    lost: Lost = "404"

    @property
    def at_once(self) -> bool:
        return self.when == "now" or self.kind in AT_ONCE

    def meets(self, when: When, method: str, tool: str) -> bool:
        return (
            not self.at_once and self.when == when and self.method in ("", method) and self.tool in ("", tool or None)
        )


class Armed:
    """The faults that wait. With a folder they come from its file, and one played before a restart stays played."""

    def __init__(self, ledger: Ledger, folder: Path | None = None) -> None:
        self._ledger = ledger
        self._file = folder / "faults" if folder else None
        self._read = 0
        self._number = 0
        self._waiting: dict[int, tuple[Fault, int]] = {}

    def arm(self, fault: Fault) -> None:
        played = self._ledger.count("fault", str(self._number))
        left = (1 if fault.at_once else fault.times) - played
        if left > 0:
            self._waiting[self._number] = fault, left
        self._number += 1

    def take(self, when: When, method: str, tool: str = "") -> Fault | None:
        """The oldest fault that meets this request at this moment; it has then been played once more."""
        self._refresh()
        return self._play(lambda fault: fault.meets(when, method, tool))

    def take_pressing(self) -> Fault | None:
        """The oldest fault that waits for no request."""
        self._refresh()
        return self._play(lambda fault: fault.at_once)

    def _play(self, suits: Callable[[Fault], bool]) -> Fault | None:
        for number, (fault, left) in self._waiting.items():
            if suits(fault):
                self._ledger.note("fault", str(number))
                if left > 1:
                    self._waiting[number] = fault, left - 1
                else:
                    del self._waiting[number]
                return fault
        return None

    def _refresh(self) -> None:
        """Read what the file has got since; whoever arms writes whole lines."""
        if self._file is None or not self._file.exists() or self._file.stat().st_size == self._read:
            return
        whole, _, _ = self._file.read_bytes()[self._read :].rpartition(b"\n")
        if whole:
            self._read += len(whole) + 1
            for line in whole.split(b"\n"):
                self.arm(msgspec.json.decode(line, type=Fault))
