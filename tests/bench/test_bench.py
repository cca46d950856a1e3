"""The bench makes its table, tells plainly what is beyond its bar, and its rulers measure what they say."""

import os
import re
import sys

import apsw
import msgspec
import pytest

from bench import __main__ as bench
from bench import agents, peers, recall, table, wal
from bench.corpora import Judged
from bench.cost import Cost, Failed, run
from bench.prompt import tokens
from bench.stage import Stage
from bench.table import Limit, Row
from hermes.learning.recall.search import Search
from hermes.store.sqlite import SqliteStore
from tests.learning.recall.corpus import make, store_talks

ENV = {"PATH": os.environ["PATH"]}
KINDS = ("plain", "paraphrase", "identifier", "path", "cjk")


@pytest.mark.timeout(300)
def test_a_quick_run_makes_the_whole_table(tmp_path, capsys):
    assert bench.main(["--quick", "--json", str(tmp_path / "rows.json")]) == 0
    out, err = capsys.readouterr()
    kept = msgspec.json.decode((tmp_path / "rows.json").read_bytes())
    first, judged, *_ = out.split("\n\n")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.splitlines() if line.startswith("| ")]
    assert lines[0] == list(table.HEAD)
    names = [line.split("|")[1].strip() for line in judged.splitlines() if line.startswith("| ")]
    assert names == ["corpus", "commands", "URLs", "paths", "secrets", "injections"]
    assert [line[0] for line in lines[1:]] == [row["what"] for row in kept]
    assert len(kept) >= len(bench.ROWS)
    # The cost of a step is a difference of two runs, which two short ones may turn over.
    may_be_nothing = ("lost", "miss", "step")
    assert all(row["value"] > 0 for row in kept if not any(word in row["what"] for word in may_be_nothing))
    # What is found depends on no clock: a quick run finds as much as a long one.
    missing = [row for row in kept if "miss" in row["what"]]
    assert [(row["what"].split()[-1], row["missed"]) for row in missing] == [(kind, False) for kind in KINDS]
    assert all(re.match(r"of [1-9]\d* among 1,979 messages$", row["beside"]) for row in missing)
    assert [row["value"] for row in kept if "lost" in row["what"]] == [0]
    assert [line.split()[-1] for line in err.splitlines() if f" of {len(bench.ROWS)}: " in line] == list(bench.ROWS)


async def test_a_question_misses_when_its_session_is_not_among_those_found(tmp_path):
    talks, made = make(sessions=20, length=12)
    questions = [one for kind in KINDS for one in [each for each in made if each.kind == kind][:3]]
    elsewhere = [msgspec.structs.replace(question, session="another") for question in questions]
    async with SqliteStore(tmp_path / "state.db") as store:
        await store_talks(store, talks)
        right, wrong = [await recall.look(Search(store.index), asked) for asked in (questions, elsewhere)]
    assert {kind: right.share(kind) for kind in KINDS} == dict.fromkeys(KINDS, 1.0)
    assert {kind: wrong.share(kind) for kind in KINDS} == dict.fromkeys(KINDS, 0.0)
    assert [row.missed for each in (right, wrong) for row in recall.shares(each, 1)] == [False] * 5 + [True] * 5


def test_a_row_beyond_its_bar_is_missed_and_fails_a_strict_run_only(monkeypatch, capsys):
    slow = Row(what="slow", value=30, unit="ms", floor=10, beside="floor", bar=Limit(ratio=2), aim=Limit(ratio=1))
    monkeypatch.setattr(bench, "measure", lambda names, quick: [slow])
    assert bench.main(["--only", "turn"]) == 0
    assert bench.main(["--only", "turn", "--strict"]) == 1
    assert slow.cells() == ("slow", "30 ms", "10 ms floor", "3.00x", "2x", "1x", "MISSED")
    assert "beyond their bar: slow" in capsys.readouterr().out


