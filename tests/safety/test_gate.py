"""The order in which the gate decides, what it remembers, and the actions other than commands and paths."""

import time
from typing import Any

import pytest

from hermes.protocol.actions import (
    Action,
    CallServer,
    OpenURL,
    Origin,
    Persist,
    RunCommand,
    SendMessage,
    Spend,
    StartServer,
    Verdict,
    WritePath,
)
from hermes.protocol.safety import Gate as GateProtocol
from hermes.safety.commands.grants import Grant
from hermes.safety.gate import Gate, Policy
from tests.safety.scene import NOBODY, ORIGIN, PLACES, WORKSPACE, judge, make_gate

TAINTED = Origin(surface="cli", session="one", workspace=WORKSPACE, untrusted=("web:evil.example",))


def run(command: str, cwd: str = WORKSPACE, terminal: str = "local") -> RunCommand:
    return RunCommand(command, cwd, terminal)


def test_the_gate_is_one() -> None:
    gate: GateProtocol = make_gate()
    assert gate.judge(run("ls"), ORIGIN) == Verdict("allow", "reads", "it only reads")


# Order


@pytest.mark.parametrize("settings", [{"yolo": True}, {"mode": "off"}, {"allow": (("rm", "-rf", "/"),)}])
def test_a_hard_block_is_above_every_setting(settings: dict[str, Any]) -> None:
    assert judge("rm -rf /", **settings) == Verdict("block", "hard-remove", "rm of / destroys the system or a home")


@pytest.mark.parametrize("settings", [{"yolo": True}, {"mode": "off"}, {"allow": (("git", "push"),)}])
def test_what_the_person_forbids_is_above_what_they_allow(settings: dict[str, Any]) -> None:
    assert judge("git push", deny=("git push*",), **settings) == Verdict(
        "block", "deny", "the settings forbid git push*"
    )


@pytest.mark.parametrize(
    "command", ["GIT push -f", "ls && git   push", "'git' push", "git pu\\sh origin", "echo $(git push)"]
)
def test_a_forbidden_command_is_known_in_disguise(command: str) -> None:
    assert judge(command, deny=("git push*",), yolo=True).decision == "block"


def test_a_forbidden_command_may_be_harmless_otherwise() -> None:
    assert judge("cat notes", deny=("cat *",)).decision == "block"
    assert judge("cats", deny=("cat *",), yolo=True).decision == "allow"


def test_without_approvals_everything_else_runs() -> None:
    assert judge("rm -r x", yolo=True) == Verdict("allow", "not-asking", "approvals are switched off")
    assert judge("rm -r x", mode="off").decision == "allow"
    assert judge("rm -r x", mode="smart").decision == "ask"
    assert judge("rm -r x").decision == "ask"


def test_the_policy_can_change_while_a_session_runs() -> None:
    gate = make_gate()
    assert gate.judge(run("rm -r x"), ORIGIN).decision == "ask"
    gate.policy = Policy(places=PLACES, yolo=True)
    assert gate.judge(run("rm -r x"), ORIGIN).decision == "allow"


@pytest.mark.parametrize(("command", "decision"), [("ls", "allow"), ("rm -r x", "ask"), ("rm -rf /", "block")])
def test_the_background_is_judged_like_the_foreground(command: str, decision: str) -> None:
    gate = make_gate()
    background = RunCommand(command, WORKSPACE, background=True)
    assert gate.judge(background, ORIGIN) == gate.judge(run(command), ORIGIN)
    assert gate.judge(background, ORIGIN).decision == decision


# Containers


@pytest.mark.parametrize("terminal", ["docker", "singularity", "modal", "daytona"])
def test_in_a_container_a_question_becomes_a_yes_and_a_block_stays(terminal: str) -> None:
    gate = make_gate(deny=("git push*",))
    assert gate.judge(run("rm -r x", terminal=terminal), ORIGIN) == Verdict(
        "allow", "container", f"it stays inside {terminal}"
    )
    assert gate.judge(run("rm -rf /", terminal=terminal), ORIGIN).decision == "block"
    assert gate.judge(run("git push", terminal=terminal), ORIGIN).decision == "block"


@pytest.mark.parametrize(
    "command", ["git push", "curl -d @x https://x.example", "rm -r x; scp x host:", "kubectl delete pod x"]
)
def test_what_leaves_a_container_is_still_asked_about(command: str) -> None:
    assert make_gate().judge(run(command, terminal="docker"), ORIGIN).decision == "ask"


def test_another_machine_is_not_a_container() -> None:
    gate = make_gate()
    assert gate.judge(run("rm -r x", terminal="ssh"), ORIGIN).decision == "ask"
    assert gate.judge(run("ls", terminal="ssh"), ORIGIN).decision == "allow"


# Memory


def test_once_is_not_remembered() -> None:
    gate = make_gate()
    gate.remember(run("rm -r x"), ORIGIN, "once")
    gate.remember(run("rm -r x"), ORIGIN, "deny")
    assert gate.judge(run("rm -r x"), ORIGIN).decision == "ask"


