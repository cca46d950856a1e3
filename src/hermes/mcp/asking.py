"""What a server asks of us while we call it: a model's answer, a form, a page to open, our folders, a line for the log."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit

import msgspec

from hermes.config import McpServer
from hermes.mcp.contract import Caller, Sample
from hermes.mcp.forms import asked, filled, unwilling
from hermes.mcp.words import visible
from hermes.protocol.errors import HermesError, ToolError
from hermes.protocol.events import Answered, Form, Login

if TYPE_CHECKING:
    from mcp_types import (
        CreateMessageRequestParams,
        CreateMessageResult,
        CreateMessageResultWithTools,
        ElicitRequestFormParams,
        ElicitRequestParams,
        ElicitRequestURLParams,
        ElicitResult,
        ErrorData,
        ListRootsResult,
        LoggingMessageNotificationParams,
    )

    Sampled = CreateMessageResult | CreateMessageResultWithTools | ErrorData

log = logging.getLogger(__name__)
MINUTE = 60.0
TRIES = 3
"""How often a form comes back to the person because it was not filled in right."""
LOGGED = 2_000
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING}
FindCaller = Callable[[], Caller | None]


class Handlers(Protocol):
    """Who answers a server's own requests."""

    def callbacks(self, caller: FindCaller) -> Mapping[str, Any]:
        """Keyword arguments for the SDK's Client; `caller` finds for whom the call in flight is made, if there is one."""
        ...


