"""Programs that take what is typed into them for orders, and can be told so to start others."""

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import ask
from hermes.safety.patterns import Pattern

# They read keys, not lines: `!` and `|` start a shell, `:` begins a command, `v` opens an editor, `s` writes a file.
_BY_KEYS = listed("less more most man info tig vd visidata ncdu mc ranger nnn vifm lf mutt lynx w3m links elinks")
_KEYS = Pattern(r"(?s).*([!|:#`\x18]|(^|\n)\s*[vsoO]).*")
# They read lines, from a pipe too.
_BY_LINES = listed("dc gdb lldb gnuplot ghci jdb rdb bpython ptpython jshell")
_LINES = Pattern(
    r"(?s).*(!|`|\||\b(shell|system|exec\w*|call|python|script|make|pipe|source|popen|import|write|dump|generate-core-file|"
    r"target|attach|platform|command)\b).*"
)
# In these the person's editor opens.
_IN_AN_EDITOR = listed("rebase add commit tag merge notes")
_EDITOR = Pattern(r"(?s).*:.*(!|\b(call|lua\w*|py\w*|source|so|r|e|w|sh|shell|terminal)\b).*")


def takes_orders(step: Step) -> Verdict | None:
    """Why what a program is fed may have it start something, or None."""
    text, typed = step.input.text, not step.input.programs and not step.input.files
    if step.name in _BY_KEYS and typed and text and _KEYS.fullmatch(text):
        return _asks(step.name)
    if step.name in _BY_LINES or _is_debugger(step):
        fed = text is None or UNKNOWN in text or bool(_LINES.fullmatch(text))
        return _asks(step.name) if fed else None
    if step.name == "git" and typed and text and _IN_AN_EDITOR & set(step.args[:1]) and _EDITOR.fullmatch(text):
        return None if has(step.args, "-F", "--file", "-m", "--message") else _asks("git's editor")
    return None


def _is_debugger(step: Step) -> bool:
    return (step.name == "perl" and any(arg.startswith("-d") for arg in step.args)) or "pdb" in step.args[1:2]


def _asks(name: str) -> Verdict:
    return ask("hidden-code", f"{name} takes what is typed into it for orders, and can start programs so")
