"""What each tool of an MCP server said of itself when it was first used: a server that changes its tune is noticed."""

from pathlib import Path

import msgspec

from hermes import config


class Contracts:
    """Hashes of descriptions and schemas, in a file that all processes share; read anew whenever it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = 0
        self._known: dict[str, dict[str, str]] = {}

    def is_changed(self, server: str, tool: str, contract: str) -> bool:
        """Whether the tool was known with another contract. What was never seen is known from now on."""
        known = self._read().get(server, {}).get(tool)
        if known is None:
            self.approve(server, tool, contract)
        return known not in (None, contract)

    def approve(self, server: str, tool: str, contract: str) -> None:
        with config.locked(self._path):
            known = self._read()
            known.setdefault(server, {})[tool] = contract
            config.write_private(self._path, msgspec.json.format(msgspec.json.encode(known)).decode())

    def known(self, server: str) -> dict[str, str]:
        """The contract of each tool of a server that was used, as it was approved."""
        return dict(self._read().get(server, {}))

    def forget(self, server: str) -> None:
        """The server was removed, or a person looked at it anew."""
        with config.locked(self._path):
            known = self._read()
            if known.pop(server, None) is not None:
                config.write_private(self._path, msgspec.json.format(msgspec.json.encode(known)).decode())

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError:
            return {}
        if stamp != self._stamp:
            try:
                self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, str]])
            except msgspec.DecodeError:
                self._known = {}  # a damaged file vouches for nobody: every tool is seen for the first time
            self._stamp = stamp
        return self._known
