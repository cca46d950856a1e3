"""The text behind a URL, fetched through the guarded transport. It comes from outside: nobody vouches for it."""

import asyncio
import codecs
import re

import httpx2

import hermes
from hermes.app.pages import plain
from hermes.protocol.errors import Denied, ToolError, UserError
from hermes.safety.fetching import GuardedTransport, read_up_to
from hermes.safety.urls import BadURL, URLPolicy

MOST_BYTES = 5_000_000
SECONDS = 30.0
HEADERS = {
    "User-Agent": f"Hermes/{hermes.__version__}",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1",
}
_text_types = re.compile(r"text/.*|application/(.*\+)?(json|xml|yaml|toml|javascript)|application/x-(sh|yaml|ndjson)")
HTML = ("text/html", "application/xhtml+xml")


async def fetch(url: str, policy: URLPolicy, *, most_bytes: int = MOST_BYTES) -> tuple[str, str]:
    """The text behind a URL, a page as plain text, and the URL that it was found at; UserError if there is none."""
    transport = GuardedTransport(policy, most_bytes=most_bytes, seconds=SECONDS)
    try:
        async with httpx2.AsyncClient(
            transport=transport, follow_redirects=True, trust_env=False, headers=HEADERS
        ) as client:
            async with client.stream("GET", url) as response:
                return await _text(response, url, most_bytes), str(response.url)
    except Denied as denied:
        why = denied.__cause__
        private = isinstance(why, BadURL) and why.rule.startswith("private")
        hint = "hermes config set security.allow_private_urls true lets own networks in" if private else ""
        raise UserError(f"{url} may not be fetched: {why or denied}", hint) from None
    except ToolError as error:
        raise UserError(f"{url}: {error}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise UserError(f"{url} cannot be fetched: {error or type(error).__name__}", "check the address") from None


async def _text(response: httpx2.Response, url: str, most_bytes: int) -> str:
    if response.is_error:
        raise UserError(f"{url} cannot be fetched: HTTP {response.status_code}", "check the address")
    kind = response.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    if not _text_types.fullmatch(kind) and kind not in HTML:
        raise UserError(f"{url} is no text but {kind}", "save it to a file and let the model look at that")
    body, more = await read_up_to(response, most_bytes)
    if more:
        raise UserError(f"{url} has more than {most_bytes:,} bytes", "fetch something smaller")
    text = body.decode(_charset(response), errors="replace")
    return await asyncio.to_thread(plain, text) if kind in HTML else text


def _charset(response: httpx2.Response) -> str:
    """The encoding that the answer names, if Python knows it."""
    try:
        return codecs.lookup(response.charset_encoding or "utf-8").name
    except LookupError:
        return "utf-8"
