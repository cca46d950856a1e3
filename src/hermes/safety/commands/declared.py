"""Installing what a project itself declares is a step of its build; a package that only the command line names is code from elsewhere."""

from hermes.safety.commands.argv import listed
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.patterns import Pattern

# The verbs that install what the project's own files list. An empty one is the program by its bare name.
_VERBS = {
    "npm": ("install", "i", "ci", "clean-install"),
    "yarn": ("install", ""),
    "pnpm": ("install", "i"),
    "bun": ("install", "i"),
    "bundle": ("install", ""),
    "composer": ("install",),
    "poetry": ("install", "sync"),
    "uv": ("sync",),
    "pdm": ("install", "sync"),
    "pipenv": ("install", "sync"),
    "mix": ("deps.get",),
    "flutter": ("pub get",),
    "dart": ("pub get",),
    "swift": ("package resolve",),
}
# Those that install whatever they are told, a project or its list among it.
_TOLD = {"pip": ("install",), "pip3": ("install",), "uv": ("pip install", "pip sync")}
# Options that say how, and neither from where nor to where.
_HOW = listed(
    "-q --quiet -s --silent -v -vv -vvv --verbose --no-audit --no-fund --no-progress --prefer-offline --offline --frozen-lockfile "
    "--frozen --locked --immutable --immutable-cache --production --prod -P --dev -D --no-dev --no-optional --legacy-peer-deps "
    "--no-save --ci --no-interaction -n --no-ansi --no-root --all-extras --all-groups --no-scripts --ignore-scripts -o "
    "--optimize-autoloader --prefer-dist --no-cache --no-cache-dir --deployment --sync --ignore-platform-reqs --check-files "
    "--pure-lockfile --inexact --no-editable -U --upgrade --no-deps --no-input --disable-pip-version-check --no-build-isolation "
    "--no-warn-script-location --no-compile --prefer-binary --strict-peer-dependencies --shamefully-hoist --no-install-project"
)
_HOW_MUCH = listed("--omit --include --loglevel --group --only-group --extra --with --without --only --jobs -j --retry")
_LISTS = listed("-r --requirement --requirements -c --constraint")
_EDITABLE = listed("-e --editable")
_PROJECT = Pattern(r"(\.(?:/[\w./-]+)?)(?:\[[\w,. -]+\])?")
_ARCHIVE = Pattern(r"(?i)\.(whl|zip|tar|gz|tgz|bz2|xz|egg)$")


def declared(step: Step, ground: Ground) -> bool:
    """Whether a package manager installs, in the working folder, what is listed there, and nothing else."""
    if not all(ground.is_inside(step, cwd) for cwd in step.cwds):
        return False
    words = list(step.args)
    for verb in _TOLD.get(step.name, ()):
        if words[: len(verb.split())] == verb.split():
            return _is_told_the_project(step, ground, words[len(verb.split()) :], verb)
    return any(
        words[: len(verb.split())] == verb.split() and _says_only_how(words[len(verb.split()) :])
        for verb in _VERBS.get(step.name, ())
    )


def _says_only_how(words: list[str]) -> bool:
    rest = iter(words)
    for word in rest:
        name, joined, _ = word.partition("=")
        if name in _HOW_MUCH and not joined:
            next(rest, "")
        elif word not in _HOW and name not in _HOW_MUCH:
            return False
    return True


def _is_told_the_project(step: Step, ground: Ground, words: list[str], verb: str) -> bool:
    """Whether each word names the project, or a list of its own; and there is one."""
    told: list[bool] = []
    rest = iter(words)
    for word in rest:
        name, joined, value = word.partition("=")
        if name in _LISTS:
            told.append(ground.is_inside(step, value if joined else next(rest, "")))
        elif name in _EDITABLE:
            told.append(_is_project(step, ground, value if joined else next(rest, "")))
        elif not word.startswith("-"):
            told.append(ground.is_inside(step, word) if verb == "pip sync" else _is_project(step, ground, word))
        elif word not in _HOW:
            return False
    return bool(told) and all(told)


def _is_project(step: Step, ground: Ground, word: str) -> bool:
    found = _PROJECT.fullmatch(word)
    return found is not None and not _ARCHIVE.search(found[1]) and ground.is_inside(step, found[1])
