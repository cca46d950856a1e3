"""A conversation as Markdown."""

from hermes.commands.transcript import Turn, as_markdown, fenced, recap
from hermes.protocol.events import TurnEnded
from hermes.protocol.items import Plan, PlanEntry, Reply, Text, Thought, ToolCall, UserMessage
from hermes.protocol.store import SessionRow

ITEMS = (
    UserMessage(id="1", turn=1, step=0, index=0, parts=(Text("Which files?"),)),
    Thought(id="2", turn=1, step=1, index=0, text="I look.\nCarefully."),
    ToolCall(
        id="3", turn=1, step=1, index=1, call_id="c", name="terminal", args="{}", title="ls", status="failed",
        result=(Text("```\nno such"),),
    ),
    Plan(id="4", turn=1, step=1, index=2, entries=(PlanEntry("a", "look", "completed"), PlanEntry("b", "tell", "pending"))),
    Reply(id="5", turn=1, step=2, index=0, text="None."),
    UserMessage(id="6", turn=2, step=2, index=1, parts=(Text("It ended."),), origin="process"),
    Reply(id="7", turn=2, step=3, index=0, text="Fine."),
)  # fmt: skip
TURNS = [Turn([*ITEMS[:5]], TurnEnded("done")), Turn([*ITEMS[5:]], TurnEnded("failed", error="no network"))]


def test_everything_that_people_saw_is_in_the_document():
    row = SessionRow(id="s1", source="cli", model="m", cwd="/w", title="Files", started=0.0)
    head, *blocks = as_markdown(row, TURNS).split("\n\n")
    assert head == "# Files"
    assert blocks[1:] == [
        "## You",
        "Which files?",
        "## Hermes",
        "> I look.\n> Carefully.",
        "**terminal: ls; failed**",
        "```json\n{}\n```",
        "````text\n```\nno such\n````",
        "- [x] look\n- [ ] tell",
        "None.",
        "## Process",
        "It ended.",
        "## Hermes",
        "Fine.",
        "*failed: no network*\n",
    ]


def test_a_recap_has_questions_and_last_answers_only():
    assert (
        recap(TURNS, 10) == "**You:** Which files?\n\n**Hermes:** None.\n\n**Process:** It ended.\n\n**Hermes:** Fine."
    )
    assert recap(TURNS, 1) == "**Process:** It ended.\n\n**Hermes:** Fine."


def test_a_recap_says_why_a_question_has_no_answer():
    cut = Turn([ITEMS[0], ITEMS[2]], TurnEnded("failed", error="Hermes was stopped during this turn"))
    assert recap([cut], 1) == "**You:** Which files?\n\n(failed: Hermes was stopped during this turn)"


def test_code_that_is_cut_does_not_swallow_what_follows():
    asked = UserMessage(id="1", turn=1, step=0, index=0, parts=(Text("See:\n```txt\none\ntwo\nthree\nfour\n```"),))
    answer = Reply(id="2", turn=1, step=1, index=0, text="Seen.")
    assert recap([Turn([asked, answer])], 1) == "**You:** See:\none\ntwo…\n\n**Hermes:** Seen."


def test_a_fence_is_longer_than_any_in_the_text():
    assert fenced("a ````` b", "text") == "``````text\na ````` b\n``````"
