"""From a verdict to a yes or a no, with a person in between."""

import msgspec
import pytest

from hermes.protocol.actions import Action, CallServer, Origin, RunCommand, SendMessage, WritePath
from hermes.protocol.errors import Denied
from hermes.protocol.events import Answered, Approval
from hermes.safety.commands.grants import Grant
from hermes.safety.gate import Gate
from hermes.safety.permit import Permit, hash_of
from tests.safety.scene import ORIGIN, WORKSPACE, make_gate

REMOVE = RunCommand("rm -r x", WORKSPACE)
DETOUR = "Do not try to reach the same by another way; go on without it, or say what you need and why."


class Person:
    """Somebody who gives these answers, one after the other, and remembers what was asked."""

    def __init__(self, *answers: Answered | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Approval, float]] = []

    async def ask(self, request: Approval, timeout: float) -> Answered | None:
        self.asked.append((request, timeout))
        return self.answers.pop(0)


def said(choice: str, text: str = "", by: str = "") -> Answered:
    return Answered("r1", "answered", choice, text, by)


def permit(person: Person, gate: Gate | None = None, origin: Origin = ORIGIN) -> Permit:
    return Permit(gate or make_gate(), lambda: origin, person.ask)


async def refusal(person: Person, action: Action = REMOVE, gate: Gate | None = None) -> str:
    with pytest.raises(Denied) as refused:
        await permit(person, gate)(action)
    return str(refused.value)


async def test_what_is_allowed_asks_nobody() -> None:
    person = Person()
    await permit(person)(RunCommand("ls", WORKSPACE))
    assert person.asked == []


async def test_what_is_blocked_asks_nobody_and_says_why() -> None:
    person = Person()
    text = await refusal(person, RunCommand("rm -rf /", WORKSPACE))
    assert text == f"Blocked by the rule hard-remove: rm of / destroys the system or a home. {DETOUR}"
    assert person.asked == []


async def test_a_person_sees_the_action_with_its_hash_the_reason_and_the_choices() -> None:
    person = Person(said("once"))
    await permit(person)(REMOVE)
    why = "rm would remove all of x, which no build makes again"
    assert person.asked == [(Approval(REMOVE, hash_of(REMOVE), why, ("once", "session", "always", "deny")), 60.0)]


def test_the_hash_is_of_exactly_this_action() -> None:
    others = [
        RunCommand("rm  x", WORKSPACE),
        RunCommand("rm -r x", "/"),
        RunCommand("rm -r x", WORKSPACE, background=True),
    ]
    assert hash_of(REMOVE) == hash_of(RunCommand("rm -r x", WORKSPACE))
    assert (
        len({hash_of(action) for action in [REMOVE, *others, WritePath("rm -r x"), WritePath("rm -r x", delete=True)]})
        == 6
    )


async def test_once_is_good_for_one_time() -> None:
    person = Person(said("once"), said("deny"))
    asks = permit(person)
    await asks(REMOVE)
    with pytest.raises(Denied):
        await asks(REMOVE)
    assert len(person.asked) == 2


async def test_for_the_session_is_asked_once() -> None:
    person = Person(said("session"))
    gate = make_gate()
    await permit(person, gate)(REMOVE)
    await permit(person, gate)(REMOVE)
    assert len(person.asked) == 1


async def test_always_is_kept_for_good() -> None:
    always: list[Grant] = []
    gate = make_gate(always)
    await permit(Person(said("always")), gate)(REMOVE)
    await permit(Person(), gate, Origin(surface="chat", session="other", workspace=WORKSPACE))(REMOVE)
    assert always == [("rm", "-r", "x")]


async def test_a_no_says_who_said_it_and_why() -> None:
    assert await refusal(Person(said("deny"))) == f"The person said no. {DETOUR}"
    assert await refusal(Person(said("deny", "keep x", "ada"))) == f"ada said no and says: keep x. {DETOUR}"


@pytest.mark.parametrize("choice", ["", "yes", "ALWAYS", "always "])
async def test_an_answer_that_was_not_on_offer_is_a_no(choice: str) -> None:
    assert (await refusal(Person(said(choice)))).startswith("The person said no")


async def test_always_is_a_no_where_it_was_not_on_offer() -> None:
    gate = make_gate()
    action = RunCommand("rm -r $(id)", WORKSPACE)
    assert (await refusal(Person(said("always")), action, gate)).startswith("The person said no")
    assert (await refusal(Person(said("deny")), action, gate)).startswith("The person said no")


async def test_no_answer_in_time_is_a_no() -> None:
    assert await refusal(Person(Answered("r1", "expired"))) == (
        f"Nobody answered within 60 seconds, which counts as no. {DETOUR}"
    )
    assert (await refusal(Person(Answered("r1", "cancelled", "once")))).startswith("The question was withdrawn")


async def test_nobody_to_ask_is_a_no_that_says_what_the_person_can_do() -> None:
    assert await refusal(Person(None)) == (
        f"This needs approval (rm would remove all of x, which no build makes again) and nobody can be asked here. {DETOUR} "
        "The person can run hermes with --yolo, or put the command in command_allowlist, to permit it."
    )
    assert (await refusal(Person(None), WritePath("/etc/x"))).endswith("run hermes with --yolo to permit it.")
    changed = msgspec.structs.replace(ORIGIN, local=("tool:read_file",))
    with pytest.raises(Denied) as refused:
        await permit(Person(None), origin=changed)(CallServer("mail", "send", "{}"))
    assert str(refused.value).endswith("--yolo, or set mcp_servers.mail.approval to allow, to permit it.")


async def test_the_origin_is_that_of_the_moment() -> None:
    untrusted: list[str] = []
    gate = make_gate()
    person = Person(said("deny"))
    asks = Permit(gate, lambda: Origin(surface="cli", session="one", untrusted=tuple(untrusted)), person.ask)
    await asks(SendMessage("chat", "x"))
    untrusted.append("web:x")
    with pytest.raises(Denied):
        await asks(SendMessage("chat", "x"))
