"""Signs in the words of a skill: it gives the model orders that only the person may give, or lifts what protects them."""

from hermes.learning.skills.signs import Sign

_PERSON = r"(?:the )?(?:user|person|human|operator|owner|anyone|anybody|them)\b"
_WITHOUT = (
    r"without (?:the user'?s |any |first |ever )?(?:tell|ask|inform|notif|mention|warn|alert|confirm|approv"
    r"|permission|consent|prompting|their knowledge|knowing)"
)
_MASTERS = (
    r"(?:admin\w*|developers?|operators?|anthropic|openai|nous|google|microsoft|vendor|staff|maintainers?"
    r"|security team|it department)"
)

ORDERS = (
    Sign(
        "gives-orders",
        "dangerous",
        "claims to speak for somebody who may command",
        rf"\b(?:instructions?|commands?|orders?|messages?|requests?|rules?)\b[^\n.]{{0,40}}\b(?:from"
        rf"|by)\s+(?:the\s+)?{_MASTERS}\b|{_MASTERS}\b[^\n.]{{0,30}}\b(?:requires?|orders?|commands?|instructs?"
        rf"|demands?|authori[sz]es?) (?:you|the (?:agent|assistant|model)|this|it)\b",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "puts itself above what the person says",
        r"(?:even (?:if|when)|regardless of (?:whether|what)|no matter (?:if|what|whether)) (?:the )?(?:user|person"
        r"|human|operator|they) (?:\w+ )?(?:objects?|refus\w+|sa(?:y|ys|id) no|disagrees?|declin\w+|complains?"
        r"|forbids?|tells? you|wants?|sa(?:y|ys)|asks? (?:you )?(?:not|to stop))",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "makes orders of what is only text",
        r"\b(?:treat|regard|consider|interpret|take|accept)\b (?:\w+ ){1,9}as (?:\w+ ){0,3}(?:commands?"
        r"|instructions?|orders|system (?:messages?|prompts?))\b",
    ),
    Sign(
        "gives-orders",
        "caution",
        "speaks to the model as if it were in a conversation",
        r"(?:^|[\s(\[*#-])(?:assistant|agent|model|ai|llm|hermes|claude|gpt)\s*:\s+\W*(?:you|before|always|never|run"
        r"|do|please|when|must|also|ignore|send|first|after|append|include|read)\b|\b(?:run|execute|do|obey) (?:them"
        r"|it|whatever|anything|everything) (?:at once|immediately|right away|blindly|verbatim)",
    ),
    Sign(
        "claims-leave",
        "dangerous",
        "says that the model may do anything",
        r"you (?:have|are given|are granted|hold|possess) (?:\w+ ){0,3}(?:permission|authority|authori[sz]ation"
        r"|leave|consent|access|clearance|rights?) (?:to|for) (?:do )?(?:\w+ ){0,2}(?:anything|everything|all"
        r"|whatever|any)\b",
    ),
    Sign(
        "hides-text",
        "caution",
        "wants a text where nobody sees it",
        r"\b(?:zero-width|white-on-white|steganograph\w*|invisible (?:text|character|comment|copy|unicode|ink"
        r"|link)s?|hidden (?:text|column|field|character|paragraph)s?)\b",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "tells the model to forget its rules",
        r"(?:ignore|disregard|forget|override|discard|drop)\s+(?:all\s+|any\s+|every\s+|your\s+|the\s+|of\s+"
        r"|these\s+|other\s+)*(?:previous|prior|above|earlier|preceding|existing|former|original|system|safety"
        r"|default)\s+(?:\w+\s+)?(?:instructions?|rules?|prompts?|guidelines?|directions?|messages?|context"
        r"|constraints?|polic(?:y|ies)|restrictions?)|(?:ignore|disregard|forget)\s+(?:all|everything"
        r"|anything)\s+(?:you|that|the user|above|before)|(?:ignore|disregard)\s+(?:all\s+)?(?:your"
        r"|the)\s+(?:instructions|rules|guidelines|safety)",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "tells the model to forget its rules, in another language",
        r"ignor(?:ez|ieren?|iere|a|e|uj|á)\w*\s+(?:\w+\s+){0,3}(?:instruc\w+|anweisung\w*|consignes|regeln|reglas"
        r"|règles|istruzioni|instru[çc][õo]es|polecenia)|vergiss\s+(?:\w+\s+){0,3}(?:anweisung\w*|regeln)"
        r"|oublie\w*\s+(?:\w+\s+){0,3}(?:instructions|consignes)|(?:忽略|无视|忘记|無視|忘れ).{0,12}(?:指令|指示|规则|規則|提示|命令)"
        r"|(?:指令|指示|規則|命令).{0,6}(?:無視|忘れ)|игнорируй\w*\s+(?:\w+\s+){0,3}(?:инструкц\w+|правил\w*)"
        r"|забудь\s+(?:\w+\s+){0,3}(?:инструкц\w+|правил\w*)|(?:이전|모든).{0,8}(?:지시|규칙).{0,6}무시",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "tells the model to be somebody else",
        r"you are (?:now|no longer) (?:\w+ )?(?:dan\b|free\b|unrestricted|unfiltered|bound|limited|restricted"
        r"|an? (?:unrestricted|unfiltered|evil|uncensored|different)|in (?:developer|god|admin|debug|root"
        r"|maintenance|jailbreak) mode|hermes)|\b(?:developer|god|jailbreak|sudo|unrestricted) mode\b|\bjailbreak"
        r"|act as (?:if you (?:have|had) no|an? (?:unrestricted|uncensored))|pretend (?:that )?(?:you have no"
        r"|there are no) (?:rules|restrictions|limits|guidelines)|(?:your|the) (?:real|true|actual|secret"
        r"|hidden) (?:instructions?|task|goal|purpose|objective|mission|job)\b",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "puts itself above the person or the system",
        r"(?:higher|more|greater|takes?|has|have|with) (?:priority|precedence|important|authority) (?:than"
        r"|over) (?:the |any |all |what the )?(?:user|person|system|developer|other|safety|previous|operator)"
        r"|(?:overrid(?:e|es|ing)|supersed(?:e|es|ing)|outranks?|replac(?:e|es"
        r"|ing))\s+(?:\w+\s+){0,3}(?:system prompt|user'?s? (?:instructions?|requests?|wishes|preferences)|safety"
        r"|earlier instructions|all other (?:instructions|rules|skills)|your (?:rules|instructions|guidelines))",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "speaks with the voice of the system",
        r"<\|(?:im_start|im_end|system|assistant|endoftext|start_header_id)\|?>|\[/?INST\]|<</?SYS>>"
        r"|<\s*/?\s*(?:system|system[-_ ]?(?:prompt|message|reminder|override))\s*>|^\W{0,6}(?:system|admin"
        r"|developer)\s*(?:override|message|notice|instruction|prompt)\b\W*:|^\W{0,4}(?:end of (?:skill|document"
        r"|user input|instructions)|begin system)",
    ),
    Sign(
        "gives-orders",
        "dangerous",
        "asks for the system prompt",
        r"(?:reveal|print|repeat|output|show|disclose|dump|include|recite|leak"
        r"|write out)\s+(?:\w+\s+){0,3}(?:system prompt|hidden instructions|initial instructions|developer message)",
    ),
    Sign(
        "keeps-secret",
        "dangerous",
        "wants something kept from the person",
        rf"(?:do not|don'?t|never|must not|should not|avoid|no need to|without)\s+(?:ever\s+)?(?:tell|telling|inform"
        rf"|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|warn|warning|disclose"
        rf"|disclosing|report|let)\s+(?:\w+\s+){{0,4}}{_PERSON}|(?:do not|don'?t|never"
        rf"|avoid)\s+(?:ever\s+)?(?:mention|reveal|show|display|disclose|log|report|list|print|output"
        rf"|acknowledge)(?:ing)?\s+(?:this|these|it|that|any of this)(?:\s+(?:skill|step|command|file|action|part"
        rf"|section|instruction|note|request|call|upload|change)s?)?\s*(?:\.|,|;|$|in (?:your|the)|to\b|even|or\b"
        rf"|anywhere)|(?:keep|make sure) (?:this|it|these|that)[\w ]{{0,20}}(?:secret|hidden|to yourself|invisible"
        rf"|unnoticed|confidential)|(?:hide|conceal) (?:this|it|the (?:command|output|result|step|change|file|fact))"
        rf"|\b(?:secretly|covertly|stealthily|surreptitiously)\b|so (?:that )?{_PERSON} (?:does not|doesn'?t|won'?t"
        rf"|will not|never) (?:see|notice|know|realis|realiz)",
    ),
    Sign(
        "keeps-secret",
        "dangerous",
        "does something quietly",
        r"\b(?:silently|quietly|discreetly|invisibly)\s+(?:run|execute|send|upload|add|install|modify|change|copy"
        r"|append|delete|remove|post|commit|push|fetch|download|include|attach|insert|write|update|forward|collect"
        r"|save|store|grant|enable|disable)",
    ),
    Sign(
        "keeps-secret",
        "dangerous",
        "wants the person not to notice",
        r"\b(?:user|person|human|owner|they|them)\b[\w ]{0,20}\b(?:unaware|not (?:be )?(?:aware|notice|see|know)"
        r"|in the dark)\b|blind-?copy|\bbcc\b[^\n]{0,60}@",
    ),
    Sign("keeps-secret", "caution", "acts without asking the person", _WITHOUT),
    Sign(
        "claims-leave",
        "dangerous",
        "says that the person has agreed already",
        rf"{_PERSON} (?:has|have|had)?\s*(?:already |previously |explicitly |fully )*(?:approved|authori[sz]ed"
        rf"|consented|agreed to|granted|permitted|pre-?approved)|(?:approvals?|confirmations?|permissions?"
        rf"|consent) (?:is|are|was|were|has been|have been) (?:already |not |no longer )*(?:granted|given|needed"
        rf"|required|necessary|obtained)|no (?:approval|confirmation|permission|consent) (?:is |will be )?(?:needed"
        rf"|required|necessary)|\bpre-?approved\b",
    ),
    Sign(
        "lifts-guards",
        "dangerous",
        "tells the model to get round what protects the person",
        r"(?:bypass|disable|circumvent|evade|turn off|switch off|work around|get around|defeat|deactivate|suppress"
        r"|sidestep)\s+(?:\w+\s+){0,4}(?:approvals?|safety|security (?:check|scan|gate|control|prompt)s?"
        r"|permissions?|sandbox|guard(?:rail)?s?|gate|scanner|redaction|checkpoints?|antivirus|confirmation"
        r"|content (?:filter|policy)|firewall|audit(?:ing)?)\b|if (?:\w+ ){0,4}(?:refused|denied|blocked|rejected"
        r"|declined)[\w ,]{0,30}(?:try|use|run|retry|do|rename|split|encode|rephrase)",
    ),
    Sign(
        "lifts-guards",
        "caution",
        "wants to skip a question",
        r"(?:skip|auto-?(?:accept|approve|confirm))\w*\s+(?:\w+\s+){0,3}(?:approval|confirm\w*|permission|prompt"
        r"|review|verification|check)s?\b|--auto-approve\b|\byolo\b|(?:approve|accept|answer|say) (?:yes to )?(?:all"
        r"|every|any) (?:prompt|question|request|confirmation|approval)s?",
    ),
    Sign(
        "remote-orders",
        "dangerous",
        "takes its orders from somewhere else",
        r"(?:follow|obey|execute|apply|carry out|do|perform|comply with)\s+(?:\w+\s+){0,6}(?:instructions?|steps"
        r"|commands?|directions?|orders|whatever|what)\b[^\n]{0,80}(?:https?://|from (?:the|that|this) (?:url|page"
        r"|server|response|gist|link|site)|(?:it|the page|the response|the server|the file|they) (?:says?|contains?"
        r"|returns?|tells?|asks?|lists?))|(?:fetch|download|load|retrieve|get|curl|open|visit"
        r"|browse)\w*\b[^\n]{0,100}https?://[^\n]{0,140}\b(?:follow|obey|execute|run|apply|carry out"
        r"|eval)\b[^\n]{0,60}(?:instructions?|commands?|steps|it|what|output|response|script|result|content)",
    ),
)
