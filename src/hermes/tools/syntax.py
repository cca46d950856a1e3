"""Whether an edit broke a file that Hermes can parse: Python, JSON, TOML, YAML."""

import warnings
from collections.abc import Callable
from posixpath import splitext


def problem_after(path: str, before: str | None, after: str) -> str:
    """One line on the syntax error that an edit brought in, empty if there is none or it was there before."""
    check, longest = CHECKS.get(splitext(path)[1].lower(), (None, 0))
    if check is None or len(after) > longest:
        return ""
    error, line = check(after)
    if not error or (before and len(before) <= longest and check(before)[0] == error):
        return ""
    return f"[syntax error in {path} line {line}: {error}]"


def _python(text: str) -> tuple[str, int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "file", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error.msg, error.lineno or 1
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return str(error), 1
    return "", 0


def _json(text: str) -> tuple[str, int]:
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.msg, error.lineno
    except RecursionError as error:
        return str(error), 1
    return "", 0


def _toml(text: str) -> tuple[str, int]:
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).partition(" (at line ")
        line = where.partition(",")[0]
        return what, int(line) if line.isdigit() else text.count("\n") + 1
    return "", 0


def _yaml(text: str) -> tuple[str, int]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        for _ in YAML(typ="safe", pure=True).parse(text):
            pass
    except MarkedYAMLError as error:
        return error.problem or "not YAML", error.problem_mark.line + 1 if error.problem_mark else 1
    except YAMLError as error:
        return str(error).partition("\n")[0], 1
    return "", 0


Check = Callable[[str], tuple[str, int]]
CHECKS: dict[str, tuple[Check, int]] = {
    ".py": (_python, 100_000),
    ".pyi": (_python, 100_000),
    ".json": (_json, 300_000),
    ".ipynb": (_json, 300_000),
    ".toml": (_toml, 50_000),
    ".yaml": (_yaml, 10_000),
    ".yml": (_yaml, 10_000),
}
"""Each check, and the longest text that it reads in less than a tenth of a second."""
