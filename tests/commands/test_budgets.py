"""Budgets: shown, changed, kept."""

import pytest

from hermes.protocol.ops import Budget, Configure
from tests.agent.stage import ScriptedModel, call, finish
from tests.commands.surface import person


async def test_budgets_are_shown_and_changed(tmp_path):
    async with person(tmp_path) as me:
        assert (await me.reply("/budget")).splitlines() == [
            "- steps: 90",
            "- tokens: no limit",
            "- money: no limit",
            "- time: no limit",
            "",
            "`/budget steps 50` changes one, `none` takes it away.",
        ]
        for typed in ("steps 50", "tokens 200k", "money $0.50", "time 10m"):
            before = me.session.budget
            await me.types(f"/budget {typed}")
            await me.stage.until(lambda before=before: me.session.budget != before)
        assert me.session.budget == Budget(steps=50, tokens=200_000, money=0.5, seconds=600)
        assert "- budget of a turn: 50 steps, 200,000 tokens, $0.5, 600 s" in await me.reply("/status")
        [op] = (await me.types("/budget steps none")).ops
        assert isinstance(op, Configure)
        assert op.budget == Budget(steps=None, tokens=200_000, money=0.5, seconds=600)


async def test_a_budget_that_was_changed_is_hard(tmp_path):
    model = ScriptedModel(*[call("todo") + finish("calls") for _ in range(5)])
    async with person(tmp_path, model) as me:
        await me.types("/budget steps 2")
        ended = await me.stage.say("go")
        assert (ended.reason, ended.limit, len(model.requests)) == ("limit", "steps", 2)


async def test_global_keeps_a_budget_for_every_new_session(tmp_path):
    async with person(tmp_path) as me:
        assert "Kept as `agent.max_cost_per_turn`" in await me.reply("/budget money 2 --global")
        assert me.app.settings.file.agent.max_cost_per_turn == 2
        await me.types("/budget money none --global")
        assert me.app.settings.file.agent.max_cost_per_turn is None
        assert (await me.types("/budget steps none --global")).ops == ()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("steps", "how much is the budget of steps? (/budget steps 50, or none)"),
        ("stpes 3", "there is no budget 'stpes' (choose from steps, tokens, money, time)"),
        ("steps x", "'x' is no amount of steps (for example /budget steps 50)"),
        ("steps 0", "'0' is no amount of steps (for example /budget steps 50)"),
        ("steps 1.5", "'1.5' is no whole number (for example /budget steps 50)"),
        ("steps 5m", "'5m' is no amount of steps (for example /budget steps 50)"),
        ("money -1", "'-1' is no amount of money (for example /budget money $0.50)"),
        ("time 3y", "'3y' is no amount of time (for example /budget time 10m)"),
    ],
)
async def test_a_wrong_amount_is_one_line(tmp_path, typed, said):
    async with person(tmp_path) as me:
        outcome = await me.types(f"/budget {typed}")
        assert (outcome.reply, outcome.ops) == (said, ())
