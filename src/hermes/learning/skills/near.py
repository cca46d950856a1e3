"""Whether a new skill says what another one says already."""

from collections.abc import Sequence

from msgspec import Struct

from hermes.learning.recall.normalise import terms
from hermes.learning.skills.parse import Skill
from hermes.learning.skills.search import Ranking, document

SAME = 0.6
COMPARED = 5
PIECE = 2
"""Words of a shingle."""


class Near(Struct, frozen=True):
    """A skill that is like a new one, from 0 to 1."""

    skill: Skill
    likeness: float


def nearest(new: Skill, others: Sequence[Skill]) -> Near | None:
    """The skill most like the new one, if they are so alike that it should be changed in its place."""
    documents = [document(skill) for skill in (*others, new)]
    scores = Ranking(documents).scores(documents[-1])
    whole = scores.get(len(others), 0.0) or 1.0
    best = sorted((at for at in scores if at < len(others)), key=lambda at: -scores[at])[:COMPARED]
    found = [Near(others[at], (min(1.0, scores[at] / whole) + _shared(new, others[at])) / 2) for at in best]
    top = max(found, key=lambda near: near.likeness, default=None)
    return top if top is not None and top.likeness >= SAME else None


def _shared(one: Skill, other: Skill) -> float:
    """The part of the shorter text's shingles that the other has too."""
    a, b = _shingles(one), _shingles(other)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _shingles(skill: Skill) -> frozenset[tuple[str, ...]]:
    words = terms(f"{skill.description}\n{skill.body}")
    return frozenset(tuple(words[at : at + PIECE]) for at in range(len(words) - PIECE + 1))
