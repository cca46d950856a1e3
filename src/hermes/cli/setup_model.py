"""`hermes setup model`: choose who answers from what is there, keep a key if one is needed, and prove it by a call."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from hermes import config
from hermes.app import App, Wish
from hermes.app.default_model import keep_model
from hermes.cli.auth import add_login
from hermes.cli.detect import FoundServer, callable_providers, find_servers
from hermes.cli.login import PORTAL
from hermes.cli.main import print_error
from hermes.cli.setup_talk import Talk
from hermes.cli.words import many
from hermes.config import Settings
from hermes.models.choose import CUSTOM, LOCAL, Choice
from hermes.models.listing import check, models_of
from hermes.protocol.errors import HermesError, UserError

PATIENCE = 60.0
SHOWN = 15
OWN_KEY = "CUSTOM_API_KEY"
"""The variable that holds the key of a server that is known by its address."""


class Way(Struct, frozen=True):
    """A way to get answers, as a line of the list. One without a provider is to be typed."""

    line: str
    provider: str = ""
    server: FoundServer | None = None


async def choose_model(talk: Talk, settings: Settings) -> bool:
    """Settle the model; False if what was chosen does not answer."""
    async with App(settings) as app:
        ways = await _ways(app)
        way = ways[await talk.pick("who should answer?", [way.line for way in ways])]
        choice = await _settle(talk, app, way)
    if choice is None:
        return True
    await asyncio.to_thread(keep_model, settings, choice)
    return await _prove(talk, choice)


async def choose_portal(talk: Talk, settings: Settings) -> bool:
    """Nous Portal by a login, with its default model; False if that does not answer."""
    async with App(settings) as app:
        vendor = app.chooser.catalog[PORTAL]
        if not app.chooser.has_login(Choice(PORTAL, "")):
            await add_login(vendor, app.auth, app.connect)
    choice = Choice(PORTAL, vendor.default)
    await asyncio.to_thread(keep_model, settings, choice)
    return await _prove(talk, choice)


async def works_already(settings: Settings) -> str:
    """The model that is set and has what it needs; "" if there is none."""
    if settings.model == config.ModelSettings():
        return ""
    async with App(settings) as app:
        try:
            choice = app.choice(Wish())
            app.roster.candidate(choice)
        except UserError:
            return ""
    return choice.name


async def _ways(app: App) -> list[Way]:
    ways = [
        Way(f"{one.title}: {', '.join(one.labels) or 'logged in'} is there", one.name)
        for one in callable_providers(app)
    ]
    ways += [
        Way(f"{one.title} on this machine: {many(len(one.models), 'model')}", one.provider, one)
        for one in await find_servers(app)
    ]
    embedded = Way("the embedded model: no key and no network, a basic mode", LOCAL)
    typed = Way("another provider, with a key or a login of yours")
    own = Way("a server of yours, by its address", CUSTOM)
    return [*ways, typed, own, embedded] if ways else [embedded, typed, own]


async def _settle(talk: Talk, app: App, way: Way) -> Choice | None:
    """The provider and the model; None for the embedded one, which needs no setting."""
    if way.provider == LOCAL:
        if app.settings.model != config.ModelSettings():
            return Choice(LOCAL, app.chooser.catalog[LOCAL].default)
        talk.say("the embedded model answers; its weights are fetched when it is first asked")
        return None
    if way.server is not None:
        model = way.server.models[await talk.pick("which of its models?", way.server.models)]
        return Choice(way.server.provider, model, base_url=way.server.base_url)
    provider = way.provider or await _provider(talk, app)
    choice = Choice(provider, "") if provider != CUSTOM else await _own_server(talk, app.settings)
    return replace(choice, model=await _model(talk, app, choice))


async def _provider(talk: Talk, app: App) -> str:
    """The name of a provider, with a key in .env."""
    while True:
        name = await talk.text("provider (hermes model lists them)", "openrouter")
        try:
            vendor = app.chooser.catalog.get(name)
            break
        except UserError as error:
            print_error(error, error.hint)
    if vendor.login and not app.chooser.has_key(vendor):
        talk.say(f"to log in instead: hermes auth add {vendor.name}")
    if vendor.keys and not vendor.keyless and not app.chooser.has_key(vendor):
        value = await talk.secret(vendor.keys[0])
        await asyncio.to_thread(config.set_secret, app.settings.home / ".env", vendor.keys[0], value)
        talk.say(f"{vendor.keys[0]} is in {app.settings.home / '.env'}")
    return vendor.name


async def _own_server(talk: Talk, settings: Settings) -> Choice:
    """An OpenAI-style server by its address, with a key in .env if it wants one."""
    while not (address := await talk.text("its address, such as http://localhost:8000/v1")).startswith("http"):
        print_error(f"{address!r} is no address", "it begins with http:// or https://")
    if not await talk.yes("does it want a key?", default=False):
        return Choice(CUSTOM, "", base_url=address)
    value = await talk.secret(OWN_KEY)
    await asyncio.to_thread(config.set_secret, settings.home / ".env", OWN_KEY, value)
    return Choice(CUSTOM, "", base_url=address, api_key_env=OWN_KEY)


async def _model(talk: Talk, app: App, choice: Choice) -> str:
    default = app.chooser.catalog[choice.provider].default
    if not talk.asks and default:
        return default
    async with App(config.load(use_file=False)) as fresh:  # it knows the new key
        try:
            names = await models_of(fresh.roster, choice)
        except HermesError as error:
            print_error(error)
            names = []
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        talk.say(f"it has {', '.join(names[:SHOWN])}{more}")
    while not (name := await talk.text("model", default or (names[0] if names else ""))):
        print_error("a model is needed")
    return name


async def _prove(talk: Talk, choice: Choice) -> bool:
    """One small call; a model that does not answer stays set, and is said not to answer."""
    if choice.provider == LOCAL:
        return True
    async with App(config.load()) as app:
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await check(app.roster, app.choice(Wish()))
        except (HermesError, TimeoutError) as error:
            why = error if str(error) else f"no answer in {PATIENCE:.0f} s"
            print_error(f"{choice.name} is set, but does not answer: {why}", "hermes setup model chooses again")
            return False
    talk.say(f"model: {choice.name} answers, after {answer.total:.1f} s")
    return True
