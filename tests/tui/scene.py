"""A conversation in which every kind of block appears, as events; nothing in it depends on the clock."""

from hermes.protocol.actions import RunCommand
from hermes.protocol.events import Approval, Asked, Body, ItemDone, Notice, TurnEnded, Usage
from hermes.protocol.items import FileChange, Plan, PlanEntry, Reply, Text, Thought, ToolCall, UserMessage

DIFF = """\
--- a/greet.py
+++ b/greet.py
@@ -1,3 +1,4 @@
-def greet():
-    print("hello")
+def greet(name: str) -> str:
+    \"\"\"What to say to somebody.\"\"\"
+    return f"hello, {name}"
"""
ANSWER = """\
`greet` now takes a **name** and *returns* its words:

```python
def greet(name: str) -> str:
    return f"hello, {name}"
```

1. Callers print what it gives.
2. The tests pass:

| suite | tests | seconds |
|-------|-------|---------|
| unit  | 41    | 1.2     |

> Nothing else was changed.
"""
SCENE: tuple[Body, ...] = (
    ItemDone(UserMessage(id="1", turn=1, step=0, index=0, parts=(Text("Let greet() take a name, and test it."),))),
    ItemDone(Thought(id="2", turn=1, step=1, index=0, text="First see what is there.\nThen change it.")),
    ItemDone(
        ToolCall(
            id="3",
            turn=1,
            step=1,
            index=1,
            call_id="c1",
            name="read_file",
            args='{"path":"greet.py"}',
            kind="read",
            title="greet.py",
            status="done",
            result=(Text('1|def greet():\n2|    print("hello")'),),
        )
    ),
    ItemDone(
        Plan(
            id="4",
            turn=1,
            step=1,
            index=2,
            entries=(PlanEntry("1", "change greet", "in_progress"), PlanEntry("2", "run the tests", "pending")),
        )
    ),
    ItemDone(
        ToolCall(
            id="5",
            turn=1,
            step=2,
            index=0,
            call_id="c2",
            name="patch",
            args='{"path":"greet.py"}',
            kind="edit",
            title="greet.py",
            status="done",
            files=(FileChange("greet.py", "edited", DIFF, added=3, removed=2),),
            seconds=0.2,
        )
    ),
    ItemDone(
        ToolCall(
            id="6",
            turn=1,
            step=3,
            index=0,
            call_id="c3",
            name="terminal",
            args='{"command":"pytest -q"}',
            kind="execute",
            status="failed",
            result=(Text("........................................\n1 failed, 40 passed\nsee above\nfor\nmore"),),
            seconds=1.2,
        )
    ),
    Notice("the model was busy; asked again after 2 s", level="warning"),
    Usage(step=3, model="m", input=1000, output=100, cost=0.0123, context_used=104_000, context_size=128_000),
    ItemDone(Reply(id="7", turn=1, step=4, index=0, text=ANSWER)),
    TurnEnded("done"),
)
QUESTION = Asked("q", Approval(RunCommand("rm -r build", "/project"), "hash", why="rm -r removes whole folders"))
