"""A server's tool that changes what it says of itself is asked about again."""

from pathlib import Path

import pytest

from hermes.protocol.actions import CallServer, Origin, Verdict
from hermes.safety.contracts import Contracts
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import Places

ORIGIN = Origin(surface="cli", session="s")
FIRST = CallServer("notes", "add", "{}", read_only=True, contract="aaa")
CHANGED = CallServer("notes", "add", "{}", read_only=True, contract="bbb")


def make_gate(folder: Path, **policy: object) -> Gate:
    places = Places(home=str(folder), user_home=str(folder))
    return Gate(
        Policy(places=places, **policy),  # type: ignore[arg-type]
        always=lambda grant: None,
        contracts=Contracts(folder / "contracts.json"),
    )


def test_a_tool_is_known_from_its_first_use_and_asked_about_when_it_changes(tmp_path: Path):
    gate = make_gate(tmp_path)
    assert gate.judge(FIRST, ORIGIN) == Verdict("allow", "server-reads")
    verdict = gate.judge(CHANGED, ORIGIN)
    assert (verdict.decision, verdict.rule) == ("ask", "server-changed")
    assert gate.choices(CHANGED, ORIGIN) == ("once", "always", "deny")


def test_another_process_knows_it_too(tmp_path: Path):
    make_gate(tmp_path).judge(FIRST, ORIGIN)
    assert make_gate(tmp_path).judge(CHANGED, ORIGIN).rule == "server-changed"


@pytest.mark.parametrize(("choice", "rule"), [("once", "server-changed"), ("always", "server-reads")])
def test_the_change_is_good_for_one_call_or_for_good(tmp_path: Path, choice: str, rule: str):
    gate = make_gate(tmp_path)
    gate.judge(FIRST, ORIGIN)
    gate.remember(CHANGED, ORIGIN, choice)
    assert gate.judge(CHANGED, ORIGIN).rule == rule


def test_a_server_that_the_settings_trust_may_change(tmp_path: Path):
    gate = make_gate(tmp_path, servers={"notes": "allow"})
    gate.judge(FIRST, ORIGIN)
    assert gate.judge(CHANGED, ORIGIN) == Verdict("allow", "server-allowed")


def test_a_forgotten_server_begins_anew_and_others_are_kept(tmp_path: Path):
    contracts = Contracts(tmp_path / "contracts.json")
    contracts.approve("notes", "add", "aaa")
    contracts.approve("other", "get", "ccc")
    contracts.forget("notes")
    again = Contracts(tmp_path / "contracts.json")
    assert not again.is_changed("notes", "add", "bbb")
    assert again.is_changed("other", "get", "ddd")


def test_a_damaged_file_vouches_for_nobody_and_is_mended_by_the_next_use(tmp_path: Path):
    path = tmp_path / "contracts.json"
    path.write_text("{broken")
    assert not Contracts(path).is_changed("notes", "add", "aaa")
    assert Contracts(path).is_changed("notes", "add", "bbb")
