"""Wishes to reconnect, from one process to another."""

import asyncio
import stat
import subprocess
import sys
from pathlib import Path

from hermes.mcp.reconnects import FOLDER, reconnect_requests, request_reconnect


async def test_a_running_process_hears_what_another_one_asks_each_time(tmp_path: Path) -> None:
    request_reconnect(tmp_path, "old")
    requests = reconnect_requests(tmp_path, every=0.01)
    waiting = asyncio.ensure_future(anext(requests))
    await asyncio.sleep(0)  # its first look is at what is there
    ask = f"from pathlib import Path; from hermes.mcp.reconnects import *; request_reconnect(Path({str(tmp_path)!r}), 'git')"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", ask], check=True)
    assert await waiting == "git"
    waiting = asyncio.ensure_future(anext(requests))
    await asyncio.sleep(0.03)
    assert not waiting.done()
    request_reconnect(tmp_path, "git")
    assert await waiting == "git"
    await requests.aclose()  # type: ignore[attr-defined]


def test_only_the_owner_can_set_marks(tmp_path: Path) -> None:
    request_reconnect(tmp_path, "git")
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["server-git"]


async def test_any_name_is_a_mark_in_the_folder_and_comes_back_as_it_was(tmp_path: Path) -> None:
    names = ["..", "a/b", "ünlü name"]
    (tmp_path / FOLDER).mkdir()
    requests = reconnect_requests(tmp_path, every=0.01)
    first = asyncio.ensure_future(anext(requests))
    await asyncio.sleep(0)
    for name in names:
        request_reconnect(tmp_path, name)
    seen = {await first, await anext(requests), await anext(requests)}
    assert seen == set(names)
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
