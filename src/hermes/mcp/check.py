"""Arguments checked against a server's schema before a call is sent."""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from hermes.mcp.words import bounded, visible

SHOWN = 240
Checks = Callable[[Mapping[str, Any]], str]


class Check:
    """Tells what is wrong with arguments. A schema that is no schema checks nothing: the server will say what it wants."""

    def __init__(self, schema: bytes) -> None:
        self._schema = schema
        self._checks: Checks | None = None

    async def fit(self, args: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The arguments to send and "", or what is wrong. Models send nulls for what they leave out: these may go."""
        if self._checks is None:
            self._checks = await asyncio.to_thread(checks_of, self._schema)
        wrong = self._checks(args)
        if wrong and None in args.values():
            given = {name: value for name, value in args.items() if value is not None}
            if not self._checks(given):
                return given, ""
        return args, wrong


@lru_cache(maxsize=1024)
def checks_of(schema: bytes) -> Checks:
    """A function that tells in one line why arguments do not fit a schema, "" if they do."""
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        whole = msgspec.json.decode(schema)
        if not isinstance(whole, dict):
            return _anything
        _validator().check_schema(whole)
        # A registry of its own: the default one would fetch references over the network.
        validator = _validator()(whole, registry=Registry())
    except (msgspec.DecodeError, SchemaError, RecursionError):
        return _anything

    def check(args: Mapping[str, Any]) -> str:
        try:
            found = best_match(validator.iter_errors(args))
        except (Unresolvable, RecursionError):
            return ""
        if found is None:
            return ""
        where = ".".join(str(step) for step in found.absolute_path)
        return bounded(" ".join(visible(f"{where}: {found.message}" if where else found.message).split()), SHOWN)

    return check


def _anything(args: Mapping[str, Any]) -> str:
    return ""


@lru_cache(maxsize=1)
def _validator() -> Any:
    """Everything but patterns: a server's regular expression could keep our one loop busy for ever."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import create

    known = Draft202012Validator.VALIDATORS
    patterned = {"pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems"}
    rules = {name: rule for name, rule in known.items() if name not in patterned}
    more = rules["additionalProperties"]

    def additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Any:
        return () if "patternProperties" in schema else more(validator, allowed, instance, schema)

    return create(Draft202012Validator.META_SCHEMA, rules | {"additionalProperties": additional})
