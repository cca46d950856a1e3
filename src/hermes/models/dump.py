"""The request and the raw response of one call in two files, for a bug report; only made when somebody asked for it."""

import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path

from hermes.protocol.ids import new_id

log = logging.getLogger(__name__)

MASK = b"***"


class Dump:
    """Writes the request at once and the response when the call is over, however it ended; the key is masked in both."""

    def __init__(self, folder: Path, key: str) -> None:
        self._path = folder / f"{time.strftime('%Y%m%d_%H%M%S')}_{new_id()}"
        self._key = key.encode()
        self._received = bytearray()

    def sent(self, body: bytes) -> None:
        self._write("-request.json", body)

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP {status}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self._received += "\n".join(lines).encode()

    def received(self, chunk: bytes) -> None:
        self._received += chunk

    def close(self) -> None:
        self._write("-response.txt", bytes(self._received))

    def _write(self, suffix: str, data: bytes) -> None:
        path = f"{self._path}{suffix}"
        if self._key:
            data = data.replace(self._key, MASK)
        # A full disk costs the report, not the answer.
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            log.warning("no dump in %s: %s", path, error)
