"""The conversation of `hermes setup`: plain lines, so that it works over ssh, in a pipe, and with nobody there."""

from collections.abc import Sequence

from hermes.cli.ask import read_secret
from hermes.cli.main import print_error
from hermes.cli.mcp_ask import read_line
from hermes.protocol.errors import UserError


class Talk:
    """Asks a person; where nobody sits (`asks` is false) every question has its default for an answer."""

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks

    def say(self, text: str) -> None:
        print(text, flush=True)

    async def text(self, question: str, default: str = "") -> str:
        """A line; Enter takes the default."""
        if not self.asks:
            return default
        line = await read_line(f"{question}{f' [{default}]' if default else ''}: ")
        if line is None:
            raise UserError("the input has ended", "what was answered is kept; hermes setup asks for the rest")
        return line or default

    async def yes(self, question: str, *, default: bool) -> bool:
        if not self.asks:
            return default
        while True:
            answer = (await self.text(f"{question} [{'Y/n' if default else 'y/N'}]")).lower()
            if not answer:
                return default
            if answer in ("y", "yes", "n", "no"):
                return answer.startswith("y")
            print_error("answer y or n")

    async def pick(self, question: str, options: Sequence[str], default: int = 0) -> int:
        """One of some options by its number, from 1 on as it is typed; the index from 0 on is returned."""
        if not self.asks:
            return default
        for number, option in enumerate(options, 1):
            self.say(f"  {number:>2}  {option}")
        while True:
            answer = await self.text(question, str(default + 1))
            if answer.isdecimal() and 1 <= int(answer) <= len(options):
                return int(answer) - 1
            print_error(f"{answer!r} is no number in the list", f"from 1 to {len(options)}")

    async def secret(self, name: str) -> str:
        return await read_secret(name)
