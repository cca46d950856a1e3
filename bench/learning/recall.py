"""Facts that were said once, in an old session, and are nowhere else: found by session_search in at most two calls.

Each fact is said in a session of its own among other talk. Later it is asked for in other words. The model searches with the
words of the question; if the answer is not in what it gets, it reads the session that stands first. Arms: without the tool, with
it, and among as many sessions again that speak of the same projects and do not know.
"""

import random
import re
from collections.abc import AsyncIterator

from bench.learning.stage import Scene
from bench.learning.table import Line, judged
from bench.learning.words import NOUNS, token
from tests.services.gated_model import GatedModel, Task, Walk, results
from tests.services.request import Request
from tests.services.script import Call

SAID_AND_ASKED = (
    ("We moved the nightly backup of {project} to {token} because the old disks were full.", "Where do the backups of {project} go at night?"),
    ("The customer wants {project} to be delivered by way of {token}, not by mail.", "How does the customer want us to deliver {project}?"),
    ("For {project} the linter is {token} from now on, the other one was too slow.", "Which linter did we choose for {project}?"),
    ("Ask {token} when the certificate of {project} expires, nobody else can renew it.", "Who renews the certificate of {project}?"),
    ("The flaky test of {project} went away after we pinned {token}.", "What did we pin to get rid of the flaky test in {project}?"),
    ("The password for the demo of {project} lies in the vault under {token}.", "Under which name is the demo password of {project} in the vault?"),
    ("We agreed that releases of {project} are named after {token}.", "After what are the releases of {project} named?"),
    ("The slow query of {project} was fixed with an index on {token}.", "Which index made the slow query of {project} fast?"),
    ("Invoices of {project} are sent to the office in {token} since spring.", "To which office do the invoices for {project} go?"),
    ("The memory leak in {project} came from the {token} module.", "Which module leaked memory in {project}?"),
)  # fmt: skip
FILLER = (
    "How do I rename a branch in git?",
    "Explain what a semaphore is in two sentences.",
    "Write a regular expression for a date.",
    "What is the difference between a list and a tuple?",
    "Give me a name for a variable that counts retries.",
)
NEAR = (
    "Please draft the agenda for the meeting about {project}.",
    "How many people work on {project} at the moment?",
    "The logo of {project} should be a little larger.",
    "Remind the team of {project} to fill in the survey.",
)
_session = re.compile(r"\b\d{8}_\d{6}_[0-9a-f]+\b")


async def measure(quick: bool) -> AsyncIterator[Line]:
    count = 10 if quick else 200
    suite = f"{count} facts that exist only in old sessions"
    for arm, distractors, toolsets in (
        ("off", 0, ("hermes-cli", "-session_search")),
        ("on", 0, ("hermes-cli",)),
        ("on, distractors", count, ("hermes-cli",)),
    ):
        walk = await find(count, distractors, toolsets)
        line = Line(suite=suite, arm=arm, tasks=count, walk=walk)
        share = walk.right / count
        if arm == "off":
            yield line
        else:
            yield judged(line, ">= 90 % in <= 2 calls", f"{share:.1%}, {walk.steps / count:.2f} calls", share >= 0.9)


async def find(count: int, distractors: int, toolsets: tuple[str, ...]) -> Walk:
    chance = random.Random(6)
    # Five facts about each project: its name alone does not find the right one.
    pairs = [(project, pattern) for project in NOUNS for pattern in chance.sample(SAID_AND_ASKED, 5)]
    chance.shuffle(pairs)
    model = GatedModel()
    questions: list[str] = []
    async with Scene(model) as scene:
        for n, (project, (said, asked)) in enumerate(pairs[:count]):
            hidden = token(chance)
            question = asked.format(project=project)
            model.add(Task(ask=question, token=hidden, path=(_search(question), _read)))
            questions.append(question)
            await scene.ask(chance.choice(FILLER), said.format(project=project, token=hidden), chance.choice(FILLER))
            if n < distractors:
                await scene.ask(*(each.format(project=project) for each in chance.sample(NEAR, 2)))
        total = Walk()
        for question in questions:
            total += await scene.ask(question, toolsets=toolsets)
    return total


def _search(question: str):
    def step(request: Request) -> Call | None:
        return Call("session_search", {"query": question}) if "session_search" in request.tool_names else None

    return step


def _read(request: Request) -> Call | None:
    """The session that stands first in what the search gave."""
    found = results(request)
    first = _session.search(found[0]) if found else None
    return Call("session_search", {"session_id": first[0]}) if first else None
