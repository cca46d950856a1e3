"""How each vendor wants its models named; what nothing is known of is passed on as it was typed."""

import re

from hermes.models.catalog import Catalog, Facts, Vendor
from hermes.protocol.errors import UserError

_dot_in_version = re.compile(r"(?<=\d)\.(?=\d)")
_dash_in_version = re.compile(r"(?<=\d)-(?=\d{1,2}(?!\d))")


def dashed(model: str) -> str:
    """claude-opus-5.5 as claude-opus-5-5."""
    return _dot_in_version.sub("-", model)


def normalise(model: str, vendor: Vendor, catalog: Catalog) -> str:
    """A model's name as the vendor's API wants it."""
    model = _without_provider(model.strip(), vendor)
    match vendor.names:
        case "slugs":
            return _slug(model, catalog)
        case "dashes":
            model = dashed(model)
        case "":
            pass
    if vendor.prefix and "/" not in model:
        model = vendor.prefix + model
    known = vendor.known(model)
    if known is None and not vendor.lists:
        raise _no_such_model(model, vendor)
    return known if known is not None and known.lower() == model.lower() else model


def facts_of(model: str, vendor: Vendor, catalog: Catalog) -> Facts:
    """What is known of a model; where models of many vendors are sold, its maker's row says how long its context is."""
    known = vendor.known(model)
    if known is not None:
        return vendor.models[known]
    slug, slash, name = model.partition("/")
    if vendor.names != "slugs" or not slash:
        return Facts()
    maker = next((other for other in catalog if other.slug == slug), None)
    known = maker and maker.known(dashed(name) if maker.names == "dashes" else name)
    if not maker or not known:
        return Facts()
    facts = maker.models[known]
    return Facts(window=facts.window, output=facts.output)


def _without_provider(model: str, vendor: Vendor) -> str:
    """openai:openai/gpt-6 is gpt-6; but openrouter/auto is a model, so slugs keep two parts."""
    for name in (vendor.name, *vendor.aliases, *filter(None, [vendor.slug])):
        for mark in (":", "/"):
            rest = model.removeprefix(name + mark)
            if rest == model or not rest:
                continue
            is_id = model in vendor.models or (vendor.names == "slugs" and mark == "/" and "/" not in rest)
            return model if is_id else rest
    return model


def _slug(model: str, catalog: Catalog) -> str:
    """claude-opus-5-5 is anthropic/claude-opus-5.5 at those who sell models of many vendors."""
    slug, slash, name = model.partition("/")
    if slash:
        dashes = any(other.slug == slug and other.names == "dashes" for other in catalog)
        return f"{slug}/{_dash_in_version.sub('.', name)}" if dashes else model
    owner = catalog.owner(model) or catalog.owner(dashed(model))
    if owner is None or not owner.slug:
        return model
    return f"{owner.slug}/{_dash_in_version.sub('.', model) if owner.names == 'dashes' else model}"


def _no_such_model(model: str, vendor: Vendor) -> UserError:
    from difflib import get_close_matches

    close = get_close_matches(model, vendor.models, n=3, cutoff=0.5) or list(vendor.models)
    return UserError(f"{vendor.title} has no model {model!r}", f"choose one of: {', '.join(close)}")
