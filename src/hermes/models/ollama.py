"""A model of an Ollama server, which alone knows how much context it gave the model."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

import msgspec
from msgspec import Struct

from hermes.models import dialects
from hermes.models.endpoint import Endpoint
from hermes.models.exchange import Fault, Request
from hermes.protocol.models import Delta, Finished, ModelRequest

log = logging.getLogger(__name__)

TIMEOUT = 5.0


class _Loaded(Struct, frozen=True):
    name: str = ""
    context_length: int = 0


class _Processes(Struct, frozen=True):
    models: tuple[_Loaded, ...] = ()


class _Shown(Struct, frozen=True):
    parameters: str = ""


class OllamaModel:
    """An endpoint that asks the server for its window once, behind its first answer: the model is loaded by then."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._window = endpoint.window
        self._asked = False

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def dialect(self) -> str:
        return self._endpoint.dialect

    @property
    def window(self) -> int:
        return self._window

    @property
    def profile(self) -> Literal["full", "small"]:
        return self._endpoint.profile

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        async with aclosing(self._endpoint.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Finished) and not self._asked:
                    self._asked = True
                    self._window = await self._learn() or self._window
                yield delta

    async def _learn(self) -> int:
        """What was given to the loaded model (/api/ps), or what its file asks for (num_ctx in /api/show); 0 if neither."""
        root = self._endpoint.url.rstrip("/").removesuffix("/v1")
        pool = self._endpoint.pool
        model = self._endpoint.model
        headers = dialects.load(self._endpoint.dialect).headers(self._endpoint.key)
        try:
            answer = await pool.fetch(Request(method="GET", url=f"{root}/api/ps", headers=headers), TIMEOUT)
            for loaded in msgspec.json.decode(answer.body, type=_Processes).models:
                if loaded.name in (model, f"{model}:latest") and loaded.context_length:
                    return loaded.context_length
            asked = Request(url=f"{root}/api/show", headers=headers, body=msgspec.json.encode({"model": model}))
            answer = await pool.fetch(asked, TIMEOUT)
            return _num_ctx(msgspec.json.decode(answer.body, type=_Shown).parameters)
        except (Fault, msgspec.DecodeError) as error:
            log.info("%s did not say how much context %s has: %s", root, model, error)
            return 0


def _num_ctx(parameters: str) -> int:
    """The number behind num_ctx in lines of a name and a value."""
    for line in parameters.splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    return 0
