"""The store keeps what it acknowledged, shares one database among processes, and tells plainly when it cannot."""

import asyncio
import errno
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import apsw
import msgspec
import pytest

from hermes.protocol.errors import LeaseLost, StoreError, UserError
from hermes.protocol.events import (
    Body,
    Changed,
    Event,
    ItemDone,
    Notice,
    SessionClosed,
    SessionOpened,
    TurnStarted,
    Unknown,
    Usage,
)
from hermes.protocol.items import Reply, Text, ToolCall
from hermes.protocol.ops import Say
from hermes.protocol.store import Batch, JournalRow, SessionRow, ToolUse, Totals, UsageRow
from hermes.protocol.terminals import ProcessInfo
from hermes.store import lane, schema, usage
from hermes.store import owner as owners
from hermes.store.sqlite import SqliteStore, make_blob
from hermes.store.turns import Turns

ME = owners.this_process()


def row(name: str = "s1", **more) -> SessionRow:
    return SessionRow(**{"id": name, "source": "cli", "model": "m", "cwd": "/", "started": 100.0} | more)


def event(seq: int, body: Body = Notice("x"), name: str = "s1", turn: int = 0) -> Event:
    return Event(session=name, at=100.0 + seq, seq=seq, turn=turn, body=body)


def reply(words: str) -> ItemDone:
    return ItemDone(Reply(id="i", turn=1, step=1, index=0, text=words))


