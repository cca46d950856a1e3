"""Interpreters: code on the command line is read as far as it can be, a script of the working folder is work."""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.building import builds
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.packages import tool, yarn
from hermes.safety.commands.programs import BUILD
from hermes.safety.commands.rehearsal import only_tells
from hermes.safety.commands.scripts import FETCHERS, HIDDEN, fed, script_file
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.targets import named_target
from hermes.safety.commands.verdicts import READS, WORKS, ask, worst
from hermes.safety.patterns import Pattern

# Words of other languages that start programs, change files, reach other machines or run text.
_RISKY: dict[str, Pattern] = {
    "perl": Pattern(
        r"\b(system|exec|unlink|rmdir|rename|qx|fork|kill|eval|pack|unpack|chmod|chown|truncate|syswrite|symlink|rmtree|remove_tree|socket|connect|require|do)\b|`|\bopen\b[^;]*[|>+]|IO::|LWP|HTTP|Socket|use\s+(POSIX|File)|/ee?\b.*e"
    ),
    "ruby": Pattern(
        r"-r(?!(json|set|yaml|csv|date|time|pp)$)|\b(system|exec|spawn|fork|eval|instance_eval|class_eval|send|public_send|unpack1?|syscall|load|trap|rmdir|rm_rf?|unlink|delete|rename)\b|`|%x|FileUtils|IO\.(popen|write)|Open3|Socket|Net::|open-uri|File\.(delete|write|unlink|rename|open|chmod)|\bopen\s*\(?\s*['\"]\||HTTParty|RestClient|Faraday|Process\.|Kernel|Base64|Marshal|URI\.open|Dir\.(rmdir|delete)"
    ),
    "node": Pattern(
        r"child_process|\b(exec|execSync|spawn|spawnSync|fork|eval|Function|fetch|atob|unlink\w*|rm|rmSync|rmdir\w*|writeFile\w*|appendFile\w*|rename\w*|truncate\w*|chmod\w*|createWriteStream|cp|cpSync|copyFile\w*|symlink\w*|openSync|writeSync|WebSocket)\s*\(|['\"](axios|got|undici|node-fetch|ws|superagent|shelljs|execa|zx)['\"]|\b(net|http|https|http2|dgram|tls|vm|worker_threads|cluster|inspector|repl)\b['\"]|process\.(kill|binding|dlopen|mainModule)|Buffer\.from|import\(|constructor|globalThis\[|Deno\.|Bun\.(spawn|write|\$)"
    ),
    "php": Pattern(
        r"\b(system|exec|shell_exec|passthru|popen|proc_open|pcntl_\w+|unlink|rmdir|rename|file_put_contents|fopen|fwrite|eval|assert|base64_decode|fsockopen|curl_\w+|mail|copy|include|require|create_function|call_user_func\w*|chmod|chown|symlink|touch|mkdir|stream_socket_\w+|gzinflate|str_rot13)\b|`|\$\w+\s*\("
    ),
    "lua": Pattern(r"os\.(execute|remove|rename|exit)|io\.(popen|open|output)|load|dofile|require|socket"),
    "R": Pattern(
        r"\b(system2?|unlink|file\.(remove|rename)|eval|parse|source|download\.file|install[\w.]*|writeLines|write\w*|file\.copy|saveRDS|save|sink|shell|pkg_install)\s*\(|\b(remotes|devtools|pak|BiocManager|pacman|renv|httr2?|curl)::"
    ),
    "elixir": Pattern(r"System\.(cmd|shell|halt)|:os\.|File\.(rm|write|rename|cp)|Code\.|Port\.|:httpc|Mix\.install"),
    "julia": Pattern(r"\b(run|rm|mv|cp|write|eval|download|include|ccall)\(|`|Pkg\.|HTTP\.|Sockets"),
    "octave": Pattern(r"\b(system|shell_cmd|unix|delete|unlink|rmdir|eval|popen|fopen|urlwrite|urlread|save|exec)\b"),
}
_SAME = {
    "nodejs": "node",
    "bun": "node",
    "deno": "node",
    "luajit": "lua",
    "Rscript": "R",
    "lua5.3": "lua",
    "lua5.4": "lua",
    "iex": "elixir",
    "octave-cli": "octave",
    "matlab": "octave",
    "tsx": "node",
    "ts-node": "node",
}
_CODE_OPTIONS = {
    "perl": listed("-e -E -pe -ne -ple -nle -lne -lpe -pi -i -0pe -0ne -ane -lane -pie -i.bak"),
    "ruby": ["-e", "-ne", "-pe"],
    "node": ["-e", "-p", "--eval", "--print", "-pe"],
    "php": ["-r"],
    "lua": ["-e"],
    "R": ["-e"],
    "elixir": ["-e", "--eval"],
    "julia": ["-e", "-E", "--eval"],
    "octave": ["--eval", "-batch", "-r"],
}
_VALUED = (
    "-W",
    "-X",
    "-I",
    "-r",
    "--require",
    "--loader",
    "--import",
    "-C",
    "-M",
    "-d",
    "-Q",
    "--check-hash-based-pycs",
    "--env-file",
)


