"""Tools that build, test and serve what is in the working folder, and the few of their words that reach further."""

import re

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import listed, operands, value_of
from hermes.safety.commands.ground import Ground, pieces
from hermes.safety.commands.packages import make
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.targets import named_target
from hermes.safety.commands.verdicts import ask
from hermes.safety.patterns import Pattern

_BY_TARGET = listed(
    "mvn mvnw gradle gradlew rake rails just task invoke inv ant sbt lein ninja turbo nx lerna rush moon bmake"
)
_SERVERS = listed("uvicorn gunicorn flask http-server serve live-server jupyter streamlit hypercorn")
_TARGETS = ("-o", "--output", "-d", "--out-dir", "--output-dir", "--outdir", "--outDir", "--out")
_WRITE_LAST = listed("ffmpeg convert magick sox gs qpdf cwebp")
_DATABASE_RESET = Pattern(
    r"db:(drop|reset|purge|rollback|schema:load|migrate:reset|truncate_all|nuke)|migrate:(reset|fresh)|downgrade|flush|purge"
)
# They run, as code, the files that they are told.
_RUN_FILES = listed(
    "pytest py.test tox nox jest vitest mocha ava tap jasmine karma cypress playwright ts-node tsx rspec behave robot "
    "phpunit pest streamlit scrapy locust papermill spark-submit torchrun accelerate deepspeed nodemon prove nosetests "
    "groovy scala kotlin raku clj lein jupyter quarto gnuplot snakemake nextflow luigi manim shiny bokeh panel gradio"
)
_SETTINGS = Pattern(
    r"-c|-p|-r|--(config|config-file|conf|rcfile|rootdir|confcutdir|require|plugin|init-script|project|settings|rulesdir|"
    r"rules|resolve-plugins-relative-to|ext|makefile|justfile|taskfile|file|build-file|settings-file)"
)
_EVALUATE = listed("ghc raku groovy scala kotlin kotlinc clj ocaml nim crystal swift lein racket guile sbcl")
_RISKY = Pattern(
    r"system|shell|exec|command|process|spawn|popen|delete|unlink|remove|rmdir|write|http|socket|url|spit|\brun\b|open|eval\b|`",
    re.I,
)


def builds(step: Step, ground: Ground) -> Verdict:
    args = list(step.args)
    if refused := next((arg for arg in args if _DATABASE_RESET.fullmatch(arg)), ""):
        return ask("database", f"{step.name} {refused} throws data away")
    if verdict := _writes(step, ground) or _strange_code(step, ground):
        return verdict
    if step.name in ("hyperfine", "entr", "nodemon") and UNKNOWN in "".join(args):
        return ask("hidden-code", f"nobody can tell what {step.name} would run")
    if step.name in _BY_TARGET:
        return make(step, ground)
    if step.name in _SERVERS and any(re.search(r"(^|=)(0\.0\.0\.0|::)(:|$)", arg) for arg in args):
        return ask("way-in", f"{step.name} listens to the whole network")
    return ground.reading(step, pieces(args)) or named_target(step.name, list(operands(args))[:1])


def _writes(step: Step, ground: Ground) -> Verdict | None:
    targets = [value for value in (value_of(step.args, option) for option in _TARGETS) if value and "/" in value]
    targets += [arg.partition("=")[2] for arg in step.args if re.match(r"--\w+_out=|-sOutputFile=", arg)]
    if step.name in _WRITE_LAST and len(words := operands(step.args)) > 1:
        targets.append(words[-1])
    if sent := next((target for target in targets if re.match(r"\w{2,}://(?!localhost|127\.)", target)), ""):
        return ask("sends-data", f"{step.name} would send what it makes to {sent}")
    return ground.writing(step, [target for target in targets if not target.startswith((UNKNOWN, "-", "pipe:"))])


def _strange_code(step: Step, ground: Ground) -> Verdict | None:
    """Why a tool would run code that does not lie in the working folder, or that is written out here; or None."""
    args = list(step.args)
    if step.name in _EVALUATE:
        for at, arg in enumerate(args[:-1]):
            if arg in ("-e", "--eval", "eval", "e", "-x", "-c") and _RISKY.search(args[at + 1]):
                return ask("code", f"{step.name} {arg} runs code that can do harm")
    named = [args[at + 1] for at, arg in enumerate(args[:-1]) if _SETTINGS.fullmatch(arg)]
    named += [arg.partition("=")[2] for arg in args if "=" in arg and _SETTINGS.fullmatch(arg.partition("=")[0])]
    named += operands(args) if step.name in _RUN_FILES else []
    for place in named:
        if re.match(r"[/~]|\.\./", place) and not ground.is_inside(step, place) and not place.startswith("/dev/"):
            return ask("outside-code", f"{step.name} would run what {place} says, outside the working folder")
    return None