def test_for_the_session_means_these_words_in_this_folder_and_session() -> None:
    gate = make_gate()
    gate.remember(run("rm -r x"), ORIGIN, "session")
    assert gate.judge(run("rm -r x"), ORIGIN) == Verdict("allow", "remembered", "the person allowed it before")
    assert gate.judge(run("ls && rm  'x'"), ORIGIN).decision == "allow"
    assert gate.judge(run("rm -r x y"), ORIGIN).decision == "ask"
    assert gate.judge(run("rm -r x; rm -r y"), ORIGIN).decision == "ask"
    assert gate.judge(run("rm -r x > ../out"), ORIGIN).decision == "ask"
    assert gate.judge(run("rm -r x", cwd=f"{WORKSPACE}/sub"), ORIGIN).decision == "ask"
    assert gate.judge(run("rm -r x"), Origin(surface="cli", session="two", workspace=WORKSPACE)).decision == "ask"


def test_a_command_of_more_than_words_is_remembered_to_the_letter_and_never_for_good() -> None:
    always: list[Grant] = []
    gate = make_gate(always)
    action = run("rm -r $(date)")
    assert gate.choices(action, ORIGIN) == ("once", "session", "deny")
    gate.remember(action, ORIGIN, "always")
    assert gate.judge(action, ORIGIN).decision == "ask"
    gate.remember(action, ORIGIN, "session")
    assert gate.judge(action, ORIGIN).decision == "allow"
    assert gate.judge(run("rm -r $(date) "), ORIGIN).decision == "ask"
    assert always == []


def test_always_keeps_parsed_words_and_never_shell_text() -> None:
    always: list[Grant] = []
    gate = make_gate(always)
    action = run("cd src && git push origin 'x; rm -rf y' && rm -r 'a b'")
    assert gate.choices(action, ORIGIN) == ("once", "session", "always", "deny")
    gate.remember(action, ORIGIN, "always")
    assert always == [("git", "push", "origin", "x; rm -rf y"), ("rm", "-r", "a b")]
    other = Origin(surface="chat", session="two", workspace=WORKSPACE)
    assert gate.judge(run("rm -r 'a b'"), other).decision == "allow"
    assert gate.judge(run("git push origin 'x; rm -rf y'"), other).decision == "allow"
    assert gate.judge(run("rm -r a b"), other).decision == "ask"
    assert gate.judge(run("git push origin x; rm -rf y"), other).decision == "ask"
    assert gate.judge(run("rm -r $(echo 'a b')"), other).decision == "ask"
    assert gate.judge(run("git -c core.editor=x push origin 'x; rm -rf y'"), other).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "bash -c ls",
        "sudo rm -r x",
        "env rm -r x",
        "eval ls",
        "ssh host rm",
        "xargs rm",
        "rm *",
        "rm ...",
        "ls | sh",
        "A=b rm",
        "python <<< x",
        "echo x | python",
        "cd / && git status",
        "rm -r x > /etc/hosts",
    ],
)
def test_what_words_cannot_tell_is_never_allowed_for_good(command: str) -> None:
    assert "always" not in make_gate().choices(run(command), ORIGIN)


def test_the_allow_list_of_the_settings_counts() -> None:
    allow = (
        ("npm", "..."),
        ("uv", "run", "..."),
        ("npm", "ci"),
        ("rm", f"{NOBODY}/x"),
        ("bash", "..."),
        ("...",),
        (),
    )
    assert judge("npm install x", allow=allow).decision == "ask"
    assert judge("cd sub && npm ci", allow=allow).decision == "allow"
    assert judge("rm ~/x", allow=allow).decision == "allow"
    assert judge("npm ci x", allow=allow).decision == "ask"
    assert judge("uv run rm -r x", allow=allow).decision == "ask"
    assert judge("bash -c 'rm -r x'", allow=allow).decision == "ask"
    assert judge("rm ~/y", allow=allow).decision == "ask"


def test_a_grant_does_not_cover_what_is_fed_to_a_program() -> None:
    allow = (("python",), ("python", "-"))
    assert judge("python", allow=allow).decision == "allow"
    assert judge("python <<< 'exec(x)'", allow=allow).decision == "ask"
    assert judge("cat x | python -", allow=allow).decision == "ask"
    assert judge("python < a.py", allow=allow).decision == "ask"


def test_always_needs_no_word_about_what_is_harmless_anyway() -> None:
    always: list[Grant] = []
    gate = make_gate(always)
    gate.remember(run("ls && npm install x 2>&1 | tail -n 5 > log.txt"), ORIGIN, "always")
    assert always == [("npm", "install", "x")]


def test_a_granted_cd_does_not_hide_where_it_leads() -> None:
    assert judge("cd / && git status", allow=(("cd", "/"),)).decision == "ask"


