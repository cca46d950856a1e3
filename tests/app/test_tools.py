"""The tools of a session as the app makes them."""

import asyncio
from pathlib import Path

from tests.cli.command import Hermes
from tests.services.model_server import ModelServer
from tests.services.script import Reply, call


async def test_a_model_that_makes_the_same_mistake_again_is_told_so(tmp_path: Path):
    hermes = Hermes(tmp_path)
    async with ModelServer([*[call("read_file", path="nothing.txt")] * 3, Reply("done")]) as server:
        hermes.write_config(f"model: {{provider: custom, name: scripted, base_url: {server.base_url}}}\n")
        assert (await asyncio.to_thread(hermes.process, "-z", "go")).out == "done\n"
        results = [message["content"] for message in server.last.body["messages"] if message["role"] == "tool"]
    told = "[this very call has failed {} times in the same way; do something else]"
    assert results[1:] == [f"{results[0]}\n{told.format(times)}" for times in (2, 3)]
