"""auth.json: the keys that people added and their logins, shared by every Hermes process of a home."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from hermes import config
from hermes.protocol.errors import UserError

T = TypeVar("T")


class StoredKey(Struct, frozen=True):
    """A key added with `hermes auth add`; only the label may be shown."""

    label: str
    key: str

    def __repr__(self) -> str:
        return f"StoredKey({self.label!r})"


class Grant(Struct, frozen=True):
    """A login: the token that calls are made with until `expires_at`, and the one that gets the next."""

    access: str
    refresh: str
    expires_at: float

    def __repr__(self) -> str:
        return f"Grant(expires_at={self.expires_at})"


class Auth(Struct, frozen=True, omit_defaults=True):
    """What the file holds, by provider."""

    keys: dict[str, tuple[StoredKey, ...]] = {}
    logins: dict[str, Grant] = {}

    def with_key(self, provider: str, key: StoredKey) -> "Auth":
        """Add a key; one with the same label is replaced."""
        others = tuple(k for k in self.keys.get(provider, ()) if k.label != key.label)
        return msgspec.structs.replace(self, keys={**self.keys, provider: (*others, key)})

    def without_key(self, provider: str, label: str) -> "Auth":
        kept = tuple(k for k in self.keys.get(provider, ()) if k.label != label)
        return msgspec.structs.replace(self, keys=_with({**self.keys}, provider, kept))

    def with_login(self, provider: str, grant: Grant | None) -> "Auth":
        """Set a login, or remove it."""
        return msgspec.structs.replace(self, logins=_with({**self.logins}, provider, grant))


def _with(table: dict[str, T], name: str, value: T | None) -> dict[str, T]:
    if value:
        table[name] = value
    else:
        table.pop(name, None)
    return table


class AuthFile:
    """The file: read whenever needed, changed only under its lock, replaced whole, readable by its owner alone."""

    def __init__(self, path: Path, *, patience: float = 60.0) -> None:
        self.path = path
        self._patience = patience

    def read(self) -> Auth:
        """What the file holds now; a file that is not there holds nothing."""
        raw = self._raw()
        try:
            return msgspec.json.decode(raw, type=Auth) if raw else Auth()
        except msgspec.DecodeError as error:
            raise self._unreadable(error) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that changes the file. Blocks: call it in a thread. Read again once inside."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with config.locked(self.path, self._patience):
            yield

    def change(self, edit: Callable[[Auth], Auth]) -> Auth:
        """Read, edit and write under the lock. Blocks."""
        with self.locked():
            auth = edit(self.read())
            self.write(auth)
        return auth

    def write(self, auth: Auth) -> None:
        """Replace the file; what another version of Hermes keeps in it stays. Only under the lock."""
        raw = self._raw()
        kept = msgspec.json.decode(raw, type=dict[str, Raw]) if raw else {}
        kept |= {"keys": Raw(msgspec.json.encode(auth.keys)), "logins": Raw(msgspec.json.encode(auth.logins))}
        config.replace_private(self.path, msgspec.json.format(msgspec.json.encode(kept)).decode() + "\n")

    def _raw(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> UserError:
        return UserError(f"cannot read {self.path}: {error}", "mend or remove the file, then log in again")
