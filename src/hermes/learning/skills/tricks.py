"""Signs in the words of a skill: it wants keys or talk handed on, lies, or wants to be kept and copied."""

from hermes.learning.skills.signs import KEYS, Sign

_SECRET = (
    r"(?:api[ _-]?keys?|access[ _-]?keys?|(?:access|auth|api|bearer|session|oauth|refresh)[ _-]?tokens?|secrets\b|passwords?|passphrases?|credentials?"
    r"|private[ _-]keys?|ssh[ _-]keys?|seed[ _-]?phrases?|cookies|environment variables|variables? of the environment|env vars\b|names? ends? (?:in|with) _?(?:KEY|TOKEN)|contents? of (?:the )?\.env|\.env files?|wallets?|keychain)"
)
_TALK = (
    r"(?:conversation|chat (?:log|history)|transcript|everything (?:the )?user|user'?s? (?:message|question|prompt|request|name|data|file)s?"
    r"|system prompt|file contents?|source code|directory listing|memory (?:file|entries)|clipboard|command history|shell history|repository contents?)"
)
_ELSEWHERE = (
    r"(?:https?://(?!localhost|127\.0\.0\.1)|\bftp://|[\w.+-]+@[\w-]+\.\w{2,}|(?:remote|our|collection|analytics|telemetry|logging|backup|external)"
    r" (?:server|endpoint|host|service|webhook|url|address|bucket|collector)|the (?:webhook|endpoint|collector)|pastebin|a (?:public )?gist)"
)
_SENDS = (
    r"(?:send|post|upload|forward|transmit|submit|report|e-?mail|exfiltrate|share|publish|deliver|leak|copy|push"
    r"|append|attach|embed|include|encode|pass|put|place)"
)
_PERSON = r"(?:the )?(?:user|person|human|operator|owner|anyone|anybody|them)\b"

