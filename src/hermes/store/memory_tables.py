"""The tables of memory and reviews; whoever remembers nothing loads no more of it than this."""

import apsw

# Sessions from before there was a review count as reviewed: nobody asked for their past to be read.
TABLES = """
    CREATE TABLE memories(
        id INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, content TEXT NOT NULL, state TEXT NOT NULL,
        origin TEXT NOT NULL, session TEXT NOT NULL, item TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
        sightings INTEGER NOT NULL, helped INTEGER NOT NULL, hurt INTEGER NOT NULL, supersedes INTEGER NOT NULL,
        held INTEGER NOT NULL);
    CREATE INDEX memories_state ON memories(state);
    CREATE TABLE memory_writings(
        n INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, writer TEXT NOT NULL, session TEXT NOT NULL,
        item TEXT NOT NULL, undoes INTEGER NOT NULL);
    CREATE TABLE memory_changes(
        n INTEGER PRIMARY KEY AUTOINCREMENT, writing INTEGER NOT NULL, memory INTEGER NOT NULL, verb TEXT NOT NULL,
        before TEXT, after TEXT NOT NULL);
    CREATE INDEX memory_changes_memory ON memory_changes(memory);
    CREATE INDEX memory_changes_writing ON memory_changes(writing);
    CREATE TABLE memory_files(target TEXT PRIMARY KEY, before TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE reviews(
        session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, calls INTEGER NOT NULL DEFAULT 0,
        kept INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL DEFAULT 0, owner TEXT NOT NULL DEFAULT '',
        beat REAL NOT NULL DEFAULT 0);
    INSERT INTO reviews(session, seq) SELECT n, seq FROM sessions;
    """


def pass_over(db: apsw.Connection, session: int) -> None:
    """Count what a session holds so far as reviewed: it is a copy, and the original is reviewed for itself."""
    db.execute("INSERT INTO reviews(session, seq) SELECT n, seq FROM sessions WHERE n = ?", (session,))
