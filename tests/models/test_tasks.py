"""Ten simple file and shell tasks with the real 1.5B model: `make test-model` prints how many succeed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.app import App, Wish
from hermes.config import load
from hermes.models.weights import QWEN, fetch
from hermes.protocol.events import ItemDone, TurnEnded, TurnStarted
from hermes.protocol.items import Reply, Text
from hermes.protocol.ops import Say
from tests.models.conftest import CACHE

ENOUGH = 6
"""Of ten; the model is small, and the figure that counts is the one that is printed."""

Check = Callable[[Path, str], bool]


def holds(name: str, words: str) -> Check:
    """A file holds exactly these words."""
    return lambda folder, answer: (folder / name).is_file() and (folder / name).read_text().strip() == words


def says(*words: str) -> Check:
    """The answer has each of these words."""
    return lambda folder, answer: all(word.lower() in answer.lower() for word in words)


TASKS: tuple[tuple[str, Check], ...] = (
    ("Which files are in this folder?", says("recipe.txt", "names.csv", "notes.md")),
    ("What is the second ingredient in recipe.txt?", says("butter")),
    ("How many lines does names.csv have?", says("4")),
    ("Create a file greeting.txt that contains the word: Bonjour", holds("greeting.txt", "Bonjour")),
    ("What does the heading in notes.md say?", says("Garden")),
    ("Run the command: echo 6 | tee six.txt", holds("six.txt", "6")),
    ("Which city does Ada live in, according to names.csv?", says("London")),
    ("Make a folder called archive.", lambda folder, answer: (folder / "archive").is_dir()),
    ("Is there a file called missing.txt here? Answer yes or no.", says("no")),
    ("Use the terminal to find out how many bytes recipe.txt has.", says("40")),
)


def furnish(folder: Path) -> None:
    folder.mkdir()
    (folder / "recipe.txt").write_text("1. flour\n2. butter\n3. sugar\n4. some salt")
    (folder / "names.csv").write_text("name,city\nAda,London\nKurt,Brno\nEmmy,Erlangen\n")
    (folder / "notes.md").write_text("# Garden\n\nWater the beans.\n")


async def ask(app: App, folder: Path, question: str) -> tuple[str, TurnEnded]:
    session = await app.open(Wish(model="local", cwd=str(folder), can_ask=False, yolo=True))
    op = Say(parts=(Text(question),))
    await session.send(op)
    ours, answer = False, ""
    async for event in session.events():
        ours = ours or event.body == TurnStarted(op.id)
        match event.body:
            case ItemDone(item=Reply(text=text)) if ours:
                answer = text
            case TurnEnded() as ended if ours:
                await session.close()
                return answer, ended
            case _:
                pass
    raise AssertionError("the session ended before its turn")


@pytest.mark.model
async def test_most_of_ten_simple_tasks_succeed(tmp_path: Path):
    path = await fetch(CACHE / "models", lambda done, total, note: None, env=os.environ, weights=QWEN)
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text(f"local: {{path: {path}}}\nagent: {{max_seconds_per_turn: 600}}\n")
    succeeded = 0
    async with App(load({**os.environ, "HERMES_HOME": str(home)})) as app:
        for number, (question, check) in enumerate(TASKS, 1):
            folder = tmp_path / f"task{number}"
            furnish(folder)
            answer, ended = await ask(app, folder, question)
            good = ended.reason == "done" and check(folder, answer)
            succeeded += good
            print(
                f"{number:>2} {'ok  ' if good else 'FAIL'} {question}  ->  {' '.join(answer.split())[:100]}", flush=True
            )
    print(f"{succeeded} of {len(TASKS)} tasks succeeded")
    assert succeeded >= ENOUGH
