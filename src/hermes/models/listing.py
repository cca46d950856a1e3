"""What `hermes model` shows: providers and whether they have a key, the models of one, and whether a model answers."""

import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Literal

import msgspec
from msgspec import Struct

from hermes.models import dialects, faults
from hermes.models.choose import Choice, Chooser
from hermes.models.exchange import Fault, Request, address
from hermes.models.retry import Resilient
from hermes.models.roster import Roster
from hermes.protocol.errors import BadRequest, Disconnected, UserError
from hermes.protocol.items import Text, UserMessage
from hermes.protocol.models import Began, Finished, Grew, ModelRequest, Retrying, Tokens

TIMEOUT = 20.0


class ProviderState(Struct, frozen=True):
    """A provider in the list: how it can be called now, by which keys, and with which model if none is named."""

    name: str
    title: str
    access: Literal["key", "login", "open", "none"]
    labels: tuple[str, ...]
    """Names of the keys there are; if there is none, of the variables that may hold one."""
    default: str


class Checked(Struct, frozen=True):
    """A model that answered: the seconds until its first sign and until its end, and what it used."""

    model: str
    first: float
    total: float
    reply: str
    tokens: Tokens
    cost: float | None


class _Listed(Struct, frozen=True):
    id: str = ""
    name: str = ""


class _Page(Struct, frozen=True):
    data: tuple[_Listed, ...] = ()


def providers(chooser: Chooser) -> list[ProviderState]:
    """Every provider of the catalog and each endpoint of the person's own, with the state of its keys."""
    states: list[ProviderState] = []
    for vendor in chooser.catalog:
        choice = Choice(vendor.name, vendor.default)
        keys = tuple(key.label for key in chooser.keys(choice))
        access = "key" if keys else "login" if chooser.has_login(choice) else "open" if vendor.keyless else "none"
        labels = keys or (() if access == "login" else vendor.keys)
        states.append(ProviderState(vendor.name, vendor.title, access, labels, vendor.default))
    for name, own in chooser.customs.items():
        wanted = (own.api_key_env,) if own.api_key_env else ()
        keys = chooser.keys(Choice("custom", "", name, own.base_url, own.api_key_env))
        access = "key" if keys else "none" if wanted else "open"
        states.append(ProviderState(f"custom:{name}", own.base_url, access, wanted, ""))
    return states


async def models_of(roster: Roster, choice: Choice) -> list[str]:
    """The models that a provider has: those it lists, or those of its row if it has no list to ask for."""
    vendor = roster.chooser.catalog[choice.provider]
    if vendor.dialect == "local" or not vendor.lists:
        return list(vendor.models) or [vendor.default]
    own = roster.chooser.customs.get(choice.custom)
    root = (choice.base_url or vendor.url).rstrip("/")
    if not root:
        raise UserError(f"{vendor.title} has no address to ask", "hermes config set model.base_url URL")
    dialect = dialects.load(own.dialect if own else vendor.dialect)
    url = dialect.url(root)
    for end in ("/chat/completions", "/responses", "/messages"):
        url = url.removesuffix(end)
    secret = await roster.keys(choice).take().secret()
    try:
        body = await _get(roster, f"{url}/models", dict(dialect.headers(secret)) | vendor.quirks.headers)
    except BadRequest as error:
        if error.status in (404, 405) and vendor.models:
            return list(vendor.models)
        raise
    # Google puts its models into a folder of that name; nobody has to type it.
    return sorted({name.removeprefix("models/") for name in _names(body, url)})


async def check(roster: Roster, choice: Choice, clock: Callable[[], float] = time.monotonic) -> Checked:
    """Make one small call, with every key that is needed but no second try; what goes wrong is raised as it is."""
    model = Resilient([roster.candidate(choice)], retries=0)
    message = UserMessage(id="check", turn=1, step=0, index=0, parts=(Text("Answer with the one word: yes"),))
    request = ModelRequest(system="", tools=(), items=(message,))
    start, first, reply = clock(), 0.0, ""
    spoken: set[int] = set()
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            match delta:
                case Retrying():
                    start, first, reply, spoken = clock(), 0.0, "", set()
                case Began(index=index, kind=kind):
                    first = first or clock() - start
                    if kind == "text":
                        spoken.add(index)
                case Grew(index=index, text=text) if index in spoken:
                    reply += text
                case Finished(tokens=tokens, model=name, cost=cost):
                    return Checked(name, first, clock() - start, reply.strip(), tokens, cost)
                case _:
                    pass
    raise Disconnected(f"{choice.name} gave no answer")


async def _get(roster: Roster, url: str, headers: dict[str, str]) -> bytes:
    try:
        answer = await roster.pool.fetch(Request(method="GET", url=url, headers=headers), TIMEOUT)
    except Fault as fault:
        raise Disconnected(f"cannot ask {address(url).host} for its models: {fault.why}") from fault
    if not 200 <= answer.status < 300:
        raise faults.classify(answer.status, answer.headers, answer.body)
    return answer.body


def _names(body: bytes, url: str) -> list[str]:
    """Ids out of {"data": [...]}, or out of a bare list, as Together sends it."""
    try:
        found = msgspec.json.decode(body, type=_Page | tuple[_Listed, ...])
    except msgspec.DecodeError as error:
        raise Disconnected(f"{url}/models is no list of models: {error}") from error
    rows = found.data if isinstance(found, _Page) else found
    return [row.id or row.name for row in rows]
