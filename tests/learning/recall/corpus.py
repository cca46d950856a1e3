"""Conversations with things in them to be found again, the same for the same seed.

Each fact is told once, in one session among small talk. Its question is asked in plain words, which are mostly those of the
fact, and as a paraphrase, which has the name that the fact is about and one or two other stems of it. Names and many words
of the facts are also in the small talk of many other sessions, so that a name alone finds nothing.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from itertools import count
from zlib import crc32

from msgspec import Struct

from hermes.protocol.events import Changed, Event, ItemDone, TurnStarted
from hermes.protocol.items import Item, Reply, Text, ToolCall, UserMessage
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore

START = 1_760_000_000.0
HOUR = 3_600.0

# What was said; the question in plain words; the question in other words.
FACTS = (
    (
        "{who} moved the nightly backups to a bucket in {city} because the old disk kept filling up",
        "Where did {who} move the nightly backups?",
        "In which place are the saved copies of {who} kept now that the drive was too small?",
    ),
    (
        "the wedding of {who} will be in {city} on the second Saturday of June",
        "When is the wedding of {who}?",
        "On what date in June do {who} and the partner marry?",
    ),
    (
        "{who} is allergic to peanuts, so no satay at the dinner",
        "What is {who} allergic to?",
        "Which food must I avoid cooking for {who} at dinner?",
    ),
    (
        "for {project} we settled on PostgreSQL instead of MongoDB because of the joins",
        "Which database did we settle on for {project}?",
        "Why is {project} not running on MongoDB?",
    ),
    (
        "the staging server of {project} listens on port {number} behind nginx",
        "On which port does the staging server of {project} listen?",
        "What number do I type to reach the test machine of {project} through nginx?",
    ),
    (
        "{who} prefers tabs over spaces and wants lines of a hundred columns",
        "Does {who} prefer tabs or spaces?",
        "How wide may a line be in code for {who}, columns I mean?",
    ),
    (
        "we rotated the signing certificate of {project} after the leak in spring",
        "Why did we rotate the signing certificate of {project}?",
        "When was the certificate for {project} replaced following what leaked?",
    ),
    (
        "{who} adopted a greyhound named Biscuit from the shelter in {city}",
        "What is the name of the greyhound that {who} adopted?",
        "What is the dog of {who} called, the greyhound?",
    ),
    (
        "the flaky test in {project} was a race in the websocket reconnect",
        "What caused the flaky test in {project}?",
        "Which intermittent failure of {project} came from the websocket?",
    ),
    (
        "{who} is training for the marathon in {city} and runs on Tuesday mornings",
        "Which marathon is {who} training for?",
        "On what weekday mornings does {who} go jogging?",
    ),
    (
        "the invoice of {project} was wrong by {number} euros because of a rounding bug",
        "By how much was the invoice of {project} wrong?",
        "What did the rounding mistake cost the customer of {project}?",
    ),
    (
        "{who} keeps the spare key under the blue flowerpot by the garage",
        "Where does {who} keep the spare key?",
        "How do I get into the house of {who} by the garage when nobody is home?",
    ),
    (
        "we cut the build time of {project} from nine minutes to two with a remote cache",
        "How did we cut the build time of {project}?",
        "What made compiling {project} so much faster, some cache somewhere remote?",
    ),
    (
        "{who} got the scholarship and will study marine biology in {city}",
        "What will {who} study with the scholarship?",
        "Which subject did {who} choose at university, something marine?",
    ),
    (
        "the memory leak in {project} came from listeners that were never removed",
        "Where did the memory leak in {project} come from?",
        "Why did {project} eat more and more RAM because of listeners?",
    ),
    (
        "{who} broke an ankle while climbing near {city} and walks with crutches",
        "How did {who} break an ankle?",
        "What accident put {who} on crutches?",
    ),
    (
        "the release of {project} slipped to the last week of October because of the audit",
        "To when did the release of {project} slip?",
        "What delayed shipping {project}, the audit?",
    ),
    (
        "{who} recommended the ramen place behind the station in {city}",
        "Which ramen place did {who} recommend?",
        "Where should I eat noodles according to {who}, near the station?",
    ),
    (
        "in {project} feature flags live in a yaml file that the deploy job reads",
        "Where do the feature flags of {project} live?",
        "How do I switch on an unfinished feature in {project} without code?",
    ),
    (
        "{who} sold the old sailboat and bought a camper van with solar panels",
        "What did {who} buy after selling the sailboat?",
        "Does {who} still own the boat or travel by camper now?",
    ),
    (
        "the search of {project} ignores accents since we added the unaccent extension",
        "Since when does the search of {project} ignore accents?",
        "Which extension makes {project} find cafe and café alike?",
    ),
    (
        "{who} plays the cello in an amateur orchestra every other Thursday",
        "Which instrument does {who} play in the orchestra?",
        "What music does {who} make on Thursdays?",
    ),
    (
        "we pay {number} dollars a month for the hosting of {project} since the move",
        "What do we pay a month for the hosting of {project}?",
        "How expensive is keeping {project} online, in dollars?",
    ),
    (
        "{who} learned Portuguese for the new job with the port authority of {city}",
        "Which language did {who} learn for the new job?",
        "Why does {who} speak Portuguese?",
    ),
)
NAMES = "Amara Bjorn Celeste Dmitri Elena Farouk Greta Hiroshi Ingrid Jamal Katya Leif Mirela Nadia Oskar Priya Quentin Rosalind Stefan Tomasz Ursula Viktor Wanda Xavier Yolanda Zoltan Aoife Benedikt Chiara Dagmar"
PROJECTS = "Bluefinch Copperleaf Driftwood Emberglow Foxglove Graniteworks Hollowpine Ironbark Juniper Kestrel Larkspur Moonstone Nightjar Oakmoss Pinecone Quicksilver Ravenscar Saltmarsh Thornbury Umberline Vinegrove Willowmere Yarrowdale Zephyrine"
CITIES = (
    "Lisbon Tallinn Osaka Valparaiso Ghent Ljubljana Halifax Marseille Cork Bergen Porto Turku Bologna Leipzig Gdansk"
)
CHATTER = (
    "could you look at the {noun} again, I think the {noun} is not what I expected",
    "sure, I checked the {noun} and compared it with the {noun}; both look fine to me",
    "thanks, that helps. let us go on with the {noun} tomorrow",
    "I would first write a small {noun}, then measure, and only then change the {noun}",
    "what do you think about a {noun} for the {noun}?",
    "the {noun} was updated last week and {name} asked about the {noun}",
    "in {thing} there is still a {noun} that nobody has looked at",
    "here is a short list: the {noun}, the {noun}, and something about the {noun}",
    "I am not sure whether {name} has seen the {noun} yet",
    "the weather was nice, we talked about {city} and the {noun}",
    "remind me to ask {name} about the {noun} when the {noun} is done",
    "done. the {noun} now has a {noun}, and the tests of {thing} pass",
)
NOUNS = "report parser dashboard schedule budget outline migration diagram recipe invoice backlog queue server database garden meeting deadline summary spreadsheet presentation workflow pipeline script library module interface catalogue newsletter contract checklist prototype estimate survey inventory ledger archive template calendar proposal draft figure chapter index bucket cache certificate port listener orchestra marathon station shelter key test build release search hosting"
IDENTIFIERS = (
    "parseHttpHeader",
    "resolve_lease_owner",
    "WindowResizeObserver",
    "computeTaxBrackets",
    "flush_write_buffer",
    "renderInvoicePdf",
    "merge_sorted_runs",
    "JsonPatchApplier",
    "reindexCustomerTable",
    "throttle_retry_after",
)
PATHS = (
    "src/billing/tax_rules.py",
    "deploy/helm/values-staging.yaml",
    "docs/runbooks/failover.md",
    "web/components/CartSummary.tsx",
    "/etc/nginx/sites-enabled/shop.conf",
    "tests/contract/test_ledger.py",
    "scripts/rotate_keys.sh",
    "infra/terraform/network.tf",
)
CJK = (
    ("明天我们在上海的茶馆见面", "茶馆"),
    ("新的数据库密码放在保险箱里", "密码"),
    ("会議は金曜日の午後に変更されました", "金曜"),
    ("京都の旅館を予約しました", "旅館"),
    ("사무실 열쇠는 서랍에 있습니다", "열쇠"),
    ("他对花生过敏所以不要放花生酱", "过敏"),
)


class Question(Struct, frozen=True):
    """What is asked, how it is asked, and the session that has the answer."""

    kind: str
    text: str
    session: str


class Talk(Struct, frozen=True):
    """A session: when it began, and who said what, the person and the model in turn; a text with a # is a call's title."""

    name: str
    title: str
    began: float
    lines: tuple[str, ...]


