"""Python: code on the command line is read by its tree, a script of the working folder is work."""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands import foreign
from hermes.safety.commands.argv import has, value_of
from hermes.safety.commands.building import builds
from hermes.safety.commands.databases import sql
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.handed import apart
from hermes.safety.commands.packages import tool, yarn
from hermes.safety.commands.programs import BUILD
from hermes.safety.commands.rehearsal import only_tells
from hermes.safety.commands.scripts import FETCHERS, HIDDEN, fed, script_file
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.targets import named_target
from hermes.safety.commands.verdicts import READS, WORKS, ask, worst
from hermes.safety.patterns import Pattern
from hermes.safety.places import ALLOW


def python(step: Step, ground: Ground) -> Verdict:
    args = apart(step.name, step.args)
    if has(args[:1], "-i") and (step.input.text != "" or step.input.files not in ((), ("/dev/null",))):
        return ask(HIDDEN, "python -i runs what it is fed, behind everything else")
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "-":
        word = args[at]
        if re.fullmatch(r"-[A-Za-z]*c", word):
            return _python_code(step, ground, args[at + 1] if at + 1 < len(args) else "")
        if re.fullmatch(r"-[A-Za-z]*m", word):
            return _python_module(step, ground, args[at + 1 :])
        if word in ("-V", "--version", "-VV", "-h", "--help"):
            return READS
        at += 2 if word in ("-W", "-X") else 1
    if at == len(args) or args[at] in ("-", "/dev/stdin"):
        if step.input.text and UNKNOWN not in step.input.text and not FETCHERS & set(step.input.programs):
            return _python_code(step, ground, step.input.text)
        return fed(step)
    if step.script and step.script != UNKNOWN:
        return worst([script_file(step, ground, args[at]), _python_code(step, ground, step.script)])
    return worst([script_file(step, ground, args[at]), managed(args[at:])])


def managed(args: list[str]) -> Verdict:
    """manage.py and its like: a verb that empties the database is not work."""
    if (
        args[0].endswith("manage.py")
        and args[1:2]
        and args[1] in ("flush", "reset_db", "sqlflush", "shell", "dbshell", "createsuperuser", "changepassword")
    ):
        return ask("database", f"manage.py {args[1]} empties or opens the database")
    if args[0].endswith("manage.py") and args[1:2] == ["migrate"] and "zero" in args:
        return ask("database", "it takes all of the migrations back")
    if args[0].endswith("setup.py") and {"install", "upload", "register", "develop"} & set(args[1:]):
        return ask("fetched-code", "setup.py installs or uploads")
    return WORKS


def _python_code(step: Step, ground: Ground, text: str) -> Verdict:
    # The parser of Python costs some milliseconds of import.
    from hermes.safety.commands.pycode import look

    if UNKNOWN in text:
        return ask(HIDDEN, "a part of the code is put in only when it runs")
    found = look(text)
    if found.trouble:
        return ask("code", found.trouble)
    if strange := next(
        (folder for folder in found.loads if not ground.is_inside(step, _from_home(folder, ground))), ""
    ):
        return ask("outside-code", f"it takes code from {strange}, outside the working folder")
    for statement in found.statements:
        if (verdict := sql(statement, local=True)).decision != ALLOW:
            return verdict
    # The shell texts in it were walked already, as programs of their own.
    writes, reads = ([_from_home(path, ground) for path in paths] for paths in (found.writes, found.reads))
    return ground.writing(step, writes) or ground.reading(step, reads) or (WORKS if writes else READS)


def _from_home(path: str, ground: Ground) -> str:
    return ground.places.user_home + path[1:] if path == "~" or path.startswith("~/") else path


_SAFE_MODULES = Pattern(
    r"pytest|unittest|doctest|venv|build|json\.tool|compileall|py_compile|mypy|ruff|black|isort|flake8|pylint|timeit|cProfile|profile|"
    r"trace|pdb|this|site|sysconfig|platform|calendar|ast|tokenize|dis|inspect|zipfile|tarfile|gzip|base64|textwrap|difflib|"
    r"coverage|nox|tox|sphinx(\.\w+)*|mkdocs|pyright|bandit|twine\.check|pip_audit|pre_commit|cython|mypyc|memory_profiler|"
    r"uvicorn|gunicorn|flask|django|fastapi|streamlit|jupyter|notebook|nbconvert|towncrier|hatch|hatchling|virtualenv|pyperf|"
    r"alembic|celery|scrapy|invoke|pyinstaller|PyInstaller|pydoc|pyflakes|pycodestyle|vulture|radon|interrogate|xdist|locust"
)


def _python_module(step: Step, ground: Ground, rest: list[str]) -> Verdict:
    module, args = (rest[0], rest[1:]) if rest else ("", [])
    if only_tells(module, tuple(args)):
        return READS
    if module == "pip":
        return tool(replace(step, name="pip", args=tuple(args)), ground)
    if module == "pyftpdlib":
        return ask("way-in", "it shows files to the network")
    if module in ("http.server", "SimpleHTTPServer"):
        folder = value_of(args, "-d", "--directory")
        bind = value_of(args, "-b", "--bind") or ""
        inside = all(ground.is_inside(step, cwd) for cwd in step.cwds) and (
            not folder or ground.is_inside(step, folder)
        )
        return WORKS if inside and bind not in ("0.0.0.0", "::") else ask("way-in", "it shows files to the network")
    if module == "twine" and args[:1] != ["check"]:
        return ask("sends-data", "twine uploads a package")
    if module in ("ensurepip", "easy_install", "pipx", "uv") or UNKNOWN in module:
        return ask("fetched-code", f"python -m {module} fetches code from elsewhere")
    if module in (
        "smtpd",
        "aiosmtpd",
        "code",
        "idlelib",
        "webbrowser",
        "telnetlib",
        "ftplib",
        "smtplib",
        "asyncio",
        "antigravity",
    ):
        return ask("outside-effect", f"python -m {module} reaches outside")
    if module in ("pdb", "cProfile", "profile", "trace", "timeit") and has(args[:2], "-c", "-s"):
        return _python_code(step, ground, args[1] if len(args) > 1 else "")
    if module in ("alembic", "celery", "django", "invoke"):
        return worst(
            [
                named_target(module, args[:1]),
                ask("database", "it undoes migrations")
                if "downgrade" in args or "flush" in args or "purge" in args
                else WORKS,
            ]
        )
    if module in BUILD:
        return builds(replace(step, name=module, args=tuple(args)), ground)
    if not _SAFE_MODULES.fullmatch(module) and not all(ground.is_inside(step, cwd) for cwd in step.cwds):
        return ask("outside-code", f"python -m {module} runs code outside the working folder")
    target = value_of(args, "-e", "--extract", "--outdir") if module in ("zipfile", "tarfile") else None
    return WORKS if not target else ground.writing(step, args[-1:]) or WORKS


def bun(step: Step, ground: Ground) -> Verdict:
    """bun runs code on the command line as node does, and scripts of the project as yarn does."""
    return (foreign.interpreter if has(step.args, "-e", "--eval", "-p", "--print") else yarn)(step, ground)


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {"bun": bun}