@pytest.fixture
async def store(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.create(row(), Batch(), ME)
        yield store


async def test_events_come_back_in_order_and_in_pages(store):
    events = [event(n, Notice(f"n{n}"), turn=n // 3) for n in range(1, 11)]
    await store.append("s1", ME, Batch(events=tuple(events[:4])))
    await store.append("s1", ME, Batch(events=tuple(events[4:])))
    assert await store.events("s1") == events
    assert await store.events("s1", after=7) == events[7:]
    assert await store.events("s1", after=2, limit=3) == events[2:5]
    assert await store.events("nobody") == []


async def test_totals_title_and_end_follow_from_the_events(store):
    used = Usage(1, "m", 10, 5, cache_read=3, cost=0.5)
    bodies = [
        TurnStarted("o"),
        reply("a"),
        used,
        Usage(2, "m", 1, 1),
        Changed("title", title="Hello"),
        SessionClosed("bye"),
    ]
    await store.append("s1", ME, Batch(events=tuple(event(n, body) for n, body in enumerate(bodies, 1))))
    found = await store.session("hello")
    assert found is not None
    assert found.totals == Totals(turns=1, steps=2, messages=1, input=11, output=6, cache_read=3, cost=0.5, unpriced=1)
    assert (found.title, found.ended, found.end_reason, found.seq) == ("Hello", 106.0, "bye", 6)


async def test_a_second_session_of_the_same_title_gets_a_number(store):
    await store.create(row("s2"), Batch(), ME)
    for name in ("s1", "s2"):
        await store.append(name, ME, Batch(events=(event(1, Changed("title", title="Same"), name),)))
    assert [s.title for s in await store.sessions()] == ["Same (2)", "Same"]


async def test_a_session_is_found_by_id_title_or_unique_beginning(store):
    await store.create(row("s23"), Batch(), ME)
    await store.rename("s23", "My work")
    assert [(await store.session(name)).id for name in ("s1", "s23", "s2", "my WORK")] == ["s1", "s23", "s23", "s23"]
    assert await store.session("s") is None
    with pytest.raises(UserError, match="another session has the title"):
        await store.rename("s1", "my work")


async def test_a_batch_with_a_gap_or_from_a_stranger_is_refused_whole(store):
    with pytest.raises(LeaseLost):
        await store.append("s1", ME, Batch(events=(event(2),), begin=(JournalRow(ref="r", kind="k", detail="", at=1),)))
    with pytest.raises(LeaseLost):
        await store.append("s1", "somebody:1:2:3", Batch(events=(event(1),)))
    assert await store.events("s1") == []
    assert await store.unfinished("s1") == []


async def test_one_bad_batch_in_a_group_does_not_harm_the_others(store):
    jobs = [
        store.append("s1", ME, Batch(events=(event(1),))),
        store.append("s1", "stranger:1:1:1", Batch(events=(event(2),))),
    ]
    jobs += [store.keep("s1", b"data", "text/plain") for _ in range(5)]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(results[1], LeaseLost)
    assert results[0] is None and len(set(results[2:])) == 1
    assert len(await store.events("s1")) == 1


async def test_the_journal_holds_what_has_begun_until_it_ends(store):
    rows = [JournalRow(ref=f"r{n}", kind="tool", detail="{}", at=1.0) for n in range(2)]
    await store.append("s1", ME, Batch(begin=tuple(rows)))
    assert await store.unfinished("s1") == rows
    await store.append("s1", ME, Batch(end=("r0",)))
    assert await store.unfinished("s1") == rows[1:]


async def test_an_op_is_put_once_and_forgotten_once_applied(store):
    op = Say(parts=(Text("secret plan"),))
    first, fresh = await store.put("s1", op)
    assert fresh and await store.put("s1", op) == (first, False)
    assert await store.pending("s1") == [op]
    await store.append("s1", ME, Batch(applied=(op.id,)))
    assert await store.pending("s1") == []
    assert await store.put("s1", op) == (first, False)


async def test_blobs_are_kept_once_and_go_with_their_last_session(store):
    await store.create(row("s2"), Batch(blobs=(make_blob(b"shared", "a/b"),)), ME)
    ref = await store.keep("s1", b"shared", "a/b")
    assert await store.get(ref, "s1") == await store.get(ref[:12], "s2") == b"shared"
    for missing in (("0" * 64, "s1"), (ref, "s3")):
        with pytest.raises(StoreError, match="no stored data"):
            await store.get(*missing)
    for name in ("s1", "s2"):
        await store.release(name, ME)
    assert await store.delete(["s1"]) == 1
    assert await store.get(ref, "s2") == b"shared"
    assert await store.delete(["s2", "gone"]) == 1
    with pytest.raises(StoreError):
        await store.get(ref, "s2")


async def test_an_open_session_cannot_be_deleted(store):
    with pytest.raises(UserError, match="open in another process"):
        await store.delete(["s1"])


async def test_background_processes_are_written_down(store):
    info = ProcessInfo(
        id="proc_1", command="sleep 9", cwd="/", pid=7, started=1.0, start_ticks=3, state="running", code=None
    )
    await store.save("s1", info)
    assert await store.of("s1") == [info]


async def test_a_lease_is_taken_over_only_from_the_dead(store):
    assert not await store.claim("s1", "other")
    child = subprocess.Popen(["sleep", "60"])
    start = owners._start_of(child.pid)
    held = f"{os.uname().nodename}:{child.pid}:{start}:x"
    await store.release("s1", ME)
    assert await store.claim("s1", held) and not await store.claim("s1", ME)
    child.kill()
    child.wait()
    assert await store.claim("s1", ME)
    assert await store.beat("s1", ME) and not await store.beat("s1", held)


def test_on_another_machine_a_missing_heartbeat_means_death():
    assert owners.lives("elsewhere:1:2:3", beat=100.0, now=110.0)
    assert not owners.lives("elsewhere:1:2:3", beat=100.0, now=140.0)


def test_a_reused_process_number_is_not_the_old_owner():
    host, pid, _, rest = ME.split(":")
    assert owners.lives(ME, 0.0, 1e9)
    assert not owners.lives(f"{host}:{pid}:12345:{rest}", 0.0, 1.0)


async def test_a_newer_database_is_read_and_not_written(tmp_path):
    path = tmp_path / "state.db"
    async with SqliteStore(path) as store:
        await store.create(row(), Batch(events=(event(1),)), ME)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version={schema.VERSION + 1}").fetchall()
    connection.close()
    async with SqliteStore(path) as store:
        assert await store.events("s1") == [event(1)]
        with pytest.raises(StoreError, match="was written by a newer Hermes"):
            await store.append("s1", ME, Batch(events=(event(2),)))


async def test_a_migration_makes_a_backup_first_and_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "state.db"
    async with SqliteStore(path) as store:
        await store.create(row(), Batch(events=(event(1),)), ME)
    before = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", before + 1)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE extra(x); SELECT * FROM nowhere"))
    async with SqliteStore(path) as store:
        with pytest.raises(StoreError, match="nowhere"):
            await store.session("s1")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:before], "CREATE TABLE extra(x)"))
    async with SqliteStore(path) as store:
        assert await store.events("s1") == [event(1)]
    backup = apsw.Connection(str(tmp_path / f"state.db.schema-{before}.backup"))
    assert backup.execute("SELECT count(*) FROM events").fetchall() == [(1,)]
    assert backup.execute("PRAGMA user_version").fetchall() == [(before,)]


