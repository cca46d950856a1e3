"""/debug: what a bug report needs, and nothing that strangers should not see."""

import hermes
from tests.agent.stage import ScriptedModel
from tests.commands.surface import person


async def test_debug_tells_the_program_the_session_and_the_last_errors_without_secrets_or_names(tmp_path):
    logs = tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    (tmp_path / "home" / ".env").write_text("OPENAI_API_KEY=sk-proj-abcdefghijklmnop1234567890\n")
    old = "".join(f"line {n}\n" for n in range(5_000))
    (logs / "errors.log").write_text(f"{old}no answer with key sk-proj-abcdefghijklmnop1234567890 in {tmp_path}/work\n")
    async with person(tmp_path, ScriptedModel()) as me:
        reply = await me.reply("/debug")
        assert f"hermes: {hermes.__version__}\n" in reply
        assert f"session: {me.session.id} from cli, turn 0, idle, event " in reply
        assert "model: scripted, scripted, window 100,000, effort as usual" in reply
        assert "folder: ~/work" in reply and "line 4999" in reply and "line 4000" not in reply
        assert "abcdefghijklmnop" not in reply and str(tmp_path) not in reply
        assert reply.endswith("`hermes debug share` writes this and the logs to one file, to look into and to attach.")


async def test_debug_without_errors_says_so(tmp_path):
    async with person(tmp_path, ScriptedModel()) as me:
        assert "last errors: none" in await me.reply("/deb")
