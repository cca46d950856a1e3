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

_BY_TARGET = listed("mvn mvnw gradle gradlew rake rails just task invoke inv ant sbt lein ninja")
_SERVERS = listed("uvicorn gunicorn flask http-server serve live-server jupyter streamlit hypercorn")
_WRITE_TO = listed("gcc cc clang g++ ld ffmpeg pandoc convert javac rustc sphinx-build")
_DATABASE_RESET = re.compile(
    r"db:(drop|reset|purge|rollback|schema:load|migrate:reset|truncate_all|nuke)|migrate:(reset|fresh)|downgrade|flush|purge"
)


def builds(step: Step, ground: Ground) -> Verdict:
    if refused := next((arg for arg in step.args if _DATABASE_RESET.fullmatch(arg)), ""):
        return ask("database", f"{step.name} {refused} throws data away")
    if step.name in _WRITE_TO:
        target = value_of(step.args, "-o", "--output", "-d", "--out-dir")
        if step.name == "ffmpeg":
            target = next((arg for arg in reversed(step.args) if not arg.startswith("-")), None)
        if target and (verdict := ground.writing(step, [target])):
            return verdict
    if step.name in ("hyperfine", "entr", "nodemon") and UNKNOWN in "".join(step.args):
        return ask("hidden-code", f"nobody can tell what {step.name} would run")
    if step.name in _BY_TARGET:
        return make(step, ground)
    if step.name in _SERVERS and any(re.search(r"(^|=)(0\.0\.0\.0|::)(:|$)", arg) for arg in step.args):
        return ask("way-in", f"{step.name} listens to the whole network")
    return ground.reading(step, pieces(step.args)) or named_target(step.name, list(operands(step.args))[:1])
