"""mcp-tokens/<server>.json: one server's login, shared by every Hermes process of a home."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import Raw, Struct

from hermes import config
from hermes.mcp.oauth.challenge import Scopes
from hermes.mcp.oauth.discovery import Metadata
from hermes.mcp.oauth.registration import Client

log = logging.getLogger(__name__)


class Tokens(Struct, frozen=True, omit_defaults=True):
    """What requests are made with until `expires_at` (seconds since 1970), and what gets the next pair."""

    access: str
    refresh: str = ""
    expires_at: float | None = None
    scopes: Scopes = ()

    def __repr__(self) -> str:
        return f"Tokens(expires_at={self.expires_at}, scopes={self.scopes})"

    @property
    def header(self) -> str:
        return f"Bearer {self.access}"


class Stored(Struct, frozen=True, omit_defaults=True):
    """What the file holds. Tokens are for the server at `url` and come from the issuer of `metadata`, never another."""

    url: str = ""
    resource: str = ""
    metadata: Metadata | None = None
    client: Client | None = None
    tokens: Tokens | None = None


class TokenFile:
    """The file: read whenever needed, changed only under its lock, replaced whole, readable by its owner alone."""

    def __init__(self, folder: Path, server: str, *, patience: float = 60.0) -> None:
        self.path = folder / f"{quote(server, safe='')}.json"
        self._patience = patience
        self._seen: tuple[int, int, int] | None = None
        self._held = Stored()
        self._unwritten: tuple[Stored, Stored] | None = None

    def read(self) -> Stored:
        """What the file holds now; it is opened only if it changed. One that cannot be read holds nothing."""
        state = self._state()
        if state != self._seen:
            self._held, self._seen = self._load(), state
        if self._unwritten is not None and self._held == self._unwritten[0]:
            return self._unwritten[1]
        return self._held

    def reread(self) -> Stored:
        """The same, whatever the file's state looks like: two changes within one tick of its clock look like none."""
        self._seen = None
        return self.read()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that changes the file. Blocks: call it in a thread. It is read anew once inside."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.parent.chmod(0o700)
        with config.locked(self.path, self._patience):
            self.reread()
            yield

    def write(self, stored: Stored) -> None:
        """Replace the file; what another version of Hermes keeps in it stays. Only under the lock."""
        kept = self._others() | msgspec.json.decode(msgspec.json.encode(stored), type=dict[str, Raw])
        config.replace_private(self.path, msgspec.json.format(msgspec.json.encode(kept)).decode() + "\n")

    def hold(self, stored: Stored) -> None:
        """Go on with what could not be written, until the file holds something else."""
        self._unwritten = (self._held, stored)

    def remove(self) -> bool:
        """Forget the login; False if there was none. Only under the lock."""
        existed = self.path.exists()
        self.path.unlink(missing_ok=True)
        return existed

    def _state(self) -> tuple[int, int, int]:
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _load(self) -> Stored:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Stored)
        except FileNotFoundError:
            return Stored()
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("%s cannot be read and counts as no login: %s", self.path, error)
            return Stored()

    def _others(self) -> dict[str, Raw]:
        """The keys of the file that are not ours."""
        try:
            table = msgspec.json.decode(self.path.read_bytes(), type=dict[str, Raw])
        except (OSError, msgspec.MsgspecError):
            return {}
        return {name: value for name, value in table.items() if name not in Stored.__struct_fields__}
