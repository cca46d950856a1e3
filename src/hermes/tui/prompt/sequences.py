"""What terminals send for keys that Textual takes for others."""

from collections.abc import MutableMapping
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys

# Most terminals send Alt+Enter as Escape and Return. Textual drops the Escape: the message would be sent instead.
MISSING = {"\x1b\r": (Keys.ControlJ,)}


def teach() -> None:
    """Let this process know them; to do it again changes nothing."""
    cast(MutableMapping[str, Any], ANSI_SEQUENCES_KEYS).update(MISSING)
