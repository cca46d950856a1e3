"""Asking the person when the task cannot go on without them."""

from typing import Annotated

from msgspec import Meta

from hermes.config import File
from hermes.protocol.errors import ToolError
from hermes.protocol.events import Question
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.declare import tool


class Clarify:
    """Questions of one session, and how long they wait for an answer."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def clarify(
        self,
        ctx: ToolContext,
        question: str,
        choices: Annotated[
            tuple[str, ...], Meta(max_length=4, description="likely answers; the person may give another")
        ] = (),
    ) -> Result:
        """Ask the person one question and wait. Only when you cannot go on or choose well without the answer."""
        if not question.strip():
            raise ToolError("question is empty.")
        answer = await ctx.ask(Question(question, choices), self._seconds)
        if answer is None:
            return said("Nobody can answer here; decide yourself and say so.", trust="trusted")
        match answer.how:
            case "answered":
                return said(answer.text or answer.choice or "[an empty answer]", trust="trusted")
            case "expired":
                return said("No answer came in time; decide yourself and say so.", trust="trusted")
            case "cancelled":
                return said("The person does not want to answer; decide yourself and say so.", trust="trusted")


def clarify_tools(settings: File) -> list[Tool]:
    ask = Clarify(settings.agent.clarify_timeout)
    return [tool(ask.clarify, kind="other", toolset="clarify", effect=False, title=lambda args: args.question)]