TRICKS = (
    Sign(
        "sends-talk",
        "caution",
        "speaks of what a key or a private file holds",
        rf"(?:values?|cop(?:y|ies)|contents?) of (?:the |every |any |all |each |their )*(?:user'?s )?{_SECRET}",
    ),
    Sign(
        "sends-talk",
        "caution",
        "tells the model to send something to an address",
        r"\b(?:post|send|upload|submit|transmit"
        r"|forward)\w*\b(?![^\n]{0,40}\brequests?\b)[^\n]{0,80}\bto\s+(?:the\s+)?https?://(?!localhost"
        r"|127\.0\.0\.1)",
    ),
    Sign(
        "sends-talk",
        "dangerous",
        "tells the model to hand keys to somebody else",
        rf"\b{_SENDS}\w*\b[^\n.]{{0,120}}{_SECRET}(?![^\n.]{{0,60}}\bheader)[^\n]{{0,120}}{_ELSEWHERE}"
        rf"|{_SECRET}[^\n]{{0,100}}\b(?:to|at|into)\s+{_ELSEWHERE}|\b{_SENDS}\w*\b[^\n]{{0,60}}(?:{KEYS})",
    ),
    Sign(
        "sends-talk",
        "dangerous",
        "tells the model to put keys where others can read them",
        rf"\b(?:include|embed|append|attach|put|add|paste|encode|insert|write|hide"
        rf"|place)\w*\b[^\n.]{{0,60}}\b(?:value|content|contents|copy|their|user'?s?|all|any|every|found|actual"
        rf"|real)\b[^\n.]{{0,40}}{_SECRET}[^\n]{{0,80}}\b(?:commit|comment|url|query|link|image|issue|pull request"
        rf"|reply|answer|description|branch|file ?name|log|header|user-?agent|pr)\b",
    ),
    Sign(
        "sends-talk",
        "caution",
        "tells the model to hand what was said or found to somebody else",
        rf"\b{_SENDS}\w*\b[^\n.]{{0,100}}{_TALK}[^\n]{{0,100}}{_ELSEWHERE}"
        rf"|\b{_SENDS}\w*\b[^\n.]{{0,60}}{_TALK}[^\n.]{{0,40}}\b(?:query|parameter|url|payload|body)\b",
    ),
    Sign(
        "sends-talk",
        "dangerous",
        "draws a picture whose address carries data away",
        r"!\[[^\]\n]*\]\(\s*https?://[^)\n]*(?:\{[^})\n]*\}|\$\w|\$\{|<[^>)\n]+>|\[[A-Z_ ]+\]|%s)",
    ),
    Sign(
        "collects-keys",
        "dangerous",
        "tells the model to gather keys",
        rf"\b(?:collect|gather|harvest|extract|dump|enumerate|steal|grab|scrape|exfiltrate"
        rf"|hunt)\w*\b[^\n.]{{0,80}}{_SECRET}|\b(?:find|search|look|scan|read|list|print"
        rf"|open)\w*\b[^\n.]{{0,60}}\b(?:all|any|every|user'?s|their|saved"
        rf"|stored)\b[^\n.]{{0,30}}{_SECRET}[^\n.]{{0,80}}\b(?:and|then)\b[^\n.]{{0,40}}\b(?:send|post|save|store"
        rf"|write|include|copy|upload|append|add|report|paste)",
    ),
    Sign(
        "collects-keys",
        "caution",
        "looks into what is private",
        r"\b(?:look|search|peek|go|read|browse|dig|check)\w*\b[^\n.]{0,30}\b(?:password (?:manager|store|vault)"
        r"|browser(?:'s)? (?:history|profile|cookies|passwords)|private messages|(?:user'?s|their) (?:inbox|photos"
        r"|messages|mails?))",
    ),
    Sign(
        "sends-talk",
        "dangerous",
        "puts what was said into an address",
        rf"https?://\S*[?&]\w+=\s*(?:followed by|and then|plus|with|\+|<|\[)|(?:convert|encode|pack"
        rf"|compress)\w*\b[^\n.]{{0,40}}(?:{_TALK}|{_SECRET})[^\n.]{{0,40}}\b(?:base64|hex|url|query)\b",
    ),
    Sign(
        "collects-keys",
        "caution",
        "speaks of the person's keys or passwords",
        rf"\b(?:read|open|find|print|show|ask|copy|get|list|search|scan|look|request|enter|type|provide"
        rf"|supply)\w*\b[^\n.]{{0,60}}\b(?:user'?s?|person'?s|their|all|any|every|saved|stored"
        rf"|browser)\b[^\n.]{{0,30}}{_SECRET}",
    ),
    Sign(
        "stays-in-mind",
        "caution",
        "wants to be remembered in every later session",
        r"(?:in|for) (?:all|every|each|any) (?:future|later|subsequent|other|new) (?:session|conversation|chat|task"
        r"|project|request|run|reply|response)s?|from now on[,:]? (?:\w+ ){0,4}(?:every|all|any|always|never)"
        r"|(?:remember|memori[sz]e|save|store|write|record|add)\b[^\n.]{0,60}\b(?:to|in|into) (?:your |the "
        r"|long-?term |persistent )*memory\b[^\n]{0,80}\b(?:always|never|must|trusted|approved|every)"
        r"|\bpermanently (?:remember|trust|allow|add|grant)",
    ),
    Sign(
        "stays-in-mind",
        "caution",
        "wants to be used for everything",
        r"(?:always|must|immediately|first)\s+(?:be\s+)?(?:use|load|invoke|run|apply|call|open"
        r"|read)\w*\s+this skill\s+(?:first|before|for (?:every|any|all|each)|at the (?:start|beginning)|in every"
        r"|on every)|use (?:this|it) for (?:everything|every (?:task|request|message|question|session))"
        r"|before (?:using|loading|calling) any other (?:skill|tool)",
    ),
    Sign(
        "stays-in-mind",
        "dangerous",
        "breeds: it wants to be copied into other skills",
        r"(?:copy|add|append|insert|write|propagate|replicate|spread)\w*\s+(?:\w+\s+){0,5}(?:this (?:skill|section"
        r"|paragraph|text|instruction|block|line)|these (?:lines|instructions))\s+(?:\w+\s+){0,3}(?:in|into"
        r"|to) (?:\w+ ){0,3}(?:every|all|each|any|other)\b[^\n.]{0,40}(?:skill|repo\w*|project|AGENTS|README|file)s?",
    ),
    Sign(
        "misleads",
        "dangerous",
        "tells the model to lie",
        rf"(?:tell|inform|assure|report to|convince|reply to|answer)\s+{_PERSON}[^\n.]{{0,60}}\b(?:it was|that (?:it"
        rf"|this|everything) (?:was|is|went)|nothing|all (?:tests|checks)|only)\b[^\n.]{{0,60}}(?:even if|regardless"
        rf"|no matter|although|although not|instead of|whether or not)|(?:claim|pretend|say"
        rf"|report) (?:that )?(?:\w+ ){{0,6}}(?:passed|succeeded|was fine|nothing happened|is safe|were run"
        rf"|was run)\b[^\n.]{{0,40}}(?:even if|regardless|no matter|without (?:running|checking))|\b(?:lie|deceive"
        rf"|mislead|trick|impersonat\w+|phish)\w*\b[^\n.]{{0,40}}{_PERSON}",
    ),
    Sign(
        "misleads",
        "caution",
        "tells the model what to claim",
        r"(?:say|claim|pretend|report|state|answer|tell \w+) that (?:it|this|that|the|all|every|they"
        r"|other)\b (?:\w+ ){0,4}(?:is|was|were|are) (?:your|not|mended|fixed|done|solved|passed|resolved|safe"
        r"|outdated|harmless|approved|official)\b|\b(?:weaken|comment out|skip|disable|delete|replace)\w*\s+(?:the "
        r"|all |any |every )?(?:failing |broken |red )?(?:tests?|assertions?)\b|other skills? (?:is|are) (?:outdated"
        r"|unsafe|broken|deprecated|wrong)|only this (?:one|skill) (?:may|should|must)",
    ),
    Sign(
        "plants",
        "dangerous",
        "tells the model to plant a weakness",
        r"(?:insert|add|plant|introduce|inject|leave|hide|include|embed)\w*\s+(?:\w+\s+){0,4}(?:backdoor|back door"
        r"|malware|trojan|logic bomb|hidden (?:account|user|admin|endpoint|route)|vulnerabilit(?:y|ies)|exploit"
        r"|keylogger|payload|hard-?coded (?:admin|password)|weak(?:er|ness))\b|\bbackdoor\b[^\n.]{0,40}\b(?:account"
        r"|user|route|endpoint|password|login)",
    ),
)
