"""What an exit code means, where a number alone would mislead."""

import signal

NO_MATCH = {1: "nothing matched"}
DIFFERENT = {1: "they differ"}
FALSE = {1: "the condition is false"}
ABSENT = {1: "not found"}
HARMLESS: dict[str, dict[int, str]] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep"), NO_MATCH),
    **dict.fromkeys(("diff", "cmp", "colordiff"), DIFFERENT),
    **dict.fromkeys(("test", "[", "[["), FALSE),
    **dict.fromkeys(("which", "type", "command"), ABSENT),
}
MEANINGS: dict[str, dict[int, str]] = {
    "find": {1: "some folders could not be read"},
    "curl": {
        6: "host not found",
        7: "connection refused",
        22: "HTTP error",
        28: "timed out",
        60: "bad certificate",
    },
    "ssh": {255: "no connection"},
    "pytest": {1: "some tests failed", 2: "interrupted", 4: "bad arguments", 5: "no tests were collected"},
}
OF_THE_SHELL = {126: "found, but not executable", 127: "command not found"}


def is_harmless(command: str, code: int) -> bool:
    """Whether the code is an answer rather than a failure."""
    return code == 0 or code in HARMLESS.get(command, {})


def meaning(command: str, code: int) -> str:
    """A few words on the code of a command, empty if there is nothing to add."""
    for known in (HARMLESS.get(command, {}), MEANINGS.get(command, {}), OF_THE_SHELL):
        if code in known:
            return known[code]
    if code > 128:
        try:
            name = signal.Signals(code - 128).name
        except ValueError:
            return ""
        return f"ended by {name}" + (", perhaps out of memory" if name == "SIGKILL" else "")
    return ""
