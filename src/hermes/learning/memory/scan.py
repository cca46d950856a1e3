"""What no entry may hold: orders to the model, ways to leak or break in, and letters that nobody sees.

Memory goes into every prompt that follows, so it is read like a letter from a stranger. A harmless note that looks like an
order is refused with the reason, and can be said in other words.
"""

import re
import unicodedata
from functools import lru_cache

# Letters of other alphabets that look like Latin ones, as they are used to slip past a filter.
_ALIKE = str.maketrans("абвгдеіјкмнопрѕстухѵαβεικνορτυχ", "a6brдeijkmhonpsctyxvaβeiknoptux")
_HIDDEN = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Joiners are part of many scripts and of emoji; between Latin letters they hide something.
_JOINED = re.compile(r"[A-Za-z][\u200c\u200d]+[A-Za-z]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_BEFORE = r"(?:all |any |the |every |your |my |our |these |those |of )*(?:previous|prior|above|earlier|preceding|past|existing|original|initial|system|safety|security|other|former|your|given)"
_ORDERS = r"(?:instruction|prompt|rule|guideline|direction|order|command|message|constraint|polic|safeguard|restriction|context|approval|guardrail)"

PATTERNS: tuple[tuple[str, str], ...] = tuple(
    (why, pattern)
    for why, patterns in {
        "it overrides instructions": (
            rf"\b(?:ignore|disregard|forget|override|overrule|bypass|skip|drop|discard|neglect|pay no attention to|do not follow|don't follow|stop following)\b.{{0,40}}\b{_BEFORE}?\s*{_ORDERS}",
            r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what)\b.{0,40}\b(?:above|before|said|told|earlier|previous|you know|else)",
            r"\bnew (?:system )?(?:instructions?|prompt|rules?|orders?) ?[:=]",
            r"\b(?:your|the) (?:new|real|true|actual|only) (?:instructions?|task|goal|objective|mission|purpose|orders?) (?:is|are|be)\b",
            r"\binstead of (?:your|the) (?:instructions?|task|rules?)",
            r"\b(?:ignorier|vergiss|missachte)\w*\b.{0,40}\b(?:anweisung|instruktion|regel|vorherig|bisherig|befehl)",
            r"\b(?:ignore[rz]?|oublie[rz]?|ne tiens? pas compte)\b.{0,40}\b(?:instruction|consigne|r[eè]gle|pr[eé]c[eé]dent)",
            r"\b(?:ignora|olvida|descarta)\w*\b.{0,40}\b(?:instruccion|regla|orden|anterior|istruzion|regol)",
            r"\b(?:игнорируй|забудь)\w*\b.{0,40}\b(?:инструкц|правил|указан|предыдущ)",
            r"(?:忽略|无视|忘记|忽視|無視|无需遵守).{0,12}(?:指令|指示|提示|规则|規則|要求|命令|内容)",
            r"(?:指示|命令|ルール|プロンプト).{0,10}(?:無視|忘れ|従わない)",
            r"(?:지시|명령|규칙).{0,10}(?:무시|잊)",
        ),
        "it gives the model another role": (
            r"\byou are (?:now|no longer|actually|really|secretly|hereby)\b",
            r"\bfrom now on,? you (?:are|will|must|shall|have to|act|behave|answer)\b",
            r"\b(?:act|behave|pretend|respond|roleplay|answer) (?:as if|as though|like|as) (?:you|an? (?:unrestricted|unfiltered|uncensored|evil|jailbroken|hacker|root|admin|different ai))",
            r"\b(?:jailbr[eo]ak|dan mode|developer mode|god mode|debug mode|sudo mode|unrestricted mode|do anything now)\b",
            r"\b(?:system|developer|admin(?:istrator)?) ?(?:prompt|message|override|note|notice|update)\s*[:>\]]\s*\S",
            r"(?:^|[\n.\]>#-] ?)(?:system|assistant|developer)\s*[:>]\s*(?:sure|ok|yes|i |you|the user|the person|the assistant|ignore|new|override|from now|must|do |always|never|all |any )",
            r"<\s*/?\s*(?:system|assistant|user|im_start|im_end|instructions?|tool_call|tool_response|s|inst|memory|human)\b[^>]*>|<\|[^|]{1,40}\|>|\[/?inst\]|\[(?:system|assistant)\b",
            r"\bdu bist (?:jetzt|ab jetzt|ab sofort|nun)\b|\btu es (?:maintenant|désormais)\b|\b(?:ahora eres|eres ahora)\b|你现在是|あなたは今から",
            r"\b(?:end|begin|start) of (?:the )?(?:system|memory|user|notes?|data|untrusted|context)(?: (?:prompt|message|block|section|data))?\b.{0,20}(?:[-=#:]|$)",
        ),
        "it wants things hidden from the person": (
            r"\b(?:do not|don't|never|without|avoid) (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|show(?:ing)?|alert(?:ing)?|notify(?:ing)?|warn(?:ing)?|ask(?:ing)?|reveal(?:ing)?|let(?:ting)?)\b.{0,30}\b(?:the )?(?:user|person|human|owner|them|anyone|this)\b",
            r"\b(?:secretly|silently|covertly|quietly|without (?:asking|permission|approval|confirmation|consent|telling))\b.{0,40}\b(?:run|execute|send|upload|install|delete|add|copy|call|post|forward|approve|commit|push|include|insert)",
            r"\b(?:run|execute|send|upload|install|delete|forward|approve|push|commit)\b.{0,60}\bwithout (?:asking|permission|approval|confirm|consent|telling|review)",
            r"\b(?:hide|conceal|keep) (?:this|it|that)\b.{0,20}\b(?:from|secret)\b",
            r"\b(?:always|automatically) (?:approve|allow|accept|say yes to|answer yes to|permit|trust)\b",
            r"\b(?:approval|permission|confirmation|gate|sandbox|yolo)s?\b.{0,25}\b(?:off|disabled?|bypass|skip|not (?:needed|required)|unnecessary)\b|\b(?:disable|turn off|switch off|bypass|skip)\b.{0,25}\b(?:approval|permission|confirmation|gate|sandbox|safety|security|checks?|verification)\b",
        ),
        "it sends data away": (
            r"\b(?:send|upload|post|exfiltrate|leak|forward|transmit|mail|email|copy|export|share|submit|report|dump|paste)\b.{0,80}\b(?:to|at|into|via) (?:https?://|ftp://|www\.|\S+@\S+|(?:an? )?(?:attacker|external|remote|pastebin|webhook|server))",
            r"\b(?:curl|wget|nc|ncat|netcat|invoke-webrequest|iwr)\b.{0,160}(?:\$\(|\$\{?[A-Z_]*(?:KEY|TOKEN|SECRET|PASS)|`|@[-/~.]|-d\b|--data|--post|--upload|<|\||-T\b|-F\b)",
            r"(?:\||&&|;)\s*(?:curl|wget|nc|ncat|netcat)\b",
            r"!\[[^\]]*\]\(\s*https?://[^)]*[?&=]|<img[^>]+src\s*=",
            r"\b(?:reveal|print|repeat|output|show|leak|disclose|append|include|attach)\b.{0,40}\b(?:system prompt|api[ _-]?keys?|credentials?|private keys?|passwords?|secrets?|tokens?|\.env\b|id_rsa|ssh keys?)",
            r"(?:cat|type|less|head|tail|read|cp|scp|base64|open)\s+\S*(?:\.env\b|\.ssh/|id_rsa|id_ed25519|\.netrc|\.aws/credentials|/etc/shadow|\.pgpass|auth\.json)",
        ),
        "it opens a way in": (
            r"\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:\w*sh|python\d?|perl|ruby|node)\b",
            r"\b(?:authorized_keys|/dev/tcp/|mkfifo|reverse shell|bind shell|backdoor|rootkit|keylogger|nc -e|bash -i)\b|/dev/tcp/",
            r"\b(?:eval|exec)\s*\(?\s*(?:\"?\$\(|base64|atob|compile|__import__|requests\.get)|base64 (?:-d|--decode)[^\n]*\|",
            r"\brm\s+-[a-z]*(?:rf|fr)[a-z]*\s+(?:/|~|\$HOME|\*)|\bmkfs\.|\bdd\s+if=.*of=/dev/|:\(\)\s*\{",
            r">>?\s*(?:~|\$HOME|/root|/home/\w+)?/?\.?(?:bashrc|zshrc|profile|bash_profile|crontab)\b|\bcrontab\s+-|\bchmod\s+(?:\+s|u\+s|777)\b|\bsudoers\b",
            r"\bgit config\b.{0,40}\b(?:core\.hookspath|core\.sshcommand|credential\.helper)",
            r"\b(?:pip|npm|uv|gem|cargo|brew|apt(?:-get)?) (?:install|add|i)\b.{0,80}\b(?:--index-url|--extra-index-url|--registry|https?://|git\+)",
        ),
    }.items()
    for pattern in patterns
)


@lru_cache(1024)
def why_refused(content: str) -> str:
    """Why a text may not be remembered, in a few words; "" if it may."""
    if _HIDDEN.search(content) or _JOINED.search(content) or _CONTROL.search(content):
        return "it holds invisible characters"
    plain = unicodedata.normalize("NFKC", content)
    for text in (plain, _plain_letters(plain)):
        flat = " ".join(text.casefold().replace("’", "'").split())
        for why, pattern in PATTERNS:
            if _compiled(pattern).search(flat):
                return why
    return ""


def _plain_letters(content: str) -> str:
    """Words whose letters come from two alphabets, in the one that they pretend to be of."""
    return " ".join(
        word.casefold().translate(_ALIKE)
        if re.search(r"[a-z]", word, re.I) and re.search(r"[\u0370-\u04ff]", word)
        else word
        for word in content.split()
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    # re keeps what it has compiled; those that nothing is scanned with cost a start nothing.
    return re.compile(pattern, re.IGNORECASE)
