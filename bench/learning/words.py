"""Words of which the suites make up tokens and things to know about; the same for every run."""

import random

NOUNS = (
    *("river", "stone", "lamp", "harbour", "winter", "copper", "ladder", "meadow", "signal", "kettle"),
    *("orchard", "velvet", "anchor", "cinder", "marble", "falcon", "bramble", "lantern", "thicket", "gravel"),
    *("tundra", "saffron", "walnut", "glacier", "pepper", "cobalt", "juniper", "canyon", "willow", "ember"),
    *("quarry", "sparrow", "timber", "nettle", "pewter", "basalt", "heron", "clover", "zephyr", "maple"),
)
THINGS = (
    *("backup server", "release branch", "staging host", "build queue", "billing contact", "meeting room"),
    *("error budget", "deploy window", "test database", "support channel", "code owner", "feature flag"),
    *("log bucket", "mail relay", "style guide", "cache region", "on-call phone", "invoice folder"),
)


def token(chance: random.Random) -> str:
    """A word that is in no language: nobody guesses it, and no rule takes it for a name that must be kept."""
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(6))


def subjects(chance: random.Random, count: int) -> list[str]:
    """Different things to know about, such as "deploy window of project juniper"."""
    every = [f"{thing} of project {noun}" for noun in NOUNS for thing in THINGS]
    return chance.sample(every, count)
