"""`hermes status` and `hermes dump`: what is set, also where something is broken, and never a secret."""

import asyncio
from pathlib import Path

from tests.cli.command import Hermes
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error

SECRET = "sk-or-v1-0123456789abcdef"


def facts(text: str) -> dict[str, str]:
    return {line[:14].strip(): line[15:] for line in text.splitlines()}


def test_status_is_one_screen_and_calls_nobody(hermes: Hermes) -> None:
    hermes.write_config(
        "model: openai:gpt-6\napprovals: {mode: smart}\nmcp_servers: {a: {command: x, enabled: false}}\n"
    )
    ran = hermes("status", OPENAI_API_KEY=SECRET)
    found = facts(ran.out)
    assert (ran.code, ran.err, len(ran.out.splitlines()) < 24) == (0, "", True)
    assert {name: found[name] for name in ("model", "key", "approvals", "mcp servers", "profile", "sessions")} == {
        "model": "openai:gpt-6",
        "key": "OPENAI_API_KEY",
        "approvals": "smart",
        "mcp servers": "a (disabled)",
        "profile": "default",
        "sessions": "none yet",
    }


async def test_status_counts_the_sessions(hermes: Hermes) -> None:
    async with ModelServer() as server:
        hermes.write_config(f"model: {{provider: custom, name: a, base_url: {server.base_url}}}\n")
        await asyncio.to_thread(hermes.process, "-z", "hello")
    told = facts((await hermes.beside("status")).out)["sessions"]
    assert (told[:14], told[-16:]) == ("1, the latest ", ", 0 of them open")


def test_status_says_what_is_missing_and_survives_broken_settings(hermes: Hermes) -> None:
    hermes.write_config("model: openai:gpt-6\n")
    assert facts(hermes("status").out)["model"].startswith("there is no key for OpenAI")
    hermes.write_config("model: [unclosed\n")
    ran = hermes("status", "--all")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert facts(ran.out)["model"].startswith("local:")


def test_all_lists_keys_by_name_and_settings_without_secrets(hermes: Hermes) -> None:
    hermes.write_config(f"timezone: UTC\nmcp_servers: {{a: {{url: 'http://x', headers: {{api_key: {SECRET}}}}}}}\n")
    ran = hermes("status", "--all", XAI_API_KEY=SECRET)
    assert facts(ran.out)["xai"] == "XAI_API_KEY" and facts(ran.out)["timezone"] == "UTC"
    assert SECRET not in ran.out


async def test_deep_calls_the_model_and_the_terminal(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes"), error("invalid_key")]) as server:
        hermes.write_config(f"model: {{provider: custom, name: a, base_url: {server.base_url}}}\n")
        good = await hermes.beside("status", "--deep")
        bad = await hermes.beside("status", "--deep")
    assert (good.code, bad.code) == (0, 1)
    assert "model: ok      custom:a answers" in good.out and "terminal: ok   local" in good.out
    assert "model: fail    the key was refused" in bad.out


def test_a_dump_masks_secrets_and_the_name_in_the_home(hermes: Hermes, tmp_path: Path) -> None:
    hermes.write_config(f"custom_providers: {{lab: {{base_url: 'http://u:{SECRET}@x/v1', api_key_env: LAB_KEY}}}}\n")
    (hermes.home / "logs").mkdir()
    (hermes.home / "logs" / "errors.log").write_text(f"2026-01-01T00:00:00+0000 ERROR a [1] sent {SECRET}\n")
    plain = hermes("dump", XAI_API_KEY=SECRET)
    assert (plain.code, plain.err) == (0, "")
    assert SECRET not in plain.out and str(tmp_path) not in plain.out
    assert "XAI_API_KEY: set\n" in plain.out and "ERROR a [1] sent " in plain.out
    assert "XAI_API_KEY: …cdef\n" in hermes("dump", "--show-keys", XAI_API_KEY=SECRET).out


def test_a_dump_of_a_broken_set_up_says_so(hermes: Hermes) -> None:
    hermes.write_config("model: [unclosed\n")
    ran = hermes("dump")
    assert (ran.code, "fail config.yaml: " in ran.out, ran.out.endswith("--- end ---\n")) == (0, True, True)


def test_bad_input_is_code_2(hermes: Hermes) -> None:
    assert [hermes(*args).code for args in (["status", "--what"], ["dump", "x"])] == [2, 2]