def make(seed: int = 1, sessions: int = 400, length: int = 24) -> tuple[list[Talk], list[Question]]:
    """The conversations and the questions about them."""
    choose = random.Random(seed)
    told: dict[int, list[str]] = {}
    questions: list[Question] = []
    for fact, asked in _facts(choose):
        place = choose.randrange(sessions)
        told.setdefault(place, []).append(fact)
        questions += [Question(kind, text, name_of(place)) for kind, text in asked]
    talks = [_talk(choose, place, told.get(place, []), length) for place in range(sessions)]
    return talks, questions


def name_of(place: int) -> str:
    return f"20260101_{place:06}_{place * 7919 % 0xFFFFFF:06x}"


def _facts(choose: random.Random) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for said, plain, other in FACTS:
        # A name tells a fact of this kind from the others: asked twice about the same, there would be two right answers.
        names = choose.sample((NAMES if "{who}" in said else PROJECTS).split(), 10)
        for name in names:
            slots = {
                "who": name,
                "project": name,
                "city": choose.choice(CITIES.split()),
                "number": choose.randrange(1000, 9999),
            }
            yield said.format(**slots), [("plain", plain.format(**slots)), ("paraphrase", other.format(**slots))]
    for name in IDENTIFIERS:
        yield f"the bug is in {name}, it forgets the last element", [("identifier", f"what was wrong with {name}")]
    for path in PATHS:
        yield f"# read_file {path}", [("path", path), ("path", path.rpartition("/")[2])]
    for said, word in CJK:
        yield said, [("cjk", word)]


