"""Skills in the store: rows, versions that are never changed, trials, counts of use, and who is at work on what."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from hermes.protocol.skills import Decision, Known, SkillRow, SkillUse, Trial, Version
from hermes.store import owner as owners
from hermes.store.rows import fetch

if TYPE_CHECKING:
    from hermes.store.lane import Lane

TABLES = """
    CREATE TABLE skills(
        name TEXT PRIMARY KEY, category TEXT NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL,
        candidate INTEGER NOT NULL, waiting TEXT NOT NULL, placed INTEGER NOT NULL, created REAL NOT NULL,
        changed REAL NOT NULL, saved INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE skill_versions(
        skill TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, files BLOB NOT NULL, at REAL NOT NULL,
        writer TEXT NOT NULL, why TEXT NOT NULL, session TEXT NOT NULL, turn INTEGER NOT NULL, UNIQUE(skill, number));
    CREATE TABLE skill_trials(
        n INTEGER PRIMARY KEY, skill TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE INDEX skill_trials_skill ON skill_trials(skill);
    CREATE TABLE skill_uses(
        skill TEXT NOT NULL, version INTEGER NOT NULL, offered INTEGER NOT NULL, loaded INTEGER NOT NULL,
        helped INTEGER NOT NULL, failed INTEGER NOT NULL, saved INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY(skill, version)) WITHOUT ROWID;
    CREATE TABLE skill_approvals(hash TEXT PRIMARY KEY, skill TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
    CREATE TABLE skill_pins(skill TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE skill_work(work TEXT PRIMARY KEY, owner TEXT NOT NULL, beat REAL NOT NULL) WITHOUT ROWID;
    CREATE TABLE skill_moments(key TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
    """
ROW = SkillRow.__struct_fields__
USE = SkillUse.__struct_fields__
VERSION = "skill, number, hash, files, at, writer, why, session, turn"


class SqliteSkills:
    """Implements the seam Skills on the lanes of a store."""

    def __init__(self, writer: "Lane", reader: "Lane") -> None:
        self._writer = writer
        self._reader = reader

    async def known(self) -> Known:
        return await self._reader.read(lambda db: Known(tuple(_rows(db)), tuple(_uses(db)), _pins(db), _approved(db)))

    async def rows(self) -> list[SkillRow]:
        return await self._reader.read(_rows)

    async def propose(self, version: Version, category: str) -> Version:
        return await self._writer.write(lambda db: _propose(db, version, category))

    async def version(self, skill: str, number: int) -> Version | None:
        found = await self._read(
            f"SELECT {VERSION} FROM skill_versions WHERE skill = ? AND number = ?", (skill, number)
        )
        return _version(found[0]) if found else None

    async def versions(self, skill: str) -> list[Version]:
        empty = VERSION.replace("files", "x'80'")
        found = await self._read(f"SELECT {empty} FROM skill_versions WHERE skill = ? ORDER BY number", (skill,))
        return [_version(row) for row in found]

    async def decide(self, decision: Decision, at: float) -> bool:
        return await self._writer.write(lambda db: _decide(db, decision, at))

    async def placed(self, skill: str, digest: str) -> None:
        await self._write("UPDATE skills SET placed = 1 WHERE name = ? AND hash = ?", (skill, digest))

    async def trials(self, skill: str) -> list[Trial]:
        found = await self._read("SELECT body FROM skill_trials WHERE skill = ? ORDER BY n", (skill,))
        return [msgspec.json.decode(body, type=Trial) for (body,) in found]

    async def approve(self, digest: str, skill: str, at: float) -> None:
        await self._write("INSERT OR IGNORE INTO skill_approvals VALUES (?, ?, ?)", (digest, skill, at))

    async def approved(self) -> frozenset[str]:
        return await self._reader.read(_approved)

    async def count(self, uses: Sequence[SkillUse]) -> None:
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in USE[2:-1])
        sql = (
            f"INSERT INTO skill_uses({', '.join(USE)}) VALUES ({', '.join('?' * len(USE))}) "
            f"ON CONFLICT(skill, version) DO UPDATE SET {sums}, at = max(at, excluded.at)"
        )
        values = [msgspec.structs.astuple(use) for use in uses]
        await self._writer.write(lambda db: db.executemany(sql, values).fetchall())

    async def uses(self) -> list[SkillUse]:
        return await self._reader.read(_uses)

    async def pin(self, skill: str, pinned: bool) -> None:
        sql = "INSERT OR IGNORE INTO skill_pins VALUES (?)" if pinned else "DELETE FROM skill_pins WHERE skill = ?"
        await self._write(sql, (skill,))

    async def pins(self) -> frozenset[str]:
        return await self._reader.read(_pins)

    async def claim(self, work: str, owner: str) -> bool:
        def write(db: apsw.Connection) -> bool:
            now = time.time()
            for held, beat in fetch(db, "SELECT owner, beat FROM skill_work WHERE work = ?", (work,)):
                if held != owner and owners.lives(held, beat, now):
                    return False
            db.execute("INSERT OR REPLACE INTO skill_work VALUES (?, ?, ?)", (work, owner, now))
            return True

        return await self._writer.write(write)

    async def release(self, work: str, owner: str) -> None:
        await self._write("DELETE FROM skill_work WHERE work = ? AND owner = ?", (work, owner))

    async def noted(self, key: str) -> float:
        found = await self._read("SELECT at FROM skill_moments WHERE key = ?", (key,))
        return found[0][0] if found else 0.0

    async def note(self, key: str, at: float) -> None:
        await self._write("INSERT OR REPLACE INTO skill_moments VALUES (?, ?)", (key, at))

    async def _read(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return await self._reader.read(lambda db: fetch(db, sql, values))

    async def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        await self._writer.write(lambda db: fetch(db, sql, values))


def _rows(db: apsw.Connection) -> list[SkillRow]:
    found = fetch(db, f"SELECT {', '.join(ROW)} FROM skills ORDER BY name")
    return [msgspec.convert(dict(zip(ROW, row, strict=True)), SkillRow, strict=False) for row in found]


def _uses(db: apsw.Connection) -> list[SkillUse]:
    found = fetch(db, f"SELECT {', '.join(USE)} FROM skill_uses ORDER BY skill, version")
    return [SkillUse(**dict(zip(USE, row, strict=True))) for row in found]


def _pins(db: apsw.Connection) -> frozenset[str]:
    return frozenset(name for (name,) in fetch(db, "SELECT skill FROM skill_pins"))


def _approved(db: apsw.Connection) -> frozenset[str]:
    return frozenset(digest for (digest,) in fetch(db, "SELECT hash FROM skill_approvals"))


def _propose(db: apsw.Connection, version: Version, category: str) -> Version:
    query = "SELECT coalesce(max(number), 0) + 1 FROM skill_versions WHERE skill = ?"
    version = msgspec.structs.replace(version, number=fetch(db, query, (version.skill,))[0][0])
    name, number, at = version.skill, version.number, version.at
    db.execute(
        f"INSERT INTO skill_versions({VERSION}) VALUES ({', '.join('?' * 9)})",
        (name, number, version.hash, msgspec.msgpack.encode(version.files), at, version.by, version.why, version.session,
         version.turn),
    )  # fmt: skip
    db.execute(
        "INSERT INTO skills VALUES (?1, ?2, 'draft', 0, '', ?3, '', 1, ?4, ?4, 0) ON CONFLICT(name) DO UPDATE SET "
        "candidate = ?3, waiting = '', changed = ?4, state = iif(state = 'archived', 'draft', state)",
        (name, category, number, at),
    )
    return version


def _decide(db: apsw.Connection, decision: Decision, at: float) -> bool:
    found = fetch(db, "SELECT candidate, version, state FROM skills WHERE name = ?", (decision.skill,))
    if not found or found[0][0] != decision.expected:
        return False
    for trial in decision.trials:
        body = msgspec.json.encode(trial).decode()
        db.execute(
            "INSERT INTO skill_trials(skill, version, body) VALUES (?, ?, ?)", (trial.skill, trial.version, body)
        )
    # What the folder should hold is one of the same version and state as before, or else the folder has yet to be changed.
    db.execute(
        "UPDATE skills SET placed = placed AND version = ?3 AND (state = 'archived') = (?2 = 'archived'), state = ?2, "
        "version = ?3, hash = ?4, candidate = ?5, waiting = ?6, changed = ?7, saved = ?8 WHERE name = ?1",
        (decision.skill, decision.state, decision.version, decision.hash, decision.candidate, decision.waiting, at,
         decision.saved),
    )  # fmt: skip
    return True


def _version(row: tuple[Any, ...]) -> Version:
    skill, number, digest, files, at, by, why, session, turn = row
    return Version(
        skill=skill,
        number=number,
        hash=digest,
        files=msgspec.msgpack.decode(files, type=dict[str, bytes]),
        at=at,
        by=by,
        why=why,
        session=session,
        turn=turn,
    )
