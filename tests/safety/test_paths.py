"""Paths that stay beneath their folder, and those that only look so."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.protocol.actions import Verdict
from hermes.safety.paths import Outside, beneath, judge_path, judge_skill_file

CORPUS = [json.loads(line) for line in (Path(__file__).parent / "corpora" / "paths.jsonl").read_text().splitlines()]


def test_the_corpus_is_judged_without_a_mistake():
    wrong = [row for row in CORPUS if judge_path(row["path"], row["op"], row["root"]).decision != row["expect"]]
    assert wrong == []
    assert len(CORPUS) >= 100


def test_a_link_that_leads_out_is_seen(tmp_path: Path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "out").symlink_to("/etc")
    (root / "up").symlink_to("../..")
    (root / "chain").symlink_to("out")
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    (root / "in").symlink_to("sub")
    (root / "absolute").symlink_to(root / "sub")
    (root / "loop").symlink_to("loop")
    verdicts = {
        path: judge_path(path, "write", str(root)).decision
        for path in ("out/passwd", "up/x", "chain/x", "dangling", "in/x", "absolute/x", "sub/new/x", "out/../x")
    }
    assert verdicts == {
        "out/passwd": "block",
        "up/x": "block",
        "chain/x": "block",
        "dangling": "block",
        "in/x": "allow",
        "absolute/x": "allow",
        "sub/new/x": "allow",
        "out/../x": "block",
    }


def test_a_root_may_be_named_by_its_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for name in ("real", "link"):
        assert judge_path(f"{tmp_path}/{name}/x", "read", f"{tmp_path}/link") == Verdict("allow", "beneath")


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("SKILL.md", "allow"),
        ("references/api.md", "allow"),
        ("templates/a/b.txt", "allow"),
        ("scripts/run.sh", "allow"),
        ("assets/logo.png", "allow"),
        ("scripts", "block"),
        ("other/x", "block"),
        ("run.sh", "block"),
        ("references/../run.sh", "block"),
        ("references/../../x", "block"),
        ("/scripts/x", "block"),
        ("Scripts/x", "block"),
        (".git/hooks/x", "block"),
    ],
)
def test_a_skill_has_its_files_in_four_folders(path: str, decision: str):
    assert judge_skill_file(path).decision == decision


@given(
    st.text(alphabet=st.sampled_from("./\\~a%2eE5cf:\0\uff0e\u2025 CZ"), max_size=40),
    st.sampled_from(["read", "write", "extract"]),
)
def test_no_spelling_raises_and_what_is_allowed_stays_beneath(path: str, op):
    verdict = judge_path(path, op, "/srv/work")
    if verdict.decision == "allow":
        names = beneath(path, "/srv/work", absolute=op != "extract")
        assert not {"..", ".", ""} & set(names)


@given(st.lists(st.sampled_from(["a", "b", ".", ""]), max_size=5), st.integers(1, 4))
def test_more_steps_up_than_down_always_lead_out(names: list[str], more: int):
    deep = sum(name in ("a", "b") for name in names)
    path = "/".join([*names, *[".."] * (deep + more)]).lstrip("/")
    with pytest.raises(Outside):
        beneath(path, "/srv/work", absolute=True)