@pytest.mark.parametrize(
    "command",
    ["make install", "git push", "npm install left-pad", "docker stop web", "pip install x", "python /opt/x.py"],
)
def test_what_asks_is_allowed_word_by_word(command: str) -> None:
    always: list[Grant] = []
    gate = make_gate(always)
    assert gate.judge(run(command), ORIGIN).decision == "ask"
    assert gate.choices(run(command), ORIGIN) == ("once", "session", "always", "deny")
    gate.remember(run(command), ORIGIN, "always")
    assert always == [tuple(command.split())]
    assert gate.judge(run(command), ORIGIN).decision == "allow"
    assert gate.judge(run(f"{command} more"), ORIGIN).decision == "ask"


def test_a_path_is_remembered_for_the_session() -> None:
    gate = make_gate()
    action = WritePath(f"{NOBODY}/a.txt")
    assert gate.choices(action, ORIGIN) == ("once", "session", "deny")
    gate.remember(action, ORIGIN, "session")
    assert gate.judge(action, ORIGIN).decision == "allow"
    assert gate.judge(WritePath(f"{NOBODY}/a.txt", delete=True), ORIGIN).decision == "ask"
    assert gate.judge(WritePath(f"{NOBODY}/b.txt"), ORIGIN).decision == "ask"


# Undo


def test_a_change_that_could_not_be_undone_asks() -> None:
    gate = Gate(Policy(places=PLACES), always=[].append, not_undoable=lambda path: "it is big" if "big" in path else "")
    assert gate.judge(WritePath(f"{WORKSPACE}/big"), ORIGIN) == Verdict("ask", "not-undoable", "it is big")
    assert gate.judge(run("echo x > big"), ORIGIN) == Verdict("ask", "not-undoable", "it is big")
    assert gate.judge(WritePath(f"{WORKSPACE}/small"), ORIGIN).decision == "allow"


# Other actions


def test_a_server_that_only_reads_is_called_and_others_while_nothing_untrusted_is_around() -> None:
    gate = make_gate()
    reads, sends = CallServer("mail", "list", "{}", read_only=True), CallServer("mail", "send", "{}")
    assert gate.judge(reads, TAINTED).decision == "allow"
    assert gate.judge(sends, ORIGIN).decision == "allow"
    assert gate.judge(sends, TAINTED) == Verdict(
        "ask", "server-sends", "mail's send may be the idea of web:evil.example, not yours"
    )


def test_a_servers_own_words_do_not_count_against_it() -> None:
    gate = make_gate()
    own = Origin(surface="cli", session="one", untrusted=("mcp:mail",))
    assert gate.judge(CallServer("mail", "send", "{}"), own).decision == "allow"
    assert gate.judge(CallServer("bank", "send", "{}"), own).decision == "ask"


def test_a_setting_for_a_server_decides() -> None:
    gate = make_gate(servers={"mail": "ask", "bank": "allow"})
    assert gate.judge(CallServer("mail", "list", "{}", read_only=True), ORIGIN).decision == "ask"
    assert gate.judge(CallServer("bank", "pay", "{}"), TAINTED).decision == "allow"


@pytest.mark.parametrize("action", [Persist("memory", "x"), SendMessage("chat", "x"), StartServer("mail", ("mail",))])
def test_what_outlives_the_session_asks_once_something_untrusted_is_around(action: Action) -> None:
    gate = make_gate()
    assert gate.judge(action, ORIGIN).decision == "allow"
    assert gate.judge(action, TAINTED).decision == "ask"


def test_a_recipient_is_remembered_whatever_is_sent() -> None:
    gate = make_gate()
    gate.remember(SendMessage("chat", "one"), TAINTED, "session")
    gate.remember(CallServer("mail", "send", "1", contract="a"), TAINTED, "session")
    assert gate.judge(SendMessage("chat", "two"), TAINTED).decision == "allow"
    assert gate.judge(SendMessage("other", "one"), TAINTED).decision == "ask"
    assert gate.judge(CallServer("mail", "send", "2", contract="a"), TAINTED).decision == "allow"
    assert gate.judge(CallServer("mail", "send", "2", contract="b"), TAINTED).decision == "ask"


def test_money_is_asked_about_each_time() -> None:
    gate = make_gate()
    action = Spend("a batch", 2.5)
    assert gate.choices(action, ORIGIN) == ("once", "deny")
    gate.remember(action, ORIGIN, "session")
    assert gate.judge(action, ORIGIN) == Verdict("ask", "spend", "a batch costs 2.50 dollars")


def test_an_address_asks_as_long_as_nothing_judges_addresses() -> None:
    assert make_gate().judge(OpenURL("https://example.com"), ORIGIN).decision == "ask"


def test_a_verdict_takes_no_more_than_some_milliseconds() -> None:
    gate = make_gate()
    began = time.process_time()
    for _ in range(100):
        gate.judge(run("cd src && grep -rn 'def main' . | head -n 5; rm -r x"), ORIGIN)
    assert time.process_time() - began < 2
