"""`hermes sessions`: lists, shows, exports, renames, deletes and prunes what is stored."""

import asyncio
import json
import time
from pathlib import Path

import msgspec
import pytest

from hermes.cli.table import Column, draw, places
from hermes.cli.words import ago
from hermes.commands.numbers import short, span
from hermes.protocol.store import SessionRow
from hermes.protocol.wire import decode_event, encode_event
from hermes.store.owner import this_process
from tests.cli.command import Hermes, Ran
from tests.cli.stories import BEGAN, MODEL, store_story, story

ONE, TWO = "20260921_120000_aaaaaa", "20260922_120000_bbbbbb"


def keep(hermes: Hermes, *names: str, **more: object) -> None:
    for name in names or (ONE,):
        asyncio.run(store_story(hermes.home, name, story(f"About {name[-6:]}"), **more))  # pyright: ignore[reportArgumentType]


def test_a_fresh_home_has_no_sessions_and_says_so(hermes: Hermes) -> None:
    assert hermes("sessions", "list") == Ran(0, "", "hermes: there are no sessions yet (hermes starts one)\n")


def test_a_pipe_gets_every_column_whole_with_tabs_between(hermes: Hermes) -> None:
    title = "A title that is far too long for any column of a table " * 2
    asyncio.run(store_story(hermes.home, ONE, story(title.strip())))
    listed = hermes("sessions").out.splitlines()
    assert [line.split("\t")[:6] for line in listed] == [[ONE, title.strip(), MODEL, "4", "12300", "$0.01"]]
    assert listed[0].split("\t")[6][:10] == time.strftime("%Y-%m-%d", time.localtime(BEGAN))


def test_in_a_terminal_the_table_fits_80_columns(hermes: Hermes) -> None:
    asyncio.run(
        store_story(hermes.home, ONE, story("題名はとても長いので切られる" * 3, cost=None), began=time.time() - 7200)
    )
    head, line = hermes.terminal("sessions", "list").out.splitlines()
    assert head.split() == ["id", "title", "model", "msgs", "tokens", "cost", "used"]
    assert places(line) <= 80
    assert line.startswith(ONE) and line.split()[-6:] == ["claude-sonne…", "4", "12.3k", "?", "1h", "ago"]


def test_the_newest_come_first_up_to_a_limit_and_from_one_source(hermes: Hermes) -> None:
    keep(hermes, ONE)
    keep(hermes, TWO, began=BEGAN + 1000, source="cron")
    ids = {
        args: [line.split("\t")[0] for line in hermes("sessions", "list", *args).out.splitlines()]
        for args in [(), ("--limit", "1"), ("--source", "cli")]
    }
    assert ids == {(): [TWO, ONE], ("--limit", "1"): [TWO], ("--source", "cli"): [ONE]}


def test_a_list_as_json_is_one_line_for_each_session(hermes: Hermes) -> None:
    keep(hermes)
    [line] = hermes("sessions", "list", "--json").out.splitlines()
    row = msgspec.json.decode(line, type=SessionRow)
    assert (row.id, row.title, row.totals.input) == (ONE, "About aaaaaa", 12_000)


def test_a_conversation_is_shown_without_what_was_taken_back(hermes: Hermes) -> None:
    keep(hermes)
    shown = hermes("sessions", "show", "20260921", HERMES_HOME=str(hermes.home))
    assert shown.out.splitlines()[3:] == [
        "You",
        "  What does a.txt say?",
        "",
        "Hermes",
        "  [read_file: a.txt] 1|hello … 2 more",
        "  [patch: b.txt; failed] no such file�[31m",
        "  It says hello.",
        "",
        "You",
        "  And b.txt?",
        "  (failed: the provider is overloaded)",
    ]
    assert shown.out.splitlines()[0] == f"{ONE}  About aaaaaa"
    assert "4 messages, 12,300 tokens, $0.01, " in shown.out.splitlines()[1]


