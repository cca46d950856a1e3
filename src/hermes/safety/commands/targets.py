"""Names of targets and scripts: some say that they reach beyond the working folder."""

from hermes.protocol.actions import Verdict
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import WORKS, ask
from hermes.safety.patterns import Pattern

# Names of targets and scripts that reach out of the working folder by custom.
_REACHES_OUT = Pattern(
    r"(.*[-_:.])?(install|uninstall|deploy|publish|release|upload|push|destroy|nuke|provision|promote|rollback|"
    r"reset|drop|ship|wipe|flash|teardown|undeploy|unpublish)([-_:.].*)?"
)


# Gradle and sbt write the same without a mark between the words.
_CAMEL = Pattern(r"(publish|upload|deploy|install|uninstall|promote)[A-Z](?!ist$)\w*")


def named_target(name: str, targets: list[str]) -> Verdict:
    """Work, unless one of the names says that it reaches beyond the working folder."""
    for target in targets:
        if UNKNOWN in target:
            return ask("unknown-target", f"nobody can tell what {name} is to do")
        if _REACHES_OUT.fullmatch(target.rpartition("/")[2].lower()) or _CAMEL.fullmatch(target.rpartition(":")[2]):
            return ask("outside-effect", f"{name} {target} reaches beyond the working folder by its name")
    return WORKS
