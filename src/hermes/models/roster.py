"""From choices to models that answer: addresses, keys, quirks and prices put together."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from hermes.models.authfile import AuthFile
from hermes.models.catalog import WINDOW, Facts
from hermes.models.choose import CUSTOM, Choice, Chooser, no_key
from hermes.models.credentials import NO_KEY, Key, KeyPool, Strategy
from hermes.models.endpoint import Endpoint
from hermes.models.login import LoginKey
from hermes.models.memo import Memo
from hermes.models.names import facts_of
from hermes.models.pool import Pool
from hermes.models.prices import for_an_hour
from hermes.models.resets import reset_mark
from hermes.models.retry import Candidate, Resilient
from hermes.protocol.errors import UserError
from hermes.protocol.models import Model

log = logging.getLogger(__name__)


class Roster:
    """Every model that this process can call. Sessions that use the same keys share what is known of them.

    `local` opens the embedded model by name. `connect` opens a pool of connections for a login that is renewed.
    `cache_ttl` is how long a prompt's beginning stays cached where that can be asked for. `dump` is a folder that gets every
    request and response, for bug reports.
    """

    def __init__(
        self,
        chooser: Chooser,
        pool: Pool,
        auth: AuthFile,
        *,
        local: Callable[[str], Model],
        strategies: Mapping[str, Strategy] | None = None,
        retries: int = 3,
        cache_ttl: Literal["5m", "1h"] = "5m",
        connect: Callable[[], Pool] = Pool,
        dump: Path | None = None,
    ) -> None:
        self.chooser = chooser
        self.pool = pool
        self._auth = auth
        self._local = local
        self._strategies = strategies or {}
        self._retries = retries
        self._cache_ttl = cache_ttl
        self._connect = connect
        self._dump = dump
        self._keys: dict[tuple[str, str, str, str], KeyPool] = {}

    def open(self, choice: Choice, fallbacks: Sequence[Choice] = ()) -> Resilient:
        """The chosen model, and those that answer while it cannot; a fallback without a key is left out."""
        candidates = [self.candidate(choice)]
        for fallback in fallbacks:
            try:
                candidates.append(self.candidate(fallback))
            except UserError as error:
                log.warning("%s is no fallback: %s", fallback.name, error)
        return Resilient(candidates, retries=self._retries)

    def candidate(self, choice: Choice) -> Candidate:
        """One model with its keys; a key that is missing is a UserError that says what to set."""
        vendor = self.chooser.catalog[choice.provider]
        if vendor.dialect == "local":
            return Candidate(KeyPool([NO_KEY]), lambda secret: self._local(choice.model))
        memo = Memo()
        return Candidate(self.keys(choice), lambda secret: self._open(choice, secret, memo))

    def keys(self, choice: Choice) -> KeyPool:
        """The keys for a choice, the same ones each time."""
        which = (choice.provider, choice.custom, choice.base_url, choice.api_key_env)
        if which not in self._keys:
            name = choice.custom or choice.provider
            strategy = self._strategies.get(name, "fill_first")
            mark = partial(reset_mark, self._auth.path.parent, name)
            self._keys[which] = KeyPool(self._find_keys(choice), strategy, mark=mark)
        return self._keys[which]

    def _find_keys(self, choice: Choice) -> tuple[Key, ...]:
        vendor = self.chooser.catalog[choice.provider]
        found: tuple[Key, ...] = self.chooser.keys(choice)
        if self.chooser.has_login(choice):
            found = (*found, LoginKey(vendor, self._auth, connect=self._connect))
        if found:
            return found
        if choice.api_key_env:
            how = f"hermes config set {choice.api_key_env} YOUR-KEY"
            raise UserError(f"there is no key for {choice.name}: {choice.api_key_env} is not set", how)
        if vendor.keyless or choice.base_url:
            return (NO_KEY,)
        raise no_key(vendor)

    def _open(self, choice: Choice, secret: str, memo: Memo) -> Model:
        vendor = self.chooser.catalog[choice.provider]
        facts = self.facts(choice)
        own = self.chooser.customs[choice.custom] if choice.custom else None
        dialect = own.dialect if own else vendor.dialect
        quirks = msgspec.structs.replace(vendor.quirks, **{"cache_ttl": self._cache_ttl, **facts.quirks})
        endpoint = Endpoint(
            name=choice.name,
            model=choice.model,
            dialect=dialect,
            url=choice.base_url or vendor.url,
            pool=self.pool,
            window=facts.window,
            key=secret,
            key_for="" if choice.api_key_env else vendor.url,
            # Anthropic's API demands a cap. Others do without, and some (Groq, OpenRouter) charge it in advance.
            max_output=facts.output if dialect == "anthropic" else None,
            quirks=quirks,
            prices=for_an_hour(facts.prices) if dialect == "anthropic" and quirks.cache_ttl == "1h" else facts.prices,
            dump=self._dump,
            memo=memo,
        )
        if vendor.name == "ollama":
            from hermes.models.ollama import OllamaModel

            return OllamaModel(endpoint)
        return endpoint

    def facts(self, choice: Choice) -> Facts:
        """What is known of a model without asking anybody."""
        catalog = self.chooser.catalog
        if choice.provider == CUSTOM:
            own = self.chooser.customs.get(choice.custom)
            return Facts(window=(own and own.context_length) or WINDOW)
        facts = facts_of(choice.model, catalog[choice.provider], catalog)
        # Somebody else's server under a vendor's name has prices of its own.
        return msgspec.structs.replace(facts, price=(), long=()) if choice.base_url else facts
