"""The tools of recall, over the store that the sessions of a process share.

Every session has them and few use them: what they are made of is loaded by the first call.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from hermes.config import File
from hermes.protocol.errors import ToolError
from hermes.protocol.tools import Result, Tool, ToolContext
from hermes.tools.declare import tool

if TYPE_CHECKING:
    from hermes.learning.recall.tools import Store


def nowhere() -> "Store":
    raise ToolError("There is no store here to look into.")


class RecallTools:
    """What a model can ask of earlier sessions, and of what left its view of this one."""

    def __init__(
        self, opened: "Callable[[], Store]", condense: Callable[[str, str, str], Awaitable[str]] | None
    ) -> None:
        self._opened = opened
        self._condense = condense

    async def session_search(
        self,
        ctx: ToolContext,
        query: str = "",
        limit: int = 5,
        sort: Literal["newest", "oldest"] | None = None,
        role_filter: Annotated[str, Meta(description="user, assistant, tool")] = "",
        after: Annotated[str, Meta(description="YYYY-MM-DD")] = "",
        before: str = "",
        session_id: str = "",
        around_message_id: str = "",
        window: int = 5,
        summarize: bool = False,
    ) -> Result:
        """Recall earlier sessions. query: plain words; "a phrase" and -word are strict. session_id alone reads a session, with
        around_message_id the messages around it; nothing lists the newest sessions."""
        from hermes.learning.recall.tools import Asked, Recall

        asked = Asked(
            query=query,
            limit=limit,
            sort=sort or "",
            role_filter=role_filter,
            after=after,
            before=before,
            session_id=session_id,
            around_message_id=around_message_id,
            window=window,
            summarize=summarize,
        )
        return await Recall(self._opened(), self._condense).ask(ctx.session, asked)

    async def context_expand(self, ctx: ToolContext, ref: str, offset: int = 0) -> Result:
        """Show what left the view: an item, summary or blob."""
        from hermes.learning.recall.context import HiddenContext

        return await HiddenContext(self._opened()).expand(ctx, ref, offset)

    async def context_grep(self, ctx: ToolContext, pattern: str) -> Result:
        """Find text in what left the view; a|b: either."""
        from hermes.learning.recall.context import HiddenContext

        return await HiddenContext(self._opened()).grep(ctx, pattern)


def recall_tools(
    settings: File,
    opened: "Callable[[], Store]" = nowhere,
    condense: Callable[[str, str, str], Awaitable[str]] | None = None,
) -> list[Tool]:
    """session_search, context_expand and context_grep; without a store they can only be described."""
    tools = RecallTools(opened, condense)
    return [
        tool(
            tools.session_search,
            kind="search",
            toolset="session_search",
            effect=False,
            title=lambda args: args.query or args.session_id or "newest sessions",
        ),
        tool(tools.context_expand, kind="read", toolset="context", effect=False, title=lambda args: args.ref),
        tool(tools.context_grep, kind="search", toolset="context", effect=False, title=lambda args: args.pattern),
    ]
