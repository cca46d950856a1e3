"""Which model answers: from what a person typed or set to a provider and a model."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from hermes.config import CustomProvider
from hermes.models.authfile import Auth
from hermes.models.catalog import Catalog, Vendor
from hermes.models.credentials import ApiKey, find_keys
from hermes.models.names import dashed, normalise
from hermes.protocol.errors import BadRequest, UserError

CUSTOM = "custom"
LOCAL = "local"


class Choice(Struct, frozen=True, omit_defaults=True):
    """A model of a provider; `custom` names one of the person's own endpoints, `base_url` replaces the vendor's."""

    provider: str
    model: str
    custom: str = ""
    base_url: str = ""
    api_key_env: str = ""

    @property
    def name(self) -> str:
        """provider:model, as it can be typed again."""
        return ":".join(filter(None, [self.provider, self.custom, self.model]))


class Chooser:
    """Understands names of models: the catalog, the person's own endpoints and aliases, and which keys there are."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        environ: Mapping[str, str],
        auth: Auth | None = None,
        customs: Mapping[str, CustomProvider] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.catalog = catalog
        self._environ = environ
        self._auth = auth or Auth()
        self.customs = customs or {}
        self._aliases = aliases or {}

    def resolve(
        self,
        text: str = "",
        *,
        provider: str = "",
        base_url: str = "",
        api_key_env: str = "",
        current: Choice | None = None,
    ) -> Choice:
        """The choice meant by `provider:model`, `custom:model`, `custom:name:model`, `model`, an alias, or nothing.

        A bare model belongs to the `current` provider, unless only another one is known to have it. Without any wish
        the first provider in the catalog with a key answers, else the embedded model.
        """
        text = self._without_aliases(text.strip(), provider)
        if not (text or provider or base_url):
            return current or self._automatic()
        if not provider:
            provider, text = self._split(text, current, base_url)
        choice = self._settle(provider, text, base_url, api_key_env, current)
        if choice.base_url:
            _check(choice.base_url)
        return choice

    def auxiliary(self, choice: Choice) -> Choice:
        """The model for small work beside a choice: the vendor's cheap one if there is one, else the same."""
        cheap = self.catalog[choice.provider].auxiliary
        return msgspec.structs.replace(choice, model=cheap) if cheap and self._is_at_home(choice) else choice

    def keys(self, choice: Choice) -> tuple[ApiKey, ...]:
        """The keys that may be sent where the choice points: a vendor's own go to the vendor's exact origin only."""
        if choice.api_key_env:
            return find_keys([choice.api_key_env], self._environ)
        vendor = self.catalog[choice.provider]
        if not self._is_at_home(choice):
            return ()
        return find_keys(vendor.keys, self._environ, self._auth.keys.get(vendor.name, ()))

    def has_login(self, choice: Choice) -> bool:
        """Whether the person is logged in where the choice points."""
        return self._is_at_home(choice) and not choice.api_key_env and choice.provider in self._auth.logins

    def has_key(self, vendor: Vendor) -> bool:
        choice = Choice(vendor.name, "")
        return self.has_login(choice) or bool(self.keys(choice))

    def _is_at_home(self, choice: Choice) -> bool:
        """Whether a choice points at its vendor's own address."""
        at = choice.base_url
        return not choice.custom and (not at or _origin(at) == _origin(self.catalog[choice.provider].url))

    def _without_aliases(self, text: str, provider: str) -> str:
        seen: set[str] = set()
        while not provider and text in self._aliases and text not in seen:
            seen.add(text)
            text = self._aliases[text].strip()
        return text

    def _automatic(self) -> Choice:
        for vendor in self.catalog:
            if not vendor.keyless and self.has_key(vendor):
                return Choice(vendor.name, vendor.default)
        return Choice(LOCAL, self.catalog[LOCAL].default)

    def _split(self, text: str, current: Choice | None, base_url: str) -> tuple[str, str]:
        """What stands before the first colon is a provider, unless it can only be part of a model's name."""
        head, colon, tail = text.partition(":")
        if self._is_provider(head):
            return head, tail
        here = CUSTOM if base_url else current.provider if current else ""
        # Servers of one's own name models with tags, qwen3:8b; resellers have slashes first, maker/model:free.
        has_tags = "/" in head or (here and self.catalog[here].keyless)
        if colon and not has_tags:
            raise self.catalog.unknown(head)
        return (here, text) if base_url else (self._provider_of(text, here), text)

    def _is_provider(self, name: str) -> bool:
        return name in self.customs or self.catalog.find(name) is not None

    def _provider_of(self, model: str, here: str) -> str:
        """Whose a bare model is: the current provider's, if it may have it; else whoever is known to have it."""
        slug, slash, name = model.partition("/")
        if here and (here == CUSTOM or not (vendor := self.catalog[here]).models or vendor.known(model)):
            return here
        owner = self.catalog.owner(model) or self.catalog.owner(dashed(model))
        if owner is not None and owner.name != here:
            return owner.name
        if here:
            return here
        sellers = [v for v in self.catalog if v.names == "slugs" and self.has_key(v)]
        if slash and sellers:
            return sellers[0].name
        if slash and name and (maker := self.catalog.find(slug)):
            return maker.name
        raise UserError(f"no provider is known to have the model {model!r}", f"say whose it is: -m PROVIDER:{model}")

    def _settle(self, provider: str, text: str, base_url: str, api_key_env: str, current: Choice | None) -> Choice:
        if provider in self.customs:
            return self._own(provider, text, base_url, api_key_env)
        vendor = self.catalog.get(provider)
        if vendor.name == CUSTOM:
            head, _, tail = text.partition(":")
            if head in self.customs:
                return self._own(head, tail, base_url, api_key_env)
        if current and current.provider == vendor.name and not current.custom:
            text = text or current.model
            if not base_url:
                base_url, api_key_env = current.base_url, api_key_env or current.api_key_env
        model = normalise(text, vendor, self.catalog) if text else vendor.default
        if vendor.name == CUSTOM and not base_url:
            raise UserError(
                "a custom provider needs an address", "hermes config set model.base_url http://HOST:PORT/v1"
            )
        return Choice(vendor.name, _named(model, vendor), base_url=base_url, api_key_env=api_key_env)

    def _own(self, name: str, model: str, base_url: str, api_key_env: str) -> Choice:
        own = self.customs[name]
        if not model:
            raise UserError(f"say which model of {name} is meant", f"-m custom:{name}:MODEL")
        return Choice(CUSTOM, model, name, base_url or own.base_url, api_key_env or own.api_key_env)


def no_key(vendor: Vendor) -> UserError:
    """One line on which variable to set and how."""
    how = f"hermes config set {vendor.keys[0]} YOUR-KEY"
    if vendor.login:
        how = f"hermes auth add {vendor.name}, or {how}"
    return UserError(f"there is no key for {vendor.title}: {' or '.join(vendor.keys)} is not set", how)


def _check(url: str) -> None:
    from hermes.models.exchange import address

    try:
        address(url)
    except BadRequest as error:
        raise UserError(f"{url} is no web address", "a base_url looks like https://HOST/v1") from error


def _named(model: str, vendor: Vendor) -> str:
    if not model:
        raise UserError(
            f"say which model of {vendor.title} is meant",
            f"-m {vendor.name}:MODEL; hermes model {vendor.name} lists them",
        )
    return model


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return (
        parts.scheme,
        (parts.hostname or "").rstrip("."),
        parts.port or {"http": 80, "https": 443}.get(parts.scheme),
    )
