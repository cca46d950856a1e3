"""Print what lets a shell complete hermes commands and flags with Tab. It is made from the commands themselves.

bash:  hermes completion bash > ~/.local/share/bash-completion/completions/hermes
zsh:   hermes completion zsh > ~/.zfunc/_hermes        (a folder of your fpath)
fish:  hermes completion fish > ~/.config/fish/completions/hermes.fish
"""

import argparse
from collections.abc import Iterator

from hermes.cli.completion_scripts import Place, Word, bash, fish, zsh
from hermes.cli.main import COMMANDS, command_parser, top_parser

SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help=", ".join(SHELLS))


async def run(args: argparse.Namespace) -> int:
    print(SHELLS[args.shell](list(places())), end="")
    return 0


def places() -> Iterator[Place]:
    """Every command and action, the whole first."""
    top = _place("hermes", top_parser())
    commands = tuple(Word(name, about) for name, (_, about) in COMMANDS.items())
    yield Place("hermes", (*commands, *top.words), top.values)
    for name in COMMANDS:
        yield from _below(f"hermes {name}", command_parser(name)[0])


def _below(command: str, parser: argparse.ArgumentParser) -> Iterator[Place]:
    yield _place(command, parser)
    for action in _groups(parser):
        for name, below in action.choices.items():
            yield from _below(f"{command} {name}", below)


def _groups(parser: argparse.ArgumentParser) -> list["argparse._SubParsersAction[argparse.ArgumentParser]"]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def _place(command: str, parser: argparse.ArgumentParser) -> Place:
    words: list[Word] = []
    values: dict[str, tuple[str, ...]] = {}
    for action in parser._actions:
        about = action.help if action.help not in (None, argparse.SUPPRESS) else ""
        words += [Word(flag, about or "") for flag in action.option_strings]
        choices = tuple(map(str, action.choices or ()))
        if action.option_strings and choices:
            values |= dict.fromkeys(action.option_strings, choices)
        elif isinstance(action, argparse._SubParsersAction):
            words += [Word(one.dest, one.help or "") for one in action._choices_actions]
        else:
            words += [Word(choice) for choice in choices]
    return Place(command, tuple(words), values)