def _talk(choose: random.Random, place: int, facts: Sequence[str], length: int) -> Talk:
    lines = [chatter(choose) for _ in range(choose.randrange(length // 2, length * 2))]
    for fact in facts:
        lines.insert(choose.randrange(len(lines) + 1), fact)
    return Talk(name_of(place), lines[0][:40], START + place * 7 * HOUR, tuple(lines))


def chatter(choose: random.Random) -> str:
    text = choose.choice(CHATTER)
    while "{noun}" in text:
        text = text.replace("{noun}", choose.choice(_nouns), 1)
    return text.format(name=choose.choice(_names), thing=choose.choice(_projects), city=choose.choice(_cities))


_nouns, _names, _projects, _cities = NOUNS.split(), NAMES.split(), PROJECTS.split(), CITIES.split()


def events_of(talk: Talk, after: int = 0) -> tuple[Event, ...]:
    """A talk as the log of a session would have it."""
    seqs = count(after + 1)
    events: list[Event] = []
    turn = after
    for number, line in enumerate(talk.lines):
        if number % 2 == 0:
            turn += 1
            events.append(
                Event(session=talk.name, seq=next(seqs), turn=turn, at=talk.began + number, body=TurnStarted("o"))
            )
        body = ItemDone(_item(line, turn, number, f"{number:04x}{crc32(line.encode()):08x}"))
        events.append(Event(session=talk.name, seq=next(seqs), turn=turn, at=talk.began + number, body=body))
    if talk.title and not after:
        title = f"{talk.title} {talk.name}"
        events.append(Event(session=talk.name, seq=next(seqs), at=talk.began, body=Changed("title", title=title)))
    return tuple(events)


def _item(line: str, turn: int, number: int, name: str) -> Item:
    if line.startswith("# "):
        tool, _, title = line[2:].partition(" ")
        result = (Text(f"first line of {title}\nand so on"),)
        return ToolCall(
            id=name,
            turn=turn,
            step=turn,
            index=number,
            call_id=name,
            name=tool,
            args="{}",
            title=title,
            status="done",
            result=result,
            trust="workspace",
            source=f"tool:{tool}",
        )
    if number % 2 == 0:
        return UserMessage(id=name, turn=turn, step=turn, index=number, parts=(Text(line),))
    return Reply(id=name, turn=turn, step=turn, index=number, text=line)


async def store_talks(store: SqliteStore, talks: Sequence[Talk], source: str = "cli") -> None:
    """Put talks into a store, many in one commit."""
    for start in range(0, len(talks), 64):
        await asyncio.gather(*(_store(store, talk, source) for talk in talks[start : start + 64]))


async def _store(store: SqliteStore, talk: Talk, source: str) -> None:
    me = this_process()
    row = SessionRow(id=talk.name, source=source, model="m", cwd="/", started=talk.began)
    await store.create(row, Batch(events=events_of(talk)), me)
    await store.release(talk.name, me)
