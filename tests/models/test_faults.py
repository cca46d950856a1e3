"""What providers say when they say no, each with the error that it stands for."""

from email.utils import formatdate
from typing import Any

import msgspec
import pytest

from hermes.models import faults
from hermes.models.faults import classify, from_event
from hermes.protocol.errors import (
    AuthFailed,
    BadRequest,
    ContextTooLong,
    ModelError,
    OutputTooLarge,
    Overloaded,
    QuotaSpent,
    RateLimited,
    Refused,
)

NOW = 1_800_000_000.0


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> bytes:
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def anthropic(kind: str, message: str) -> bytes:
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})


def gemini(code: int, message: str, status: str, *details: dict[str, Any]) -> bytes:
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return msgspec.json.encode([{"error": error}])


def openrouter(code: int, message: str, **metadata: Any) -> bytes:
    return msgspec.json.encode({"error": {"message": message, "code": code, "metadata": metadata}, "user_id": "u"})


QUOTA = "You exceeded your current quota, please check your plan and billing details."
GEMINI_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
GEMINI_RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
NGINX = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502</h1></body></html>"

CASES: dict[str, tuple[int, bytes, type[ModelError]]] = {
    "rate limit": (429, openai("Rate limit reached", "rate_limit_exceeded"), RateLimited),
    "rate limit without a body": (429, b"", RateLimited),
    "anthropic rate limit": (429, anthropic("rate_limit_error", "This would exceed the limit"), RateLimited),
    "gemini limit that passes": (429, gemini(429, QUOTA, "RESOURCE_EXHAUSTED", GEMINI_RETRY), RateLimited),
    "gemini limit of the day": (429, gemini(429, QUOTA, "RESOURCE_EXHAUSTED"), QuotaSpent),
    "openai quota": (429, openai(QUOTA, "insufficient_quota", "insufficient_quota"), QuotaSpent),
    "kimi quota": (429, openai("Your account is suspended", "exceeded_current_quota_error"), QuotaSpent),
    "no credit": (402, openai("Insufficient Balance"), QuotaSpent),
    "402 without a body": (402, b"", QuotaSpent),
    "anthropic credit": (
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        QuotaSpent,
    ),
    "xai credit": (403, b'{"code":"denied","error":"Your team doesn\'t have any credits yet."}', QuotaSpent),
    "wrong key": (401, openai("Incorrect API key provided: sk-12**", "invalid_api_key"), AuthFailed),
    "401 without a body": (401, b"", AuthFailed),
    "no permission": (403, anthropic("permission_error", "Your key may not use this"), AuthFailed),
    "gemini key": (400, gemini(400, "API key not valid.", "INVALID_ARGUMENT", GEMINI_KEY), AuthFailed),
    "xai key": (400, b'{"code":"Client specified","error":"Incorrect API key provided: xa***"}', AuthFailed),
    "no such model": (404, openai("The model `x` does not exist", "model_not_found"), BadRequest),
    "404 of another server": (404, b"404 page not found", BadRequest),
    "bad request": (
        400,
        openai("Invalid schema for function 'ls'", "invalid_function_parameters"),
        BadRequest,
    ),
    "fastapi validation": (422, b'{"detail":[{"loc":["body"],"msg":"field required"}]}', BadRequest),
    "wrong name of the cap": (
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
        ),
        BadRequest,
    ),
    "budget above the cap": (
        400,
        anthropic("invalid_request_error", "`max_tokens` must be greater than `thinking.budget_tokens`."),
        BadRequest,
    ),
    "timeout": (408, b"", Overloaded),
    "conflict": (409, b"", Overloaded),
    "groq at capacity": (498, b"", Overloaded),
    "server error": (500, openai("The server had an error", "server_error", "server_error"), Overloaded),
    "html page": (502, NGINX, Overloaded),
    "unavailable": (503, b"no healthy upstream", Overloaded),
    "gateway timeout": (504, b"", Overloaded),
    "cloudflare": (524, b"<!DOCTYPE html><title>a.example | 524: A timeout occurred</title>", Overloaded),
    "anthropic overloaded": (529, anthropic("overloaded_error", "Overloaded"), Overloaded),
    "too large a body": (
        413,
        anthropic("request_too_large", "Request exceeds the maximum size"),
        ContextTooLong,
    ),
    "413 without a body": (413, b"", ContextTooLong),
    "openai context": (
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "context_length_exceeded",
        ),
        ContextTooLong,
    ),
    "responses context": (
        400,
        openai("Your input exceeds the context window of this model.", "context_length_exceeded"),
        ContextTooLong,
    ),
    "anthropic context": (
        400,
        anthropic("invalid_request_error", "prompt is too long: 200679 tokens > 200000 maximum"),
        ContextTooLong,
    ),
    "anthropic input alone too long": (
        400,
        anthropic(
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 199900 + 8192 > 200000, decrease input length",
        ),
        ContextTooLong,
    ),
    "gemini context": (
        400,
        gemini(
            400,
            "The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).",
            "INVALID_ARGUMENT",
        ),
        ContextTooLong,
    ),
    "llama.cpp context": (
        400,
        msgspec.json.encode(
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9000,
                    "n_ctx": 4096,
                }
            }
        ),
        ContextTooLong,
    ),
    "llama.cpp context as its own failure": (
        500,
        openai("Context size has been exceeded.", kind="server_error"),
        ContextTooLong,
    ),
    "vllm context": (
        400,
        msgspec.json.encode(
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in "
                "the messages, Please reduce the length of the messages.",
                "type": "BadRequestError",
            }
        ),
        ContextTooLong,
    ),
    "xai context": (
        400,
        b'{"error":"This model\'s maximum prompt length is 131072 but the request contains 537812 tokens."}',
        ContextTooLong,
    ),
    "groq context": (
        400,
        openai("Please reduce the length of the messages or completion.", "context_length_exceeded"),
        ContextTooLong,
    ),
    "kimi context": (
        400,
        openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"),
        ContextTooLong,
    ),
    "z.ai context": (400, b'{"error":{"code":"1261","message":"Prompt exceeds max length"}}', ContextTooLong),
    "minimax context": (
        400,
        anthropic("invalid_request_error", "invalid params, context window exceeds limit (2013)"),
        ContextTooLong,
    ),
    "lm studio context": (
        400,
        b'{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}',
        ContextTooLong,
    ),
    "openai request above the rate": (
        429,
        openai(
            "Request too large for gpt-6 on tokens per min (TPM): Limit 30000, Requested 45000. The input or output "
            "tokens must be reduced in order to run successfully.",
            "rate_limit_exceeded",
        ),
        ContextTooLong,
    ),
    "openai policy": (
        400,
        openai(
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            "invalid_prompt",
        ),
        Refused,
    ),
    "azure policy": (400, openai("The response was filtered", "content_filter"), Refused),
    "openrouter moderation": (
        403,
        openrouter(403, "Your chosen model requires moderation and your input was flagged", reasons=["violence"]),
        Refused,
    ),
    "deepseek policy": (400, openai("Content Exists Risk"), Refused),
    "openrouter passes an error on": (
        400,
        openrouter(
            400,
            "Provider returned error",
            raw='{"error":{"message":"prompt is too long"}}',
            provider_name="X",
        ),
        ContextTooLong,
    ),
    "openrouter passes a limit on": (
        429,
        openrouter(429, "Provider returned error", raw="m is busy"),
        RateLimited,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_refusal_is_the_right_error(case: str):
    status, body, expected = CASES[case]
    error = classify(status, {}, body, now=NOW)
    assert (type(error), error.status) == (expected, status)
    assert str(error) and "\n" not in str(error) and "<" not in str(error)


CAPS: dict[str, tuple[bytes, int | None]] = {
    "openai": (
        openai(
            "max_tokens is too large: 64000. This model supports at most 4096 completion tokens, whereas you "
            "provided 64000.",
            "invalid_value",
        ),
        4096,
    ),
    "anthropic": (
        anthropic(
            "invalid_request_error",
            "max_tokens: 64000 > 4096, which is the maximum allowed number of output tokens for claude-3",
        ),
        4096,
    ),
    "groq": (openai("`max_completion_tokens` must be less than or equal to `8192`, the maximum value"), 8192),
    "deepseek": (openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8192),
    "qwen": (openai("<400> InvalidParameter: Range of max_tokens should be [1, 16384]"), 16384),
    "vertex": (
        gemini(
            400,
            "maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)",
            "INVALID_ARGUMENT",
        ),
        65536,
    ),
    "vllm": (
        openai(
            "'max_tokens' or 'max_completion_tokens' is too large: 40000. This model's maximum context length is 32768 "
            "tokens and your request has 1000 input tokens (40000 > 32768 - 1000)."
        ),
        31768,
    ),
    "a new vllm": (
        openai(
            "This model's maximum context length is 32768 tokens. However, you requested 20000 output tokens and your "
            "prompt contains at least 15000 input tokens, for a total of at least 35000 tokens."
        ),
        17768,
    ),
    "an old openai": (
        openai(
            "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, "
            "8192 in the completion). Please reduce the length of the messages or completion.",
            "context_length_exceeded",
        ),
        8128,
    ),
    "openrouter": (
        openrouter(
            400,
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens "
            "(90000 of text input, 10000 of tool input, 40000 in the output).",
        ),
        31072,
    ),
    "anthropic with input": (
        anthropic(
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length",
        ),
        50000,
    ),
    "without a number": (openai("max_output_tokens is too large for this model"), None),
}


@pytest.mark.parametrize("case", CAPS)
def test_an_output_cap_that_is_too_high_is_told_from_a_full_window(case: str):
    body, cap = CAPS[case]
    error = classify(400, {}, body)
    assert isinstance(error, OutputTooLarge) and error.cap == cap


WAITS: dict[str, tuple[dict[str, str], bytes, float | None]] = {
    "seconds": ({"Retry-After": "7"}, b"", 7),
    "parts of seconds": ({"retry-after": "0.5"}, b"", 0.5),
    "milliseconds come first": ({"retry-after-ms": "1500", "retry-after": "2"}, b"", 1.5),
    "a date": ({"retry-after": formatdate(NOW + 30, usegmt=True)}, b"", 30),
    "a date in the past": ({"retry-after": formatdate(NOW - 30, usegmt=True)}, b"", 0),
    "a span": ({"retry-after": "1m30s"}, b"", 90),
    "nonsense": ({"retry-after": "soon"}, b"", None),
    "not a number": ({"retry-after": "nan"}, b"", None),
    "no end": ({"retry-after": "inf"}, b"", None),
    "nothing": ({}, b"", None),
    "openai counters": (
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "6m0s",
            "x-ratelimit-remaining-tokens": "900",
            "x-ratelimit-reset-tokens": "20ms",
        },
        b"",
        360,
    ),
    "counters that are not at 0": ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "9"}, b"", None),
    "openrouter counter": ({"X-RateLimit-Reset": f"{(NOW + 12) * 1000:.0f}"}, b"", 12),
    "a counter in seconds since 1970": ({"x-ratelimit-reset": f"{NOW + 5:.0f}"}, b"", 5),
    "a counter in seconds": ({"ratelimit-reset": "4"}, b"", 4),
    "anthropic counter": (
        {
            "anthropic-ratelimit-tokens-remaining": "0",
            "anthropic-ratelimit-tokens-reset": "2027-01-15T08:00:40Z",
        },
        b"",
        40,
    ),
    "openai sentence": ({}, openai("Rate limit reached. Please try again in 1.25s. Visit x"), 1.25),
    "groq sentence": ({}, openai("Rate limit reached. Please try again in 2m3.5s."), 123.5),
    "milliseconds in a sentence": ({}, openai("Please try again in 120ms."), 0.12),
    "words in a sentence": ({}, openai("Too many requests, please wait 20 seconds"), 20),
    "gemini detail": ({}, gemini(429, QUOTA, "RESOURCE_EXHAUSTED", GEMINI_RETRY), 34),
    "a field": ({}, b'{"message":"slow down","retry_after":3}', 3),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_provider_may_say_how_long_to_wait_in_many_ways(case: str):
    headers, body, after = WAITS[case]
    error = classify(429, headers, body, now=NOW)
    assert isinstance(error, RateLimited)
    assert error.after == (None if after is None else pytest.approx(after))


