"""Print the version."""

import argparse

import hermes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing to add."""


async def run(args: argparse.Namespace) -> int:
    print(f"hermes {hermes.__version__}")
    return 0