def python(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
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
    # The shell texts in it were walked already, as programs of their own.
    return ground.writing(step, found.writes) or ground.reading(step, found.reads) or (WORKS if found.writes else READS)


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


def interpreter(step: Step, ground: Ground) -> Verdict:
    """perl, ruby, node, php, lua: no tree of theirs here, so words that could do harm in their code ask."""
    name = re.sub(r"\d[\d.]*$", "", step.name)
    language = _SAME.get(name, name)
    args = list(step.args)
    loaded = (
        value_of(args, "-r", "--require", "--import", "--loader", "--experimental-loader")
        if language == "node"
        else None
    )
    if loaded and not re.fullmatch(r"@?\w[\w./-]*", loaded) and not ground.is_inside(step, loaded):
        return ask(HIDDEN, "node is told to load other code first")
    codes = _codes(language, args)
    libraries = [arg[2:] for arg in args if re.match(r"-I.", arg)] if language in ("perl", "ruby") else []
    if not all(ground.is_inside(step, folder) for folder in libraries):
        return ask(HIDDEN, f"{name} is told to take code from outside the working folder")
    if not codes:
        words = operands(args, _VALUED)
        if language == "php" and (place := value_of(args, "-S")):
            return WORKS if re.match(r"localhost:|127\.", place) else ask("way-in", f"php listens on {place}")
        if has(args, "--version", "-v", "--help", "--check", "-c", "--syntax-check") and (
            not words or language in ("node", "ruby", "perl")
        ):
            return READS
        if language == "node" and has(args, "--test"):
            return WORKS
        if not words or words[0] == "-":
            known = step.input.text and UNKNOWN not in step.input.text and not FETCHERS & set(step.input.programs)
            return _foreign(step, ground, language, [step.input.text or ""], []) if known else fed(step)
        if words[:1] in (["test"], ["run"]) and name in ("bun", "deno"):
            return named_target(name, words[1:2])
        if step.script and step.script != UNKNOWN:
            return worst([script_file(step, ground, words[0]), _foreign(step, ground, language, [step.script], [])])
        if (
            language == "php"
            and words[0] == "artisan"
            and {"migrate:fresh", "migrate:reset", "db:wipe", "migrate:rollback"} & set(words)
        ):
            return ask("database", "artisan empties the database")
        return script_file(step, ground, words[0])
    files = [word for word in operands(args, _CODE_OPTIONS.get(language, [])) if word not in codes]
    edits = language in ("perl", "ruby") and any(re.match(r"-\w*i", arg) for arg in args)
    return _foreign(step, ground, language, codes, files if edits else [])


def bun(step: Step, ground: Ground) -> Verdict:
    """bun runs code on the command line as node does, and scripts of the project as yarn does."""
    return (interpreter if has(step.args, "-e", "--eval", "-p", "--print") else yarn)(step, ground)


def _codes(language: str, args: list[str]) -> list[str]:
    loads = {"perl": "-M", "ruby": "-r"}.get(language, "\0")
    found = [arg for arg in args if arg.startswith(loads)]
    for at, arg in enumerate(args[:-1]):
        letters = language in ("perl", "ruby") and re.fullmatch(r"-[\w.]*[eE]", arg)
        if (arg in _CODE_OPTIONS.get(language, []) and arg not in ("-pi", "-i", "-i.bak")) or letters:
            found.append(args[at + 1])
    return found


def _foreign(step: Step, ground: Ground, language: str, codes: list[str], files: list[str]) -> Verdict:
    for code in codes:
        if UNKNOWN in code:
            return ask(HIDDEN, "a part of the code is put in only when it runs")
        if found := (_RISKY.get(language) or _RISKY["node"]).search(code):
            return ask("code", f"{found.group().strip()[:30]} in the code can do harm")
        if verdict := ground.reading(step, re.findall(r"[~/][\w.~/*-]+", code)):
            return verdict
    return ground.writing(step, files) or WORKS if files else READS


def interpreter_rule(name: str) -> Callable[[Step, Ground], Verdict] | None:
    """The rule for an interpreter by its name, with or without a version behind it."""
    plain = re.sub(r"(?<=[a-zA-Z])\d[\d.]*$", "", name)
    if plain in ("python", "pypy", "python3"):
        return python
    return interpreter if plain in _RISKY or plain in _SAME or name in _SAME else None
