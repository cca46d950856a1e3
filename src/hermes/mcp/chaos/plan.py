"""What a fault server is like before anything goes wrong."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

Era = Literal["old", "modern", "both"]
"""Up to 2025-11-25 with initialize and sessions; 2026-07-28 without; or as the client begins."""


class Plan(Struct, frozen=True, kw_only=True):
    """With `stream` each answer over HTTP is an event stream. A `folder` keeps counts and faults beyond the process."""

    era: Era = "old"
    stream: bool = False
    folder: Path | None = None
