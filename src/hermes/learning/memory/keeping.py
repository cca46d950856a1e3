"""What a call of the memory tool does: check, ask the gate, change the notebook, tell."""

from collections.abc import Callable

from hermes.learning.memory import text
from hermes.learning.memory.entries import Entries, Source
from hermes.learning.memory.notebook import Notebook
from hermes.learning.memory.scan import why_refused
from hermes.learning.memory.tool import Arguments, Operation
from hermes.protocol.actions import Persist
from hermes.protocol.errors import ToolError, Unanswered
from hermes.protocol.memories import Memory
from hermes.protocol.targets import Target
from hermes.protocol.tools import Result, ToolContext, said


class MemoryTool:
    """The tool of the sessions that share a notebook.

    `item` finds the message that a session is about; with `ask_first` nothing is kept before a person approves; a target
    that is not in `targets` is switched off.
    """

    def __init__(
        self,
        notebook: Notebook,
        *,
        targets: tuple[Target, ...],
        ask_first: bool = False,
        item: Callable[[str], str] = lambda session: "",
    ) -> None:
        self._notebook = notebook
        self._targets = targets
        self._ask_first = ask_first
        self._item = item

    async def change(self, ctx: ToolContext, args: Arguments) -> Result:
        """Make one change or several, all or none; what a foreign text may have caused waits for a person."""
        target = args.target
        if target not in self._targets:
            raise ToolError(f"The person has switched {target} off.")
        operations = _operations(args)
        item = self._item(ctx.session)
        waits = self._ask_first or not await self._permitted(ctx, target, operations)
        async with self._notebook.change("tool", ctx.session, item) as draft:
            before = len(draft.entries.edits)
            for operation in operations:
                _apply(draft.entries, target, operation, Source("agent", ctx.session, item), waits)
            changed = len(draft.entries.edits) > before
        return said(_told(draft.entries, target, changed, waits, draft.archived), trust="trusted")

    async def _permitted(self, ctx: ToolContext, target: Target, operations: tuple[Operation, ...]) -> bool:
        """Whether it may be kept now; False if a person would have to say so and there is none. A no is a Denied."""
        try:
            for operation in operations:
                await ctx.permit(Persist(what=f"{target} memory", content=operation.content or operation.old_text))
        except Unanswered:
            return False
        return True


def _operations(args: Arguments) -> tuple[Operation, ...]:
    """What to do, each thing checked for what it needs."""
    if args.operations and (args.action or args.content or args.old_text):
        raise ToolError("Give either one action or operations, not both.")
    if not args.operations and args.action is None:
        raise ToolError("action is missing: add, replace or remove.")
    single = Operation(args.action or "add", args.content, args.old_text)
    return tuple(map(_checked, args.operations or (single,)))


def _checked(operation: Operation) -> Operation:
    content = text.clean(operation.content)
    if operation.action != "add" and not operation.old_text.strip():
        raise ToolError(f"{operation.action} needs old_text, a piece of the entry that is meant.")
    if operation.action == "remove":
        return Operation("remove", "", operation.old_text)
    if not content:
        raise ToolError(f"{operation.action} needs content.")
    if text.holds_separator(content):
        raise ToolError(f"A line with only {text.SEPARATOR} separates entries and cannot be part of one.")
    if why := why_refused(content):
        raise ToolError(f"Not kept: {why}. If it is harmless, say it in other words.")
    return Operation(operation.action, content, operation.old_text)


def _apply(entries: Entries, target: Target, operation: Operation, source: Source, waits: bool) -> None:
    if operation.action == "add":
        entries.add(target, operation.content, source, state="pending" if waits else "active", held=waits)
        return
    old = entries.find(target, operation.old_text)
    if waits:
        entries.propose(old, operation.content, source)
    elif operation.action == "remove":
        entries.retire(old)
    else:
        entries.replace(old, operation.content, source)


def _told(entries: Entries, target: Target, changed: bool, waits: bool, archived: tuple[Memory, ...]) -> str:
    """What became of it, with the entries and how much room they take up."""
    used, limit = entries.used(target)
    lines = ["Nothing to do: it is remembered already." if not changed else "Kept; new sessions will see it."]
    if changed and waits:
        lines = ["It waits until the person approves it (/memory pending)."]
    if archived:
        lines.append(
            f"To make room, the least useful went to the archive: {'; '.join(row.content for row in archived)}"
        )
    lines.append(f"{target} [{round(100 * used / limit)}% · {used:,}/{limit:,} characters]:")
    lines.append(text.join(row.content for row in entries.active(target)).rstrip("\n") or "(empty)")
    return "\n".join(lines)
