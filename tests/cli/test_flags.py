"""Flags of a conversation: what it is told, where it works, which settings and rules count, what is kept of it."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.cli.command import Hermes, Ran
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Reply, call


def point_at(hermes: Hermes, server: ModelServer) -> None:
    hermes.write_config(
        f"model: {{provider: custom, name: scripted, base_url: {server.base_url}}}\nterminal: {{sandbox: 'off'}}\n"
    )


async def ask(hermes: Hermes, *args: str) -> Ran:
    return await asyncio.to_thread(hermes.process, *args)


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """The folder that the command starts in, as a repository with one commit."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / ".gitignore").write_text("/home/\n.env\nsecret/\n")
    (tmp_path / ".worktreeinclude").write_text(".env\n")
    (tmp_path / "a.txt").write_text("a\n")
    git(tmp_path, "add", ".gitignore", "a.txt")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / ".env").write_text("X=1\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "no.txt").write_text("no")
    yield tmp_path


async def test_the_usage_of_one_question_is_written_as_json(hermes: Hermes, tmp_path: Path) -> None:
    async with ModelServer([Reply("one"), Reply("two")]) as server:
        point_at(hermes, server)
        used = tmp_path / "usage.json"
        assert (await ask(hermes, "-z", "first", "--usage-file", str(used))).code == 0
        first = json.loads(used.read_text())
        assert (await ask(hermes, "-c", "-z", "second", "--usage-file", str(used))).code == 0
        second = json.loads(used.read_text())
    assert first == {
        "session": first["session"],
        "models": first["models"],
        "turns": 1,
        "steps": 1,
        "calls": 0,
        "messages": 2,
        "input": 10,
        "output": 5,
        "cache_read": 0,
        "cache_write": 0,
        "reasoning": 0,
        "cost": None,
        "unpriced": 1,
    }
    assert second == first, "only what this question used, in the same session"


async def test_a_usage_file_that_cannot_be_written_is_one_line(hermes: Hermes, tmp_path: Path) -> None:
    async with ModelServer() as server:
        point_at(hermes, server)
        ran = await ask(hermes, "-z", "hello", "--usage-file", str(tmp_path / "no" / "where"))
    assert (ran.code, ran.err.count("\n"), ran.err.startswith("hermes: cannot write ")) == (2, 1, True)


async def test_a_worktree_without_changes_leaves_no_trace(hermes: Hermes, repository: Path) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Reply:
        if len(server.requests) > 1:
            return Reply("done")
        return call("terminal", command="pwd; cat .env; ls secret || true")

    async with ModelServer(answer) as server:
        point_at(hermes, server)
        ran = await ask(hermes, "-w", "-z", "look")
        seen.append(json.dumps(server.last.body))
    assert (ran.code, ran.out) == (0, "done\n"), ran.err
    assert "/.worktrees/hermes-" in seen[0] and "X=1" in seen[0] and "no.txt" not in seen[0]
    assert not list((repository / ".worktrees").iterdir())
    assert git(repository, "branch", "--format=%(refname:short)") == "main\n"
    assert ".worktrees" not in git(repository, "status", "--porcelain")


async def test_a_worktree_with_changes_is_kept_and_named(hermes: Hermes, repository: Path) -> None:
    async with ModelServer([call("write_file", path="b.txt", content="b"), Reply("done")]) as server:
        point_at(hermes, server)
        ran = await ask(hermes, "-w", "-z", "write")
    [kept] = (repository / ".worktrees").iterdir()
    assert ((kept / "b.txt").read_text(), (repository / "b.txt").exists()) == ("b", False)
    assert f"what was done is kept in {kept}, on the branch {kept.name}" in ran.err


async def test_a_worktree_needs_a_repository(hermes: Hermes) -> None:
    ran = await ask(hermes, "-w", "-z", "hello")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("hermes: -w needs a git repository with a commit: ")


async def test_the_model_is_told_the_sessions_id_only_if_asked(hermes: Hermes, tmp_path: Path) -> None:
    async with ModelServer() as server:
        point_at(hermes, server)
        await ask(hermes, "-z", "one")
        await ask(hermes, "-z", "two", "--pass-session-id")
        plain, told = (json.dumps(request.body) for request in server.requests)
    latest = (await hermes.beside("sessions", "list", "--limit", "1")).out.split("\t")[0]
    assert f"The id of this session is {latest}." in told and "The id of this session" not in plain


async def test_a_session_is_resumed_in_its_folder_unless_it_shall_stay_here(hermes: Hermes, tmp_path: Path) -> None:
    looks = [call("terminal", command="echo in $PWD."), Reply("done")]
    async with ModelServer(looks * 3) as server:
        point_at(hermes, server)
        (tmp_path / "there").mkdir()
        hermes.environ["HOME"] = str(tmp_path / "there")
        await ask(hermes, "-z", "one")
        hermes.environ["HOME"] = str(tmp_path)
        await ask(hermes, "-c", "-z", "two")
        await ask(hermes, "-c", "-z", "three", "--no-restore-cwd")
        told = [json.dumps(request.body["messages"][-1]) for request in server.requests[1::2]]
    assert [f"in {tmp_path / 'there'}." in text for text in told] == [True, True, False]
    assert f"in {tmp_path}." in told[2]


async def test_the_projects_rules_can_be_ignored(hermes: Hermes, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "AGENTS.md").write_text("Speak in rhymes.")
    (tmp_path / "lib" / "AGENTS.md").write_text("Sing it too.")
    (tmp_path / "lib" / "a.txt").write_text("a")
    async with ModelServer([call("read_file", path="lib/a.txt"), Reply("done")] * 2) as server:
        point_at(hermes, server)
        await ask(hermes, "-z", "one")
        await ask(hermes, "-z", "two", "--ignore-rules")
        sent = [json.dumps(request.body) for request in server.requests[1::2]]
    assert [[rule in text for rule in ("Speak in rhymes.", "Sing it too.", "1|a")] for text in sent] == [
        [True, True, True],
        [False, False, True],
    ]


async def test_the_settings_can_be_ignored_for_once(hermes: Hermes) -> None:
    async with ModelServer() as server:
        hermes.write_config("model: openai:gpt-6\nagent: {max_turns: none of these}\n")
        flags = ("-m", "custom:scripted", "--base-url", server.base_url)
        assert (await ask(hermes, *flags, "-z", "hello")).code == 2
        assert await ask(hermes, *flags, "-z", "hello", "--ignore-user-config") == Ran(0, "hello\n")


async def test_requests_and_answers_are_kept_for_a_bug_report(hermes: Hermes, tmp_path: Path) -> None:
    async with ModelServer() as server:
        point_at(hermes, server)
        assert (await ask(hermes, "-z", "hello", "--dump-requests", str(tmp_path / "kept"))).out == "hello\n"
        body = server.last.body
    request, response = sorted((tmp_path / "kept").iterdir())
    assert json.loads(request.read_text()) == body
    assert response.read_text().startswith("HTTP 200\n") and response.read_text().rstrip().endswith("data: [DONE]")


async def test_a_session_says_where_it_comes_from(hermes: Hermes) -> None:
    async with ModelServer() as server:
        point_at(hermes, server)
        await ask(hermes, "-z", "by hand")
        await ask(hermes, "-z", "by a timer", "--source", "timer")
    rows = (await hermes.beside("sessions", "list", "--source", "timer", "--json")).out.splitlines()
    assert [(row["title"], row["source"]) for row in map(json.loads, rows)] == [("by a timer", "timer")]


async def test_the_date_is_that_of_the_persons_time_zone(hermes: Hermes) -> None:
    async with ModelServer() as server:
        point_at(hermes, server)
        hermes.write_config(hermes.config.read_text() + "timezone: Asia/Tokyo\n")
        await ask(hermes, "-z", "hello")
        system = server.last.body["messages"][0]["content"]
    assert system.endswith(f"Today is {datetime.now(ZoneInfo('Asia/Tokyo')):%A, %Y-%m-%d} (JST).")
