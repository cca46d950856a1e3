import pytest

from hermes.protocol.errors import ToolError
from hermes.protocol.items import PlanEntry
from hermes.protocol.tools import said

PLAN = (
    PlanEntry("1", "read", "completed"),
    PlanEntry("2", "write", "in_progress"),
    PlanEntry("3", "test", "pending"),
)
SHOWN = "[x] 1: read\n[>] 2: write\n[ ] 3: test\n[1 of 3 completed]"


async def test_a_plan_is_set_and_read(ctx):
    todos = [{"id": e.id, "content": e.content, "status": e.status} for e in PLAN]
    assert await ctx.do("todo", todos=todos) == said(SHOWN, trust="trusted")
    assert ctx.plan == PLAN
    assert await ctx.text("todo") == SHOWN


async def test_entries_are_merged_by_their_ids(ctx):
    ctx.plan = PLAN
    text = await ctx.text(
        "todo", merge=True, todos=[{"id": "2", "status": "cancelled"}, {"id": "4", "content": "ship"}]
    )
    assert text == "[x] 1: read\n[-] 2: write\n[ ] 3: test\n[ ] 4: ship\n[1 of 4 completed]"
    assert ctx.plan[1:] == (PlanEntry("2", "write", "cancelled"), PLAN[2], PlanEntry("4", "ship", "pending"))


async def test_an_empty_list_clears_the_plan(ctx):
    ctx.plan = PLAN
    assert await ctx.text("todo", todos=[]) == "[the plan is empty]"
    assert ctx.plan == ()


@pytest.mark.parametrize(
    ("todos", "says"),
    [
        ([{"id": "9"}], "entry '9' needs an id and a content"),
        ([{"id": "", "content": "x"}], "entry '' needs an id and a content"),
        ([{"id": "1", "content": "x"}, {"id": "1", "content": "y"}], "id '1' is there twice"),
        ([{"id": "1", "content": "x", "status": "done"}], "Invalid enum value 'done'"),
        ([{"id": "1", "contents": "x"}], "unknown field `contents`"),
    ],
)
async def test_a_plan_that_makes_no_sense_changes_nothing(ctx, todos, says):
    ctx.plan = PLAN
    with pytest.raises(ToolError, match=says):
        await ctx.do("todo", todos=todos)
    assert ctx.plan == PLAN
