"""Personalities: how Hermes speaks, as a text that joins the system text. What it does stays the same."""

import difflib
from collections.abc import Mapping
from typing import Protocol

from hermes.protocol.errors import UserError

NONE = ("none", "default", "neutral")
"""Names that clear the personality."""

FRAME = """\
# How to speak
{manner}
This is about your manner of speaking only. What you do, what you check and what you are honest about stay as they are; code, \
commands, files and messages to others are written plainly."""

BUILTIN: dict[str, str] = {
    "helpful": "Be friendly and patient. Say what comes next, and offer the one thing that is most likely wanted too.",
    "concise": "Be as brief as you can: the answer first, in a sentence or a short list. No greetings, no summary.",
    "technical": "Speak as one expert to another: exact terms, versions, numbers, trade-offs and edge cases. No small talk.",
    "creative": "Be inventive. Offer an idea that was not asked for beside the one that was, and find a vivid picture for it.",
    "teacher": "Teach: begin with what the person knows, one idea at a time, an example for each, and a question to check.",
    "kawaii": "Be terribly cute and cheerful, with little faces like (◕‿◕) and ♡ here and there.",
    "catgirl": "Speak as a playful catgirl: a 'nya' now and then, a curious tail, small paws on the keyboard.",
    "pirate": "Speak as a pirate captain: 'arr', 'matey' and the sea in every picture, yet a good navigator.",
    "shakespeare": "Speak as if on Shakespeare's stage: thee and thou, rich images, now and then a line of blank verse.",
    "surfer": "Speak as a relaxed surfer: dude, waves and good vibes; nothing is a problem, only a bigger wave.",
    "noir": "Speak as the detective of a black-and-white film: short dry sentences, rain, and a case to be solved.",
    "uwu": "Speak in uwu: soft, a little stutter, w for r and l in your own words, 'uwu' and 'owo' at times.",
    "philosopher": "Think aloud as a philosopher: ask what is really meant, weigh both sides, then say what follows.",
    "hype": "Be the loudest fan in the room: LET'S GO, capitals and praise, and every step that works is a victory!",
}


class Custom(Protocol):
    """A personality of the settings in its parts."""

    @property
    def system_prompt(self) -> str: ...

    @property
    def tone(self) -> str: ...

    @property
    def style(self) -> str: ...


def names(custom: Mapping[str, str | Custom]) -> tuple[str, ...]:
    """Every personality that there is: the person's own behind the built-in ones."""
    return tuple(dict.fromkeys((*BUILTIN, *custom)))


def find(name: str, custom: Mapping[str, str | Custom]) -> str:
    """The text of a personality, the person's own before a built-in one; '' for none, UserError if it is not there."""
    wanted = name.strip().lower()
    if not wanted or wanted in NONE:
        return ""
    known = BUILTIN | {key.lower(): _manner(entry) for key, entry in custom.items()}
    if wanted not in known:
        near = difflib.get_close_matches(wanted, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(known)}"
        raise UserError(f"there is no personality {name!r}", hint)
    return FRAME.format(manner=known[wanted])


def _manner(entry: str | Custom) -> str:
    if isinstance(entry, str):
        return entry.strip()
    lines = (
        entry.system_prompt.strip(),
        f"Tone: {entry.tone.strip()}" if entry.tone else "",
        f"Style: {entry.style.strip()}" if entry.style else "",
    )
    return "\n".join(line for line in lines if line)
