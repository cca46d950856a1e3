"""The loader of LoCoMo reads conversations as they are written there, and counts what it finds."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from bench import locomo
from bench.locomo import Asked, Result
from tests.learning.recall.corpus import Talk


def sample(name: str = "conv-1") -> dict[str, Any]:
    def turn(speaker: str, text: str, **more: str) -> dict[str, str]:
        return {"speaker": speaker, "dia_id": "D1:1", "text": text, **more}

    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("Bob", "Hello!"),
                turn("Ann", "I paint a heron.", blip_caption="a photo of a bird"),
                turn("Ann", "Every day."),
            ],
            "session_2_date_time": "sometime",
            "session_2": [turn("Ann", "We went camping."), turn("Bob", "In the rain?")],
            "session_3": [],
        },
        "qa": [
            {"question": 'What "bird" does Ann paint?', "answer": "a heron", "evidence": ["D1:2"], "category": 4},
            {"question": "Did it rain?", "answer": "yes", "evidence": ["D2:1; D2:2", "D1:1"], "category": 1},
            {"question": "Unknown?", "evidence": [], "category": 5},
        ],
    }


def test_a_conversation_becomes_talks_and_questions() -> None:
    talks, asked = locomo.read(sample())
    lines = ("Bob: Hello!", "Ann: I paint a heron. [a photo of a bird]", "Ann: Every day.")
    began = time.mktime((2023, 5, 8, 13, 56, 0, 0, 0, -1))
    assert talks == [
        Talk("conv-1-001", "", began, lines),
        Talk("conv-1-002", "", 0.0, ("Ann: We went camping.", "Bob: In the rain?")),
    ]
    assert asked == [
        Asked("one session", "What  bird  does Ann paint?", frozenset({"conv-1-001"})),
        Asked("several sessions", "Did it rain?", frozenset({"conv-1-001", "conv-1-002"})),
    ]


@pytest.mark.parametrize("together", [False, True])
async def test_every_question_is_asked(together: bool) -> None:
    results = await locomo.run([sample(), sample("conv-2")], together=together)
    assert [(result.kind, result.found) for result in results] == [
        ("one session", True),
        ("several sessions", True),
    ] * 2
    assert [result.recall for result in results if result.kind == "several sessions"] == ([0.5, 0.5])


def test_the_table_has_a_row_for_each_kind_and_one_for_all_that_have_an_answer() -> None:
    results = [Result("time", True, 1.0, True, 5.0), Result("time", False, 0.0, False, 7.0)]
    results.append(Result("with no answer", False, 0.0, False, 1.0))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in locomo.table(results).splitlines()]
    assert rows[2] == ["time", "2", "50.0 %", "50.0 %", "50.0 %", "5"]
    assert [row[:3] for row in rows[3:]] == [["with no answer", "1", "0.0 %"], ["all with an answer", "2", "50.0 %"]]


def test_a_file_that_is_not_there_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert locomo.main(["/nowhere/locomo10.json"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_whole_file_prints_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps([sample()]))
    assert locomo.main([str(file)]) == 0
    assert "all with an answer" in capsys.readouterr().out
