"""The memo: the same bytes as without it, whatever became of the view, and nothing encoded twice that need not be."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from hermes.models import dialects, memo
from hermes.models.dialects.anthropic.seals import seal
from hermes.models.memo import Add, Memo, Wire
from hermes.models.quirks import Quirks
from hermes.models.view import PLAIN_IDS, Message, Said, Step, conversation
from hermes.protocol.items import Image, Item, Opaque, ToolCall
from hermes.protocol.models import ModelRequest
from tests.models.histories import PNG, call, plan, reply, request, said, summary, thought

NAME = "vendor:m1"
SEALS = {
    "chat": msgspec.json.encode({"details": [{"type": "reasoning.text", "text": "Hm."}]}).decode(),
    "responses": msgspec.json.encode({"id": "rs_1", "encrypted": "enc"}).decode(),
    "anthropic": seal("signature", "Hm."),
}
QUIRKS = {
    "chat": [
        Quirks(),
        Quirks(cache_marks=True),
        Quirks(short_call_ids=True, reasoning_back=True),
        Quirks(images=False),
    ],
    "responses": [Quirks(), Quirks(images=False)],
    "anthropic": [Quirks(), Quirks(cache_ttl="1h", images=False)],
}
PICTURE = Image("b1", "image/png", "a.png")


def item_of(step: int, kind: str, dialect: str) -> Item:
    """One item of a kind; few texts and ids, so that they meet again."""
    match kind.split():
        case ["said", *words]:
            return said(step, " ".join(words))
        case ["shown"]:
            return said(step, "Look:", PICTURE)
        case ["summary"]:
            return summary(step, "Earlier.")
        case ["plan"]:
            return plan(step)
        case ["thought", who]:
            return thought(step, "Hm.", Opaque(dialect, NAME if who == "own" else "vendor:m2", SEALS[dialect]))
        case ["reply", *words]:
            return reply(step, " ".join(words))
        case ["call", call_id, args]:
            return call(step, call_id.replace("_", " "), "ls", args, "r")
        case _:
            return call(step, "c9", "look", "{}", PICTURE, status="failed")


KINDS = [
    *("said go", "said", "shown", "summary", "plan", "thought own", "thought another's", "reply Yes.", "reply"),
    *("call same {}", "call same [", "call has_space {}", "call call_0b4f5f29e {}", "look"),
]
ADVANCES = [0, 0, 1, 1, 1, 2, -1]


@st.composite
def views(draw: st.DrawFn, dialect: str) -> list[list[Item]]:
    """What the model is shown, request by request: it grows, is rewound, and is edited in its midst."""
    made: list[list[Item]] = []
    items: list[Item] = []
    step = 0
    for _ in range(draw(st.integers(1, 6))):
        match draw(st.sampled_from(["grow", "grow", "grow", "rewind", "edit", "again"])):
            case "grow":
                for _ in range(draw(st.integers(1, 6))):
                    step = max(0, step + draw(st.sampled_from(ADVANCES)))
                    items.append(item_of(step, draw(st.sampled_from(KINDS)), dialect))
            case "rewind":
                items = items[: draw(st.integers(0, len(items)))]
            case "edit" if items:
                place = draw(st.integers(0, len(items) - 1))
                items[place] = item_of(items[place].step, draw(st.sampled_from(KINDS)), dialect)
            case _:
                pass
        made.append(list(items))
    return made


class Forgetful(Memo):
    """The whole view at once, nothing of it settled."""

    def messages(
        self, request: ModelRequest, add: Add, *, ids: str = PLAIN_IDS, loose: int = 0
    ) -> tuple[list[Raw], list[Wire]]:
        latest: list[Wire] = []
        for message in conversation(request.items, ids):
            add(latest, message)
        return [], latest


@pytest.mark.parametrize("dialect", dialects.NAMES)
@given(data=st.data())
def test_a_request_has_the_same_bytes_with_a_memo_and_without(dialect: str, data: st.DataObject):
    encode = dialects.load(dialect).encode
    kept = Memo()
    given: dict[str, Any] = {"model": "m1", "name": NAME, "quirks": data.draw(st.sampled_from(QUIRKS[dialect]))}
    for items in data.draw(views(dialect)):
        images = data.draw(st.sampled_from([{"b1": PNG}, {"b1": PNG}, {}]))
        asked = request(*items, system="S", images=images, effort=data.draw(st.sampled_from(["", "high"])))
        whole = encode(asked, **given, memo=Forgetful())
        assert encode(asked, **given, memo=kept) == whole
        assert encode(asked, **given) == whole


class Spoken:
    """The simplest dialect; it notes what it was asked to write."""

    def __init__(self) -> None:
        self.added: list[Message] = []

    def add(self, messages: list[Wire], message: Message) -> None:
        self.added.append(message)
        messages.append({"calls": len(message.calls)} if isinstance(message, Step) else {"parts": len(message.parts)})

    def sends(self, kept: Memo, items: Sequence[Item]) -> int:
        """How many messages it takes to send some items."""
        before = len(self.added)
        settled, latest = kept.messages(request(*items), self.add)
        sent = msgspec.json.decode(msgspec.json.encode([*settled, *latest]))
        assert sent == [{"parts": 1}] + [{"calls": 1} for item in items if isinstance(item, ToolCall)]
        return len(self.added) - before


def talk(who: str, steps: int) -> list[Item]:
    return [said(0, who), *(call(step, f"{who}{step}", "ls", "{}", "r") for step in range(1, steps + 1))]


def test_a_step_costs_the_same_however_long_the_conversation_is():
    spoken, kept = Spoken(), Memo()
    items = talk("a", 300)
    assert spoken.sends(kept, items[:200]) == 200
    assert [spoken.sends(kept, items[:count]) for count in range(201, 300)] == [2] * 99
    assert spoken.sends(kept, items[:299]) == 1


def test_conversations_that_share_a_memo_do_not_disturb_each_other():
    spoken, kept = Spoken(), Memo()
    talks = [talk(who, 50) for who in ("a", "b", "c")]
    forked = [*talks[0][:20], *talk("d", 50)[20:]]
    for items in (*talks, forked):
        spoken.sends(kept, items[:30])
    spoken.sends(kept, talks[0][:10])
    for count in range(31, 40):
        assert [spoken.sends(kept, items[:count]) for items in (*talks, forked)] == [2] * 4


def test_a_view_that_was_rewound_is_encoded_anew_once():
    spoken, kept = Spoken(), Memo()
    items = talk("a", 50)
    spoken.sends(kept, items)
    assert [spoken.sends(kept, items[:count]) for count in (20, 21, 22)] == [20, 2, 2]


def test_a_step_that_grows_when_it_seemed_whole_is_encoded_anew():
    kept, spoken = Memo(), Spoken()
    spoken.sends(kept, [*talk("a", 2), call(3, "a3", "ls", "{}", "r")])
    again = [*talk("a", 2), call(2, "b2", "ls", "{}", "r"), call(3, "a3", "ls", "{}", "r")]
    settled, latest = kept.messages(request(*again), spoken.add)
    assert msgspec.json.decode(msgspec.json.encode([*settled, *latest])) == [
        {"parts": 1},
        {"calls": 1},
        {"calls": 2},
        {"calls": 1},
    ]


def test_what_is_kept_has_an_end(monkeypatch: pytest.MonkeyPatch):
    spoken, kept = Spoken(), Memo()
    talks = [talk(str(number), 20) for number in range(memo.CONVERSATIONS + 1)]
    for items in talks:
        spoken.sends(kept, items)
    assert spoken.sends(kept, talks[-1]) == 1
    assert spoken.sends(kept, talks[0]) == 21
    monkeypatch.setattr(memo, "LARGEST", 100)
    assert [spoken.sends(kept, talks[-1]) for _ in range(2)] == [1, 21]


def test_a_request_that_could_not_be_encoded_leaves_nothing_behind():
    def broken(messages: list[Wire], message: Message) -> None:
        messages.append({})
        if isinstance(message, Said):
            raise ValueError("no")

    spoken, kept = Spoken(), Memo()
    items = talk("a", 9)
    spoken.sends(kept, items[:5])
    with pytest.raises(ValueError):
        kept.messages(request(*items, said(10, "?"), said(11, "!")), broken)
    assert spoken.sends(kept, items) == 10


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_picture_that_went_and_came_is_sent_as_it_is_now(dialect: str):
    kept = Memo()
    items = (
        said(0, "Look:", PICTURE),
        reply(1, "Yes."),
        said(1, "?"),
        reply(2, "Yes."),
        said(2, "?"),
        reply(3, "Yes."),
    )

    def sent(images: dict[str, bytes]) -> bytes:
        asked = ModelRequest(system="", tools=(), items=items, images=images)
        return dialects.load(dialect).encode(asked, model="m1", name=NAME, quirks=Quirks(), memo=kept)

    shown = sent({"b1": PNG})
    assert b"cannot be shown" not in shown
    assert b"cannot be shown" in sent({})
    assert sent({"b1": PNG}) == shown
