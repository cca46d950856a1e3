"""OpenAI Responses, without anything kept at the provider: reasoning travels sealed in the conversation."""

from hermes.models.dialects.responses.incoming import decoder as decoder
from hermes.models.dialects.responses.outgoing import encode as encode


def url(base: str) -> str:
    return base.rstrip("/").removesuffix("/responses") + "/responses"


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}
