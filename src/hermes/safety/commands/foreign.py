"""Interpreters of languages for which there is no tree here: words in their code that could do harm ask."""

import re

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.handed import apart
from hermes.safety.commands.scripts import FETCHERS, HIDDEN, fed, script_file
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import SECRET_NAME, UNKNOWN
from hermes.safety.commands.targets import named_target
from hermes.safety.commands.verdicts import READS, WORKS, ask, worst
from hermes.safety.patterns import Pattern

# Words of other languages that start programs, change files, reach other machines or run text.
RISKY: dict[str, Pattern] = {
    "perl": Pattern(
        r"\b(system|exec|unlink|rmdir|rename|qx|fork|kill|eval|pack|unpack|chmod|chown|truncate|syswrite|symlink|rmtree|remove_tree|socket|connect|require|do)\b|`|\bopen\b[^;]*[|>+]|IO::|LWP|HTTP|Socket|use\s+(POSIX|File)|/ee?\b.*e"
    ),
    "ruby": Pattern(
        r"^-r(?!(json|set|yaml|csv|date|time|pp)$)|\b(system|exec|spawn|fork|eval|instance_eval|class_eval|send|public_send|unpack1?|syscall|load|trap|rmdir|rm_rf?|unlink|delete|rename)\b|`|%x|FileUtils|IO\.(popen|write)|Open3|Socket|Net::|open-uri|File\.(delete|write|unlink|rename|open|chmod)|\bopen\s*\(?\s*['\"]\||HTTParty|RestClient|Faraday|Process\.|Kernel|Base64|Marshal|URI\.open|Dir\.(rmdir|delete)"
    ),
    "node": Pattern(
        r"child_process|\b(unlink|rmdir|rm|writeFile|appendFile|rename|truncate|chmod|chown|copyFile|symlink|link|cp|open|write)Sync\b|\bfs(/promises)?['\"]?\)?\s*\[|\{[^}]*\b(rm|unlink|rmdir|writeFile|appendFile|rename|truncate|cp|open)\b[^}]*\}\s*=|"
        r"\b(exec|execSync|spawn|spawnSync|fork|eval|Function|fetch|atob|unlink\w*|rm|rmSync|rmdir\w*|writeFile\w*|appendFile\w*|rename\w*|truncate\w*|chmod\w*|createWriteStream|cp|cpSync|copyFile\w*|symlink\w*|openSync|writeSync|WebSocket)\s*\(|['\"](axios|got|undici|node-fetch|ws|superagent|shelljs|execa|zx)['\"]|\b(net|http|https|http2|dgram|tls|dns|vm|worker_threads|cluster|inspector|repl)\b['\"]|process\.(kill|binding|dlopen|mainModule)|Buffer\.from|import\((?!\s*['\"]\./)|constructor|globalThis\[|Deno\.|Bun\.(spawn|write|\$)"
    ),
    "php": Pattern(
        r"\b(system|exec|shell_exec|passthru|popen|proc_open|pcntl_\w+|unlink|rmdir|rename|file_put_contents|fopen|fwrite|eval|assert|base64_decode|fsockopen|curl_\w+|mail|copy|include|require|create_function|call_user_func\w*|chmod|chown|symlink|touch|mkdir|stream_socket_\w+|gzinflate|str_rot13)\b|`|\$\w+\s*\(|['\"]\s*\)?\s*\("
    ),
    "lua": Pattern(r"os\.(execute|remove|rename|exit)|io\.(popen|open|output)|load|dofile|require|socket"),
    "R": Pattern(
        r"\b(system2?|unlink|file\.(remove|rename)|eval|parse|source|download\.file|install[\w.]*|writeLines|write\w*|file\.copy|saveRDS|save|sink|shell|pkg_install)\s*\(|\b(remotes|devtools|pak|BiocManager|pacman|renv|httr2?|curl)::"
    ),
    "elixir": Pattern(r"System\.(cmd|shell|halt)|:os\.|File\.(rm|write|rename|cp)|Code\.|Port\.|:httpc|Mix\.install"),
    "julia": Pattern(r"\b(run|rm|mv|cp|write|eval|download|include|ccall)\(|`|Pkg\.|HTTP\.|Sockets"),
    "octave": Pattern(r"\b(system|shell_cmd|unix|delete|unlink|rmdir|eval|popen|fopen|urlwrite|urlread|save|exec)\b"),
}
# A key of an array is a word that nobody calls.
_PHP_KEY = Pattern(r"(?<=[\w)\]])\[(['\"])\w+\1\](?!\s*\()")
# What fills a file whose name stands there, up to the end of the name.
_FILLS = {
    "node": Pattern(
        r"\b(?:fs|require\((['\"])(?:node:)?fs\1\))\.(?:write|append)FileSync\(\s*(['\"])(?P<file>[^'\"\\]+)\2(?=\s*,)"
    ),
    "ruby": Pattern(r"\bFile\.write\(\s*(['\"])(?P<file>[^'\"\\#|]+)\1(?=\s*,)"),
    "php": Pattern(r"\bfile_put_contents\(\s*(['\"])(?P<file>[^'\"\\$:]+)\1(?=\s*,)"),
}
_PHP_TELLS = listed("-i -m -v --ini --info --modules --version")
_FROM_ENVIRONMENT = Pattern(r"\b(?:env|ENV|getenv|get_env)\b\W{1,12}(\w+)")
SAME = {
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
    "php": ["-r", "-R", "-B", "-E"],
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


def interpreter(step: Step, ground: Ground) -> Verdict:
    """perl, ruby, node, php, lua: no tree of theirs here, so words that could do harm in their code ask."""
    name = re.sub(r"\d[\d.]*$", "", step.name)
    language = SAME.get(name, name)
    args = apart(step.name, step.args)
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
        if language == "php" and (verdict := _php(args, words)):
            return verdict
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
        return script_file(step, ground, words[0])
    files = [word for word in operands(args, _CODE_OPTIONS.get(language, [])) if word not in codes]
    edits = language in ("perl", "ruby") and any(re.match(r"-\w*i", arg) for arg in args)
    return _foreign(step, ground, language, codes, files if edits else [])


def _php(args: list[str], words: list[str]) -> Verdict | None:
    """What php does beyond running a file: it serves, tells about itself, or is told to load other code first."""
    if place := value_of(args, "-S"):
        return WORKS if re.match(r"localhost:|127\.", place) else ask("way-in", f"php listens on {place}")
    if any(re.match(r"(-d)?auto_(pre|ap)pend_file", arg) for arg in args):
        return ask(HIDDEN, "php is told to load other code first")
    if words[:1] == ["artisan"] and {"migrate:fresh", "migrate:reset", "db:wipe", "migrate:rollback"} & set(words):
        return ask("database", "artisan empties the database")
    return READS if args and all(arg in _PHP_TELLS for arg in args) else None


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
        if key := next((found[1] for found in _FROM_ENVIRONMENT.finditer(code) if SECRET_NAME.fullmatch(found[1])), ""):
            return ask("credentials", f"{key} is a key by its name")
        plain = _PHP_KEY.sub("[]", code) if language == "php" else code
        if fills := _FILLS.get(language):
            files = [*files, *(found["file"] for found in fills.finditer(plain))]
            plain = fills.sub("", plain)
        if found := (RISKY.get(language) or RISKY["node"]).search(plain):
            return ask("code", f"{found.group().strip()[:30]} in the code can do harm")
        if verdict := ground.reading(step, re.findall(r"[~/][\w.~/*-]+", code)):
            return verdict
    return ground.writing(step, files) or WORKS if files else READS