async def test_a_backup_that_has_no_log_yet_is_written_to_at_once(tmp_path):
    path = tmp_path / "state.db"
    async with SqliteStore(path) as store:
        await store.create(row(), Batch(), ME)
    connection = apsw.Connection(str(path))
    assert connection.execute("PRAGMA journal_mode=DELETE").fetchall() == [("delete",)]
    connection.close()
    async with SqliteStore(path) as store:
        await store.append("s1", ME, Batch(events=(event(1),)))
        assert await store.events("s1") == [event(1)]


async def test_a_database_is_read_while_another_process_is_suspended_in_its_turn(store, tmp_path):
    await store.append("s1", ME, Batch(events=(event(1),)))
    with closing(Turns(store.path)) as turns, turns.mine():
        async with SqliteStore(store.path) as other:
            assert await other.events("s1") == [event(1)]


async def test_after_a_disk_that_failed_nothing_more_is_acknowledged(store, monkeypatch):
    def failing(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(lane, "put_on_disk", failing)
        with pytest.raises(StoreError, match=r"cannot be brought to disk \(Input/output error\): check the disk"):
            await store.append("s1", ME, Batch(events=(event(1),)))
    with pytest.raises(StoreError, match="start Hermes again"):
        await store.append("s1", ME, Batch(events=(event(2),)))
    assert len(await store.events("s1")) <= 1


async def test_rows_for_a_log_that_somebody_removed_are_not_acknowledged(store):
    store.path.with_name("state.db-wal").unlink()
    with pytest.raises(StoreError, match="was replaced or removed while it was in use: start Hermes again"):
        await store.append("s1", ME, Batch(events=(event(1),)))


async def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / "state.db"
    path.write_text("this is somebody's letter, and it is long enough to be read as a header " * 20)
    before = path.read_bytes()
    async with SqliteStore(path) as store:
        with pytest.raises(StoreError, match="is damaged"):
            await store.session("x")
    assert path.read_bytes() == before


async def test_the_database_is_private(tmp_path):
    async with SqliteStore(tmp_path / "home" / "state.db") as store:
        await store.create(row(), Batch(), ME)
        home = tmp_path / "home"
        assert home.stat().st_mode & 0o777 == 0o700
        assert (home / "state.db").stat().st_mode & 0o777 == 0o600


async def test_the_database_is_hardly_larger_than_its_text(tmp_path):
    words = "The quick brown fox jumps over the lazy dog, again and again and again. " * 6
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.create(row(), Batch(), ME)
        for first in range(1, 5000, 500):
            await store.append(
                "s1", ME, Batch(events=tuple(event(n, reply(f"{n} {words}")) for n in range(first, first + 500)))
            )
    text = sum(len(f"{n} {words}") for n in range(1, 5001))
    # All of it, with its empty tables. The design allows 2.2 with the index of recall, whose size `make bench` has.
    assert (tmp_path / "state.db").stat().st_size < 1.58 * text


async def test_events_of_a_newer_hermes_survive_a_round_through_the_store(store):
    unknown = Unknown(b'{"event":"dreamed","of":"sheep"}')
    await store.append("s1", ME, Batch(events=(event(1, unknown),)))
    assert await store.events("s1") == [event(1, unknown)]


async def test_a_closed_store_says_so(tmp_path):
    store = SqliteStore(tmp_path / "state.db")
    await store.close()
    with pytest.raises(StoreError, match="was closed"):
        await store.session("x")


def test_sql_in_what_people_write_is_only_text(tmp_path):
    async def story() -> None:
        nasty = "'; DROP TABLE sessions; --"
        async with SqliteStore(tmp_path / "state.db") as store:
            await store.create(row(), Batch(), ME)
            await store.rename("s1", nasty)
            found = await store.session(nasty)
            assert found is not None and found.id == "s1"
            assert await store.session("%") is None

    asyncio.run(story())


def test_eight_processes_write_at_once_and_nothing_is_lost(tmp_path):
    child = Path(__file__).with_name("writer_child.py")
    path = tmp_path / "state.db"
    processes = [
        subprocess.Popen([sys.executable, str(child), str(path), f"w{n}", "40"], stdout=subprocess.PIPE, text=True)
        for n in range(8)
    ]
    acknowledged = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert acknowledged == [40] * 8

    async def count() -> list[int]:
        async with SqliteStore(path) as store:
            return [len(await store.events(f"w{n}")) for n in range(8)]

    assert asyncio.run(count()) == [40] * 8
    connection, _ = schema.open_database(path)
    schema.integrity(connection)


async def test_usage_is_counted_by_day_model_and_purpose_and_outlives_its_session(store):
    call = ToolCall(
        id="c", turn=1, step=1, index=0, call_id="c", name="terminal", args="{}", status="failed", seconds=2.0
    )
    bodies = [
        Usage(1, "a", 10, 5, cache_read=3, cost=0.5),
        Usage(2, "a", 1, 1),
        Usage(0, "b", 7, 2, cost=0.1, purpose="review"),
        ItemDone(call),
        ItemDone(msgspec.structs.replace(call, id="d", status="done")),
    ]
    await store.append("s1", ME, Batch(events=tuple(event(n, body) for n, body in enumerate(bodies, 1))))
    day = time.strftime("%Y-%m-%d", time.localtime(101))
    used = {"day": day, "session": "s1", "source": "cli", "cache_write": 0, "reasoning": 0}
    main = UsageRow(**used, model="a", purpose="", calls=2, input=11, output=6, cache_read=3, cost=0.5, unpriced=1)
    review = UsageRow(
        **used, model="b", purpose="review", calls=1, input=7, output=2, cache_read=0, cost=0.1, unpriced=0
    )
    assert await store.usage() == [main, review]
    tools = [ToolUse(day=day, source="cli", tool="terminal", calls=2, failed=1, seconds=4.0)]
    assert await store.tool_use() == tools
    assert await store.usage(since=time.time()) == []
    await store.release("s1", ME)
    await store.delete(["s1"])
    assert await store.usage() == [msgspec.structs.replace(each, session="") for each in (main, review)]
    assert await store.tool_use() == tools


async def test_an_older_database_learns_what_was_used_from_its_events(tmp_path, monkeypatch):
    newest = schema.MIGRATIONS
    monkeypatch.setattr(schema, "MIGRATIONS", newest[:1])
    monkeypatch.setattr(schema, "VERSION", 1)
    monkeypatch.setattr(usage, "add", lambda db, n, events: None)
    async with SqliteStore(tmp_path / "state.db") as store:
        await store.create(row(), Batch(events=(event(1, Usage(1, "m", 10, 5)), event(2, Usage(2, "m", 1, 1)))), ME)
    monkeypatch.undo()
    async with SqliteStore(tmp_path / "state.db") as store:
        [found] = await store.usage()
        assert (found.calls, found.input, found.output, found.unpriced) == (2, 11, 6, 2)


async def test_a_fork_has_the_same_past_and_a_future_of_its_own(store):
    await store.append("s1", ME, Batch(events=(event(1), event(2, reply("a")), event(3, Changed("title", title="T")))))
    ref = await store.keep("s1", b"picture", "image/png")
    opened = event(1, SessionOpened("cli", "m", "/", "1", forked_from="s1"), name="s2")
    await store.fork("s1", row("s2", forked_from="s1", title="T"), opened)
    copied = await store.events("s2")
    assert copied == [opened, *(msgspec.structs.replace(e, session="s2") for e in (await store.events("s1"))[1:])]
    assert await store.get(ref, "s2") == b"picture"
    forked = await store.session("s2")
    assert (forked.title, forked.seq, forked.totals.messages, forked.owner) == ("T (2)", 3, 1, "")
    assert await store.claim("s2", ME)
    await store.append("s2", ME, Batch(events=(event(4, reply("b"), name="s2"),)))
    assert len(await store.events("s1")) == 3
