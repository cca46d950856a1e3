"""The tables of the full-text index; what fills and asks them is in text_index, and not loaded before somebody searches."""

from typing import Literal

import apsw

# The ascii tokenizer takes whatever is between two spaces for one term, if it has no ASCII punctuation in it.
TABLES = """
    CREATE TABLE indexed(session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, title TEXT NOT NULL, untrusted INTEGER NOT NULL);
    CREATE TABLE window(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        at INTEGER NOT NULL, terms INTEGER NOT NULL);
    CREATE INDEX window_session ON window(session, first);
    CREATE TABLE chapter(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        at INTEGER NOT NULL, terms INTEGER NOT NULL);
    CREATE INDEX chapter_session ON chapter(session, first);
    CREATE VIRTUAL TABLE window_text USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');
    CREATE VIRTUAL TABLE window_term USING fts5vocab(window_text, row);
    CREATE VIRTUAL TABLE chapter_text USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');
    CREATE VIRTUAL TABLE chapter_term USING fts5vocab(chapter_text, row);
    """

KINDS: tuple[Literal["window", "chapter"], ...] = ("window", "chapter")


def forget(db: apsw.Connection, n: int) -> None:
    """Take a session out of the index, in the transaction that deletes it."""
    for kind in KINDS:
        db.execute(f"DELETE FROM {kind}_text WHERE rowid IN (SELECT id FROM {kind} WHERE session = ?)", (n,))
        db.execute(f"DELETE FROM {kind} WHERE session = ?", (n,))
    db.execute("DELETE FROM indexed WHERE session = ?", (n,))
