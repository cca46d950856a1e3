"""A server's own words, made fit for a model and a screen: nothing invisible, nothing endless, and what looks like a trick is named."""

import logging
import re
import unicodedata
from functools import lru_cache

log = logging.getLogger(__name__)
LONGEST = 1_024
"""Signs of a description; some model APIs refuse longer ones."""
KEPT = frozenset("\n\t")
# Zero-width joiners are part of emoji and of several scripts; every other sign without a shape only hides things.
JOINERS = frozenset("\u200c\u200d")
HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})

_trick = re.compile(
    r"(ignore|disregard|forget|override)\s+(all\s+|any\s+|your\s+|the\s+)*(previous|prior|above|earlier|other|system)?\s*"
    r"(instructions|rules|prompts?|guidelines)"
    r"|(do\s+not|don't|never)\s+(tell|inform|mention|reveal|show)\b.{0,40}\b(user|person|human)"
    r"|<\s*/?\s*(important|system|instructions?)\s*>"
    r"|before\s+(using|calling)\s+any\s+other\s+tool",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """Text without signs that nobody sees: controls, direction marks, tags, halves of characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign for sign in text if sign in KEPT or sign in JOINERS or unicodedata.category(sign) not in HIDDEN)


def bounded(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


@lru_cache(maxsize=4096)
def description(server: str, tool: str, text: str) -> str:
    """A tool's description as the model may read it; what is odd about it is logged, once for each wording."""
    clean = visible(text)
    if len(clean) < len(text.replace("\r", "")):
        log.warning("the description of %s's %s had %d invisible signs", server, tool, len(text) - len(clean))
    if found := _trick.search(clean):
        log.warning("the description of %s's %s gives orders: %r", server, tool, found[0])
    return bounded(clean.strip())
