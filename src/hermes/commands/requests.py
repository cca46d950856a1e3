"""What a session asks a person, in words that any surface can show."""

import shlex

from hermes.protocol.actions import (
    Action,
    CallServer,
    OpenURL,
    Persist,
    ReadPath,
    RunCommand,
    SendMessage,
    Spend,
    StartServer,
    WritePath,
)
from hermes.protocol.events import Answered, Approval, Form, Login, Question, Request, Secret


def asked_lines(request: Request) -> list[str]:
    """A question in full, for nobody can judge what was cut off; the first line alone says what it is about."""
    match request:
        case Approval(action=action, why=why, choices=choices):
            phrase, exactly = effect(action)
            offered = "  ".join(f"[{choice[0]}]{choice[1:]}" for choice in choices)
            return [f"May I {phrase}?" + (f" ({why})" if why else ""), *exactly.splitlines(), offered]
        case Question(text=text, choices=choices):
            return [*_lines(text), *(f"{number} {choice}" for number, choice in enumerate(choices, 1))]
        case Secret(text=text):
            return [*_lines(text), "what you type is not shown"]
        case Login(url=url, text=text):
            return [*_lines(text or "Log in:"), url]
        case Form(text=text):
            return _lines(text)


def answer_line(answered: Answered) -> str:
    """How a question ended."""
    match answered.how:
        case "answered":
            return ": ".join(filter(None, (answered.choice, answered.text))) or "answered"
        case "expired":
            return "no answer in time"
        case "cancelled":
            return "taken back"


def effect(action: Action) -> tuple[str, str]:
    """What would be done, as a short phrase, and exactly with what: nothing of the second may be left out."""
    match action:
        case RunCommand(command, cwd, terminal, background):
            where = cwd if terminal == "local" else f"{cwd} ({terminal})"
            return f"run in {where}" + (", in the background" if background else ""), command
        case ReadPath(path):
            return "read", path
        case WritePath(path, delete):
            return "delete" if delete else "write", path
        case OpenURL(url, method):
            return "open" if method == "GET" else f"send ({method})", url
        case CallServer(server, tool, args):
            return f"call {tool} of {server}", args
        case StartServer(server, command):
            return f"start the server {server}", shlex.join(command)
        case Persist(what, content):
            return f"keep {what}", content
        case SendMessage(target, content):
            return f"send to {target}", content
        case Spend(what, amount):
            return f"spend ${amount:.2f}", what


def _lines(text: str) -> list[str]:
    return text.splitlines() or [""]
