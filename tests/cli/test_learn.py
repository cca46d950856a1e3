"""`hermes learn report`: what was learned, for people, for programs and as a picture."""

import re
import time
from pathlib import Path

import msgspec

from hermes.learning.report import Report
from hermes.protocol.events import ItemDone, Usage
from hermes.protocol.items import UserMessage
from tests.agent.stage import ScriptedModel, answer, play
from tests.cli.command import Hermes
from tests.learning.test_report import learn


async def used(folder: Path) -> Hermes:
    """A home in which something was learned today and yesterday."""
    hermes = Hermes(folder)
    hermes.home.mkdir()
    async with play(hermes.home, ScriptedModel(answer("Good."))) as stage:
        await stage.say("Remember that the port is 80.")
        [said] = [body.item for body in stage.of(ItemDone) if isinstance(body.item, UserMessage)]
        await learn(stage.store, stage.session.id, said.id, time.time())
        review = Usage(0, "small", 50, 10, cost=0.02, purpose="review")
        await stage.store.spend(stage.session.id, review, time.time())
    return hermes


async def test_people_read_what_was_learned_from_which_message_and_what_became_of_it(tmp_path):
    hermes = await used(tmp_path)
    ran = await hermes.beside("learn", "report", "--days", "7")
    assert (ran.code, ran.err) == (0, "")
    parts = {part.partition("\n")[0]: part.splitlines()[1:] for part in ran.out.rstrip("\n").split("\n\n")}
    assert list(parts) == [
        "Learned in the last 7 days",
        "Things learned a day",
        "Remembered",
        "Skills that Hermes wrote",
        "Tokens saved, by skill",
        "Retired",
        "Tokens by purpose",
    ]
    new, _, old, message = parts["Remembered"]
    assert new.endswith(" #2 The port is 81. (file, helped 1)")
    assert old.endswith(" #1 The port is 80. (agent, retired)")
    assert re.fullmatch(r' +from \S+ "Remember that the port is 80\."', message)
    skill, _ = parts["Skills that Hermes wrote"]
    assert "mend (trial)" in skill and "1 of 1 trials better, steps 6 → 2" in skill
    assert re.search(r"memory: The port is 80\. \(by file\)$", parts["Retired"][0])
    assert parts["Learned in the last 7 days"][3].startswith("saved       600 tokens")
    assert re.fullmatch(r"reviews     \d+\.\d% of the tokens, 1 calls, \$0\.02", parts["Learned in the last 7 days"][5])


async def test_programs_get_json_and_a_picture_is_drawn_beside_it(tmp_path):
    hermes = await used(tmp_path)
    picture = tmp_path / "learned.png"
    ran = await hermes.beside("learn", "report", "--json", "--png", str(picture))
    report = msgspec.json.decode(ran.out, type=Report)
    assert (len(report.days), len(report.lessons), report.saved) == (30, 2, 600)
    assert picture.read_bytes().startswith(b"\x89PNG")


async def test_in_a_fresh_home_it_says_that_nothing_was_learned(tmp_path):
    ran = await Hermes(tmp_path).beside("learn")
    assert ran == await Hermes(tmp_path).beside("learn", "report")
    assert ran.code == 0 and ran.out.startswith("Learned in the last 30 days\nremembered  0\n")


async def test_what_cannot_be_done_is_told_in_one_line(tmp_path):
    hermes = Hermes(tmp_path)
    for words in (["--days", "0"], ["--png", str(tmp_path / "none" / "x.png")]):
        ran = await hermes.beside("learn", "report", *words)
        assert ran.code != 0 and len(ran.err.splitlines()) <= 2 and "Traceback" not in ran.err
