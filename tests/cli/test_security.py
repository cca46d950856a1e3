"""`hermes security audit`: what should be changed is said, and nothing is changed."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.mcp.chaos.server import ChaosServer
from hermes.safety.contracts import Contracts
from tests.cli.command import Hermes, Ran
from tests.learning.skills.corpus import lay_out

SKILL = "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nUse pdftotext.\n"


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    made = Hermes(tmp_path)
    made.home.mkdir(mode=0o700)
    return made


@pytest.fixture
async def chaos() -> AsyncIterator[ChaosServer]:
    async with ChaosServer() as server:
        yield server


def found(ran: Ran, state: str) -> dict[str, str]:
    """The texts of a state by what was checked; the last of each."""
    return {row["check"]: row["text"] for row in json.loads(ran.out) if row["state"] == state}


def audit(hermes: Hermes, **environ: str) -> Ran:
    return hermes("security", "audit", "--offline", "--json", **environ)


def test_a_fresh_home_has_nothing_to_change(hermes: Hermes) -> None:
    ran = hermes("security", "audit")
    assert (ran.code, ran.err) == (0, "")
    assert f"ok     home         only you can look into {hermes.home}\n" in ran.out
    assert "fail" not in ran.out and hermes("security").code == 2


def test_who_can_read_what_is_looked_at(hermes: Hermes) -> None:
    (hermes.home / ".env").write_text("A=b\n")
    (hermes.home / ".env").chmod(0o644)
    assert audit(hermes).code == 0  # nobody comes past the folder
    (hermes.home / ".env").chmod(0o622)
    assert found(audit(hermes), "fail") == {"home": f"others may write {hermes.home / '.env'}"}
    (hermes.home / ".env").chmod(0o640)
    hermes.home.chmod(0o755)
    ran = hermes("security", "audit", "--offline")
    assert ran.code == 1
    assert f"fail   home         others can look into {hermes.home} (chmod 700 {hermes.home})\n" in ran.out
    assert f"fail   home         others may read {hermes.home / '.env'} (chmod 600 {hermes.home / '.env'})\n" in ran.out
    assert ran.out.endswith("2 things to change, 0 to look at\n")
    assert hermes.home.stat().st_mode & 0o777 == 0o755


def test_secrets_in_settings_and_in_services_are_found(hermes: Hermes, tmp_path: Path) -> None:
    hermes.write_config("custom_providers:\n  mine: {base_url: 'https://x/v1', api_key: sk-12345678901234567}\n")
    unit = tmp_path / ".config/systemd/user/hermes-gateway.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nEnvironment=TELEGRAM_BOT_TOKEN=123:abc\nEnvironment=A_KEY=${A_KEY}\n")
    ran = audit(hermes)
    assert (ran.code, found(ran, "fail")) == (
        1,
        {
            "secrets": f"{hermes.config}: custom_providers.mine.api_key looks like a secret",
            "services": f"{unit} holds TELEGRAM_BOT_TOKEN",
        },
    )
    assert "sk-1234" not in ran.out


def test_switches_that_take_care_away_are_found(hermes: Hermes, tmp_path: Path) -> None:
    hermes.write_config(
        "approvals: {mode: 'off'}\n"
        "security: {redact_secrets: false, allow_private_urls: true}\n"
        f"terminal: {{sandbox: 'off', sandbox_paths: ['{tmp_path}'], env_passthrough: [A_TOKEN], docker_volumes: ['/:/host']}}\n"
        "checkpoints: {enabled: false}\n"
        "model: {provider: custom, name: m, base_url: 'http://example.com/v1'}\n"
    )
    ran = audit(hermes)
    assert found(ran, "fail") == {
        "approvals": "they are off: nothing is asked",
        "redaction": "keys are not masked in what the model sees and logs keep",
        "connections": "model: http://example.com/v1 is not encrypted, on its way through the network",
        "sandbox": f"{tmp_path} is open to every command, with all that is in it",
        "container": "/:/host gives commands the whole machine",
    }
    assert found(ran, "warn") == {
        "network": "pages may be fetched from your own network",
        "checkpoints": "changes of files cannot be undone",
        "sandbox": "every command is handed A_TOKEN",
    }
    hermes.write_config("")
    assert found(audit(hermes, HERMES_YOLO_MODE="1"), "fail") == {
        "approvals": "HERMES_YOLO_MODE is set: nothing is asked"
    }


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("git status", ""),
        ("git commit ...", ""),
        ("python3 build.py", "does whatever the file that it runs says"),
        ("./deploy.sh", "does whatever the file that it runs says"),
        ("/bin/rm -rf build", "whatever it removes, changes or sends"),
        ("bash -c x", "allows nothing"),
        ("'unclosed", "allows nothing"),
    ],
)
def test_entries_of_the_allow_list_that_say_too_little_are_named(hermes: Hermes, entry: str, why: str) -> None:
    hermes.write_config(f"command_allowlist:\n- {json.dumps(entry)}\n")
    ran = audit(hermes)
    told = found(ran, "warn").get("allow list", "")
    assert (ran.code, bool(told)) == (0, bool(why))
    assert why in told


async def test_a_server_that_changed_its_tune_is_named(hermes: Hermes, chaos: ChaosServer) -> None:
    hermes.write_config(
        f"mcp_servers: {{chaos: {{url: '{chaos.url}', approval: allow}}, plain: {{url: 'http://a.example/'}}}}\n"
    )
    ran = await hermes.beside("security", "audit", "--json")
    assert found(ran, "ok")["mcp"] == "no tool of a server was used yet"
    assert found(ran, "warn") == {"mcp": "the tools of chaos never ask"}
    assert found(ran, "fail") == {"mcp": "plain: http://a.example/ is not encrypted, on its way through the network"}
    contracts = Contracts(hermes.home / "mcp-contracts.json")
    contracts.approve("chaos", "echo", "what it said then")
    before = (hermes.home / "mcp-contracts.json").read_bytes()
    ran = await hermes.beside("security", "audit", "--json")
    assert found(ran, "fail")["mcp"] == "chaos describes echo otherwise than when you approved it"
    assert (hermes.home / "mcp-contracts.json").read_bytes() == before


def test_a_skill_that_was_changed_is_named(hermes: Hermes, tmp_path: Path) -> None:
    source = lay_out(tmp_path / "pdf", {"SKILL.md": SKILL})
    assert hermes("skills", "install", str(source)).code == 0
    assert found(audit(hermes), "ok")["skills"] == "1 installed skill as it was scanned"
    (hermes.home / "skills/pdf/SKILL.md").write_text(SKILL + "More.\n")
    ran = audit(hermes)
    assert (ran.code, found(ran, "fail")) == (1, {"skills": "pdf was changed since it was installed, so it is off"})
