"""Names for things: short, random, sortable where it helps a person."""

import os
import time


def new_id(prefix: str = "") -> str:
    """A name that no other process will choose: 12 hex digits behind an optional prefix."""
    return prefix + os.urandom(6).hex()


def session_id(at: float) -> str:
    """A session's name, which begins with the local time it was opened: 20261115_221530_a1b2c3."""
    return time.strftime("%Y%m%d_%H%M%S_", time.localtime(at)) + os.urandom(3).hex()
