"""Which requests a provider would refuse: the strictness that keeps every story's history valid."""

from typing import Any

import msgspec

from tests.services.rules import chat, messages, responses
from tests.services.rules.shared import Refused
from tests.services.wire.frames import Dialect


def violation(dialect: Dialect, headers: dict[str, str], body: Any) -> str:
    """Why the vendor would answer 400, in one line; empty if it would not."""
    try:
        match dialect:
            case "chat":
                chat.check(body)
            case "responses":
                responses.check(body)
            case "messages":
                messages.check(headers, body)
    except (Refused, msgspec.ValidationError) as refused:
        return str(refused)
    return ""
