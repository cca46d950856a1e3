"""A model that answers only from its prompt, and counts what that took."""

from typing import Any

from tests.services.client import asking, post
from tests.services.gated_model import GAVE_UP, GatedModel, Task, Walk, prompt_of, shared_prefix
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Call

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
ASK = "the colour of the gate"
LOOK = Call("look", {"at": "the gate"})
TASK = Task(ask=ASK, token="ochre-4471", path=(LOOK,))


def request(*messages: dict[str, Any], tools: list[Any] = TOOLS) -> Request:
    body = {"model": "m", "messages": list(messages), "tools": tools}
    return Request("POST", "/v1/chat/completions", {}, body, 1, 0.0, "chat")


def asked(words: str = f"What is {ASK}?") -> dict[str, Any]:
    return {"role": "user", "content": words}


def looked(found: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at":"the gate"}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": found},
    ]


def test_without_the_token_it_walks_its_path_and_then_gives_up():
    model = GatedModel([TASK])
    assert model(request(asked())).calls == (LOOK,)
    assert model(request(asked(), *looked("nothing"))).text == GAVE_UP
    walk = model.walk()
    assert (walk.right, walk.calls, walk.steps) == (0, 2, 1)
    assert model.walk() == Walk()


def test_with_the_token_anywhere_in_the_prompt_it_answers_at_once():
    for messages in (
        [{"role": "system", "content": "The gate is ochre-4471."}, asked()],
        [asked(), *looked("ochre-4471")],
    ):
        model = GatedModel([TASK])
        assert model(request(*messages)).text == "It is ochre-4471."
        assert (model.walk().right, model.walk().right) == (1, 0)


def test_an_outdated_token_beside_the_new_one_makes_the_answer_wrong():
    task = Task(ask=ASK, token="ochre-4471", outdated=("umber-1",))
    model = GatedModel([task])
    model(request({"role": "system", "content": "umber-1, now ochre-4471"}, asked()))
    assert model.walk().right == 0


def test_a_shortcut_is_taken_only_where_its_word_is_in_the_prompt():
    view = Call("skill_view", {"name": "gate-colours"})
    model = GatedModel([Task(ask=ASK, token="ochre-4471", shortcuts=(("gate-colours", view),), path=(LOOK,))])
    assert model(request(asked())).calls == (LOOK,)
    assert model(request({"role": "system", "content": "skills: gate-colours"}, asked())).calls == (view,)


def test_once_it_knows_the_token_it_finishes_with_it():
    model = GatedModel([Task(ask=ASK, token="ochre-4471", finish=(Call("paint", {"with": "{token}"}),))])
    reply = model(request({"role": "system", "content": "ochre-4471"}, asked()))
    assert reply.calls == (Call("paint", {"with": "ochre-4471"}),)
    call = {"id": "c", "type": "function", "function": {"name": "paint", "arguments": '{"with":"ochre-4471"}'}}
    painted = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert model(request(asked(), painted)).text == "It is ochre-4471.", "once is enough"


def test_what_has_no_tools_is_answered_beside_and_counted_apart():
    model = GatedModel([TASK], asides=[lambda request: None, lambda request: "a summary"])
    assert model(request(asked(), tools=[])).text == "a summary"
    assert (model.walk(), model.beside.calls) == (Walk(), 1)


def test_what_is_longer_than_its_window_is_refused():
    model = GatedModel([TASK], window=10)
    reply = model(request(asked()))
    assert reply.error is not None and reply.error.kind == "context_too_long"
    assert model.refused == 1


def test_the_cached_prefix_is_what_two_requests_in_a_row_begin_with():
    model = GatedModel([TASK])
    first = request(asked())
    model(first)
    assert model.walk().cached == 0
    model(request(asked(), *looked("nothing")))
    assert model.walk().cached == len(prompt_of(first)) - 1, "all but the closing bracket"


def test_the_shared_prefix_of_two_texts_is_exact():
    assert [shared_prefix(*pair) for pair in ((b"", b"a"), (b"abc", b"abc"), (b"abcd", b"abxd"), (b"x", b"y"))] == [
        0,
        3,
        2,
        0,
    ]


async def test_it_answers_over_the_wire():
    async with ModelServer(GatedModel([TASK])) as server:
        response = await post(server, "chat", asking("chat", f"What is {ASK}?", tools=TOOLS))
    assert response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
