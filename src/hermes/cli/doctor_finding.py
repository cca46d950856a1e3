"""What `hermes doctor` finds: one line each, with what to do, and sometimes a way to mend it."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from hermes.cli.table import one_line
from hermes.protocol.errors import UserError

State = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    """One thing that was looked at. `do` is for the person; `mend` does it for them, where that is safe, and says so."""

    check: str
    state: State
    text: str
    do: str = ""
    mend: Callable[[], str] | None = None


def ok(check: str, text: str) -> Finding:
    return Finding(check, "ok", text)


def warn(check: str, text: str, do: str = "", mend: Callable[[], str] | None = None) -> Finding:
    return Finding(check, "warn", text, do, mend)


def fail(check: str, text: str, do: str = "", mend: Callable[[], str] | None = None) -> Finding:
    return Finding(check, "fail", text, do, mend)


def failed(check: str, error: UserError) -> Finding:
    """What a person can mend, as a finding."""
    return Finding(check, "fail", str(error), error.hint)


def line(finding: Finding) -> str:
    """A finding as a line for people."""
    do = f" ({finding.do})" if finding.do else ""
    return f"{finding.state:<6} {finding.check:<12} {one_line(finding.text + do)}"