def test_a_corpus_that_misses_or_alarms_or_dawdles_is_beyond_its_bar():
    good = Judged(name="x", bad=100, caught=99, harmless=100, alarms=2, each=20, least=99, most=2, patience=20)
    assert good.cells() == ("x", "100", "99.0 %", "99 %", "100", "2.0 %", "2 %", "20.00", "20", "yes")
    worse = [{"caught": 98}, {"alarms": 3}, {"each": 20.1}]
    assert [msgspec.structs.replace(good, **each).missed for each in worse] == [True] * 3


def test_a_row_must_hold_both_its_ratio_and_its_value():
    row = Row(what="turn", value=400, unit="ms", floor=300, bar=Limit(1.7, 450), aim=Limit(1.3, 350))
    assert row.verdict == "yes"
    assert msgspec.structs.replace(row, value=451).verdict == "MISSED"
    assert msgspec.structs.replace(row, floor=200).verdict == "MISSED"
    assert msgspec.structs.replace(row, value=340).verdict == "yes, aim met"
    assert msgspec.structs.replace(row, bar=Limit(), aim=Limit()).verdict == ""


def test_a_rate_is_worse_when_it_is_smaller():
    assert Row(what="inserts", value=500, unit="/s", floor=1000).ratio == 2


def test_the_cost_of_a_command_is_its_own_and_not_that_of_who_started_it(tmp_path):
    program = "x = bytearray(60 << 20)\nfor n in range(3_000_000): pass\nprint('done')"
    ballast = bytearray(200 << 20)
    cost = run([sys.executable, "-I", "-S", "-c", program], env=ENV, cwd=tmp_path)
    assert cost.out == "done\n"
    assert 60 < cost.peak < 150 < len(ballast) >> 20
    assert 20 < cost.cpu < cost.wall + 50


def test_a_command_that_fails_or_hangs_says_so_in_one_line(tmp_path):
    with pytest.raises(Failed, match=r"/sh ended with code 3: broken$"):
        run(["/bin/sh", "-c", "echo broken >&2; exit 3"], env=ENV, cwd=tmp_path)
    with pytest.raises(Failed, match="was not done after 0 s"):
        run(["/bin/sh", "-c", "sleep 60"], env=ENV, cwd=tmp_path, patience=0.2)


def test_commits_are_counted_from_the_log(tmp_path):
    path = tmp_path / "some.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("CREATE TABLE rows(body)")

    def write() -> None:
        for _ in range(3):
            with connection:
                connection.executemany("INSERT INTO rows VALUES (?)", [("x" * 5000,)] * 4)
        connection.close()

    assert wal.commits_of(write, path) == 3


def test_tokens_are_those_of_system_text_and_tools():
    body = {
        "messages": [{"role": "system", "content": "hello world"}, {"role": "user", "content": "not counted"}],
        "tools": [],
    }
    assert tokens(body) == (2, 1)


def test_an_agent_that_does_not_run_is_shown_with_its_reason_beside_hermes(tmp_path):
    command = tmp_path / "broken"
    command.write_text("#!/bin/sh\necho no luck >&2\nexit 1\n")
    command.chmod(0o755)
    broken = agents.Agent(
        name="broken 1.0",
        command=command,
        question=(),
        settle=lambda home, base_url: None,
        size=lambda: agents.Size(0, 0),
    )
    with Stage(quick=True) as stage:
        found = peers.measure(stage, [agents.hermes(), broken], 1)
    assert found["broken 1.0"] == f"{command} ended with code 1: no luck"
    ours = found["Hermes"]
    assert isinstance(ours, peers.Known) and len(ours.trials) == 1
    assert isinstance(ours.trials[0].answer, Cost) and ours.trials[0].requests == 1
    assert ours.size.lines > 10_000
    head, _, *rows = [[cell.strip() for cell in line.split("|")] for line in peers.draw(found).splitlines()]
    assert head[1:-1] == ["what", "Hermes", "broken 1.0"]
    assert [row[1] for row in rows] == list(peers.ROWS)
    assert {row[3] for row in rows} == {"not measured"}
