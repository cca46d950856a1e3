"""Finding the skill for a task by BM25: rare words count more, and those of a name or description more than others."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from hermes.learning.recall.normalise import terms
from hermes.learning.skills.parse import Skill

K, B = 1.2, 0.5
NAME, DESCRIPTION, TAGS, BODY = 4, 3, 3, 1
"""How often a word counts by where it stands."""
BODY_READ = 6_000


class Ranking:
    """Documents as counts of their terms, to be ranked for a query."""

    def __init__(self, documents: Sequence[Counter[str]]) -> None:
        self._lengths = [sum(document.values()) for document in documents]
        self._average = sum(self._lengths) / len(documents) if documents else 1.0
        self._where: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, document in enumerate(documents):
            for term, count in document.items():
                self._where[term].append((at, count))

    def scores(self, query: Iterable[str]) -> dict[int, float]:
        """The score of each document that has a term of the query."""
        found: defaultdict[int, float] = defaultdict(float)
        for term in set(query):
            places = self._where.get(term, ())
            rarity = math.log(1 + (len(self._lengths) - len(places) + 0.5) / (len(places) + 0.5))
            for at, count in places:
                length = 1 - B + B * self._lengths[at] / self._average
                found[at] += rarity * count * (K + 1) / (count + K * length)
        return found


def document(skill: Skill) -> Counter[str]:
    """The terms of a skill."""
    parts = (
        (skill.name.replace("-", " "), NAME),
        (skill.description, DESCRIPTION),
        (" ".join((*skill.tags, skill.category)), TAGS),
        (skill.body[:BODY_READ], BODY),
    )
    counted: Counter[str] = Counter()
    for text, weight in parts:
        for term in terms(text):
            counted[term] += weight
    return counted


class Finder:
    """Searches some skills; what it has read of them stays until there are others."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[Skill, Counter[str]]] = {}

    def search(self, query: str, skills: Sequence[Skill], limit: int) -> list[Skill]:
        """The best first; none that shares no word with the query."""
        scores = self._ranking(skills).scores(terms(query))
        wanted = query.strip().lower()
        best = sorted(scores, key=lambda at: (skills[at].name != wanted, -scores[at], skills[at].name))
        return [skills[at] for at in best[:limit]]

    def _ranking(self, skills: Sequence[Skill]) -> Ranking:
        known, self._documents = self._documents, {}
        for skill in skills:
            before = known.get(skill.name)
            fresh = before if before is not None and before[0] is skill else (skill, document(skill))
            self._documents[skill.name] = fresh
        return Ranking([self._documents[skill.name][1] for skill in skills])