def test_full_shows_thoughts_arguments_whole_results_and_plans(hermes: Hermes) -> None:
    keep(hermes)
    lines = hermes("sessions", "show", ONE, "--full").out.splitlines()
    assert lines[7:15] == [
        "  · I must read it.",
        '  [read_file: a.txt] {"path":"a.txt"}',
        "    1|hello",
        "    2|```",
        "    3|world",
        '  [patch: b.txt; failed] {"path":"b.txt"}',
        "    no such file�[31m",
        "  [x] read",
    ]


def test_an_export_as_json_lines_loses_nothing(hermes: Hermes) -> None:
    events = asyncio.run(store_story(hermes.home, ONE, story()))
    lines = hermes.process("sessions", "export", ONE).out.splitlines()
    assert [decode_event(line.encode()) for line in lines] == events
    assert lines == hermes("replay", ONE, "--json").out.splitlines()


def test_an_export_as_json_is_one_document_with_the_same_events(hermes: Hermes, tmp_path: Path) -> None:
    events = asyncio.run(store_story(hermes.home, ONE, story()))
    target = tmp_path / "out.json"
    assert hermes("sessions", "export", ONE, "--format", "json", "-o", str(target)) == Ran(0, "")
    document = json.loads(target.read_text())
    assert document["session"]["id"] == ONE
    assert document["events"] == [json.loads(encode_event(event)) for event in events]


def test_an_export_as_markdown_reads_from_top_to_bottom(hermes: Hermes) -> None:
    keep(hermes)
    text = hermes("sessions", "export", ONE, "--format", "markdown").out
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(BEGAN))
    assert text == (
        f"# About aaaaaa\n\nSession `{ONE}`, {started}, model `{MODEL}`, folder `/project`\n\n"
        "## You\n\nWhat does a.txt say?\n\n## Hermes\n\n> I must read it.\n\n"
        '**read_file: a.txt**\n\n```json\n{"path":"a.txt"}\n```\n\n````text\n1|hello\n2|```\n3|world\n````\n\n'
        '**patch: b.txt; failed**\n\n```json\n{"path":"b.txt"}\n```\n\n```diff\n--- b.txt\n+++ b.txt\n```\n\n'
        "- [x] read\n\nIt says hello.\n\n## You\n\nAnd b.txt?\n\n*failed: the provider is overloaded*\n"
    )


def test_an_export_to_a_place_that_is_not_there_is_one_line(hermes: Hermes) -> None:
    keep(hermes)
    assert hermes("sessions", "export", ONE, "-o", "/nowhere/x") == Ran(
        2, "", "hermes: cannot write /nowhere/x: No such file or directory (choose another file with -o)\n"
    )


def test_a_session_is_renamed_and_found_by_its_new_title(hermes: Hermes) -> None:
    keep(hermes, ONE, TWO)
    assert hermes("sessions", "rename", ONE, "the", "best") == Ran(0, f"{ONE} is now 'the best'\n")
    assert hermes("sessions", "show", "the best").out.startswith(f"{ONE}  the best\n")
    assert hermes("sessions", "rename", TWO, "The best") == Ran(
        2, "", "hermes: another session has the title 'The best' (choose another title)\n"
    )


def test_a_name_that_nobody_or_more_than_one_has_is_one_line(hermes: Hermes) -> None:
    keep(hermes, ONE, TWO)
    nobody, several = hermes("sessions", "show", "x"), hermes("sessions", "show", "2026")
    assert nobody == Ran(2, "", "hermes: there is no session 'x' (hermes sessions list shows them)\n")
    assert several == Ran(2, "", f"hermes: '2026' is the beginning of 2 ids ({TWO} is the newest of them)\n")


def ids_left(hermes: Hermes) -> list[str]:
    return [line.split("\t")[0] for line in hermes("sessions", "list").out.splitlines()]


