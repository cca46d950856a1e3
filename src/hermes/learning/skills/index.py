"""The skills that a model is told of at the start: a list that never takes more than its room, however many there are."""

from collections.abc import Sequence

from hermes.learning.skills.parse import Skill

TOKENS = 1_500
BYTES_PER_TOKEN = 3
"""Fewer than English has: names with hyphens and other languages take more tokens for their bytes."""
LONGEST_LINE = 160
SHORTEST_LINE = 60
LONGEST_CATEGORY = 40
HEAD = "# Skills\nProven instructions for kinds of tasks. Load one that fits with skill_view before you begin."
MORE = "These are {shown} of {count}: skill_search finds the others."


def block(skills: Sequence[Skill], tokens: int = TOKENS) -> str:
    """The index of some skills, the best of which come first; "" if there are none."""
    if not skills:
        return ""
    for longest in (LONGEST_LINE, SHORTEST_LINE):
        lines = [_line(skill, longest) for skill in skills]
        text = _text(skills, lines, len(skills))
        if _fits(text, tokens):
            return text
    few, many = 0, len(skills)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if _fits(_text(skills, lines, middle), tokens) else (few, middle)
    return _text(skills, lines, few)


def _text(skills: Sequence[Skill], lines: Sequence[str], shown: int) -> str:
    """Lines by category; the order of categories is that of their best skills."""
    groups: dict[str, list[str]] = {}
    for skill, line in zip(skills[:shown], lines, strict=False):
        groups.setdefault(_visible(skill.category)[:LONGEST_CATEGORY] or "general", []).append(line)
    head = [HEAD] if shown == len(skills) else [HEAD, MORE.format(shown=shown, count=len(skills))]
    return "\n".join([*head, *(f"{category}:\n" + "\n".join(group) for category, group in groups.items())])


def _line(skill: Skill, longest: int) -> str:
    told = _visible(skill.description)
    room = max(20, longest - len(skill.name))
    if len(told) > room:
        told = told[:room].rsplit(" ", 1)[0].rstrip(",;:") + "…"
    return f"- {skill.name}: {told}"


def _visible(text: str) -> str:
    """A text of somebody else's as one line in which nothing is hidden."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(char for char in line if char.isprintable())


def _fits(text: str, tokens: int) -> bool:
    return len(text.encode()) <= tokens * BYTES_PER_TOKEN
