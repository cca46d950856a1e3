"""What people say when they want something remembered, correct something, or are content: small tables, six languages.

Texts are searched in casefolded form.
"""

import re

_REMEMBER = (
    r"\bremember (?:that|to|this|:|my|our|i |we |the |not |never |always )|\bremember[,:]|\bplease remember\b|\b(?:keep|bear) in mind\b",
    r"\b(?:make a note|take note|note to self|note that|memori[sz]e|don't forget|do not forget|save (?:this|that) to memory)\b",
    r"\bmerke? dir\b|\bdenk daran\b|\bvergiss nicht\b|\bnotiere? dir\b|\bbehalte? (?:im kopf|in erinnerung)\b",
    r"\bsouviens[- ]toi\b|\brappelle[- ]toi\b|\bretiens (?:que|bien)\b|\bn'oublie pas\b|\bnote que\b|\bmémorise\b",
    r"\brecuerda (?:que|esto)\b|\bacu[eé]rdate\b|\bno olvides\b|\bten en cuenta\b|\banota que\b|\bmemoriza\b",
    r"记住|記住|请记得|別忘了|别忘了|牢记|记一下",
    r"覚えて(?:おいて|て|ください|$)|忘れないで|記憶して|メモして",
)
_RULE = (
    r"\b(?:from now on|in (?:the )?future|going forward|next time|every time|by default)\b|(?:^|[.!?;,\n] ?)(?:please )?(?:always|never(?! mind)|don't ever|do not ever|stop) \w+",
    r"\bi (?:always|never|prefer|like it when|hate|want you to always|want you to never)\b|(?:^|[.!?\n] ?)(?:please )?(?:don't|do not) (?:use|add|write|create|change|push|commit|touch|run|ask|put|make|include)\b",
    r"\b(?:ab jetzt|ab sofort|in zukunft|künftig|nächstes mal|standardmäßig)\b|\b(?:immer|nie|niemals) \w+en\b|(?:^|[.!?;,\n] ?)(?:bitte )?(?:immer|nie|niemals)\b|\bich (?:bevorzuge|will immer|möchte immer)\b",
    r"\b(?:désormais|à l'avenir|dorénavant|la prochaine fois|par défaut)\b|(?:^|[.!?;,\n] ?)(?:toujours|jamais)\b|\bne \w+ jamais\b|\bje préfère\b",
    r"\b(?:de ahora en adelante|en el futuro|la próxima vez|por defecto)\b|(?:^|[.!?;,\n] ?)(?:siempre|nunca|jamás)\b|\bprefiero\b",
    r"以后|今后|从现在起|每次都|总是|永远不要|绝不要|不要再|我喜欢|我更喜欢|默认",
    r"今後|これからは|次回から|いつも|常に|絶対に|二度と|必ず|毎回",
)
_CORRECTION = (
    r"(?:^|[.!?\n] ?)(?:no|nope|wrong|incorrect|not quite|not like that|actually)\b(?! problem| worries| need| thanks)|\bthat(?:'s| is| was)(?: just| simply)? (?:wrong|incorrect|not right|not what|not true|not correct|false)\b",
    r"\bi (?:said|told you|meant|asked (?:you )?(?:for|not))\b|\byou (?:forgot|misunderstood|missed|should(?:n't| not)? have|were supposed)\b|\b(?:not|isn't) what i\b|\binstead of\b.{0,40}\b(?:use|do|write)\b|\bstop (?:doing|using)\b",
    r"(?:^|[.!?\n] ?)(?:nein|falsch|nicht so|eigentlich)\b|\bdas (?:ist|war|stimmt) (?:falsch|nicht)\b|\bich (?:sagte|meinte|habe gesagt)\b|\bdu hast .{0,20}vergessen\b",
    r"(?:^|[.!?\n] ?)(?:non|faux)\b|\bc'est (?:faux|incorrect|pas ça)\b|\bce n'est pas\b|\bj'ai dit\b|\bje voulais dire\b|\btu as oublié\b",
    r"(?:^|[.!?\n¡] ?)(?:no,|incorrecto|mal\b)|\beso (?:no es|está mal)\b|\bte dije\b|\bquise decir\b|\bolvidaste\b|\bte equivocas\b",
    r"(?:^|[。！？\n] ?)(?:不对|不是|错了|不,|不，)|我说的是|你忘了|应该是|搞错了",
    r"(?:^|[。！？\n] ?)(?:違う|違います|いいえ|そうじゃ)|間違って|と言った|忘れてる|ではなく",
)
_APPROVAL = (
    r"\b(?:perfect|exactly (?:right|what|like)|just (?:right|what i)|that's (?:it|right|exactly|how)|well done|great job|excellent|works (?:great|perfectly|now)|keep (?:doing|it)(?: like)? (?:that|this|this way)|spot on)\b",
    r"\b(?:perfekt|genau so|genau richtig|super gemacht|ausgezeichnet|passt genau)\b",
    r"\b(?:parfait|exactement|très bien|impeccable|c'est ça)\b",
    r"\b(?:perfecto|exactamente|muy bien|excelente|así es)\b",
    r"完美|正是|太好了|很好|就是这样",
    r"完璧|その通り|ばっちり|素晴らしい|それでいい",
)
# A question about the past is no order: "do you remember when …?"
_QUESTION = re.compile(
    r"\b(?:do|did|can|could|will|would) you (?:still )?remember\b(?!.{0,5}\bto\b)|\bi (?:can't |don't |do not |cannot )?remember\b"
    r"|\berinnerst du\b|\bte souviens[- ]tu\b|\b(?:te acuerdas|recuerdas)\b|记得.{0,20}吗|覚えて(?:る|い(?:る|ます)か)"
)
_LEAD = re.compile(
    r"^.*?(?:(?:please )?remember(?: that|:|,)?|(?:keep|bear) in mind(?: that)?|make a note(?: that)?|note to self:?|note that"
    r"|memori[sz]e(?: that|:)?|(?:don't|do not) forget(?: that)?|merke? dir(?: bitte)?,?(?: dass|:)?|denk daran,?(?: dass)?|vergiss nicht,?(?: dass)?"
    r"|souviens[- ]toi(?: que)?|rappelle[- ]toi(?: que)?|retiens(?: bien)?(?: que)?|n'oublie pas(?: que)?|note que"
    r"|recuerda(?: que|:)?|acu[eé]rdate(?: de)?(?: que)?|no olvides(?: que)?|ten en cuenta(?: que)?|anota que"
    r"|请?记住[:：,，]?|記住[:：,，]?|请记得|[別别]忘了)\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:と|を|ことを)?(?:覚えて(?:おいて)?(?:ください)?|忘れないで(?:ください)?|記憶して(?:ください)?)[。.!！]*$"
)
_sentence = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
SHORTEST, LONGEST = 6, 300