def test_deleting_needs_yes_where_nobody_can_be_asked(hermes: Hermes) -> None:
    keep(hermes, ONE, TWO)
    asked = hermes("sessions", "delete", ONE)
    assert (asked.code, ids_left(hermes)) == (2, [TWO, ONE])
    assert asked.err.endswith("There is nobody to ask (add -y to do it without a question)\n")
    assert hermes("sessions", "delete", ONE, ONE, "-y") == Ran(0, "deleted 1 session\n")
    assert ids_left(hermes) == [TWO]


@pytest.mark.parametrize(("typed", "left", "code"), [("y\n", [], 0), ("\n", [ONE], 1), ("\x03", [ONE], 130)])
def test_deleting_asks_at_a_terminal(hermes: Hermes, typed: str, left: list[str], code: int) -> None:
    keep(hermes)
    ran = hermes.terminal("sessions", "delete", ONE, typed=[("[y/N]", typed)])
    assert (ran.code, ids_left(hermes)) == (code, left)
    assert f"Delete {ONE} (About aaaaaa)? [y/N]" in ran.out


def test_a_session_that_is_open_elsewhere_is_not_deleted_and_neither_are_the_others(hermes: Hermes) -> None:
    keep(hermes, ONE)
    keep(hermes, TWO, open_in=this_process())
    refused = f"hermes: session {TWO} is open in another process (close it there first)\n"
    assert hermes("sessions", "delete", ONE, TWO, "-y") == Ran(2, "", refused)
    assert ids_left(hermes) == [TWO, ONE]


def test_pruning_takes_what_is_old_and_not_open(hermes: Hermes) -> None:
    keep(hermes, ONE)
    keep(hermes, TWO, open_in=this_process())
    keep(hermes, "20270101_000000_cccccc", began=time.time() - 5 * 86_400)
    dry = hermes("sessions", "prune", "--older-than", "0.5", "--dry-run")
    assert (len(dry.out.splitlines()), dry.err) == (3, "hermes: 3 sessions would be deleted\n")
    assert hermes("sessions", "prune", "--older-than", "7").code == 2
    assert len(ids_left(hermes)) == 3
    assert hermes("sessions", "prune", "--older-than", "7", "-y") == Ran(
        0, "deleted 1 session\n", f"hermes: session {TWO} is open in another process\n"
    )
    assert hermes("sessions", "prune", "--older-than", "9000") == Ran(0, "", "hermes: there is nothing to prune\n")


def test_stats_add_everything_up(hermes: Hermes) -> None:
    keep(hermes, ONE, TWO)
    keep(hermes, "20260923_120000_cccccc", source="cron")
    facts = dict(line.split(maxsplit=1) for line in hermes("sessions", "stats").out.splitlines() if "  " in line)
    assert facts["sessions"] == "3"
    assert facts["from"] == "cli 2, cron 1"
    assert facts["messages"] == "12"
    assert facts["cost"] == "$0.04"


def test_wrong_usage_is_one_line(hermes: Hermes) -> None:
    assert hermes("sessions", "prune").err == (
        "hermes: the following arguments are required: --older-than (hermes sessions prune --help shows what there is)\n"
    )
    assert hermes("sessions", "list", "--limit", "0").err == "hermes: --limit must be 1 or more (the default is 20)\n"


def test_times_and_numbers_are_short() -> None:
    assert [span(s) for s in (0, 59, 60, 3599, 3600, 86_400, 6.9 * 86_400, 8 * 86_400, 400 * 86_400)] == [
        *("0s", "59s", "1m", "59m", "1h", "1d", "6d", "1w", "1y")
    ]
    assert [ago(at, 100.0) for at in (99.5, 40.0)] == ["now", "1m ago"]
    assert [short(n) for n in (0, 999, 1000, 12_345, 99_960, 1_234_567, 5_000_000_000)] == [
        *("0", "999", "1.0k", "12.3k", "100k", "1.2M", "5.0G")
    ]


def test_what_would_steer_a_terminal_is_not_printed() -> None:
    assert draw([Column("a"), Column("n", right=True)], [["x\x1b[2J\ny", "1"], ["", "200"]], 80) == [
        "a          n",
        "x [2J y    1",
        "         200",
    ]
