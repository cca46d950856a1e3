"""OpenAI chat completions, as OpenAI and everybody who copied it speak it."""

from hermes.models.dialects.chat.incoming import decoder as decoder
from hermes.models.dialects.chat.outgoing import encode as encode


def url(base: str) -> str:
    return base.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}
