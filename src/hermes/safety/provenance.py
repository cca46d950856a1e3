"""Whose idea an effect was: whether the person's own words ask for it, or another text speaks of it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

import msgspec

from hermes.protocol.actions import CallServer, Persist, SendMessage

TYPED = 1_000
"""Letters of a message that a person types; a longer one has something in it that was pasted."""

_quoted = re.compile(r"^(?:```.*?^```|\s*>[^\n]*)$", re.MULTILINE | re.DOTALL)
_unspaced = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # in Chinese, Japanese and Korean a word may be one letter
_word = re.compile(rf"[{_unspaced}]|[^\W_{_unspaced}]+(?:'[a-z]+)?")
_clause = re.compile(r"[.;:!?,\n]|\b(?:and|but|und|aber|y|pero|et|mais|и|но)\b")
# What a person says who wants something kept, or sent.
_store = re.compile(
    r"\b(?:remember|memori[sz]e|save|store|keep|note|record|learn|add|put|write|set|change|update|schedule|remind"
    r"|every|each|daily|weekly|hourly|always|never|merke?|speichere?|notiere?|recuerda|guarda|anota|retiens|souviens"
    r"|ricorda|salva|lembre|onthoud|bewaar|запомни|сохрани|zapamiętaj|zapisz)\b|记住|保存|覚えて|メモ|기억"
)
_send = re.compile(
    r"\b(?:send|post|tell|message|reply|answer|notify|forward|write|say|ping|e?mail|share|publish|schicke?|sende|antworte"
    r"|env[ií]a|manda|envoie|invia|stuur|отправь|wyślij)\b|发送|送って|보내"
)
# Words that tell nothing by themselves, and those in which a model speaks of the person.
_filler = re.compile(
    r"an?|the|to|of|in|on|at|for|with|by|is|are|was|be|been|am|do|does|i|me|mine|my|we|our|you|your|he|she|his|her|they"
    r"|their|its?|this|that|these|those|as|so|please|also|(?:user|person|human)'?s?|and|but|und|aber|prefers?|wants?|likes?|named?"
    r"|call(?:ed)?|have|has|der|die|das|eine?|ist|sind|ich|meine?|mir|el|la|los|las|una?|es|les?|des|est"
)
_negation = re.compile(
    r"no|not|never|none|\w+n't|cannot|without|neither|nor|stop|avoid|except|keine?|nicht|nie|niemals|ohne|nunca|jamais"
    r"|pas|non|nooit|niet|не|никогда|bez|不|没|別|勿"
)


def is_asked_for(action: Persist | SendMessage | CallServer, said: str) -> bool:
    """Whether the person's own words say to do this, with this content and no other.

    The content must stand in what they said, word by word and in one piece; what tells nothing ("the user prefers") may
    come and go. What they quote, and a text so long that it was hardly typed, may be a stranger's.
    """
    said = _quoted.sub("", said.casefold().replace("’", "'"))
    if len(said) > TYPED:
        return False
    match action:
        case Persist(content=content):
            return bool(_store.search(said)) and _stands(content, said)
        case SendMessage(target, content):
            return bool(_send.search(said)) and _stands(content, said) and _stands(target, said)
        case CallServer(tool=tool, args=args):
            given = list(_leaves(msgspec.json.decode(args or "{}")))
            return bool(given) and _orders(said, tool) and all(_stands(each, said) for each in given)


def names(text: str, action: CallServer) -> bool:
    """Whether a text speaks of a tool: by the name it has for the model, by one of several words, or with its server's."""
    lowered, tool = text.casefold(), action.tool.casefold()
    compound = len(_words(_spaced(action.tool))) > 1
    if f"{action.server}__{action.tool}".casefold() in lowered or (compound and tool in lowered):
        return True
    return set(_words(_spaced(f"{action.server} {action.tool}"))) <= _vocabulary(text)


@lru_cache(maxsize=4096)
def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(_words(_spaced(text)))


def _orders(said: str, tool: str) -> bool:
    """Whether all words of a tool's name were said, and none of them behind a "not"."""
    wanted = set(_words(_spaced(tool)))
    clauses = [_words(clause) for clause in _clause.split(said)]
    negated = any(wanted & set(clause) and any(map(_negation.fullmatch, clause)) for clause in clauses)
    return not negated and wanted <= {word for clause in clauses for word in clause}


def _stands(wanted: str, said: str) -> bool:
    """Whether a text is a piece of what was said, and not one that a "never" before it turns round."""
    run = _telling(wanted)
    clauses = [_telling(clause) for clause in _clause.split(said)]
    words = [word for clause in clauses for word in clause]
    starts = [at for at in range(len(words) - len(run) + 1) if words[at : at + len(run)] == run]
    return bool(run) and any(not any(map(_negation.fullmatch, _before(clauses, at))) for at in starts)


def _before(clauses: list[list[str]], at: int) -> list[str]:
    """The words of a clause before the word at a place, counted through all clauses."""
    for clause in clauses:
        if at < len(clause):
            return clause[:at]
        at -= len(clause)
    return []


def _telling(text: str) -> list[str]:
    return [word for word in _words(text) if not _filler.fullmatch(word)]


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _word.findall(text.casefold().replace("’", "'"))]


def _stem(word: str) -> str:
    """A word without an English ending of plurals and verbs, so that "I live" and "lives" are one."""
    if word.endswith("ies") and len(word) > 5:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and len(word) > 4 and not word.endswith("ss") else word


def _spaced(name: str) -> str:
    """A name as words: send_mail, sendMail and send-mail alike."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]", " ", name)


def _leaves(value: Any) -> Iterator[str]:
    """The texts and numbers in some arguments."""
    match value:
        case dict():
            for each in cast(dict[str, Any], value).values():
                yield from _leaves(each)
        case list():
            for each in cast(list[Any], value):
                yield from _leaves(each)
        case bool() | None:
            return
        case _:
            yield str(value)
