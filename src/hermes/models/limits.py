"""Whether a provider's complaint is about the context window or about the output cap, and what the cap may be.

Raising the wrong one is costly: a cap that is too high needs a smaller number, a full window needs a summary.
"""

import re

SMALLEST_ROOM = 1024
"""Tokens of output below which a smaller cap helps nobody and the conversation has to shrink."""

FULL = (
    r"context_length_exceeded|exceed_context_size|string_above_max_length|context[_ ](length|window|size|limit)"
    r"|(prompt|input|request) (is |was )?too (long|large)|(prompt|input) exceeds|input token count.{0,40}exceeds"
    r"|maximum prompt length|length of the (messages|input)|model token limit|message size.{0,40}exceeds"
)
ABOUT_OUTPUT = r"max_?(completion|output|new)?_?tokens|(output|completion) tokens"
TOO_LARGE = (
    r"too large|at most|maximum (allowed|value|number)|less than or equal|range|exceeds? (the|its) (max|limit|model)"
    r"|cannot (exceed|be greater)|must not exceed|must be (<=|less)"
)
CAPS = (
    r"at most (\d+)",
    r"> (\d+), which is the maximum",
    r"less than or equal to [`'\"]?(\d+)",
    r"range[^\[]{0,40}\[ ?\d+ ?, ?(\d+) ?\]",
    r"(?:limit|maximum)(?: is| of|:) (\d+)",
)


def context_is_full(text: str) -> bool:
    """Whether the input does not fit."""
    return _find(FULL, text) is not None


def output_cap(text: str) -> int | None:
    """The largest output that would be accepted, 0 if it is not said; None if the output cap is not what is wrong."""
    room = _room(text)
    if room is not None:
        return room if room >= SMALLEST_ROOM else None
    # OpenAI's "request too large" counts input and output against a rate; there the input is what can shrink.
    if _find("request too large", text) or not (_find(ABOUT_OUTPUT, text) and _find(TOO_LARGE, text)):
        return None
    # Vertex names the first number that is not allowed.
    if exclusive := _find(r"to (\d+) \(exclusive\)", text):
        return int(exclusive[1]) - 1
    found = (_find(pattern, text) for pattern in CAPS)
    return next((int(match[1]) for match in found if match), 0)


def _room(text: str) -> int | None:
    """What is left for output where input and output together are said to overflow the window."""
    # Anthropic: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000
    if sums := _find(r"(\d+) \+ (\d+) > (\d+)", text):
        return int(sums[3]) - int(sums[1])
    window = _find(r"maximum context length (?:is|of) (\d+)", text)
    if window is None:
        return None
    # vLLM: your request has 1000 input tokens; your prompt contains at least 3585 input tokens
    if taken := _find(r"(?:has|contains at least|contains) (\d+) input tokens", text):
        return int(window[1]) - int(taken[1])
    # OpenAI and OpenRouter: you requested 8256 tokens (64 in the messages, 8192 in the completion)
    asked = _find(r"requested (?:about )?(\d+) tokens", text)
    output = _find(r"(\d+) in the (?:completion|output)", text)
    if asked and output:
        return int(window[1]) - (int(asked[1]) - int(output[1]))
    return None


def _find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE)