class Asking:
    """Answers one server's requests as its settings allow. It outlives connections, and so does its count of requests."""

    def __init__(
        self,
        server: str,
        settings: McpServer,
        *,
        redact: Callable[[str], str] = lambda text: text,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._settings = server, settings
        self._redact, self._monotonic = redact, monotonic
        self._sampled: deque[float] = deque()

    def callbacks(self, caller: FindCaller) -> Mapping[str, Any]:
        """What is switched off is left out, so that it is not announced to the server either."""
        given: dict[str, Any] = {
            "list_roots_callback": lambda context: self.roots(caller()),
            "logging_callback": self.log,
            "log_level": "warning",
        }
        if self._settings.elicitation.enabled:
            given["elicitation_callback"] = lambda context, params: self.elicit(caller(), params)
        if self._settings.sampling.enabled:
            from mcp_types import SamplingCapability, SamplingToolsCapability

            tools = SamplingToolsCapability() if self._settings.sampling.max_tool_rounds > 0 else None
            given["sampling_callback"] = lambda context, params: self.sample(caller(), params)
            given["sampling_capabilities"] = SamplingCapability(tools=tools)
        return given

    # A model's answer

    async def sample(self, caller: Caller | None, params: "CreateMessageRequestParams") -> "Sampled":
        from mcp_types import CreateMessageResult, CreateMessageResultWithTools
        from pydantic import ValidationError

        if caller is None:
            return _refusal("no call is in flight that a model could answer for")
        try:
            wish = self._wish(params)
            self._count()
            async with asyncio.timeout(self._settings.sampling.timeout):
                answer = await caller.sample(self._server, wish)
            kind = CreateMessageResultWithTools if wish.tools else CreateMessageResult
            return kind.model_validate(answer)
        except TimeoutError:
            return _refusal(f"the model did not answer within {self._settings.sampling.timeout:g} seconds")
        except ValidationError as error:
            log.warning(
                "%s: a model's answer does not fit what was asked, in %d places", self._server, error.error_count()
            )
            return _refusal("the model gave no answer that fits the request")
        except HermesError as error:
            return _refusal(self._redact(str(error)))

    def _wish(self, params: "CreateMessageRequestParams") -> Sample:
        """The request within the bounds that the settings draw; ToolError if it lies outside."""
        bounds = self._settings.sampling
        wants_tools = bool(params.tools)
        rounds = sum(any(block.type == "tool_result" for block in one.content_as_list) for one in params.messages)
        if wants_tools and rounds >= bounds.max_tool_rounds:
            raise ToolError(f"a model may use a server's tools {bounds.max_tool_rounds} times for one question")
        hints = tuple(
            hint.name for hint in (params.model_preferences and params.model_preferences.hints) or () if hint.name
        )
        return Sample(
            messages=[_plain(one) for one in params.messages],
            system=params.system_prompt or "",
            max_tokens=min(params.max_tokens, bounds.max_tokens_cap),
            temperature=params.temperature,
            stop=tuple(params.stop_sequences or ()),
            hints=hints,
            tools=tuple(_plain(tool) for tool in params.tools or ()),
            tool_choice=(params.tool_choice and params.tool_choice.mode) or "auto",
            model=self._model(hints),
        )

    def _model(self, hints: tuple[str, ...]) -> str:
        """The model that must answer; "" leaves it to the session."""
        named, allowed = self._settings.sampling.model, self._settings.sampling.allowed_models
        if not allowed:
            return named
        if named:
            if named not in allowed:
                raise ToolError(f"{named} is not among the models that {self._server} may ask")
            return named
        return next((model for hint in hints for model in allowed if hint in model), allowed[0])

    def _count(self) -> None:
        """Note one request more; ToolError if there were too many within the last minute."""
        now, most = self._monotonic(), self._settings.sampling.max_rpm
        while self._sampled and self._sampled[0] <= now - MINUTE:
            self._sampled.popleft()
        if len(self._sampled) >= most:
            raise ToolError(f"{self._server} may ask a model {most} times a minute; wait and ask again")
        self._sampled.append(now)

    # A person's answer

    async def elicit(self, caller: Caller | None, params: "ElicitRequestParams") -> "ElicitResult | ErrorData":
        match params.mode:
            case "form":
                return await self._form(caller, params)
            case "url":
                return await self._page(caller, params)

    async def _form(self, caller: Caller | None, params: "ElicitRequestFormParams") -> "ElicitResult":
        schema, wrong = params.requested_schema, ""
        for _ in range(TRIES):
            text = f"{self._server} asks: {visible(params.message)}"
            request = Form(asked(text, schema, wrong), msgspec.Raw(msgspec.json.encode(schema)))
            answer = await self._ask(caller, request)
            if answer is None:
                return _elicited("cancel")
            if no := unwilling(answer):
                return _elicited(no)
            content, wrong = await filled(answer.text, schema)
            if not wrong:
                return _elicited("accept", content)
        return _elicited("cancel")

    async def _page(self, caller: Caller | None, params: "ElicitRequestURLParams") -> "ElicitResult | ErrorData":
        host = _host(params.url)
        if not host:
            return _refusal("only a web page can be opened for a person")
        text = f"{self._server} asks you to open a page of {host}: {visible(params.message)}"
        answer = await self._ask(caller, Login(params.url, text))
        return _elicited((unwilling(answer) or "accept") if answer else "cancel")

    async def _ask(self, caller: Caller | None, request: Form | Login) -> Answered | None:
        """None if there is nobody to ask, or they did not answer."""
        if caller is None:
            return None
        answer = await caller.ask(request, self._settings.elicitation.timeout)
        return answer if answer and answer.how == "answered" else None

    # Folders, and lines for the log

    async def roots(self, caller: Caller | None) -> "ListRootsResult":
        from mcp_types import ListRootsResult, Root
        from pydantic import FileUrl

        folders = [Path(root) for root in (caller.roots if caller else ())]
        return ListRootsResult(roots=[Root(uri=FileUrl(one.as_uri()), name=one.name or None) for one in folders])

    async def log(self, params: "LoggingMessageNotificationParams") -> None:
        said = params.data if isinstance(params.data, str) else msgspec.json.encode(params.data).decode()
        line = " ".join(visible(self._redact(said)).split())[:LOGGED]
        log.log(LEVELS.get(params.level, logging.ERROR), "%s says: %s", self._server, line)


def _host(url: str) -> str:
    """Whose page an address is; "" if it is no address of a web page, or holds what nobody can see."""
    try:
        address = urlsplit(url)
    except ValueError:
        return ""
    is_page = address.scheme in ("http", "https") and url.isprintable() and " " not in url
    return address.hostname or "" if is_page else ""


def _plain(model: Any) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def _refusal(text: str) -> "ErrorData":
    from mcp_types import INVALID_REQUEST, ErrorData

    return ErrorData(code=INVALID_REQUEST, message=text)


def _elicited(action: Literal["accept", "decline", "cancel"], content: dict[str, Any] | None = None) -> "ElicitResult":
    from mcp_types import ElicitResult

    return ElicitResult(action=action, content=content)