def _any(*tables: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{table})" for table in tables))


REMEMBER, RULE = _any(*_REMEMBER), _any(*_RULE)
CORRECTION, APPROVAL = _any(*_CORRECTION), _any(*_APPROVAL)


def is_order(said: str) -> bool:
    """Whether a text says to remember something, or states a rule."""
    folded = said.casefold()
    return bool(RULE.search(folded) or (REMEMBER.search(folded) and not _QUESTION.search(folded)))


def wish(said: str) -> str:
    """The sentence that a person says outright to remember, without the words that say so; "" if they say no such thing."""
    return _find_wish(said)[0]


def beside_wish(said: str) -> str:
    """What a person says beside the sentence that they want remembered."""
    return _find_wish(said)[1]


def _find_wish(said: str) -> tuple[str, str]:
    sentences = _sentence.split(said)
    for place, sentence in enumerate(sentences):
        folded = sentence.casefold().strip()
        if not REMEMBER.search(folded) or _QUESTION.search(folded) or folded.endswith(("?", "？")):
            continue
        told = _TAIL.sub("", _LEAD.sub("", sentence.strip())).strip(" \t,:;-。.!！")
        if _weight(told) >= SHORTEST and len(told) <= LONGEST:
            return told, "\n".join(sentences[:place] + sentences[place + 1 :])
    return "", said


def _weight(text: str) -> int:
    """How long a text is, where a letter of Chinese or Japanese counts as three."""
    return sum(3 if "\u3040" <= char <= "\u9fff" else 1 for char in text)
