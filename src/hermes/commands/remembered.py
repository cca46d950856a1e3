"""What there is to say about memory, and what a person can do with it: shared by /memory and `hermes memory`."""

import time

from hermes.app import App
from hermes.learning.memory.notebook import Notebook
from hermes.protocol.errors import UserError
from hermes.protocol.events import ItemDone
from hermes.protocol.items import Reply, ToolCall, UserMessage, text_of
from hermes.protocol.memories import Change, Memory
from hermes.protocol.store import Log

ALL = "all"
QUOTED = 300
DIGITS = 18
"""Of the number of an entry: SQLite has no longer ones."""


def number(word: str) -> int:
    """The id of an entry as it is typed."""
    if not word.isdecimal() or len(word) > DIGITS:
        raise UserError(f"{word!r} is not the number of an entry", "hermes memory show lists them")
    return int(word)


async def find(book: Notebook, id: int) -> Memory:
    """An entry in whatever state."""
    found = [row for row in await book.store.entries() if row.id == id]
    if not found:
        raise UserError(f"there is no entry {id}", "hermes memory show lists them")
    return found[0]


def proposal(row: Memory, rows: dict[int, Memory]) -> str:
    """What an entry that waits would do."""
    old = rows.get(row.supersedes)
    if not row.content:
        return f"forget: {old.content if old else row.supersedes}"
    return f"{row.content} (instead of: {old.content})" if old else row.content


async def pending(book: Notebook) -> list[tuple[Memory, str]]:
    """What waits for a person, with what it would do."""
    rows = {row.id: row for row in await book.store.entries()}
    return [(row, proposal(row, rows)) for row in rows.values() if row.state == "pending"]


async def decide(book: Notebook, which: str, *, approve: bool) -> list[Memory]:
    """Approve or reject one entry that waits, or all of them."""
    async with book.change("person") as draft:
        waiting = draft.entries.pending()
        chosen = waiting if which == ALL else [row for row in waiting if row.id == number(which)]
        if not chosen:
            raise UserError(f"nothing waits under {which!r}", "hermes memory pending lists what waits")
        for row in chosen:
            draft.entries.approve(row) if approve else draft.entries.reject(row)
    return chosen


async def restore(book: Notebook, id: int) -> Memory:
    """Bring an entry back from the archive, or one that was retired."""
    row = await find(book, id)
    if row.state not in ("archived", "retired"):
        raise UserError(f"entry {id} is {row.state}", "hermes memory archive lists what can be restored")
    async with book.change("person") as draft:
        draft.entries.restore(draft.entries.get(id) or row)
    return row


async def undo(book: Notebook, id: int = 0) -> list[Change]:
    """Take back the newest change, of all or of one entry; what was taken back."""
    done = await book.undo(id)
    if not done:
        raise UserError("there is nothing to undo", "hermes memory history shows what has happened")
    return await book.store.writing(done)


async def why(app: App, id: int) -> list[str]:
    """Where an entry comes from and what became of it, line by line."""
    book = app.memory.notebook
    row = await find(book, id)
    lines = [
        row.content or "(a removal)",
        f"target: {row.target}, {row.state}" + (", held for a person" if row.held else ""),
    ]
    lines.append(f"written by: {_origin(row)} on {_day(row.created)}, changed on {_day(row.updated)}")
    if row.session:
        lines.append(f"session: {row.session}" + (f", message {row.item}" if row.item else ""))
        lines += [f"said there: {told}"] if (told := await said(app.store, row.session, row.item)) else []
    lines.append(
        f"seen {'once' if row.sightings == 1 else f'{row.sightings} times'}, helped {row.helped}, hurt {row.hurt}"
    )
    if row.supersedes:
        old = [one for one in await book.store.entries() if one.id == row.supersedes]
        lines.append(f"instead of {row.supersedes}: {old[0].content if old else ''}")
    return lines


async def said(store: Log, session: str, item: str) -> str:
    """The beginning of a message of a stored session; "" if it is gone."""
    after = 0
    while item and (events := await store.events(session, after)):
        for event in events:
            if isinstance(event.body, ItemDone) and event.body.item.id == item:
                return " ".join(_text(event.body.item).split())[:QUOTED]
        after = events[-1].seq or after
    return ""


def told(change: Change) -> str:
    """A change as one line."""
    what = change.after.content or f"forget {change.after.supersedes}"
    undone = f", undoing {change.undoes}" if change.undoes else ""
    return f"{change.verb} {change.after.id} ({change.after.target}): {what} [{change.by}{undone}]"


def _text(item: object) -> str:
    match item:
        case UserMessage(parts=parts):
            return text_of(parts)
        case Reply(text=text):
            return text
        case ToolCall():
            return f"{item.name} {item.title or item.args}: {text_of(item.result)}"
        case _:
            return ""


def _origin(row: Memory) -> str:
    return {
        "agent": "the agent's memory tool",
        "review": "a review",
        "person": "the person's own words",
        "file": "an edit of the file",
    }[row.origin]


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
