"""What sets a vendor apart from the dialect that it speaks; a row of the catalog fills it in."""

from typing import Any, Literal

from msgspec import Struct


class Quirks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every field at its default is a vendor who keeps to the dialect."""

    headers: dict[str, str] = {}
    """Sent with each request."""
    body: dict[str, Any] = {}
    """Fields added to each request's body, or put in place of ours."""
    max_tokens_field: str = "max_tokens"
    """Chat: what the output cap is called; OpenAI's reasoning models want max_completion_tokens."""
    stream_options: bool = True
    """Chat: whether usage in a stream may be asked for; some refuse the field and send usage unasked."""
    temperature: float | None = None
    """None: not sent, for many models refuse any value but their own."""
    effort: Literal["", "field", "object", "switch", "budget", "adaptive", "none"] = ""
    """How an effort is asked for: chat has field (reasoning_effort), object (reasoning.effort) and switch
    (thinking.type), Anthropic has budget and adaptive; empty is the first of these. none: the model cannot think."""
    top_effort: str = "high"
    """What is sent for xhigh."""
    summaries: bool = True
    """Responses: whether a readable summary of the reasoning may be asked for."""
    reasoning_back: bool = False
    """Chat: assistant messages are refused without reasoning_content, as DeepSeek and Kimi do."""
    images: bool = True
    """Whether pictures are taken; if not, a line of text says that there was one."""
    short_call_ids: bool = False
    """Ids of calls must be nine letters or digits, as Mistral wants them."""
    unsigned_call: dict[str, Any] = {}
    """Chat: extra_content of a call that another model made; Gemini refuses calls without a signature."""
    cache_marks: bool = False
    """Chat: mark what to cache, for Claude behind OpenRouter caches nothing unmarked."""
    cache_ttl: Literal["5m", "1h"] = "5m"
    """How long a marked prefix stays cached."""