def test_an_overloaded_provider_may_say_so_too():
    error = classify(503, {"retry-after": "11"}, b"", now=NOW)
    assert isinstance(error, Overloaded) and error.after == 11


def test_a_402_that_passes_is_a_rate_limit():
    error = classify(402, {"retry-after": "2"}, openrouter(402, "In-flight budget is used up"))
    assert (type(error), error.status) == (RateLimited, 402)


def test_a_spent_quota_stays_one_whatever_the_counters_say():
    body = openai(QUOTA, "insufficient_quota", "insufficient_quota")
    assert type(classify(429, {"retry-after": "5"}, body)) is QuotaSpent


def test_a_redirect_says_where_to():
    error = classify(308, {"location": "https://new.example/v1"}, b"")
    assert isinstance(error, BadRequest) and "https://new.example/v1" in str(error)


@pytest.mark.parametrize(
    "status,body,line",
    [
        (502, NGINX, "502 Bad Gateway"),
        (503, b"<h1>Sorry</h1>\n<style>p {}</style><p>We are  away", "Sorry We are away"),
        (500, b"", "HTTP 500 Internal Server Error"),
        (599, b"", "HTTP 599"),
        (500, b"\xff\xfe", "��"),
        (500, b'{"unexpected": [1]}', "HTTP 500 Internal Server Error"),
        (500, b'{"error": {"message": "a\\n  b"}}', "a b"),
        (500, b'{"error": "no message"}', "no message"),
        (500, b'{"detail": {"message": "nested"}}', "nested"),
        (400, openai("a < b and c > d"), "a < b and c > d"),
        (500, b"x" * 1000, "x" * 299 + "…"),
    ],
)
def test_a_person_reads_one_line(status: int, body: bytes, line: str):
    assert str(classify(status, {}, body)) == line


@pytest.mark.parametrize(
    "event,expected,status",
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded, 529),
        ({"error": {"code": 429, "message": "Rate limited"}}, RateLimited, 429),
        ({"error": {"code": "context_length_exceeded", "message": "too long"}}, ContextTooLong, 400),
        ({"error": {"type": "authentication_error", "message": "invalid x-api-key"}}, AuthFailed, 401),
        ({"error": {"type": "billing_error", "message": "no"}}, QuotaSpent, 402),
        ({"code": "server_error", "message": "oops"}, Overloaded, 500),
        ({"error": {"message": "who knows"}}, Overloaded, 500),
        ("a bare text", Overloaded, 500),
        (None, Overloaded, 500),
    ],
)
def test_an_error_within_a_stream_is_the_same_as_its_status_would_be(
    event: Any, expected: type[ModelError], status: int
):
    error = from_event(event)
    assert (type(error), error.status) == (expected, status)


def test_one_line_leaves_plain_text_alone():
    assert faults.one_line("plain  text\n here") == "plain text here"
