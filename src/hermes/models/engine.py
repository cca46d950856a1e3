"""llama.cpp in this process: one model file in memory, one answer at a time."""

import asyncio
import os
import tempfile
import threading
from collections.abc import AsyncGenerator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hermes.protocol.errors import BadRequest, ContextTooLong, ModelError, UserError

BATCH = 64
"""Tokens of the prompt between two moments at which an answer can be stopped: about a second. Fewer cost speed."""

KEPT_PROMPTS = 256
"""Megabytes of evaluated prompts kept for sessions that take turns; 1,000 tokens of the 1.5B model take 28."""

GUIDANCE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": ", "lenient": True}
"""Blanks are tokens too; and schemas of others use words that the grammar's compiler does not know."""


class Usage(Struct, frozen=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: dict[str, int] = {}

    @property
    def cached_tokens(self) -> int:
        return self.prompt_tokens_details.get("cached_tokens", 0)


class _Delta(Struct, frozen=True):
    content: str | None = None


class _Choice(Struct, frozen=True):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Error(Struct, frozen=True):
    message: str = ""
    type: str = ""
    code: int = 0


class Piece(Struct, frozen=True):
    """Some of an answer: text, why it ended, what it took; often none of these, while the prompt is evaluated."""

    choices: tuple[_Choice, ...] = ()
    usage: Usage | None = None
    error: _Error | None = None

    @property
    def text(self) -> str:
        return "".join(choice.delta.content or "" for choice in self.choices)

    @property
    def ended(self) -> str:
        return next((choice.finish_reason for choice in self.choices if choice.finish_reason), "")


_pieces: msgspec.json.Decoder[Piece] = msgspec.json.Decoder(Piece)


class Engine:
    """A loaded model. The beginning of a prompt that it has seen before is not evaluated again."""

    def __init__(self, xllamacpp: Any, server: Any) -> None:
        self._xllamacpp = xllamacpp
        self._server: Any = server
        self._turn = asyncio.Lock()
        self._stop = threading.Event()

    @classmethod
    async def load(cls, path: Path, *, window: int, threads: int = 0) -> "Engine":
        """Read the model file; llama.cpp blocks the whole process meanwhile, about a second for a gigabyte."""
        return cls(*await asyncio.to_thread(_start, path, window, threads or _cores()))

    async def answer(self, messages: list[dict[str, str]], schema: dict[str, Any], limit: int) -> AsyncGenerator[Piece]:
        """What the model says to the messages, as JSON of that schema; closing the iterator stops it."""
        request = {
            "messages": messages,
            "grammar": self._xllamacpp.json_schema_to_grammar({"x-guidance": GUIDANCE, **schema}),
            "max_tokens": limit,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            # An answer can be stopped only when a piece comes, so there must be pieces for the prompt too.
            "return_progress": True,
        }
        await self._turn.acquire()
        self._stop = stop = threading.Event()
        loop, arrived = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()

        def take(raw: bytes) -> bool:
            if not stop.is_set():
                loop.call_soon_threadsafe(arrived.put_nowait, raw)
            return stop.is_set()

        def done(work: asyncio.Future[None]) -> None:
            self._turn.release()
            arrived.put_nowait(None)
            work.exception()

        work = loop.run_in_executor(None, self._server.handle_chat_completions, msgspec.json.encode(request), take)
        work.add_done_callback(done)
        try:
            while (raw := await arrived.get()) is not None:
                piece = _pieces.decode(raw)
                if piece.error:
                    raise _fault(piece.error)
                yield piece
            if error := work.exception():
                raise BadRequest(f"the embedded model refused the request: {error}")
        finally:
            stop.set()

    async def close(self) -> None:
        """Stop what runs and give the memory back."""
        self._stop.set()
        async with self._turn:
            self._server = None


def _fault(error: _Error) -> ModelError:
    if error.type == "exceed_context_size_error":
        return ContextTooLong(error.message, status=error.code)
    return BadRequest(f"the embedded model refused the request: {error.message}", status=error.code)


def _cores() -> int:
    """Half of the processors, which is usually all real cores, but two if there are two."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors, max(2, processors // 2))


def _runtime() -> Any:
    # While others use the processors, threads that wait for each other in a loop get nothing done; asleep at once they
    # are slow when nobody else is there. libgomp reads this when it is loaded.
    os.putenv("GOMP_SPINCOUNT", "1000")
    try:
        return import_module("xllamacpp")
    except ImportError as error:
        raise UserError(
            f"the embedded model cannot run here: {error}",
            "pip install 'hermes-courier[local]'; a missing libgomp.so.1 is in the system's package libgomp1",
        ) from error


def _start(path: Path, window: int, threads: int) -> tuple[Any, Any]:
    """The runtime and the model loaded in it."""
    xllamacpp = _runtime()
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = KEPT_PROMPTS
    # A second copy of the weights in another order takes half as much memory again, and no gain could be measured.
    params.no_extra_bufts = True
    params.warmup = params.fit_params = params.ui = params.endpoint_slots = False
    params.n_threads_http = 1
    params.verbosity = -1
    # It always listens somewhere: a socket in a folder that is gone a moment later can be reached by nobody.
    with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
        params.hostnames = [f"{folder}/llama.sock"]
        try:
            return xllamacpp, xllamacpp.Server(params)
        except RuntimeError as error:
            raise UserError(f"the model file {path} cannot be loaded", "delete it to have it fetched again") from error
