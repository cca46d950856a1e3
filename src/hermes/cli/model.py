"""Which model answers, and which others there are.

hermes model                      the current model, and every provider with its keys
hermes model PROVIDER             the models of a provider
hermes model list                 the models of the current provider
hermes model search WORDS         the models with these words in their names
hermes model check [MODEL]        one small call: does it answer, and how fast
hermes model set MODEL            use it from now on
hermes model --refresh            ask every provider that can be called how many models it has now
"""

import argparse
import sys

from msgspec.structs import replace

from hermes import config
from hermes.app import App, Wish
from hermes.app.default_model import keep_model
from hermes.cli.main import print_error
from hermes.cli.model_search import refresh, search
from hermes.cli.open import open_app
from hermes.cli.table import Column, one_line, print_table
from hermes.models.choose import CUSTOM, LOCAL, Choice
from hermes.models.listing import ProviderState, check, models_of, providers
from hermes.protocol.errors import UserError

COLUMNS = (Column("provider"), Column("key", shrinks=True), Column("default model", shrinks=True))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="*", help="see above")
    parser.add_argument("--refresh", action="store_true", help="ask the providers anew; lists are never kept")


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        match args.words:
            case [] if args.refresh:
                return await refresh(app)
            case []:
                return show(app)
            case ["list"]:
                return await list_models(app, replace(app.choice(Wish()), model=""))
            case ["search", *words] if words:
                return await search(app, words)
            case ["check", *names] if len(names) < 2:
                return await check_model(app, app.choice(Wish(model="".join(names))))
            case ["set", name]:
                return set_model(app, name)
            case ["list", provider] | [provider] if provider not in ("set", "check", "search"):
                return await list_models(app, _provider(app, provider))
            case _:
                raise UserError(f"cannot read {' '.join(args.words)!r}", "hermes model --help shows the forms")


def show(app: App) -> int:
    """The model that would answer and why it, then who can be called."""
    try:
        choice, problem = app.choice(Wish()), None
        print(f"{choice.name}  ({_reason(app, choice)})")
    except UserError as error:
        problem = error
        print_error(error, error.hint)
    states = sorted(providers(app.chooser), key=lambda state: state.access == "none")
    print_table(COLUMNS, [(state.name, _access(app, state), state.default) for state in states], sys.stdout)
    return 2 if problem else 0


def _reason(app: App, choice: Choice) -> str:
    if app.settings.environ.get("HERMES_MODEL"):
        return "from HERMES_MODEL"
    if app.settings.model != config.ModelSettings():
        return f"set in {app.settings.config_path}"
    if choice.provider == LOCAL:
        return "nothing is set and there is no key: the embedded model, a basic mode"
    return "nothing is set: the first provider with a key"


def _access(app: App, state: ProviderState) -> str:
    match state.access:
        case "key":
            return ", ".join(state.labels)
        case "login":
            return "logged in"
        case "open":
            return "needs none"
        case "none":
            vendor = app.chooser.catalog.find(state.name)
            login = f", or hermes auth add {vendor.name}" if vendor and vendor.login else ""
            return f"no {' or '.join(state.labels)}{login}"


def _provider(app: App, name: str) -> Choice:
    """A provider without a model; at its address in the settings if it is the one that is set."""
    own = app.chooser.customs.get(name.removeprefix(f"{CUSTOM}:"))
    if own is not None:
        return Choice(CUSTOM, "", name.removeprefix(f"{CUSTOM}:"), own.base_url, own.api_key_env)
    if ":" in name:
        raise UserError(f"{name} is a model, not a provider", f"to use it: hermes model set {name}")
    vendor = app.chooser.catalog.get(name)
    current = app.choice(Wish())
    if current.provider == vendor.name and not current.custom:
        return replace(current, model="")
    return Choice(vendor.name, "")


async def list_models(app: App, provider: Choice) -> int:
    for name in await models_of(app.roster, provider):
        print(one_line(name))
    return 0


async def check_model(app: App, choice: Choice) -> int:
    answer = await check(app.roster, choice)
    used = f"{answer.tokens.input} tokens in, {answer.tokens.output} out"
    cost = "price unknown" if answer.cost is None else f"${answer.cost:.6f}"
    print(
        f"{choice.name} answers: first sign after {answer.first:.2f} s, done after {answer.total:.2f} s ({used}, {cost})"
    )
    return 0


def set_model(app: App, text: str) -> int:
    """Write the choice into config.yaml."""
    choice = _meant(app, text)
    keep_model(app.settings, choice)
    print(f"model: {choice.name}")
    _warn(app, choice)
    return 0


def _meant(app: App, text: str) -> Choice:
    """As -m would understand it; but what is set now may be the mistake that is being mended."""
    try:
        return app.choice(Wish(model=text))
    except UserError:
        return app.chooser.resolve(text)


def _warn(app: App, choice: Choice) -> None:
    """Say at once what would stop the next session."""
    if app.settings.environ.get("HERMES_MODEL"):
        print_error("HERMES_MODEL is set and is used before config.yaml", "unset HERMES_MODEL")
    try:
        app.roster.candidate(choice)
    except UserError as error:
        print_error(error, error.hint)
